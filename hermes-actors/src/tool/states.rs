//! States: the program's own values (a pool, a client) that tools get beside their arguments, found by their type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A value of the program in the hands of a tool. Shared, and cheap to clone; it stands for the `T` inside.
///
/// A function under [`#[tool]`](macro@crate::tool) takes it as a parameter, which the model does not see. Set it with
/// `.state(value)` on the agent, or on one task. What changes wants a lock of its own inside: `State<Mutex<…>>`.
pub struct State<T>(Arc<T>);

impl<T> State<T> {
    /// Holds `value`: for tests, which call a tool's function directly.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("State").field(&&*self.0).finish()
    }
}

/// Values by their types, one of each. Cheap to clone: clones share what they hold, not what is inserted later.
///
/// ```
/// use hermes_actors::tool::States;
///
/// let mut agent = States::default();
/// agent.insert("eu-west");
/// agent.insert(7_u32);
/// let mut run = States::default();
/// run.insert("eu-north");
///
/// let both = run.over(&agent);
/// assert_eq!(both.get::<&str>().as_deref(), Some(&"eu-north"));
/// assert_eq!(both.get::<u32>().as_deref(), Some(&7));
/// assert!(both.get::<String>().is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct States(Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl States {
    /// Sets the value of its type, in the place of one that was there.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        let value = self.0.get(&TypeId::of::<T>())?.clone();
        value.downcast().ok().map(State)
    }

    /// All that is set here or in `below`; where both have a type, what is set here.
    #[must_use]
    pub fn over(&self, below: &States) -> States {
        match (self.is_empty(), below.is_empty()) {
            (true, _) => below.clone(),
            (_, true) => self.clone(),
            (false, false) => {
                let mut all = below.clone();
                Arc::make_mut(&mut all.0).extend(self.0.iter().map(|(key, value)| (*key, value.clone())));
                all
            }
        }
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether what a tool needs is set.
    pub fn meets(&self, need: &StateNeed) -> bool {
        self.0.contains_key(&need.type_id)
    }
}

/// A state that a tool cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateNeed {
    type_id: TypeId,
    type_name: &'static str,
}

impl StateNeed {
    /// The need of a `State<T>`.
    pub fn of<T: Send + Sync + 'static>() -> Self {
        Self { type_id: TypeId::of::<T>(), type_name: type_name::<T>() }
    }

    /// `State<Pool>`: the type as a reader of the program knows it, without the paths of its modules.
    pub fn words(&self) -> String {
        format!("State<{}>", without_paths(self.type_name))
    }
}

/// `alloc::vec::Vec<shop::Order>` → `Vec<Order>`.
fn without_paths(type_name: &str) -> String {
    let mut short = String::new();
    for piece in type_name.split("::") {
        let module = short.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        short.truncate(module);
        short.push_str(piece);
    }
    short
}

/// A tool needs a state that is nowhere set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` needs a `{state}`: set one with `.state(…)` on the agent or the task")]
#[non_exhaustive]
pub struct MissingState {
    /// The tool's name.
    pub tool: String,
    /// `State<Pool>`.
    pub state: String,
}

impl MissingState {
    pub(crate) fn new(tool: &str, need: &StateNeed) -> Self {
        Self { tool: tool.to_owned(), state: need.words() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_named_as_the_program_names_the_type() {
        type Orders = std::sync::Mutex<HashMap<String, Vec<MissingState>>>;
        assert_eq!(StateNeed::of::<Orders>().words(), "State<Mutex<HashMap<String, Vec<MissingState>>>>");
        assert_eq!(StateNeed::of::<(u8, &'static str)>().words(), "State<(u8, &str)>");
    }

    #[test]
    fn clones_do_not_see_what_is_inserted_later() {
        let mut states = States::default();
        let before = states.clone();
        states.insert(1_u8);
        assert!(before.is_empty() && states.meets(&StateNeed::of::<u8>()));
    }
}
