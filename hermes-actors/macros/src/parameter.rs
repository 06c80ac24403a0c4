//! The parameters: what the model gives, what the program gives, and what neither can be.

use crate::docs;
use crate::mistakes::Mistakes;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, FnArg, GenericArgument, Ident, Lifetime, Pat, PatType, Path, PathArguments, PathSegment,
    Signature, Type, TypePath,
};

/// One parameter.
pub struct Parameter {
    pub ident: Ident,
    pub ty: Type,
    pub role: Role,
}

/// Where its value comes from.
pub enum Role {
    /// The model.
    Argument(Argument),
    /// What the program has set: a `State` of this type.
    State(Type),
    /// The call: a `ToolContext`, or a reference to one.
    Context(Passing),
}

/// How a `ToolContext` is taken.
pub enum Passing {
    ByValue,
    ByReference,
}

/// What the model knows of a parameter.
pub struct Argument {
    /// Without `r#` and leading underscores.
    pub name: String,
    pub description: Option<String>,
    pub default: Option<Expr>,
}

/// The parameters of `sig`. Their doc comments and `#[default]`s are taken out of it, where Rust does not allow them.
pub fn take(sig: &mut Signature, mistakes: &mut Mistakes) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for input in &mut sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let Some(ident) = name_of(typed, mistakes) else { continue };
        let parameter = Parameter { ident, ty: (*typed.ty).clone(), role: role(typed, mistakes) };
        check_beside(&parameter, &parameters, mistakes);
        typed.attrs.retain(|attribute| !is_ours(attribute));
        parameters.push(parameter);
    }
    parameters
}

/// Takes what only `#[tool]` understands from the parameters of a function that is no tool because of a mistake.
pub fn strip(sig: &mut Signature) {
    for input in &mut sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attribute| !is_ours(attribute));
        }
    }
}

fn name_of(typed: &PatType, mistakes: &mut Mistakes) -> Option<Ident> {
    match &*typed.pat {
        Pat::Ident(pat)
            if pat.by_ref.is_none() && pat.subpat.is_none() && !exported_name(&pat.ident).is_empty() =>
        {
            Some(pat.ident.clone())
        }
        pat => {
            mistakes.add(pat, "a tool's parameter needs a name, because the model gives arguments by name");
            None
        }
    }
}

fn exported_name(ident: &Ident) -> String {
    ident.unraw().to_string().trim_start_matches('_').to_owned()
}

fn role(typed: &PatType, mistakes: &mut Mistakes) -> Role {
    let default = default_of(typed, mistakes);
    let role = match given_by_the_program(&typed.ty) {
        Some(role) => role,
        None => {
            Owned(mistakes).visit_type(&typed.ty);
            let description = Some(docs::text(&typed.attrs)).filter(|text| !text.is_empty());
            let name = match &*typed.pat {
                Pat::Ident(pat) => exported_name(&pat.ident),
                _ => String::new(),
            };
            Role::Argument(Argument { name, description, default: default.clone() })
        }
    };
    match (&role, &default) {
        (Role::State(_) | Role::Context(_), Some(default)) => {
            mistakes.add(default, "the program gives this parameter, not the model: it has no default")
        }
        (Role::Argument(_), Some(default))
            if last_segment(&typed.ty).is_some_and(|s| s.ident == "Option") =>
        {
            mistakes.add(
                default,
                "an Option may be left out already, and is None then: take the type inside it, with this default",
            );
        }
        _ => {}
    }
    role
}

/// What the attributes say of a default; the others must be such as may stand there.
fn default_of(typed: &PatType, mistakes: &mut Mistakes) -> Option<Expr> {
    let mut default = None;
    for attribute in &typed.attrs {
        if attribute.path().is_ident("default") {
            match attribute.parse_args::<Expr>() {
                Ok(value) if default.is_none() => default = Some(value),
                Ok(_) => mistakes.add(attribute, "a parameter has one default"),
                Err(_) => mistakes.add(attribute, "a default is written with its value: #[default(7)]"),
            }
        } else if !may_stay(attribute) && !is_ours(attribute) {
            mistakes.add(
                attribute,
                "#[tool] understands doc comments, #[default(…)] and lint levels on a parameter, nothing else",
            );
        }
    }
    default
}

fn check_beside(new: &Parameter, others: &[Parameter], mistakes: &mut Mistakes) {
    match &new.role {
        Role::Context(_) if others.iter().any(|other| matches!(other.role, Role::Context(_))) => {
            mistakes.add(&new.ty, "a call has one ToolContext: take it once");
        }
        Role::Argument(Argument { name, .. }) if others.iter().any(|other| other.is_named(name)) => {
            let message =
                format!("for the model, two parameters are named `{name}`: leading underscores do not count");
            mistakes.add(&new.ident, &message);
        }
        _ => {}
    }
}

impl Parameter {
    fn is_named(&self, wanted: &str) -> bool {
        matches!(&self.role, Role::Argument(Argument { name, .. }) if name == wanted)
    }

    /// Its argument, where the model gives it.
    pub fn argument(&self) -> Option<&Argument> {
        match &self.role {
            Role::Argument(argument) => Some(argument),
            Role::State(_) | Role::Context(_) => None,
        }
    }
}

/// The role of a type that never comes from the model, known by its name.
fn given_by_the_program(ty: &Type) -> Option<Role> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() && is_context(&reference.elem) => {
            Some(Role::Context(Passing::ByReference))
        }
        ty if is_context(ty) => Some(Role::Context(Passing::ByValue)),
        ty => inside_state(last_segment(ty)?).cloned().map(Role::State),
    }
}

fn is_context(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "ToolContext")
}

/// The `T` of a `State<T>`.
fn inside_state(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let mut arguments = arguments.args.iter();
    match (segment.ident == "State", arguments.next(), arguments.next()) {
        (true, Some(GenericArgument::Type(ty)), None) => Some(ty),
        _ => None,
    }
}

/// `State<Pool>`, where a parameter has a type that may be the program's own: none that Rust knows.
pub fn as_state(ty: &Type) -> Option<String> {
    const OF_RUST: [&str; 25] = [
        "String", "str", "char", "bool", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
        "i64", "i128", "isize", "f32", "f64", "Option", "Vec", "Box", "HashMap", "BTreeMap", "HashSet",
        "BTreeSet",
    ];
    let segment = last_segment(ty)?;
    let name = segment.ident.to_string();
    let inside = if segment.arguments.is_none() { "" } else { "<…>" };
    (!OF_RUST.contains(&name.as_str())).then(|| format!("State<{name}{inside}>"))
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(TypePath { qself: None, path, .. }) => path.segments.last(),
        _ => None,
    }
}

/// Finds what an argument, which comes from JSON and is owned, cannot be.
struct Owned<'a>(&'a mut Mistakes);

impl Owned<'_> {
    fn add(&mut self, place: impl ToTokens, message: &str) {
        self.0.add(place, message);
    }
}

impl<'ast> Visit<'ast> for Owned<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            _ if last_segment(ty).is_some_and(|segment| inside_state(segment).is_some()) => {
                let message = "a `State` stands alone, not inside another type: take `State<T>` itself. It is always \
                               set, because a task does not start without it";
                self.add(ty, message);
            }
            _ if is_context(ty) => self.add(ty, "a `ToolContext` stands alone, not inside another type"),
            Type::Reference(reference)
                if last_segment(&reference.elem).is_some_and(|s| inside_state(s).is_some()) =>
            {
                self.add(ty, "a `State` is cheap to clone: take it by value, without `&`");
            }
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

    fn visit_path(&mut self, path: &'ast Path) {
        if path.segments.first().is_some_and(|segment| segment.ident == "Self") {
            return self.add(path, "a tool's schema is made elsewhere: name the type instead of `Self`");
        }
        visit::visit_path(self, path);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            self.add(lifetime, "a tool's arguments are owned: they cannot borrow");
        }
    }
}

/// Whether an attribute on a parameter is for `#[tool]` alone.
fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") || attribute.path().is_ident("default")
}

fn may_stay(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|level| attribute.path().is_ident(level))
}
