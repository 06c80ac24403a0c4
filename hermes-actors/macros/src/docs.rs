//! The doc comment: the tool's description, and those of its parameters.

use proc_macro2::Span;
use syn::{Attribute, Error, Expr, ExprLit, Lit, Meta, Result};

/// What a doc comment says of a tool.
#[derive(Default)]
pub struct Docs {
    /// The text up to the section on arguments.
    pub description: String,
    /// The lines of that section.
    pub parameters: Vec<ParameterDoc>,
}

/// What a doc comment says of one parameter.
pub struct ParameterDoc {
    pub name: String,
    pub text: String,
    pub span: Span,
}

impl Docs {
    /// Reads the doc comment among `attributes`.
    ///
    /// # Errors
    /// When a line of the section on arguments names no parameter.
    pub fn read(attributes: &[Attribute]) -> Result<Self> {
        let lines = lines(attributes);
        let heading = lines.iter().position(|(line, _)| is_arguments_heading(line)).unwrap_or(lines.len());
        let (description, section) = lines.split_at(heading);
        Ok(Self {
            description: join(description),
            parameters: read_section(section.get(1..).unwrap_or(&[]))?,
        })
    }
}

/// The text of the doc comment among `attributes`, all of it.
pub fn text(attributes: &[Attribute]) -> String {
    join(&lines(attributes))
}

fn join(lines: &[(String, Span)]) -> String {
    let lines: Vec<&str> = lines.iter().map(|(line, _)| line.trim_end()).collect();
    lines.join("\n").trim().to_owned()
}

/// Each line of the doc comment, without the space that follows `///`.
fn lines(attributes: &[Attribute]) -> Vec<(String, Span)> {
    let mut lines = Vec::new();
    for attribute in attributes {
        let Meta::NameValue(meta) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(literal), .. }) = &meta.value else { continue };
        if meta.path.is_ident("doc") {
            let text = literal.value();
            let block = text.contains('\n');
            lines.extend(text.split('\n').map(|line| {
                // In a `/** … */` block the lines are indented with the code.
                let line = if block { line.trim() } else { line.strip_prefix(' ').unwrap_or(line) };
                (line.to_owned(), literal.span())
            }));
        }
    }
    lines
}

fn is_arguments_heading(line: &str) -> bool {
    let Some(title) = heading(line) else { return false };
    ["arguments", "parameters", "参数"].contains(&title.to_lowercase().as_str())
}

fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    line.starts_with('#').then(|| line.trim_start_matches('#').trim().trim_end_matches([':', '：']))
}

/// The list lines up to the next heading, each with the lines that continue it.
fn read_section(lines: &[(String, Span)]) -> Result<Vec<ParameterDoc>> {
    let mut parameters: Vec<ParameterDoc> = Vec::new();
    for (line, span) in lines.iter().take_while(|(line, _)| heading(line).is_none()) {
        match (item(line), parameters.last_mut()) {
            (Some(item), _) => parameters.push(read_item(item, *span)?),
            (None, Some(parameter)) => append(&mut parameter.text, line.trim()),
            (None, None) => {}
        }
    }
    Ok(parameters)
}

/// The text after the bullet. An indented bullet belongs to the item above it.
fn item(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].into_iter().find_map(|bullet| line.strip_prefix(bullet))
}

fn read_item(item: &str, span: Span) -> Result<ParameterDoc> {
    let item = item.trim();
    let (name, rest) = match item.strip_prefix('`').and_then(|item| item.split_once('`')) {
        Some(split) => split,
        None => item.split_at(
            item.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '#').unwrap_or(item.len()),
        ),
    };
    let rest = rest.trim_start();
    let text =
        [":", "：", "--", "—", "–", "-"].into_iter().find_map(|separator| rest.strip_prefix(separator));
    match text {
        Some(text) if !name.is_empty() => Ok(ParameterDoc {
            name: name.trim().trim_start_matches("r#").to_owned(),
            text: text.trim().to_owned(),
            span,
        }),
        _ => Err(Error::new(span, "a line of the section on arguments reads: - `name`: what it is")),
    }
}

/// Joins a line to the text before it: with a space where words need one, which Chinese does not.
fn append(text: &mut String, line: &str) {
    if line.is_empty() {
        return;
    }
    if item(line).is_some() {
        text.push('\n');
    } else if text.chars().next_back().is_some_and(|c| c.is_ascii()) {
        text.push(' ');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::{ItemFn, parse_str};

    fn read(comment: &str) -> Result<Docs> {
        let item: ItemFn = parse_str(&format!("{comment}\nfn f() {{}}")).unwrap();
        Docs::read(&item.attrs)
    }

    fn parameters(comment: &str) -> Vec<(String, String)> {
        read(comment).unwrap().parameters.into_iter().map(|doc| (doc.name, doc.text)).collect()
    }

    #[test]
    fn the_description_ends_where_the_arguments_begin() {
        let docs = read(
            "/// Looks it up.\n///\n/// Slowly.\n///\n/// # Arguments\n/// - `a`: x\n/// # Panics\n/// - no",
        )
        .unwrap();
        assert_eq!(docs.description, "Looks it up.\n\nSlowly.");
        assert_eq!(docs.parameters.len(), 1);
    }

    #[test]
    fn list_lines_are_read_in_every_usual_form() {
        let expected = [("city".to_owned(), "the name".to_owned())];
        for line in [
            "- `city`: the name",
            "* city - the name",
            "- city：the name",
            "+ `city` — the name",
            "- `city`：the name",
        ] {
            assert_eq!(parameters(&format!("/// D.\n/// # Arguments\n/// {line}")), expected, "{line}");
            assert_eq!(parameters(&format!("/// D.\n/// ## 参数：\n/// {line}")), expected, "{line}");
        }
    }

    #[test]
    fn a_description_may_run_over_several_lines() {
        let comment =
            "/// D.\n/// # Arguments\n/// - `a`: one\n///   two\n/// - `b`: 城市的\n///   名字\n///   - 北京";
        assert_eq!(
            parameters(comment),
            [("a".to_owned(), "one two".to_owned()), ("b".to_owned(), "城市的名字\n- 北京".to_owned())]
        );
    }

    #[test]
    fn a_line_that_names_nothing_is_an_error() {
        let error = read("/// D.\n/// # Arguments\n/// - the city's name").err().unwrap();
        assert_eq!(error.to_string(), "a line of the section on arguments reads: - `name`: what it is");
    }

    #[test]
    fn a_block_comment_is_read_too() {
        let docs = read("/** Looks it up.\n\n    # Arguments\n    - `a`: x\n */").unwrap();
        assert_eq!((docs.description.as_str(), docs.parameters[0].text.as_str()), ("Looks it up.", "x"));
    }
}
