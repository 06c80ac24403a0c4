//! The methods: an `impl` block under `#[tool]`, and those of its methods that are tools.

use crate::function::{Function, Place};
use crate::mistakes::Mistakes;
use crate::options::Options;
use crate::parameter;
use proc_macro2::TokenStream;
use syn::{Attribute, Error, ImplItem, ImplItemFn, ItemImpl, Result};

/// What is found in an `impl` block.
pub struct Methods {
    /// The block, as plain Rust.
    pub item: ItemImpl,
    /// The tools, or all that is wrong with them.
    pub tools: Result<Vec<Method>>,
}

/// One method that is a tool.
pub struct Method {
    pub function: Function,
    /// Its `#[cfg]`s.
    pub conditions: Vec<Attribute>,
}

impl Methods {
    /// Reads a block, of which `options` stand above.
    pub fn read(options: TokenStream, mut item: ItemImpl) -> Self {
        let mut mistakes = Mistakes::default();
        check_block(options, &item, &mut mistakes);
        let mut tools = Vec::new();
        for item in &mut item.items {
            if let ImplItem::Fn(method) = item {
                match take(method) {
                    Some(Ok(tool)) => tools.push(tool),
                    Some(Err(error)) => mistakes.push(error),
                    None => {}
                }
            }
        }
        let tools = mistakes.check().and_then(|()| some(tools, &item));
        Self { item, tools }
    }
}

fn check_block(options: TokenStream, item: &ItemImpl, mistakes: &mut Mistakes) {
    if !options.is_empty() {
        mistakes.add(options, "above an `impl` block #[tool] has no options: they stand above each method");
    }
    if let Some((path, _)) = &item.trait_ {
        mistakes.add(path, "tools are methods of a type itself, not of a trait");
    }
    if !item.generics.params.is_empty() {
        mistakes.add(&item.generics, "tools cannot be methods of a generic type: write them for one type");
    }
}

/// The tool that a method is, if it is marked as one; the mark is taken away.
fn take(method: &mut ImplItemFn) -> Option<Result<Method>> {
    let at = method.attrs.iter().position(is_mark)?;
    let mark = method.attrs.remove(at);
    let checked = Options::of(&mark)
        .and_then(|options| Function::check(options, &method.attrs, &mut method.sig, Place::Impl));
    parameter::strip(&mut method.sig);
    let conditions = method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned();
    Some(checked.map(|function| Method { function, conditions: conditions.collect() }))
}

/// Whether it is `#[tool]`, under whatever path.
fn is_mark(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "tool")
}

fn some(tools: Vec<Method>, item: &ItemImpl) -> Result<Vec<Method>> {
    if tools.is_empty() {
        let message = "none of these methods is a tool: write #[tool] above each that a model may call";
        return Err(Error::new_spanned(&item.self_ty, message));
    }
    Ok(tools)
}
