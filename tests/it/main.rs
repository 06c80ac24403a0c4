//! Whole-system tests: agents on a runtime, through the public API.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod child;
mod conversation;
mod double;
mod examples;
mod faults;
mod flow;
mod golden;
mod house;
mod journals;
mod kill;
mod script;
#[cfg(target_os = "linux")]
mod socket;
mod streams;
mod stress;
mod world;
