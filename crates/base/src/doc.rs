//! Reference pages out of source files: the `//!` header of an element's file is its page.

/// The header of a source file, in Markdown.
pub fn header(source: &str) -> String {
    let lines = source.lines().map_while(|l| l.strip_prefix("//!"));
    lines.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect::<Vec<_>>().join("\n")
}

/// Its title: the text of the first heading.
pub fn title(source: &str) -> String {
    let first = source.lines().find_map(|l| l.strip_prefix("//! # "));
    first.unwrap_or("untitled").trim().to_string()
}
