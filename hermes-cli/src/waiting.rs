//! What a running task waits for, in words, from the envelopes of its trace.

use hermes_actors::TaskHandle;
use hermes_actors::protocol::ToolProgress;
use hermes_bus::{Envelope, Id};
use tokio::task::JoinHandle;

use crate::terminal::wait_for;

/// What is open, oldest first.
#[derive(Debug, Default)]
struct Waiting {
    steps: Vec<(Id, Step)>,
}

/// What takes time.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Model,
    /// The tool's name, and what it says of its progress.
    Tool(String, Option<String>),
}

/// What an envelope means for those who wait.
#[derive(Debug)]
enum News {
    Begun(Id, Step),
    Progress(Id, String),
    Ended(Id),
}

impl News {
    fn of(envelope: &Envelope) -> Option<Self> {
        if let Some(ask) = envelope.in_reply_to {
            return Some(Self::Ended(ask));
        }
        match envelope.body.name() {
            "llm.chat" => Some(Self::Begun(envelope.id, Step::Model)),
            "tool.call" => {
                let receiver = envelope.receiver.to_string();
                let tool = receiver.rsplit("tool.").next().unwrap_or_default().to_owned();
                Some(Self::Begun(envelope.id, Step::Tool(tool, None)))
            }
            _ => {
                let progress = envelope.get::<ToolProgress>().ok()?;
                Some(Self::Progress(envelope.parent_id?, progress.text.clone()))
            }
        }
    }
}

impl Waiting {
    fn on(&mut self, news: News) {
        match news {
            News::Begun(ask, step) => self.steps.push((ask, step)),
            News::Ended(ask) => self.steps.retain(|(other, _)| *other != ask),
            News::Progress(ask, text) => {
                for (other, step) in &mut self.steps {
                    if let Step::Tool(_, told) = step
                        && *other == ask
                    {
                        *told = Some(text.clone());
                    }
                }
            }
        }
    }

    /// What is waited for, if anything.
    fn words(&self) -> Option<String> {
        let tool = |(_, step): &(Id, Step)| match step {
            Step::Tool(name, None) => Some(name.clone()),
            Step::Tool(name, Some(progress)) => Some(format!("{name}: {progress}")),
            Step::Model => None,
        };
        let tools: Vec<String> = self.steps.iter().filter_map(tool).collect();
        match (tools.is_empty(), self.steps.is_empty()) {
            (true, true) => None,
            (true, false) => Some("the model is thinking".to_owned()),
            // A model that is asked meanwhile belongs to a sub-agent: it is the tool that the task waits for.
            (false, _) => Some(format!("running {}", tools.join(", "))),
        }
    }
}

/// Shows what the task waits for, until it has finished.
pub fn show(handle: &TaskHandle) -> JoinHandle<()> {
    let mut envelopes = handle.envelopes();
    tokio::spawn(async move {
        let mut waiting = Waiting::default();
        let mut shown = None;
        // A journal that cannot be read is for the task to tell.
        while let Ok(Some(envelope)) = envelopes.next().await {
            let Some(news) = News::of(&envelope) else { continue };
            waiting.on(news);
            let words = waiting.words();
            if words != shown {
                wait_for(words.clone());
                shown = words;
            }
        }
        wait_for(None);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_named_with_their_progress_and_the_model_when_none_runs() {
        let (chat, read, search) = (Id::fresh(), Id::fresh(), Id::fresh());
        let tool = |name: &str| Step::Tool(name.to_owned(), None);
        let mut waiting = Waiting::default();
        let mut after = |news| {
            waiting.on(news);
            waiting.words().unwrap_or_default()
        };
        assert_eq!(after(News::Begun(chat, Step::Model)), "the model is thinking");
        assert_eq!(after(News::Ended(chat)), "");
        assert_eq!(after(News::Begun(read, tool("read"))), "running read");
        assert_eq!(after(News::Begun(search, tool("search"))), "running read, search");
        assert_eq!(after(News::Progress(search, "三 of 9".into())), "running read, search: 三 of 9");
        assert_eq!(after(News::Progress(chat, "late".into())), "running read, search: 三 of 9");
        assert_eq!(after(News::Ended(read)), "running search: 三 of 9");
        assert_eq!(after(News::Ended(search)), "");
    }
}
