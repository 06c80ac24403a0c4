//! The attribute `#[tool]`, which makes a function into a tool of `hermes-actors`.
//!
//! One file for each step: `options` reads the attribute, `docs` the doc comment, `function` checks the
//! function against both, `expand` writes the code.

mod docs;
mod expand;
mod function;
mod options;

use options::Options;
use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Makes a function into a tool.
///
/// The function `get_weather` becomes a type `get_weather` that implements `hermes_actors::tool::Tool`, and a function
/// `get_weather()` that makes it; agents take either, `.tool(get_weather)`. As a plain function it is still there as
/// `get_weather::direct(…)` (also for its own recursion). A plain `fn` may block: it runs off the event loop. An
/// `async fn` is awaited there, and may be dropped at any of its awaits.
///
/// **Name**: the function's. **Description**: the doc comment, up to the section `# Arguments` (or `# 参数`). That
/// section describes the parameters, one list line each (`` - `city`: … ``, `- city - …`, `- city：…`); a parameter
/// may have a doc comment of its own instead.
///
/// **Parameters**: owned types that implement serde's `Deserialize` and schemars' `JsonSchema`; those of the
/// standard library need nothing in your `Cargo.toml`. An `Option` may be left out of a call. A leading `_` is not
/// part of a parameter's name for the model. Arguments that do not fit, unknown ones included, become an error that
/// tells the model which and why; a tool without parameters ignores what it is sent.
///
/// **Returns**: anything that implements `Serialize`, or a `Result` of that with an error that implements `Display`.
///
/// **Options**, all of them optional:
/// - `name = "…"`, `description = "…"`: instead of the function's
/// - `timeout = "500ms"`, `"5s"`, `"2m"`: how long one call may take
/// - one of `read_only`, `idempotent`, `destructive`: the effect; without, a call may change the world once
/// - `open_world`: it reaches other machines
///
/// An example that runs stands at the top of `hermes_actors::tool`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    let stub = expand::stub(&item);
    let tool = syn::parse::<Options>(options).and_then(|options| function::Function::check(options, item));
    match tool {
        Ok(function) => expand::tool(&function).into(),
        Err(error) => {
            let error = error.into_compile_error();
            quote::quote!(#error #stub).into()
        }
    }
}
