//! The program, started as its users start it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod demo;
mod endings;
mod inputs;
mod server;
mod support;
mod verify;
