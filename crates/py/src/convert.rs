//! Tables to Python: a dictionary of columns per table, without an object per cell except for distinct texts.

use crosswind_record::{Column, Tables};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// `{table: {column: array}}`; a text column is the pair (codes, values).
pub fn tables(py: Python<'_>, tables: Tables) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for table in tables.into_vec() {
        let columns = PyDict::new(py);
        let name = table.name().to_string();
        for (column, data) in table.into_columns() {
            match data {
                Column::U64(v) => columns.set_item(column, v.into_pyarray(py))?,
                Column::I64(v) => columns.set_item(column, v.into_pyarray(py))?,
                Column::F64(v) => columns.set_item(column, v.into_pyarray(py))?,
                Column::U32(v) => columns.set_item(column, v.into_pyarray(py))?,
                Column::Text(t) => {
                    let (codes, values) = t.into_parts();
                    let pair = [codes.into_pyarray(py).into_any(), values.into_pyobject(py)?.into_any()];
                    columns.set_item(column, PyTuple::new(py, pair)?)?;
                }
            }
        }
        out.set_item(name, columns)?;
    }
    Ok(out)
}

/// What a panicking thread said.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().map(|s| s.to_string()).or_else(|| panic.downcast_ref::<String>().cloned());
    format!("internal error: {}", said.unwrap_or_else(|| "a run ended abruptly".into()))
}
