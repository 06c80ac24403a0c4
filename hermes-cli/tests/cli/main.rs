//! The program, started as its users start it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod chat;
mod completions;
mod config;
mod demo;
mod endings;
mod inputs;
mod server;
mod settings;
mod support;
mod terminal;
mod tools;
mod verify;
