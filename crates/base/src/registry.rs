//! What every registry is made of: rows, one for each element, and presets, one for each named bundle of parameters.

use crate::doc;
use schemars::Schema;

/// One element: its name in scenario files, its reference page, and what else a registry knows of it. `K` tells kinds of
/// elements apart, `B` is how one is built, where the registry builds it.
pub struct Row<K = &'static str, B = ()> {
    pub kind: K,
    pub name: &'static str,
    /// The text of its file, whose header is its reference page.
    pub source: &'static str,
    /// Of its parameters, where it has a table of its own.
    pub schema: Option<fn() -> Schema>,
    pub build: B,
}

impl Row {
    /// One that has no table of its own: its parameters are among those of something larger.
    pub const fn page(kind: &'static str, name: &'static str, source: &'static str) -> Row {
        Row { kind, name, source, schema: None, build: () }
    }
}

impl<K, B> Row<K, B> {
    pub fn title(&self) -> String {
        doc::title(self.source)
    }
    /// The reference page, in Markdown.
    pub fn doc(&self) -> String {
        doc::header(self.source)
    }
    /// JSON Schema of its parameters.
    pub fn schema(&self) -> Option<Schema> {
        self.schema.map(|of| of())
    }
}

/// A named bundle of parameters: a paper, a program or a system.
pub struct Preset<P> {
    pub name: &'static str,
    pub title: &'static str,
    /// Where its values are from.
    pub source: &'static str,
    pub make: fn() -> P,
}
