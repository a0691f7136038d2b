use super::*;

fn texts(t: &Table, column: &str) -> Vec<String> {
    match t.get(column) {
        Some(Column::Text(x)) => x.iter().map(String::from).collect(),
        other => panic!("{column}: {other:?}"),
    }
}

#[test]
fn a_text_is_stored_once_however_many_rows_repeat_it() {
    let mut t = Table::new("flow");
    let name = t.column("name", ColumnType::Text);
    for i in 0..1000 {
        t.put(name, if i % 2 == 0 { "bulk" } else { "short" });
        t.end_row();
    }
    let Some(Column::Text(x)) = t.get("name") else { panic!() };
    assert_eq!(x.values(), ["bulk", "short"]);
    assert_eq!((x.codes().len(), &x.codes()[..3]), (1000, &[0, 1, 0][..]));
}

#[test]
fn a_code_puts_the_text_it_was_looked_up_for() {
    let mut t = Table::new("sample");
    let c = t.column("entity", ColumnType::Text);
    let (a, b) = (t.code(c, "a"), t.code(c, "b"));
    for code in [b, a, b] {
        t.put(c, code);
        t.end_row();
    }
    assert_eq!(texts(&t, "entity"), ["b", "a", "b"]);
}

#[test]
fn missing_cells_are_nan_or_minus_one_or_empty() {
    let mut t = Table::new("flow");
    let id = t.column("flow", ColumnType::U32);
    let cols = [ColumnType::F64, ColumnType::I64, ColumnType::Text, ColumnType::U64];
    let cols: Vec<Col> = ["f", "i", "t", "u"].iter().zip(cols).map(|(n, ty)| t.column(n, ty)).collect();
    t.put(id, 0u32);
    t.put(cols[3], 7u64);
    t.end_row();
    t.put(id, 1u32);
    t.end_row();
    assert_eq!(t.get("flow"), Some(&Column::U32(vec![0, 1])));
    assert_eq!(t.get("f"), Some(&Column::F64(vec![f64::NAN; 2])));
    assert_eq!(t.get("i"), Some(&Column::I64(vec![-1, -1])));
    assert_eq!(texts(&t, "t"), ["", ""]);
    assert_eq!(t.get("u"), Some(&Column::I64(vec![7, -1])), "an unsigned column with a gap turns signed");
}

#[test]
fn a_column_added_late_is_missing_in_earlier_rows() {
    let mut t = Table::new("link");
    let a = t.column("a", ColumnType::U32);
    t.put(a, 1u32);
    t.end_row();
    let b = t.column("b", ColumnType::F64);
    t.put(a, 2u32);
    t.put(b, 0.5);
    t.end_row();
    assert_eq!(t.get("b"), Some(&Column::F64(vec![f64::NAN, 0.5])));
}

#[test]
fn numbers_widen_into_the_column() {
    let mut t = Table::new("run");
    let (f, i, u) = (t.column("f", ColumnType::F64), t.column("i", ColumnType::I64), t.column("u", ColumnType::U64));
    t.put(f, 3u64);
    t.put(i, Some(Time(9)));
    t.put(u, 4u32);
    t.end_row();
    t.put(f, -2i64);
    t.put(i, None::<Time>);
    t.put(u, Time(5));
    t.end_row();
    assert_eq!(t.get("f"), Some(&Column::F64(vec![3.0, -2.0])));
    assert_eq!(t.get("i"), Some(&Column::I64(vec![9, -1])));
    assert_eq!(t.get("u"), Some(&Column::U64(vec![4, 5])));
}

#[test]
#[should_panic(expected = "put twice")]
fn putting_a_cell_twice_in_a_row_is_refused() {
    let mut t = Table::new("run");
    let c = t.column("seed", ColumnType::U64);
    t.put(c, 1u64);
    t.put(c, 2u64);
}

#[test]
#[should_panic(expected = "cannot hold")]
fn a_float_does_not_slip_into_a_column_of_integers() {
    let mut t = Table::new("run");
    let c = t.column("seed", ColumnType::U64);
    t.put(c, 1.5);
}

fn one_run(key: RunKey, names: &[&str]) -> Tables {
    let mut tables = Tables::new();
    let t = tables.table("flow");
    let name = t.column("name", ColumnType::Text);
    for n in names {
        t.put(name, *n);
        t.end_row();
    }
    tables.stamp(key);
    tables
}

#[test]
fn merging_runs_keeps_every_text_with_its_row() {
    let mut all = Tables::new();
    all.append(one_run(RunKey { scenario: 0, rep: 0 }, &["a", "b"]));
    all.append(one_run(RunKey { scenario: 0, rep: 1 }, &["b", "c", "a"]));
    let t = all.get("flow").unwrap();
    assert_eq!(texts(t, "name"), ["a", "b", "b", "c", "a"]);
    assert_eq!(t.get("rep"), Some(&Column::U32(vec![0, 0, 1, 1, 1])));
    let order: Vec<&str> = t.columns().iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(order, ["scenario", "rep", "name"]);
}

#[test]
fn merging_fills_what_one_of_the_runs_does_not_have() {
    let run = |column: &str, c: Column| Table::from_columns("link", vec![(column.to_string(), c)]);
    let mut t = run("drops_packets", Column::U64(vec![3, 4]));
    t.append(run("marks_packets", Column::U32(vec![5])));
    assert_eq!(t.rows(), 3);
    assert_eq!(t.get("drops_packets"), Some(&Column::I64(vec![3, 4, -1])));
    assert_eq!(t.get("marks_packets"), Some(&Column::I64(vec![-1, -1, 5])));
    t.append(run("drops_packets", Column::U64(vec![6])));
    assert_eq!(t.get("drops_packets"), Some(&Column::I64(vec![3, 4, -1, 6])));
    t.append(run("drops_packets", Column::F64(vec![0.5])));
    let Some(Column::F64(v)) = t.get("drops_packets") else { panic!() };
    assert!(v[2].is_nan() && v[3..] == [6.0, 0.5], "{v:?}");
}

#[test]
#[should_panic(expected = "is text in one run")]
fn text_and_numbers_do_not_merge() {
    let mut t = Table::from_columns("x", vec![("c".into(), Column::U64(vec![1]))]);
    t.append(Table::from_columns("x", vec![("c".into(), Column::from_codes(vec![0], &["a"]))]));
}

#[test]
fn an_empty_run_adds_no_row() {
    let mut all = one_run(RunKey { scenario: 0, rep: 0 }, &["a"]);
    let before = all.clone();
    all.append(one_run(RunKey { scenario: 0, rep: 1 }, &[]));
    assert_eq!(all, before);
}

#[test]
fn a_histogram_becomes_one_row_per_bucket() {
    let mut h = Histogram::new();
    [1, 1, 2, 700].iter().for_each(|v| h.record(*v));
    let mut tables = Tables::new();
    tables.push_histogram(Subject { entity: "bulk", metric: "rtt_ns" }, &h);
    let t = tables.get("hist").unwrap();
    assert_eq!(t.get("count"), Some(&Column::U64(vec![2, 1, 1])));
    assert_eq!(texts(t, "metric"), ["rtt_ns"; 3]);
    let (Some(Column::I64(low)), Some(Column::I64(high))) = (t.get("low"), t.get("high")) else { panic!() };
    assert!(low[2] <= 700 && 700 < high[2]);
}

#[test]
fn a_sample_is_one_row() {
    let mut tables = Tables::new();
    for (at, value) in [(1, 10.0), (2, 20.0)] {
        tables.push_sample(Sample { at: Time(at), entity: "last-hop", metric: "queue_bytes", value });
    }
    let t = tables.get("sample").unwrap();
    assert_eq!(t.get("value"), Some(&Column::F64(vec![10.0, 20.0])));
    assert_eq!(t.get("time_ns"), Some(&Column::U64(vec![1, 2])));
}
