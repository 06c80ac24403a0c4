//! The expansion: the code that stands in the place of what is under `#[tool]`.

use crate::function::Function;
use crate::methods::{Method, Methods};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, ItemFn, Type};

mod arguments;
mod body;
mod declaration;

/// A struct without fields with the function as `direct`, its `impl Tool`, and a function of the same name that makes
/// it: a name that is a function, unlike a constant or a unit struct, may be shadowed by a `let`.
pub fn tool(function: &Function, item: &ItemFn) -> TokenStream {
    let ItemFn { attrs, vis, sig, block, .. } = item;
    let ident = &sig.ident;
    let description = &function.description;
    let conditions: Vec<&Attribute> =
        attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let mut direct = sig.clone();
    direct.ident = syn::Ident::new("direct", ident.span());
    let undocumented = !attrs.iter().any(|attribute| attribute.path().is_ident("doc"));
    let documentation = undocumented.then(|| quote!(#[doc = #description]));
    let arguments = arguments::define(&function.parameters);
    let implementation = implementation(function, &quote!(#ident), &body::of_function(function));
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

/// The block as it is, and an `impl ToolSet` with one tool for each marked method, over one shared value; after a
/// mistake, with none.
pub fn methods(methods: &Methods) -> TokenStream {
    let Methods { item, tools } = methods;
    let ty = &item.self_ty;
    let (error, tools) = match tools {
        Ok(tools) => (None, tools.iter().map(|tool| method(tool, ty)).collect::<TokenStream>()),
        Err(error) => (Some(error.to_compile_error()), TokenStream::new()),
    };
    let well_formed = item.trait_.is_none() && item.generics.params.is_empty();
    let set = well_formed.then(|| quote! {
        impl ::hermes_actors::tool::ToolSet for #ty {
            #[allow(unused_mut)]
            fn tools(self: ::std::sync::Arc<Self>) -> ::std::vec::Vec<::std::boxed::Box<dyn ::hermes_actors::tool::Tool>> {
                let mut __tools: ::std::vec::Vec<::std::boxed::Box<dyn ::hermes_actors::tool::Tool>> =
                    ::std::vec::Vec::new();
                #tools
                __tools
            }
        }
    });
    quote!(#error #item #set)
}

/// A statement that adds the tool to `__tools`, with a type of its own in a block of its own.
fn method(Method { function, conditions }: &Method, ty: &Type) -> TokenStream {
    let arguments = arguments::define(&function.parameters);
    let implementation = implementation(function, &quote!(__Tool), &body::of_method(function, ty));
    quote! {
        #(#conditions)*
        {
            struct __Tool(::std::sync::Arc<#ty>);
            #arguments
            #implementation
            __tools.push(::std::boxed::Box::new(__Tool(::core::clone::Clone::clone(&self))));
        }
    }
}

fn implementation(function: &Function, ty: &TokenStream, body: &TokenStream) -> TokenStream {
    let declaration = declaration::of(function);
    let needs = declaration::needs(&function.parameters);
    let signature = call_signature();
    quote! {
        #[::hermes_actors::tool::private::async_trait]
        impl ::hermes_actors::tool::Tool for #ty {
            fn declaration(&self) -> ::hermes_actors::tool::Declaration {
                #declaration
            }

            #needs

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
