//! Window laws without a network, for response functions and pictures of their shape.

use crate::errors::scenario_error;
use crosswind_base::{ConfigError, Streams, Time, config};
use crosswind_transport::tcp::law::Needs;
use crosswind_transport::tcp::law::drive::{Drive, drive};
use crosswind_transport::tcp::params::LawName;
use crosswind_transport::tcp::preset;
use crosswind_transport::tcp::signal::early::{Curve, Queueing};
use crosswind_transport::tcp::signal::gentle::Gentle;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Drives the law of a `tcp` table along a path (both as JSON; see `law/drive.rs`): mean window, losses, and a trace.
#[pyfunction]
pub fn law_drive<'py>(py: Python<'py>, tcp_json: &str, drive_json: &str, seed: u64) -> PyResult<Bound<'py, PyDict>> {
    let parsed = |text: &str| serde_json::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()));
    let tcp = preset::read(&parsed(tcp_json)?, "tcp").map_err(|e| scenario_error(py, e))?;
    if tcp.controller.law == LawName::Own {
        let expected = "a law of the engine: one that a program brings is only known in a run";
        return Err(scenario_error(py, ConfigError::new("tcp.law", "own", expected)));
    }
    if Needs::of(&tcp.controller).delivery {
        let expected = "a law that ACKs alone make grow: one that measures delivery rates needs a run";
        let law = serde_json::to_value(tcp.controller.law)
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default();
        return Err(scenario_error(py, ConfigError::new("tcp.law", law, expected)));
    }
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

/// What puts a law into the place of a QUIC stack's own (`quinn`, `noq`): names and texts of files in Rust, by which `crosswind port`
/// writes a crate. They are those of the build with stacks, where tests run them.
#[pyfunction]
pub fn law_adaptor(stack: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    let controller = match stack {
        "quinn" => include_str!("../../stacks/src/quinn/controller.rs"),
        "noq" => include_str!("../../stacks/src/noq/controller.rs"),
        other => return Err(PyValueError::new_err(format!("no adaptor for {other}"))),
    };
    Ok(vec![("law.rs", include_str!("../../stacks/src/quic/law.rs")), ("controller.rs", controller)])
}

/// The probability of an early response of a `tcp` table (JSON) with PERT's curve, at smoothed queueing delays in seconds.
#[pyfunction]
pub fn early_curve<'py>(py: Python<'py>, tcp_json: &str, delays_s: Vec<f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let table = serde_json::from_str(tcp_json).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let tcp = preset::read(&table, "tcp").map_err(|e| scenario_error(py, e))?;
    let mut curve = Gentle::new(tcp.controller.early.gentle.clone());
    let at = |delay_s: f64| curve.probability(Queueing { delay_s, change_s: 0.0, now: Time::ZERO });
    Ok(delays_s.into_iter().map(at).collect::<Vec<f64>>().into_pyarray(py))
}
