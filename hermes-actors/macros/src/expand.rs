//! The expansion: the code that stands in the place of a function under `#[tool]`.

use crate::function::{Function, Parameter};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, ItemFn, ReturnType};

/// A struct without fields with the function as `direct`, its `impl Tool`, and a function of the same name that makes
/// it: a name that is a function, unlike a constant or a unit struct, may be shadowed by a `let`.
pub fn tool(function: &Function) -> TokenStream {
    let ItemFn { attrs, vis, sig, block, .. } = &function.item;
    let ident = &sig.ident;
    let description = &function.description;
    let conditions: Vec<&Attribute> =
        attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let mut direct = sig.clone();
    direct.ident = syn::Ident::new("direct", ident.span());
    let undocumented = !attrs.iter().any(|attribute| attribute.path().is_ident("doc"));
    let documentation = undocumented.then(|| quote!(#[doc = #description]));
    let arguments = arguments_struct(&function.parameters);
    let implementation = implementation(function);
    quote! {
        #(#conditions)*
        #[doc = #description]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #ident {}

        #(#conditions)*
        #[doc = #description]
        #vis fn #ident() -> #ident {
            #ident {}
        }

        #(#conditions)*
        impl #ident {
            #documentation
            #(#attrs)*
            #vis #direct #block
        }

        #(#conditions)*
        const _: () = {
            #arguments
            #implementation
        };
    }
}

/// A tool that is there in name only, so that a mistake in one is not followed by errors wherever it is used.
pub fn stub(item: &ItemFn) -> TokenStream {
    let ItemFn { vis, sig, .. } = item;
    let ident = &sig.ident;
    let signature = call_signature();
    quote! {
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #ident {}

        #[allow(missing_docs)]
        #vis fn #ident() -> #ident {
            #ident {}
        }

        const _: () = {
            #[::hermes_actors::tool::private::async_trait]
            impl ::hermes_actors::tool::Tool for #ident {
                fn declaration(&self) -> ::hermes_actors::tool::Declaration {
                    ::core::unreachable!()
                }
                #signature {
                    ::core::unreachable!()
                }
            }
        };
    }
}

/// One private struct with a field for each parameter: what schema and arguments are made from.
fn arguments_struct(parameters: &[Parameter]) -> TokenStream {
    let fields = parameters.iter().map(|Parameter { ident, name, ty, description }| {
        let description = description.iter();
        quote! {
            #[serde(rename = #name)]
            #(#[schemars(description = #description)])*
            #ident: #ty
        }
    });
    // Small models fill the empty object of a tool without parameters with something or other.
    let strict = (!parameters.is_empty()).then(|| quote!(#[serde(deny_unknown_fields)]));
    quote! {
        #[allow(non_snake_case)]
        #[derive(::hermes_actors::tool::private::serde::Deserialize, ::hermes_actors::tool::private::schemars::JsonSchema)]
        #[serde(crate = "::hermes_actors::tool::private::serde")]
        #[schemars(crate = "::hermes_actors::tool::private::schemars")]
        #strict
        struct __Arguments {
            #(#fields),*
        }
    }
}

fn implementation(function: &Function) -> TokenStream {
    let ident = &function.item.sig.ident;
    let declaration = declaration(function);
    let body = body(function);
    let signature = call_signature();
    quote! {
        #[::hermes_actors::tool::private::async_trait]
        impl ::hermes_actors::tool::Tool for #ident {
            fn declaration(&self) -> ::hermes_actors::tool::Declaration {
                #declaration
            }

            #signature {
                #body
            }
        }
    }
}

fn call_signature() -> TokenStream {
    quote! {
        async fn call(
            &self,
            __arguments: ::hermes_actors::tool::private::Arguments,
            __context: ::hermes_actors::tool::ToolContext,
        ) -> ::core::result::Result<::hermes_actors::tool::ToolOutput, ::hermes_actors::tool::ToolError>
    }
}

fn declaration(function: &Function) -> TokenStream {
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
    let timeout =
        options.timeout.map(|timeout| quote!(.timeout(::core::time::Duration::from_millis(#timeout))));
    quote! {
        ::hermes_actors::tool::Declaration::new(
            #name,
            #description,
            ::hermes_actors::tool::schema_for::<__Arguments>(),
        )
        #effect
        #open_world
        #timeout
    }
}

/// Reads the arguments, runs the function, and makes an outcome of what it returns.
fn body(function: &Function) -> TokenStream {
    let sig = &function.item.sig;
    let fields = function.parameters.iter().map(|parameter| &parameter.ident);
    let direct = quote!(Self::direct(#(__arguments.#fields),*));
    // A returned type that will not do is reported where it is written.
    let span = match &sig.output {
        ReturnType::Type(_, ty) => ty.span().resolved_at(Span::call_site()),
        ReturnType::Default => Span::call_site(),
    };
    let run = if sig.asyncness.is_some() {
        quote!(#direct.await)
    } else {
        quote!(::hermes_actors::tool::off_the_event_loop(move || #direct).await?)
    };
    let outcome = quote_spanned! {span=>
        match ::hermes_actors::tool::private::Returned(__returned).split() {
            ::core::result::Result::Ok(__value) => ::hermes_actors::tool::ToolOutput::json(&__value),
            ::core::result::Result::Err(__failure) => ::core::result::Result::Err(__failure.for_model()),
        }
    };
    quote! {
        #[allow(unused_imports)]
        use ::hermes_actors::tool::private::{DisplayedError as _, PlainValue as _, StandardError as _};
        #[allow(unused_variables)]
        let __arguments: __Arguments = ::hermes_actors::tool::arguments_as(__arguments)?;
        #[allow(clippy::let_unit_value)]
        let __returned = #run;
        #outcome
    }
}
