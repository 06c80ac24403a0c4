//! A hash for keys that are random or counted already: the writer looks them up for every envelope.

use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are ids.
pub(super) type IdMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Takes the last eight bytes that it is given, and spreads them. Not for keys that a stranger chooses freely.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk() {
            self.write_u64(u64::from_ne_bytes(*last));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Fibonacci hashing: neighbours come to lie far apart.
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// The length that stands before bytes says nothing here.
    fn write_usize(&mut self, _: usize) {}
}
