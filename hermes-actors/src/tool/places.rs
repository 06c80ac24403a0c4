//! Places: how many calls of one tool may run at once in the whole process.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

/// What makes two tools one: the type behind them, the name, and how many places it is said to have.
type Identity = (TypeId, String, u32);

static PLACES: LazyLock<Mutex<HashMap<Identity, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

/// The places of a tool, the same ones for every agent and runtime of the process. Who waits gets one in turn.
pub(crate) fn places(tool: TypeId, name: &str, max_concurrent: u32) -> Arc<Semaphore> {
    // Nothing in here panics half-way, so a poisoned lock still guards whole data.
    let mut all = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = (tool, name.to_owned(), max_concurrent);
    if let Some(there) = all.get(&identity).and_then(Weak::upgrade) {
        return there;
    }
    all.retain(|_, places| places.strong_count() > 0);
    let places = Arc::new(Semaphore::new(max_concurrent as usize));
    all.insert(identity, Arc::downgrade(&places));
    places
}
