//! The bus seen from outside: each module is a topic, each test an example.

// Helpers outside of `#[test]` functions unwrap as well.
#![allow(clippy::unwrap_used)]

mod support;

mod addresses;
mod admission;
mod asks;
mod closing;
mod ends;
mod faults;
mod gates;
mod observers;
mod order;
mod payloads;
mod random;
mod rules;
mod shutdown;
mod stress;
mod timers;
mod traces;
