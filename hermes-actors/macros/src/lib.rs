//! The attribute `#[tool]`, which makes functions and methods into tools of `hermes-actors`.
//!
//! One file for each step: `options` reads the attribute, `docs` the doc comment, `parameter` and `function` check what
//! stands below, `methods` finds them in an `impl` block, and `expand` writes the code. `mistakes` gathers what is wrong.

mod docs;
mod expand;
mod function;
mod methods;
mod mistakes;
mod options;
mod parameter;

use function::{Function, Place};
use methods::Methods;
use options::Options;
use proc_macro::TokenStream;
use syn::{Error, FnArg, Item, ItemFn, parse_macro_input};

/// Makes a function, or the marked methods of an `impl` block, into tools.
///
/// The function `get_weather` becomes a type `get_weather` that implements `hermes_actors::tool::Tool`, and a function
/// `get_weather()` that makes it; agents take either, `.tool(get_weather)`. As a plain function it is still there as
/// `get_weather::direct(…)` (also for its own recursion). A plain `fn` may block: it runs off the event loop. An
/// `async fn` is awaited there, and may be dropped at any of its awaits.
///
/// Above an **`impl` block**, every method that has a `#[tool]` of its own becomes a tool over one shared value, and
/// the block stays as it is; an agent takes them all, `.tools(weather)`. They take `&self`.
///
/// **Name**: the function's. **Description**: the doc comment, up to the section `# Arguments` (or `# 参数`). That
/// section describes the parameters, one list line each (`` - `city`: … ``, `- city - …`, `- city：…`); a parameter
/// may have a doc comment of its own instead.
///
/// **Parameters**: owned types that implement serde's `Deserialize` and schemars' `JsonSchema`; those of the
/// standard library need nothing in your `Cargo.toml`. An `Option` may be left out of a call, and so may what has
/// `#[default(…)]`, whose value the model reads. A leading `_` is not part of a parameter's name for the model.
/// Arguments that do not fit, unknown ones included, become an error that tells the model all that is wrong; a tool without
/// parameters ignores what it is sent. Two kinds the model does not see: `State<T>`, which the agent or the task was
/// given, and one `ToolContext` (or `&ToolContext`). They are known by these names.
///
/// **Returns**: anything that implements `Serialize`, a `ToolOutput` or an `Image`; or a `Result` of that with an error
/// that implements `Display`.
///
/// **Options**, all of them optional:
/// - `name = "…"`, `description = "…"`: instead of the function's
/// - `timeout = "500ms"`, `"5s"`, `"2m"`: how long one call may take
/// - one of `read_only`, `idempotent`, `destructive`: the effect; without, a call may change the world once. What is
///   `destructive` is refused: approvals are not there yet
/// - `open_world`: it reaches other machines
/// - `retries = 2`: a call that failed is tried again so often, with back-off, within its timeout; only for `read_only`
///   and `idempotent`. Every `Err` is tried again; unusable arguments, panics and a `ToolError::permanent` are not
/// - `max_concurrent = 2`: so many calls run at once in the whole process
/// - `summary = function`: the model reads what this makes of `&T`, the value returned; the journal keeps the whole
/// - `repeatable`: equal calls one after the other are what it is for (declared; nothing guards against repeats yet)
/// - `undocumented`: neither it nor its parameters must be described
///
/// An example that runs stands at the top of `hermes_actors::tool`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = match parse_macro_input!(item as Item) {
        Item::Fn(item) => of_function(options, item),
        Item::Impl(item) => expand::methods(&Methods::read(options.into(), item)),
        other => {
            let message = "#[tool] stands above a function, or above an `impl` block and those of its methods that are \
                           tools";
            let error = Error::new_spanned(&other, message).into_compile_error();
            quote::quote!(#error #other)
        }
    };
    expanded.into()
}

fn of_function(options: TokenStream, mut item: ItemFn) -> proc_macro2::TokenStream {
    let is_method = matches!(item.sig.inputs.first(), Some(FnArg::Receiver(_)));
    let checked = syn::parse::<Options>(options)
        .and_then(|options| Function::check(options, &item.attrs, &mut item.sig, Place::Free));
    match checked {
        Ok(function) => expand::tool(&function, &item),
        Err(error) => {
            let error = error.into_compile_error();
            // Among methods no struct can stand.
            let stub = (!is_method).then(|| expand::stub(&item));
            quote::quote!(#error #stub)
        }
    }
}
