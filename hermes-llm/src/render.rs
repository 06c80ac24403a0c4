//! The one place where this crate turns a value into JSON bytes.

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Renders a value whose maps all have string keys and which holds no I/O, as every type of this crate does.
pub(crate) fn render<T: Serialize + ?Sized>(value: &T) -> Bytes {
    match serde_json::to_vec(value) {
        Ok(json) => Bytes::from(json),
        // serde_json fails only on non-string keys, failing writers and a Serialize that says so.
        Err(error) => unreachable!("rendering to memory cannot fail: {error}"),
    }
}

/// A value whose objects are rendered with sorted keys.
///
/// serde_json sorts by itself, until some crate of the final program switches `preserve_order` on; digests made by one
/// program must hold in another.
pub(crate) struct Sorted<'a>(pub(crate) &'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            Value::Object(map) => serializer.collect_map(sorted_entries(map, |_| false)),
            scalar => scalar.serialize(serializer),
        }
    }
}

/// The entries of an object in the order of their keys, each to be rendered sorted; those that `skip` names are left
/// out.
pub(crate) fn sorted_entries(map: &Map<String, Value>, skip: fn(&str) -> bool) -> Vec<(&String, Sorted<'_>)> {
    let mut entries: Vec<_> =
        map.iter().filter(|(key, _)| !skip(key)).map(|(key, value)| (key, Sorted(value))).collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}
