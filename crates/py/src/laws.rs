//! Window laws without a network, for response functions and pictures of their shape.

use super::scenario_error;
use crosswind_base::{Streams, config};
use crosswind_transport::tcp::law::drive::{Drive, drive};
use crosswind_transport::tcp::preset;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Drives the law of a `tcp` table along a path (both as JSON; see `law/drive.rs`): mean window, losses, and a trace.
#[pyfunction]
pub fn law_drive<'py>(py: Python<'py>, tcp_json: &str, drive_json: &str, seed: u64) -> PyResult<Bound<'py, PyDict>> {
    let parsed = |text: &str| serde_json::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()));
    let tcp = preset::read(&parsed(tcp_json)?, "tcp").map_err(|e| scenario_error(py, e))?;
    let how: Drive = config::read(&parsed(drive_json)?, "drive").map_err(|e| scenario_error(py, e))?;
    how.check().map_err(|e| scenario_error(py, e.under("drive")))?;
    let mut rng = Streams::new(seed).named("law_drive");
    let driven = py.detach(|| drive(&tcp, &how, &mut rng));
    let (time_s, window): (Vec<f64>, Vec<f64>) = driven.trace.into_iter().unzip();
    let out = PyDict::new(py);
    out.set_item("mean_window", driven.mean_window)?;
    out.set_item("losses", driven.losses)?;
    out.set_item("time_s", time_s.into_pyarray(py))?;
    out.set_item("window", window.into_pyarray(py))?;
    Ok(out)
}
