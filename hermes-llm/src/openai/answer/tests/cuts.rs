//! However the bytes of a stream are cut, and however its lines end, it is the same reply: that of the JSON in one piece.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::{Answer, read_whole};
use super::streams::recorder;
use crate::{ChatReply, Delta};

/// What a model says in one reply, in the fragments that it says it in.
#[derive(Clone, Debug)]
struct Spoken {
    thoughts: Vec<String>,
    text: Vec<String>,
    calls: Vec<(String, Vec<String>)>,
    usage: (u32, u32),
}

impl Spoken {
    /// The reply in one piece of JSON.
    fn whole(&self) -> Vec<u8> {
        let mut message = Map::new();
        message.insert("content".into(), Some(self.text.concat()).filter(|text| !text.is_empty()).into());
        if !self.thoughts.concat().is_empty() {
            message.insert("reasoning".into(), self.thoughts.concat().into());
        }
        let calls = self.calls.iter().enumerate().map(|(index, (name, arguments))| {
            json!({"id": format!("call_{index}"), "type": "function",
                "function": {"name": name, "arguments": arguments.concat()}})
        });
        message.insert("tool_calls".into(), calls.collect());
        json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": self.usage()})
            .to_string()
            .into_bytes()
    }

    fn usage(&self) -> Value {
        json!({"prompt_tokens": self.usage.0, "completion_tokens": self.usage.1})
    }

    /// The same as a stream; the fragments of the calls go round, one of each call in turn.
    fn stream(&self, line_end: &str) -> Vec<u8> {
        let mut deltas = vec![json!({"role": "assistant", "content": null})];
        let said = |fragment: &&String| !fragment.is_empty();
        deltas.extend(self.thoughts.iter().filter(said).map(|thought| json!({"reasoning": thought})));
        deltas.extend(self.text.iter().filter(said).map(|text| json!({"content": text})));
        for (index, (name, _)) in self.calls.iter().enumerate() {
            let function = json!({"name": name, "arguments": ""});
            deltas.push(json!({"tool_calls": [{"index": index, "id": format!("call_{index}"), "function": function}]}));
        }
        let longest = self.calls.iter().map(|(_, arguments)| arguments.len()).max().unwrap_or(0);
        for round in 0..longest {
            for (index, (_, arguments)) in self.calls.iter().enumerate() {
                if let Some(more) = arguments.get(round) {
                    deltas.push(json!({"tool_calls": [{"index": index, "function": {"arguments": more}}]}));
                }
            }
        }
        let chunks = deltas.into_iter().map(|delta| json!({"choices": [{"delta": delta}]}));
        let finish = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
        let usage = json!({"choices": [], "usage": self.usage()});
        let events = chunks.chain([finish, usage]).map(|chunk| format!("data: {chunk}{line_end}{line_end}"));
        format!("{}data: [DONE]{line_end}{line_end}", events.collect::<String>()).into_bytes()
    }
}

fn spoken() -> impl Strategy<Value = Spoken> {
    let fragment = || "[a-z \\\\\"\n\u{4e00}-\u{4eff}🌞👩‍🚀שלום]{0,6}";
    let fragments = || prop::collection::vec(fragment(), 0..5);
    let calls = prop::collection::vec(("[a-z_]{1,9}", fragments()), 0..4);
    (fragments(), fragments(), calls, any::<(u32, u32)>()).prop_map(|(thoughts, text, calls, usage)| Spoken {
        thoughts,
        text,
        calls,
        usage,
    })
}

/// The reply to these bytes, cut at these points, and what was told of it.
fn read(stream: &[u8], cuts: &[prop::sample::Index]) -> (ChatReply, Vec<Delta>) {
    let mut points: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    points.sort_unstable();
    let (deltas, heard) = recorder();
    let mut answer = Answer::default();
    let mut begun = 0;
    for point in points.into_iter().chain([stream.len()]) {
        answer.push(&stream[begun..point], &deltas).unwrap();
        begun = point;
    }
    let reply = answer.finish(&deltas).unwrap();
    let heard = heard.lock().unwrap().clone();
    (reply, heard)
}

/// Text, thoughts, and name and arguments of each call, joined.
fn joined(told: &[Delta]) -> (String, String, Vec<(String, String)>) {
    let (mut text, mut thoughts, mut calls) = (String::new(), String::new(), Vec::new());
    for delta in told {
        match delta {
            Delta::Text(more) => text += more,
            Delta::Reasoning(more) => thoughts += more,
            Delta::ToolCall { index, name, arguments } => {
                calls.resize(calls.len().max(index + 1), (String::new(), String::new()));
                calls[*index].0 += name;
                calls[*index].1 += arguments;
            }
            Delta::Again => panic!("nothing is asked again here"),
        }
    }
    (text, thoughts, calls)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_bytes_are_the_same_reply(
        spoken in spoken(),
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let whole = read_whole(&spoken.whole()).unwrap();
        let (reply, told) = read(&spoken.stream(line_end), &cuts);
        prop_assert_eq!(&reply, &whole);

        let calls = spoken.calls.iter().map(|(name, arguments)| (name.clone(), arguments.concat()));
        prop_assert_eq!(joined(&told), (spoken.text.concat(), spoken.thoughts.concat(), calls.collect()));
    }
}
