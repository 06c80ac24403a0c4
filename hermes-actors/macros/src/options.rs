//! The options: what stands between the parentheses of `#[tool(…)]`.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Ident, LitInt, LitStr, Meta, Path, Result};

/// The options as written, each at most once.
#[derive(Default)]
pub struct Options {
    pub name: Option<LitStr>,
    pub description: Option<LitStr>,
    /// In milliseconds, never 0.
    pub timeout: Option<u64>,
    /// `read_only`, `idempotent` or `destructive`.
    pub effect: Option<Ident>,
    pub open_world: Option<Span>,
    pub repeatable: Option<Span>,
    pub undocumented: Option<Span>,
    /// A function from the returned value to what the model reads of it.
    pub summary: Option<Path>,
    /// Never 0.
    pub max_concurrent: Option<Count>,
    /// Never 0, and only beside an effect that allows a second attempt.
    pub retries: Option<Count>,
}

/// A number above 0, and where it stands.
#[derive(Clone, Copy)]
pub struct Count {
    pub number: u32,
    pub span: Span,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Options::default();
        let tokens = input.parse()?;
        syn::meta::parser(|meta| options.read(&meta)).parse2(tokens)?;
        options.check_retries()?;
        Ok(options)
    }
}

impl Options {
    /// Those of an attribute that stands above a method.
    ///
    /// # Errors
    /// As for the attribute above a function.
    pub fn of(attribute: &Attribute) -> Result<Self> {
        match &attribute.meta {
            Meta::Path(_) => Ok(Self::default()),
            _ => attribute.parse_args(),
        }
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match word.as_str() {
            "name" => once(&mut self.name, tool_name(meta.value()?.parse()?)?, meta),
            "description" => once(&mut self.description, meta.value()?.parse()?, meta),
            "timeout" => once(&mut self.timeout, milliseconds(&meta.value()?.parse()?)?, meta),
            "read_only" | "idempotent" | "destructive" => self.read_effect(meta),
            "open_world" => once(&mut self.open_world, span_of(meta), meta),
            "repeatable" => once(&mut self.repeatable, span_of(meta), meta),
            "undocumented" => once(&mut self.undocumented, span_of(meta), meta),
            "summary" => once(&mut self.summary, meta.value()?.parse()?, meta),
            "max_concurrent" => once(&mut self.max_concurrent, count(&meta.value()?.parse()?)?, meta),
            "retries" => once(&mut self.retries, count(&meta.value()?.parse()?)?, meta),
            unknown => Err(meta.error(no_such_option(unknown))),
        }
    }

    fn check_retries(&self) -> Result<()> {
        match (&self.retries, &self.effect) {
            (Some(Count { span, .. }), effect) if effect.as_ref().is_none_or(|e| e == "destructive") => {
                Err(syn::Error::new(
                    *span,
                    "a second attempt may change the world a second time: only a tool that is read_only or idempotent \
                     may have retries",
                ))
            }
            _ => Ok(()),
        }
    }

    fn read_effect(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let effect = meta.path.require_ident()?;
        match &self.effect {
            Some(other) if other != effect => Err(meta.error(format!(
                "`{effect}` contradicts `{other}`: a tool has one effect, the worst that a call may do"
            ))),
            _ => once(&mut self.effect, effect.clone(), meta),
        }
    }
}

/// The options, as they are written.
const ALL: [&str; 12] = [
    "name = \"…\"",
    "description = \"…\"",
    "timeout = \"5s\"",
    "read_only",
    "idempotent",
    "destructive",
    "open_world",
    "repeatable",
    "summary = function",
    "max_concurrent = 2",
    "retries = 2",
    "undocumented",
];

fn no_such_option(word: &str) -> String {
    let name = |option: &&str| option.split(' ').next().unwrap_or_default().to_owned();
    let likeness = |name: &String| strsim::jaro_winkler(word, name);
    let nearest = ALL.iter().map(name).max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let guess = nearest.filter(|name| likeness(name) > 0.8);
    let guess = guess.map(|name| format!("; did you mean `{name}`?")).unwrap_or_else(|| ".".to_owned());
    format!("#[tool] has no such option{guess} It knows {}", ALL.join(", "))
}

fn span_of(meta: &ParseNestedMeta<'_>) -> Span {
    meta.path.get_ident().map_or_else(Span::call_site, Ident::span)
}

fn count(literal: &LitInt) -> Result<Count> {
    match literal.base10_parse::<u32>() {
        Ok(number) if number > 0 => Ok(Count { number, span: literal.span() }),
        _ => Err(syn::Error::new(literal.span(), "this is a whole number, 1 or more")),
    }
}

fn once<T>(place: &mut Option<T>, value: T, meta: &ParseNestedMeta<'_>) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error("this option stands here twice")),
    }
}

fn tool_name(name: LitStr) -> Result<LitStr> {
    match check_name(&name.value()) {
        Ok(()) => Ok(name),
        Err(fault) => Err(syn::Error::new(name.span(), fault)),
    }
}

/// Whether every provider accepts `name` as the name of a tool; if not, what to do.
pub fn check_name(name: &str) -> std::result::Result<(), String> {
    let accepted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=64).contains(&name.len()) && name.bytes().all(accepted) {
        return Ok(());
    }
    Err(format!(
        "`{name}` cannot be the name of a tool: model providers accept 1 to 64 of the characters a-z A-Z 0-9 _ -. \
         Give it one with #[tool(name = \"…\")]"
    ))
}

fn milliseconds(literal: &LitStr) -> Result<u64> {
    let text = literal.value();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let unit = match &text[digits..] {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        _ => None,
    };
    let number = text[..digits].parse::<u64>().ok().filter(|number| *number > 0);
    number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit)).ok_or_else(|| {
        syn::Error::new(
            literal.span(),
            "a timeout is a whole number above 0 with its unit, such as \"500ms\", \"5s\" or \"2m\"",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_str;

    #[test]
    fn a_timeout_has_a_number_and_a_unit() {
        let timeout =
            |text: &str| parse_str::<Options>(&format!("timeout = {text:?}")).map(|options| options.timeout);
        assert_eq!(timeout("500ms").unwrap(), Some(500));
        assert_eq!(timeout("5s").unwrap(), Some(5_000));
        assert_eq!(timeout("2m").unwrap(), Some(120_000));
        for wrong in ["", "5", "s", "0s", "1.5s", "5 s", "-5s", "5h", "99999999999999999999m", "五秒"] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_option_is_guessed_where_it_is_near_to_one() {
        let said = |text: &str| parse_str::<Options>(text).err().unwrap().to_string();
        for (text, start) in [
            ("read_onyl", "#[tool] has no such option; did you mean `read_only`? It knows name = \"…\","),
            ("retry = 2", "#[tool] has no such option; did you mean `retries`? It knows"),
            ("Timeout = \"5s\"", "#[tool] has no such option; did you mean `timeout`? It knows"),
            ("weather", "#[tool] has no such option. It knows"),
            ("a::b", "#[tool] has no such option. It knows"),
        ] {
            assert!(said(text).starts_with(start), "{}", said(text));
        }
    }

    #[test]
    fn effects_contradict_each_other() {
        let error = parse_str::<Options>("read_only, destructive").err().unwrap().to_string();
        assert_eq!(
            error,
            "`destructive` contradicts `read_only`: a tool has one effect, the worst that a call may do"
        );
        assert!(parse_str::<Options>("read_only, read_only").is_err());
        assert!(parse_str::<Options>("idempotent, open_world").is_ok());
    }
}
