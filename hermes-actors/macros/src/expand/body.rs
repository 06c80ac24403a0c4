//! The body of a call: reads the arguments, runs the function, and makes an outcome of what it returns.

use crate::function::Function;
use crate::parameter::{Parameter, Passing, Role};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

/// For a free function, which is there as `direct`.
pub fn of_function(function: &Function) -> TokenStream {
    let given = function.parameters.iter().enumerate().map(|(at, parameter)| given(at, parameter));
    body(function, &TokenStream::new(), &quote!(Self::direct(#(#given),*)))
}

/// For a method of the value that the tool shares.
pub fn of_method(function: &Function, ty: &Type) -> TokenStream {
    let ident = &function.ident;
    let given = function.parameters.iter().enumerate().map(|(at, parameter)| given(at, parameter));
    let shared = quote!(let __shared = ::core::clone::Clone::clone(&self.0););
    body(function, &shared, &quote!(<#ty>::#ident(&__shared, #(#given),*)))
}

fn body(function: &Function, before: &TokenStream, call: &TokenStream) -> TokenStream {
    let states = function.parameters.iter().enumerate().filter_map(|(at, parameter)| {
        let Role::State(ty) = &parameter.role else { return None };
        let state = state(at);
        Some(quote!(let #state = __context.state::<#ty>()?;))
    });
    let run = if function.is_async {
        quote!(#call.await)
    } else {
        // A body that blocks keeps the context to its end, and with it its place, also when nobody waits any more.
        quote!(::hermes_actors::tool::off_the_event_loop(move || { let __context = __context; #call }).await?)
    };
    let outcome = outcome(function);
    quote! {
        #[allow(unused_imports)]
        use ::hermes_actors::tool::private::{DisplayedError as _, PlainValue as _, StandardError as _};
        #[allow(unused_variables)]
        let __arguments: __Arguments = ::hermes_actors::tool::arguments_as(__arguments)?;
        #before
        #(#states)*
        #[allow(clippy::let_unit_value)]
        let __returned = #run;
        #outcome
    }
}

/// What the function is given for a parameter.
fn given(at: usize, Parameter { ident, role, .. }: &Parameter) -> TokenStream {
    match role {
        Role::Argument(_) => quote!(__arguments.#ident),
        Role::State(_) => {
            let state = state(at);
            quote!(#state)
        }
        Role::Context(Passing::ByValue) => quote!(::core::clone::Clone::clone(&__context)),
        Role::Context(Passing::ByReference) => quote!(&__context),
    }
}

fn state(at: usize) -> syn::Ident {
    format_ident!("__state_{at}")
}

fn outcome(function: &Function) -> TokenStream {
    // A returned type that will not do is reported where it is written.
    let span = match &function.output {
        ReturnType::Type(_, ty) => ty.span().resolved_at(Span::call_site()),
        ReturnType::Default => Span::call_site(),
    };
    let output = quote_spanned!(span=> ::hermes_actors::tool::IntoToolOutput::into_tool_output(__value));
    let output = match &function.options.summary {
        None => output,
        Some(summary) => {
            let called = quote_spanned!(summary.span()=> #summary(&__value));
            quote! {{
                let __summary: ::std::string::String = #called;
                #output.map(|__output| __output.with_summary(__summary))
            }}
        }
    };
    quote_spanned! {span=>
        match ::hermes_actors::tool::private::Returned(__returned).split() {
            ::core::result::Result::Ok(__value) => #output,
            ::core::result::Result::Err(__failure) => ::core::result::Result::Err(__failure.for_model()),
        }
    }
}
