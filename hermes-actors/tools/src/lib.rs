//! The tools that come with Hermes. So far: [`Files`], which lets a model read below one folder and nowhere else.

mod files;

pub use files::{Files, FilesError};
