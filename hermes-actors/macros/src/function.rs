//! The function: what `#[tool]` was put on, checked, with everything that a tool needs to know of it.

use crate::docs::{self, Docs, ParameterDoc};
use crate::options::{Options, check_name};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Error, FnArg, Ident, ItemFn, Lifetime, Pat, PatType, Result, Safety, Signature, Type};

/// A function that can be a tool.
pub struct Function {
    /// As it was written, without doc comments on its parameters.
    pub item: ItemFn,
    /// The tool's name, which every provider accepts.
    pub name: String,
    /// What the tool says of itself; not empty.
    pub description: String,
    pub parameters: Vec<Parameter>,
    pub options: Options,
}

/// One parameter.
pub struct Parameter {
    pub ident: Ident,
    /// Its name for the model: without `r#` and leading underscores.
    pub name: String,
    pub ty: Type,
    pub description: Option<String>,
}

impl Function {
    /// Checks `item` against its options and its doc comment.
    ///
    /// # Errors
    /// All the mistakes of its signature at once, or else the first of the others.
    pub fn check(options: Options, mut item: ItemFn) -> Result<Self> {
        check_signature(&item.sig)?;
        let docs = Docs::read(&item.attrs)?;
        let mut parameters = parameters(&mut item.sig)?;
        describe(&mut parameters, docs.parameters)?;
        let ident = &item.sig.ident;
        let name = match &options.name {
            Some(name) => name.value(),
            None => own_name(ident)?,
        };
        let description = match &options.description {
            Some(description) => description.value().trim().to_owned(),
            None => docs.description,
        };
        if description.is_empty() {
            return Err(Error::new(
                ident.span(),
                "a tool needs a description, because models choose tools by it: write a doc comment above the \
                 function, or #[tool(description = \"…\")]",
            ));
        }
        Ok(Self { item, name, description, parameters, options })
    }
}

fn own_name(ident: &Ident) -> Result<String> {
    let name = ident.unraw().to_string();
    check_name(&name).map_err(|fault| Error::new(ident.span(), fault))?;
    Ok(name)
}

fn check_signature(sig: &Signature) -> Result<()> {
    let mut mistakes = Mistakes::default();
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
    for input in &sig.inputs {
        match input {
            FnArg::Receiver(receiver) => mistakes.add(
                receiver,
                "a tool is a free function, without `self`: for a tool that holds state, implement the trait `Tool`",
            ),
            FnArg::Typed(parameter) => mistakes.check_parameter(parameter),
        }
    }
    mistakes.0.map_or(Ok(()), Err)
}

/// All the mistakes found so far.
#[derive(Default)]
struct Mistakes(Option<Error>);

impl Mistakes {
    fn add(&mut self, place: impl ToTokens, message: &str) {
        let error = Error::new_spanned(place, message);
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn check_parameter(&mut self, parameter: &PatType) {
        let usable = match &*parameter.pat {
            Pat::Ident(pat) => {
                pat.by_ref.is_none() && pat.subpat.is_none() && !exported_name(&pat.ident).is_empty()
            }
            _ => false,
        };
        if !usable {
            self.add(
                &parameter.pat,
                "a tool's parameter needs a name, because the model gives arguments by name",
            );
        }
        for attribute in parameter.attrs.iter().filter(|attribute| !may_stay(attribute) && !is_doc(attribute))
        {
            self.add(
                attribute,
                "#[tool] understands doc comments and lint levels on a parameter, nothing else",
            );
        }
        self.visit_type(&parameter.ty);
    }
}

/// Finds what an argument, which comes from JSON and is owned, cannot be.
impl<'ast> Visit<'ast> for Mistakes {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Reference(_) => {
                self.add(
                    ty,
                    "a tool's arguments are owned: take String instead of &str, Vec<T> instead of &[T]",
                );
            }
            Type::ImplTrait(_) => {
                self.add(
                    ty,
                    "a tool's schema comes from the types of its parameters: name the type instead of `impl`",
                );
            }
            _ => visit::visit_type(self, ty),
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            self.add(lifetime, "a tool's arguments are owned: they cannot borrow");
        }
    }
}

fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

fn may_stay(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|level| attribute.path().is_ident(level))
}

fn exported_name(ident: &Ident) -> String {
    ident.unraw().to_string().trim_start_matches('_').to_owned()
}

/// The parameters; their doc comments are taken out of the signature, where Rust does not allow them.
fn parameters(sig: &mut Signature) -> Result<Vec<Parameter>> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for input in &mut sig.inputs {
        let FnArg::Typed(PatType { attrs, pat, ty, .. }) = input else { continue };
        let Pat::Ident(pat) = &**pat else { continue };
        let name = exported_name(&pat.ident);
        if parameters.iter().any(|other| other.name == name) {
            let message =
                format!("for the model, two parameters are named `{name}`: leading underscores do not count");
            return Err(Error::new(pat.ident.span(), message));
        }
        let description = Some(docs::text(attrs)).filter(|text| !text.is_empty());
        attrs.retain(|attribute| !is_doc(attribute));
        parameters.push(Parameter { ident: pat.ident.clone(), name, ty: (**ty).clone(), description });
    }
    Ok(parameters)
}

/// Gives each parameter the description that the section on arguments has for it.
fn describe(parameters: &mut [Parameter], documented: Vec<ParameterDoc>) -> Result<()> {
    for doc in documented {
        let ParameterDoc { name, text, span } = doc;
        let found = parameters.iter_mut().find(|parameter| parameter.name == name || parameter.ident == name);
        match found {
            Some(Parameter { description: Some(_), .. }) => {
                return Err(Error::new(span, format!("the parameter `{name}` is described twice")));
            }
            Some(parameter) => parameter.description = Some(text).filter(|text| !text.is_empty()),
            None => {
                let known: Vec<String> =
                    parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
                let known = if known.is_empty() {
                    "it has none".into()
                } else {
                    format!("it has {}", known.join(", "))
                };
                return Err(Error::new(span, format!("the function has no parameter `{name}`: {known}")));
            }
        }
    }
    Ok(())
}
