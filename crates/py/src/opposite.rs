//! Our own TCP opposite the kernel's: a kernel in a scenario under the eyes of a witness, and one transfer either way.

use crate::emulate::Layout;
use crate::errors::scenario_error;
use crosswind_base::{ConfigError, Dur, EventKind, Time, Vantage};
use crosswind_emu::run::Timed;
use crosswind_host::examine::{Flow, Request, Seen, examine};
use crosswind_host::kernel::{Application, Kernels};
use crosswind_host::transfer_run::{self, transfer};
use crosswind_sim::scenario::Repetition;
use crosswind_transport::tcp::preset;
use numpy::IntoPyArray;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the kernel's application does.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Does {
    Bulk { size_bytes: Option<u64> },
    Messages { payload_bytes: u64, every_ns: u64 },
    Receives,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowJson {
    law: String,
    does: Does,
    /// From and until, in ns.
    pauses: Vec<[u64; 2]>,
    /// The `tcp` table of our own end.
    own: Value,
    own_size_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestJson {
    until_ns: u64,
    settings: BTreeMap<String, String>,
    timeline: Vec<Timed>,
    flows: Vec<FlowJson>,
}

fn flow(f: FlowJson) -> Result<Flow, ConfigError> {
    let application = match f.does {
        Does::Bulk { size_bytes } => Application::Bulk { size_bytes },
        Does::Messages { payload_bytes, every_ns } => Application::Messages { payload_bytes, every: Dur(every_ns) },
        Does::Receives => Application::Receives,
    };
    let pauses = f.pauses.iter().map(|[from, until]| (Time(*from), Time(*until))).collect();
    let own = Arc::new(preset::read(&f.own, "own")?);
    Ok(Flow { kernel: Kernels { law: f.law, application, pauses }, own, own_size_bytes: f.own_size_bytes })
}

fn request(scenario_json: &str, seed: u64, text: &str) -> Result<Request, ConfigError> {
    let wrong = |e: serde_json::Error| ConfigError::new("request", e.to_string(), "what the engine is asked for");
    let asked: RequestJson = serde_json::from_str(text).map_err(wrong)?;
    let layout = Layout::of(scenario_json)?;
    let flows = asked.flows.into_iter().map(flow).collect::<Result<Vec<_>, _>>()?;
    Ok(Request {
        spec: layout.spec(Repetition { seed, index: 0, of: 1 }),
        timeline: asked.timeline.into_iter().map(|t| (Time(t.at_ns), t.change)).collect(),
        until: Time(asked.until_ns),
        settings: asked.settings.into_iter().collect(),
        flows,
    })
}

/// What the system answered, or what is wrong with a table.
fn system(e: std::io::Error) -> PyErr {
    match e.raw_os_error() {
        Some(number) => PyOSError::new_err((number, e.to_string())),
        None => PyOSError::new_err(e.to_string()),
    }
}

/// Runs a scenario of two hosts in real time: the first is this machine's kernel in a namespace of its own, the second our
/// own TCP. Returns columns of the event table of the first flow, and what else was seen as JSON under `facts`.
#[pyfunction]
fn examine_kernel<'py>(
    py: Python<'py>,
    scenario_json: &str,
    seed: u64,
    request_json: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let request = request(scenario_json, seed, request_json).map_err(|e| scenario_error(py, e))?;
    let seen = py.detach(|| examine(&request)).map_err(system)?;
    columns(py, seen)
}

fn columns(py: Python<'_>, seen: Seen) -> PyResult<Bound<'_, PyDict>> {
    let e = &seen.events;
    let out = PyDict::new(py);
    out.set_item("time_ns", e.iter().map(|e| e.at.0).collect::<Vec<u64>>().into_pyarray(py))?;
    out.set_item("kind", e.iter().map(|e| e.kind as u32).collect::<Vec<u32>>().into_pyarray(py))?;
    let is_sender = |v: Vantage| u32::from(v == Vantage::Sender);
    out.set_item("is_sender", e.iter().map(|e| is_sender(e.end.seen)).collect::<Vec<u32>>().into_pyarray(py))?;
    out.set_item("seq", e.iter().map(|e| e.seq).collect::<Vec<u64>>().into_pyarray(py))?;
    out.set_item("len", e.iter().map(|e| e.len).collect::<Vec<u32>>().into_pyarray(py))?;
    out.set_item("aux", e.iter().map(|e| e.aux).collect::<Vec<u32>>().into_pyarray(py))?;
    out.set_item("kinds", EventKind::NAMES.to_vec())?;
    let facts = json!({
        "right_bytes": seen.right_bytes, "failure": seen.failure, "late_p99_ns": seen.late_p99.0,
        "late_max_ns": seen.late_max.0, "unwritten_packets": seen.unwritten_packets,
        "retransmitted_packets": seen.last.retransmitted_packets, "rto_us": seen.last.rto_us,
        "mss_bytes": seen.last.mss_bytes,
    });
    out.set_item("facts", facts.to_string())?;
    Ok(out)
}

/// One transfer between our own TCP and the kernel's, in real time or in virtual time with our own TCP in the kernel's
/// place. What is asked for and what came out are JSON.
#[pyfunction]
fn host_transfer(py: Python<'_>, request_json: &str) -> PyResult<String> {
    let request: transfer_run::Request =
        serde_json::from_str(request_json).map_err(|e| PyValueError::new_err(format!("request: {e}")))?;
    let said = py.detach(|| transfer(request)).map_err(system)?;
    Ok(said.to_string())
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(examine_kernel, m)?)?;
    m.add_function(wrap_pyfunction!(host_transfer, m)?)?;
    Ok(())
}
