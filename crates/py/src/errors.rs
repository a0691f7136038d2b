//! What goes wrong, as exceptions of Python.

use crosswind_base::ConfigError;
use crosswind_sim::runs::RunError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError};
use pyo3::prelude::*;

create_exception!(_core, ScenarioError, PyException, "A scenario is wrong: path, found, expected, hint.");

pub fn scenario_error(py: Python<'_>, e: ConfigError) -> PyErr {
    let err = ScenarioError::new_err(e.to_string());
    let value = err.value(py);
    for (name, text) in [("path", &e.path), ("found", &e.found), ("expected", &e.expected), ("hint", &e.hint)] {
        // Setting an attribute on a fresh exception object fails only without memory.
        let _ = value.setattr(name, text.as_str());
    }
    err
}

pub fn run_error(py: Python<'_>, e: RunError) -> PyErr {
    match e {
        RunError::Config(e) => scenario_error(py, e),
        RunError::File(path, e) => PyOSError::new_err(format!("{path}: {e}")),
        RunError::Broken(what) => PyRuntimeError::new_err(what),
    }
}
