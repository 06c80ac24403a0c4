//! The declaration: what the tool says of itself, and the states that it needs.

use crate::function::Function;
use crate::parameter::{Parameter, Role};
use proc_macro2::TokenStream;
use quote::quote;

/// An expression of the type `Declaration`.
pub fn of(function: &Function) -> TokenStream {
    let Function { name, description, options, .. } = function;
    let effect = options.effect.as_ref().map(|effect| {
        let variant = match effect.to_string().as_str() {
            "read_only" => quote!(ReadOnly),
            "idempotent" => quote!(Idempotent),
            _ => quote!(Destructive),
        };
        quote!(.effect(::hermes_actors::tool::Effect::#variant))
    });
    let open_world = options.open_world.map(|_| quote!(.open_world()));
    let repeatable = options.repeatable.map(|_| quote!(.repeatable()));
    let timeout =
        options.timeout.map(|timeout| quote!(.timeout(::core::time::Duration::from_millis(#timeout))));
    let max_concurrent = options.max_concurrent.map(|count| {
        let calls = count.number;
        quote!(.max_concurrent(#calls))
    });
    let retries = options.retries.map(|count| {
        let times = count.number;
        quote!(.retries(#times))
    });
    quote! {
        ::hermes_actors::tool::Declaration::of::<__Arguments>(#name, #description)
            #effect #open_world #repeatable #timeout #max_concurrent #retries
    }
}

/// The method `needs`, where there is something to say.
pub fn needs(parameters: &[Parameter]) -> Option<TokenStream> {
    let states: Vec<_> = parameters
        .iter()
        .filter_map(|parameter| match &parameter.role {
            Role::State(ty) => Some(ty),
            Role::Argument(_) | Role::Context(_) => None,
        })
        .collect();
    let needs = quote! {
        fn needs(&self) -> ::std::vec::Vec<::hermes_actors::tool::StateNeed> {
            ::std::vec![#(::hermes_actors::tool::StateNeed::of::<#states>()),*]
        }
    };
    (!states.is_empty()).then_some(needs)
}
