//! A journal as a test reads it: ids and times normalised, one envelope a line.

use std::collections::HashMap;

use hermes_actors::Runtime;
use hermes_bus::journal::Record;
use hermes_bus::laws::OpenEntry;
use hermes_bus::read_all;
use serde_json::Value;

/// The whole journal of a runtime.
pub fn journal(runtime: &Runtime) -> String {
    text(&read_all(&**runtime.journal()).unwrap())
}

/// Records as `3 tool.call orchestrator -> tool.add (2) {…}`: number, name, way, cause, `ends` what, payload.
pub fn text(records: &[Record]) -> String {
    let mut names = Names::default();
    let mut out = String::new();
    for record in records {
        let mut entry = OpenEntry::parse(&record.line).unwrap();
        let number = names.ids.len() + 1;
        names.ids.insert(entry.id.clone(), format!("{number}"));
        let id = |id: &Option<String>| id.as_ref().map_or(String::new(), |id| names.ids[id].clone());
        let (parent, ends) = (id(&entry.parent_id), id(&entry.in_reply_to));
        let ends = if ends.is_empty() { ends } else { format!(" ends {ends}") };
        let late = if entry.late { " late" } else { "" };
        let begun = if entry.begun { " begun" } else { "" };
        names.clean(&mut entry.payload);
        let OpenEntry { name, sender, receiver, payload, .. } = &entry;
        out.push_str(&format!(
            "{number} {name} {sender} -> {receiver} ({parent}){ends}{late}{begun} {payload}\n"
        ));
    }
    out
}

#[derive(Default)]
struct Names {
    ids: HashMap<String, String>,
}

impl Names {
    /// Ids become numbers; digests, hashes, times and limits that are the usual ones go.
    fn clean(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(number) = self.ids.get(text) {
                    *text = format!("#{number}");
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            Value::Object(map) => {
                for noise in ["digest", "definition", "stats", "machine", "usage", "limits"] {
                    map.remove(noise);
                }
                map.values_mut().for_each(|value| self.clean(value));
            }
            _ => {}
        }
    }
}
