//! Rules: interceptors that decide at once, before an envelope is journaled.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::envelope::RULE;
use crate::{Body, Draft, EnvelopeFailed, FailureKind};

/// What a rule says of an envelope.
#[derive(Debug)]
pub enum Verdict {
    /// It may go as it is.
    Pass,
    /// It carries this instead. The id is kept; what is journaled and delivered is the new payload, and
    /// `meta.rule` names the rule.
    Replace(Body),
    /// The ask is journaled and ended as `rejected`, for this reason. An event cannot be rejected: it passes.
    Reject(String),
}

/// Looks at every envelope before it is journaled. No waiting and no I/O here: for that there are gates.
pub trait Rule: Send + Sync + 'static {
    /// Judges one envelope.
    fn judge(&self, draft: &Draft) -> Verdict;
}

impl<F: Fn(&Draft) -> Verdict + Send + Sync + 'static> Rule for F {
    fn judge(&self, draft: &Draft) -> Verdict {
        self(draft)
    }
}

/// Applies all rules in order; gives the draft and, when one rejected it, its end.
pub(crate) fn apply(rules: &[(String, Box<dyn Rule>)], mut draft: Draft) -> (Draft, Option<EnvelopeFailed>) {
    for (name, rule) in rules {
        match judged(name, &**rule, &draft) {
            Verdict::Pass => {}
            Verdict::Replace(body) => draft = replaced(draft, body, name),
            Verdict::Reject(why) if draft.body.kind().is_ask() => {
                return (named(draft, name), Some(EnvelopeFailed::new(FailureKind::Rejected, why)));
            }
            Verdict::Reject(why) => {
                tracing::warn!(
                    rule = name,
                    name = draft.body.name(),
                    why,
                    "a rule cannot reject an event: it passes"
                );
            }
        }
    }
    (draft, None)
}

/// What the rule says. One that panics rejects, as far as it can: what it should have looked at does not pass unseen.
fn judged(name: &str, rule: &dyn Rule, draft: &Draft) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| rule.judge(draft)))
        .unwrap_or_else(|_| Verdict::Reject(format!("the rule `{name}` broke down: this is a bug in it")))
}

fn replaced(draft: Draft, body: Body, rule: &str) -> Draft {
    if body.kind() == draft.body.kind() && body.name() == draft.body.name() {
        return Draft { body, ..named(draft, rule) };
    }
    tracing::warn!(
        rule,
        name = draft.body.name(),
        with = body.name(),
        "a rule must keep name and kind: it passes"
    );
    draft
}

fn named(draft: Draft, rule: &str) -> Draft {
    let mut meta: BTreeMap<String, String> = draft.meta.as_deref().cloned().unwrap_or_default();
    meta.insert(RULE.to_owned(), rule.to_owned());
    Draft { meta: Some(Arc::new(meta)), ..draft }
}
