//! Columns that grow, the tables of one run, and the merged tables of many runs.
//!
//! A table is filled row by row through column handles: look a column up once with [`Table::column`], then
//! [`Table::put`] cells and [`Table::end_row`]. Text is dictionary encoded, so a row costs four bytes per text cell
//! and no allocation once its value has been seen.
//!
//! A cell that nobody put is *missing*: NaN in a column of floats, -1 in one of signed integers, the empty text in one
//! of text. Unsigned integers have no value to spare, so an unsigned column that misses a cell becomes signed.

use crosswind_base::{Dur, Histogram, LinearHistogram, Time};
use std::collections::BTreeMap;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnType {
    U64,
    I64,
    F64,
    U32,
    Text,
}

/// Dictionary-encoded text: one small number per row, one string per distinct value.
#[derive(Clone, Debug, Default)]
pub struct Text {
    codes: Vec<u32>,
    values: Vec<String>,
    index: BTreeMap<String, u32>,
}

/// A text value of one column of one table, looked up once and put many times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code(u32);

impl Text {
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }
    pub fn values(&self) -> &[String] {
        &self.values
    }
    /// The codes of the rows, and the values they count into.
    pub fn into_parts(self) -> (Vec<u32>, Vec<String>) {
        (self.codes, self.values)
    }
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.codes.iter().map(|c| self.values[*c as usize].as_str())
    }
    fn intern(&mut self, value: &str) -> u32 {
        if let Some(code) = self.index.get(value) {
            return *code;
        }
        let code = u32::try_from(self.values.len()).expect("a column has fewer than 2^32 distinct texts");
        self.values.push(value.to_string());
        self.index.insert(value.to_string(), code);
        code
    }
    fn extend(&mut self, other: Text) {
        let codes: Vec<u32> = other.values.iter().map(|v| self.intern(v)).collect();
        self.codes.extend(other.codes.iter().map(|c| codes[*c as usize]));
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.codes == other.codes && self.values == other.values
    }
}

/// The cells of one column, one per row.
#[derive(Clone, Debug)]
pub enum Column {
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    U32(Vec<u32>),
    Text(Text),
}

impl PartialEq for Column {
    /// Bit by bit: two NaNs of equal bits are equal, as a test of determinism wants it.
    fn eq(&self, other: &Column) -> bool {
        match (self, other) {
            (Column::U64(a), Column::U64(b)) => a == b,
            (Column::I64(a), Column::I64(b)) => a == b,
            (Column::F64(a), Column::F64(b)) => a.iter().map(|v| v.to_bits()).eq(b.iter().map(|v| v.to_bits())),
            (Column::U32(a), Column::U32(b)) => a == b,
            (Column::Text(a), Column::Text(b)) => a == b,
            _ => false,
        }
    }
}

/// One value on its way into a column. Integers may go into a wider column, any number into one of floats.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    U64(u64),
    I64(i64),
    F64(f64),
    U32(u32),
    Text(&'a str),
    Code(Code),
}

macro_rules! cell_from {
    ($($t:ty => $variant:ident),*) => {
        $(impl From<$t> for Cell<'_> {
            fn from(v: $t) -> Self {
                Cell::$variant(v)
            }
        })*
    };
}
cell_from!(u64 => U64, i64 => I64, f64 => F64, u32 => U32, Code => Code);

impl<'a> From<&'a str> for Cell<'a> {
    fn from(v: &'a str) -> Self {
        Cell::Text(v)
    }
}
impl From<Time> for Cell<'_> {
    fn from(t: Time) -> Self {
        Cell::U64(t.0)
    }
}
impl From<Dur> for Cell<'_> {
    fn from(d: Dur) -> Self {
        Cell::U64(d.0)
    }
}
/// -1 when it never happened; wants a signed column.
impl From<Option<Time>> for Cell<'_> {
    fn from(t: Option<Time>) -> Self {
        Cell::I64(t.map_or(-1, |t| signed(t.0)))
    }
}
/// -1 when there is none; wants a signed column.
impl From<Option<Dur>> for Cell<'_> {
    fn from(d: Option<Dur>) -> Self {
        Cell::I64(d.map_or(-1, |d| signed(d.0)))
    }
}

/// Saturates: nothing that a run counts comes near 2^63.
fn signed(v: u64) -> i64 {
    i64::try_from(v).unwrap_or(i64::MAX)
}

impl Column {
    pub fn new(t: ColumnType) -> Column {
        match t {
            ColumnType::U64 => Column::U64(Vec::new()),
            ColumnType::I64 => Column::I64(Vec::new()),
            ColumnType::F64 => Column::F64(Vec::new()),
            ColumnType::U32 => Column::U32(Vec::new()),
            ColumnType::Text => Column::Text(Text::default()),
        }
    }
    /// Text of a few known values: `codes` count into `values`.
    pub fn from_codes(codes: Vec<u32>, values: &[&str]) -> Column {
        assert!(codes.iter().all(|c| (*c as usize) < values.len()), "every code has its value");
        let mut text = Text::default();
        for (i, v) in values.iter().enumerate() {
            assert_eq!(text.intern(v) as usize, i, "the value `{v}` appears twice");
        }
        text.codes = codes;
        Column::Text(text)
    }
    pub fn column_type(&self) -> ColumnType {
        match self {
            Column::U64(_) => ColumnType::U64,
            Column::I64(_) => ColumnType::I64,
            Column::F64(_) => ColumnType::F64,
            Column::U32(_) => ColumnType::U32,
            Column::Text(_) => ColumnType::Text,
        }
    }
    pub fn len(&self) -> usize {
        match self {
            Column::U64(v) => v.len(),
            Column::I64(v) => v.len(),
            Column::F64(v) => v.len(),
            Column::U32(v) => v.len(),
            Column::Text(t) => t.codes.len(),
        }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// False when the cell does not fit the column.
    #[inline]
    #[must_use]
    fn push(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Column::U64(v), Cell::U64(x)) => v.push(x),
            (Column::U64(v), Cell::U32(x)) => v.push(x.into()),
            (Column::I64(v), Cell::I64(x)) => v.push(x),
            (Column::I64(v), Cell::U64(x)) => v.push(signed(x)),
            (Column::I64(v), Cell::U32(x)) => v.push(x.into()),
            (Column::F64(v), Cell::F64(x)) => v.push(x),
            (Column::F64(v), Cell::U64(x)) => v.push(x as f64),
            (Column::F64(v), Cell::I64(x)) => v.push(x as f64),
            (Column::F64(v), Cell::U32(x)) => v.push(x.into()),
            (Column::U32(v), Cell::U32(x)) => v.push(x),
            (Column::Text(t), Cell::Text(x)) => {
                let code = t.intern(x);
                t.codes.push(code);
            }
            (Column::Text(t), Cell::Code(Code(c))) if (c as usize) < t.values.len() => t.codes.push(c),
            _ => return false,
        }
        true
    }

    fn push_missing(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        if let Column::U64(_) | Column::U32(_) = self {
            *self = std::mem::replace(self, Column::F64(Vec::new())).cast(ColumnType::I64);
        }
        let len = self.len() + n;
        match self {
            Column::I64(v) => v.resize(len, -1),
            Column::F64(v) => v.resize(len, f64::NAN),
            Column::Text(t) => {
                let code = t.intern("");
                t.codes.resize(len, code);
            }
            Column::U64(_) | Column::U32(_) => unreachable!("turned into a signed column above"),
        }
    }

    /// As another number type. -1 of a signed column is a missing cell and stays one (NaN) among floats.
    fn cast(self, to: ColumnType) -> Column {
        match (self, to) {
            (Column::U32(v), ColumnType::U64) => Column::U64(v.into_iter().map(u64::from).collect()),
            (Column::U32(v), ColumnType::I64) => Column::I64(v.into_iter().map(i64::from).collect()),
            (Column::U32(v), ColumnType::F64) => Column::F64(v.into_iter().map(f64::from).collect()),
            (Column::U64(v), ColumnType::I64) => Column::I64(v.into_iter().map(signed).collect()),
            (Column::U64(v), ColumnType::F64) => Column::F64(v.into_iter().map(|x| x as f64).collect()),
            (Column::I64(v), ColumnType::F64) => {
                Column::F64(v.into_iter().map(|x| if x == -1 { f64::NAN } else { x as f64 }).collect())
            }
            (column, _) => column,
        }
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            Column::U64(v) => v.truncate(rows),
            Column::I64(v) => v.truncate(rows),
            Column::F64(v) => v.truncate(rows),
            Column::U32(v) => v.truncate(rows),
            Column::Text(t) => t.codes.truncate(rows),
        }
    }

    /// False when one column is text and the other is not.
    #[must_use]
    fn extend(&mut self, other: Column) -> bool {
        let Some(to) = common(self.column_type(), other.column_type()) else { return false };
        if self.column_type() != to {
            *self = std::mem::replace(self, Column::F64(Vec::new())).cast(to);
        }
        match (self, other.cast(to)) {
            (Column::U64(a), Column::U64(b)) => a.extend(b),
            (Column::I64(a), Column::I64(b)) => a.extend(b),
            (Column::F64(a), Column::F64(b)) => a.extend(b),
            (Column::U32(a), Column::U32(b)) => a.extend(b),
            (Column::Text(a), Column::Text(b)) => a.extend(b),
            _ => return false,
        }
        true
    }
}

/// The type that holds the values of both.
fn common(a: ColumnType, b: ColumnType) -> Option<ColumnType> {
    use ColumnType::{F64, I64, Text, U64};
    match (a, b) {
        _ if a == b => Some(a),
        (Text, _) | (_, Text) => None,
        (F64, _) | (_, F64) => Some(F64),
        (I64, _) | (_, I64) => Some(I64),
        _ => Some(U64),
    }
}

/// Handle of a column in the table that gave it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Col(usize);

/// Named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: String,
    columns: Vec<(String, Column)>,
    rows: usize,
}

impl Table {
    pub fn new(name: impl Into<String>) -> Table {
        Table { name: name.into(), columns: Vec::new(), rows: 0 }
    }
    /// A table from whole columns.
    pub fn from_columns(name: impl Into<String>, columns: Vec<(String, Column)>) -> Table {
        let rows = columns.first().map_or(0, |(_, c)| c.len());
        assert!(columns.iter().all(|(_, c)| c.len() == rows), "columns of one table have one length");
        Table { name: name.into(), columns, rows }
    }
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn rows(&self) -> usize {
        self.rows
    }
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }
    pub fn into_columns(self) -> Vec<(String, Column)> {
        self.columns
    }
    pub fn get(&self, column: &str) -> Option<&Column> {
        self.columns.iter().find(|(n, _)| n == column).map(|(_, c)| c)
    }

    /// The column of that name, added when there is none yet; earlier rows miss it.
    pub fn column(&mut self, name: &str, t: ColumnType) -> Col {
        if let Some(i) = self.columns.iter().position(|(n, _)| n == name) {
            return Col(i);
        }
        let mut column = Column::new(t);
        column.push_missing(self.rows);
        self.columns.push((name.to_string(), column));
        Col(self.columns.len() - 1)
    }

    /// Looks a text up once, for rows that repeat it.
    pub fn code(&mut self, col: Col, value: &str) -> Code {
        let (name, column) = &mut self.columns[col.0];
        match column {
            Column::Text(t) => Code(t.intern(value)),
            other => panic!("column `{name}` of table `{}` holds {:?}, not text", self.name, other.column_type()),
        }
    }

    /// Puts one cell into the row that is being filled.
    ///
    /// Panics when the cell does not fit the column or was put already: both are mistakes of the calling code.
    #[inline]
    pub fn put<'a>(&mut self, col: Col, cell: impl Into<Cell<'a>>) {
        let (name, column) = &mut self.columns[col.0];
        let cell = cell.into();
        assert!(column.len() == self.rows, "column `{name}` of table `{}` was put twice in a row", self.name);
        assert!(column.push(cell), "column `{name}` of table `{}` cannot hold {cell:?}", self.name);
    }

    /// Ends the row; columns that were not put miss it.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows += 1;
        for (_, column) in &mut self.columns {
            if column.len() < self.rows {
                column.push_missing(1);
            }
        }
    }

    /// Adds the rows of another table of the same name. Columns that only one of them has are missing in the rows of
    /// the other; numbers of different types meet in the wider one.
    pub fn append(&mut self, other: Table) {
        assert_eq!(self.name, other.name, "only tables of one name are merged");
        for (i, (name, column)) in other.columns.into_iter().enumerate() {
            // Tables of equal runs have equal columns in one order.
            let at = match self.columns.get(i) {
                Some((n, _)) if *n == name => i,
                _ => self.column(&name, column.column_type()).0,
            };
            let fits = self.columns[at].1.extend(column);
            assert!(fits, "column `{name}` of table `{}` is text in one run and a number in another", self.name);
        }
        self.rows += other.rows;
        for (_, column) in &mut self.columns {
            column.push_missing(self.rows - column.len());
        }
    }
}

/// Which run a row belongs to: the first two columns of every table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunKey {
    /// Index of the scenario in the list that was run.
    pub scenario: u32,
    /// Index of the repetition.
    pub rep: u32,
}

/// Where the rows of one run end in tables that hold several.
#[derive(Clone, Debug)]
pub struct RunEnd {
    key: RunKey,
    rows: Vec<usize>,
}

/// The tables of a run, or of many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables(Vec<Table>);

impl Tables {
    pub fn new() -> Tables {
        Tables::default()
    }
    /// The table of that name, added when there is none yet.
    pub fn table(&mut self, name: &str) -> &mut Table {
        let i = self.0.iter().position(|t| t.name == name).unwrap_or_else(|| {
            self.0.push(Table::new(name));
            self.0.len() - 1
        });
        &mut self.0[i]
    }
    pub fn get(&self, name: &str) -> Option<&Table> {
        self.0.iter().find(|t| t.name == name)
    }
    /// Adds a whole table, after the rows of one that has its name.
    pub fn add(&mut self, table: Table) {
        match self.0.iter_mut().find(|t| t.name == table.name) {
            Some(t) => t.append(table),
            None => self.0.push(table),
        }
    }
    /// Adds the rows of all tables of `other`. Appending run after run in their order gives the same tables however
    /// many workers made them.
    pub fn append(&mut self, other: Tables) {
        other.0.into_iter().for_each(|t| self.add(t));
    }
    /// Puts the columns `scenario` and `rep` in front of every table.
    pub fn stamp(&mut self, key: RunKey) {
        let end = self.end_of(key);
        self.stamp_runs(&[end]);
    }
    /// Where the rows of a run end that has just added them.
    pub fn end_of(&self, key: RunKey) -> RunEnd {
        RunEnd { key, rows: self.0.iter().map(Table::rows).collect() }
    }
    /// How many rows each table has now; see [`Tables::cut_back`].
    pub fn mark(&self) -> Vec<usize> {
        self.0.iter().map(Table::rows).collect()
    }
    /// Takes out what has been added since the mark, a row that was begun included.
    pub fn cut_back(&mut self, mark: &[usize]) {
        self.0.truncate(mark.len());
        for (t, rows) in self.0.iter_mut().zip(mark) {
            t.rows = *rows;
            t.columns.iter_mut().for_each(|(_, c)| c.truncate(*rows));
        }
    }
    /// The same as [`Tables::stamp`] for tables to which several runs have added their rows, one after the other.
    pub fn stamp_runs(&mut self, runs: &[RunEnd]) {
        for (i, t) in self.0.iter_mut().enumerate() {
            let (mut scenario, mut rep) = (Vec::with_capacity(t.rows), Vec::with_capacity(t.rows));
            for run in runs {
                // A table that came later had no rows yet.
                let rows = run.rows.get(i).copied().unwrap_or(0);
                scenario.resize(rows, run.key.scenario);
                rep.resize(rows, run.key.rep);
            }
            let keys = [("scenario", scenario), ("rep", rep)];
            t.columns.splice(0..0, keys.map(|(n, c)| (n.to_string(), Column::U32(c))));
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.iter()
    }
    pub fn into_vec(self) -> Vec<Table> {
        self.0
    }

    /// One row of the table `sample`.
    pub fn push_sample(&mut self, s: Sample<'_>) {
        use ColumnType::{F64, Text, U64};
        let t = self.table("sample");
        let cols =
            [("time_ns", U64), ("entity", Text), ("metric", Text), ("value", F64)].map(|(n, ty)| t.column(n, ty));
        t.put(cols[0], s.at);
        t.put(cols[1], s.entity);
        t.put(cols[2], s.metric);
        t.put(cols[3], s.value);
        t.end_row();
    }

    /// One row of the table `hist` per bucket that is not empty.
    pub fn push_histogram(&mut self, of: Subject<'_>, h: &Histogram) {
        self.push_buckets(of, h.buckets().map(|(low, high, n)| (low as i64, high as i64, n)));
    }

    /// The same for values that may be negative.
    pub fn push_linear_histogram(&mut self, of: Subject<'_>, h: &LinearHistogram) {
        self.push_buckets(of, h.buckets());
    }

    fn push_buckets(&mut self, of: Subject<'_>, buckets: impl Iterator<Item = (i64, i64, u64)>) {
        use ColumnType::{I64, Text, U64};
        let t = self.table("hist");
        let cols = [("entity", Text), ("metric", Text), ("low", I64), ("high", I64), ("count", U64)]
            .map(|(n, ty)| t.column(n, ty));
        let (entity, metric) = (t.code(cols[0], of.entity), t.code(cols[1], of.metric));
        for (low, high, count) in buckets {
            t.put(cols[0], entity);
            t.put(cols[1], metric);
            t.put(cols[2], low);
            t.put(cols[3], high);
            t.put(cols[4], count);
            t.end_row();
        }
    }
}

/// A momentary value of a flow or a link.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    pub at: Time,
    pub entity: &'a str,
    pub metric: &'a str,
    pub value: f64,
}

/// What a histogram is of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub entity: &'a str,
    pub metric: &'a str,
}

#[cfg(test)]
mod tests;
