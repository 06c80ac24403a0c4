//! The function: what `#[tool]` was put on, free or a method, checked, with everything that a tool needs to know of it.

use crate::docs::{Docs, ParameterDoc};
use crate::mistakes::Mistakes;
use crate::options::{Options, check_name};
use crate::parameter::{self, Argument, Parameter};
use syn::ext::IdentExt;
use syn::{Attribute, Error, FnArg, Ident, Receiver, ReceiverKind, Result, ReturnType, Safety, Signature};

/// A function that can be a tool.
pub struct Function {
    pub ident: Ident,
    /// The tool's name, which every provider accepts.
    pub name: String,
    /// What the tool says of itself; empty only where that was asked for.
    pub description: String,
    pub parameters: Vec<Parameter>,
    pub options: Options,
    /// Whether it is an `async fn`.
    pub is_async: bool,
    pub output: ReturnType,
}

/// Where a function stands.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Free,
    Impl,
}

impl Function {
    /// Checks a function against its options and its doc comment, and takes from the signature what only `#[tool]`
    /// understands.
    ///
    /// # Errors
    /// All the mistakes of its signature at once, or else those of its words.
    pub fn check(
        options: Options,
        attributes: &[Attribute],
        sig: &mut Signature,
        place: Place,
    ) -> Result<Self> {
        let mut mistakes = Mistakes::default();
        check_signature(sig, place, &mut mistakes);
        let mut parameters = parameter::take(sig, &mut mistakes);
        mistakes.check()?;
        let docs = Docs::read(attributes)?;
        describe(&mut parameters, docs.parameters)?;
        let ident = sig.ident.clone();
        let name = match &options.name {
            Some(name) => name.value(),
            None => own_name(&ident)?,
        };
        let description = match &options.description {
            Some(description) => description.value().trim().to_owned(),
            None => docs.description,
        };
        if options.undocumented.is_none() {
            check_described(&ident, &description, &parameters)?;
        }
        let (is_async, output) = (sig.asyncness.is_some(), sig.output.clone());
        Ok(Self { ident, name, description, parameters, options, is_async, output })
    }
}

fn own_name(ident: &Ident) -> Result<String> {
    let name = ident.unraw().to_string();
    check_name(&name).map_err(|fault| Error::new(ident.span(), fault))?;
    Ok(name)
}

fn check_signature(sig: &Signature, place: Place, mistakes: &mut Mistakes) {
    if !sig.generics.params.is_empty() {
        mistakes.add(
            &sig.generics,
            "a tool cannot be generic: its schema comes from the types of its parameters",
        );
    }
    if let Safety::Unsafe(token) = &sig.safety {
        mistakes.add(token, "a tool cannot be unsafe: a model chooses its arguments");
    }
    if let Some(abi) = &sig.abi {
        mistakes.add(abi, "a tool is a plain function of Rust, without another ABI");
    }
    match (place, sig.inputs.first()) {
        (Place::Free, Some(FnArg::Receiver(receiver))) => mistakes.add(
            receiver,
            "a tool with `self` is a method: write #[tool] above its `impl` block too. A free function takes what it \
             shares as a parameter `State<T>`",
        ),
        (Place::Impl, Some(FnArg::Receiver(receiver))) if !is_shared(receiver) => mistakes.add(
            receiver,
            "calls run at once and share the value: take `&self`, and put what changes behind a lock inside",
        ),
        (Place::Impl, None | Some(FnArg::Typed(_))) => {
            mistakes.add(&sig.ident, "a method that is a tool takes `&self`; without it, make it a free function");
        }
        _ => {}
    }
}

/// Whether it is `&self`, plainly.
fn is_shared(receiver: &Receiver) -> bool {
    matches!(receiver.kind, ReceiverKind::Reference(_, _, None))
}

/// Gives each parameter the description that the section on arguments has for it. What the program gives may be
/// described too: for readers of the code, not for the model.
fn describe(parameters: &mut [Parameter], documented: Vec<ParameterDoc>) -> Result<()> {
    for ParameterDoc { name, text, span } in documented {
        let is_meant = |parameter: &&mut Parameter| {
            parameter.ident == name || parameter.argument().is_some_and(|argument| argument.name == name)
        };
        let Some(found) = parameters.iter_mut().find(is_meant) else {
            return Err(Error::new(span, no_such_parameter(&name, parameters)));
        };
        let parameter::Role::Argument(Argument { description, .. }) = &mut found.role else { continue };
        if description.is_some() {
            return Err(Error::new(span, format!("the parameter `{name}` is described twice")));
        }
        *description = Some(text).filter(|text| !text.is_empty());
    }
    Ok(())
}

fn no_such_parameter(name: &str, parameters: &[Parameter]) -> String {
    let known = parameters.iter().filter_map(Parameter::argument);
    let known: Vec<String> = known.map(|argument| format!("`{}`", argument.name)).collect();
    let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
    format!("the function has no parameter `{name}`: {known}")
}

fn check_described(ident: &Ident, description: &str, parameters: &[Parameter]) -> Result<()> {
    let mut mistakes = Mistakes::default();
    if description.is_empty() {
        mistakes.add(
            ident,
            "a tool needs a description, because models choose tools by it: write a doc comment above the function, \
             #[tool(description = \"…\")], or #[tool(undocumented)]",
        );
    }
    for Parameter { ident, ty, role } in parameters {
        if let parameter::Role::Argument(Argument { name, description: None, .. }) = role {
            let given = parameter::as_state(ty)
                .map(|state| format!("; or take `{state}` if the program gives it"))
                .unwrap_or_default();
            let message = format!(
                "the model must know what to give for `{name}`: write `/// …` above the parameter, a line \
                 `- {name}: …` under `# Arguments` in the doc comment, or #[tool(undocumented)]{given}"
            );
            mistakes.add(ident, &message);
        }
    }
    mistakes.check()
}
