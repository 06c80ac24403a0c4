//! The struct of the arguments: what schema and arguments are made from.

use crate::parameter::{Argument, Parameter};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit, Type};

/// One private struct `__Arguments` with a field for each parameter that the model gives.
pub fn define(parameters: &[Parameter]) -> TokenStream {
    let arguments: Vec<_> =
        parameters.iter().filter_map(|parameter| Some((parameter, parameter.argument()?))).collect();
    let fields = arguments.iter().enumerate().map(|(at, (parameter, argument))| {
        let Parameter { ident, ty, .. } = parameter;
        let Argument { name, description, default } = argument;
        let description = description.iter();
        let default = default.iter().map(|_| {
            let (value, reader) = (value_of(at).to_string(), reader_of(at).to_string());
            quote!(#[serde(default = #value, deserialize_with = #reader)])
        });
        quote! {
            #[serde(rename = #name)]
            #(#[schemars(description = #description)])*
            #(#default)*
            #ident: #ty
        }
    });
    // Before what is derived, so that the compiler says first what to do about a type that will not do.
    let checks = arguments.iter().map(|(Parameter { ty, .. }, _)| {
        quote_spanned!(ty.span()=> ::hermes_actors::tool::private::is_argument::<#ty>();)
    });
    let defaults = arguments.iter().enumerate().filter_map(|(at, (parameter, argument))| {
        Some(define_default(at, &parameter.ty, argument.default.as_ref()?))
    });
    // Small models fill the empty object of a tool without parameters with something or other.
    let strict = (!arguments.is_empty()).then(|| quote!(#[serde(deny_unknown_fields)]));
    quote! {
        const _: fn() = || {
            #(#checks)*
        };

        #[allow(non_snake_case)]
        #[derive(::hermes_actors::tool::private::serde::Deserialize, ::hermes_actors::tool::private::schemars::JsonSchema)]
        #[serde(crate = "::hermes_actors::tool::private::serde")]
        #[schemars(crate = "::hermes_actors::tool::private::schemars")]
        #strict
        struct __Arguments {
            #(#fields),*
        }
        #(#defaults)*
    }
}

/// Two functions: the default value, and what reads an argument that has one, because models send `null` for what
/// they leave out.
fn define_default(at: usize, ty: &Type, default: &Expr) -> TokenStream {
    let (value, reader) = (value_of(at), reader_of(at));
    let default = match default {
        // So that "北京" may stand for a String.
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => quote!(::core::convert::From::from(#text)),
        other => quote!(#other),
    };
    quote! {
        fn #value() -> #ty {
            #default
        }
        fn #reader<'de, D>(deserializer: D) -> ::core::result::Result<#ty, D::Error>
        where
            D: ::hermes_actors::tool::private::serde::Deserializer<'de>,
        {
            ::hermes_actors::tool::private::or_default(deserializer, #value)
        }
    }
}

fn value_of(at: usize) -> Ident {
    format_ident!("__default_{at}")
}

fn reader_of(at: usize) -> Ident {
    format_ident!("__read_{at}")
}
