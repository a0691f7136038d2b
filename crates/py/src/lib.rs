//! `crosswind._core`: thin functions. JSON text in, columns out; Python never sees an event.

mod convert;
mod elements;
#[cfg(all(feature = "emu", target_os = "linux"))]
mod emulate;
mod errors;
mod laws;
#[cfg(all(feature = "host", target_os = "linux"))]
mod opposite;
mod own_law;

use crate::errors::{ScenarioError, run_error, scenario_error};
use crosswind_base::{ConfigError, Streams, Time};
use crosswind_net::queue::red::effective;
use crosswind_net::queue::red::trace::{self, IsCapable, Told};
use crosswind_sim::runs::bench::BenchSpec;
use crosswind_sim::runs::{self, Progress, Request, run_many as run_plans};
use crosswind_sim::scenario::{self, Plan, Registries};
use crosswind_sim::world::{LookAhead, Ties};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Version of the compiled core.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// JSON Schema of a scenario file.
#[pyfunction]
fn schema() -> String {
    scenario::json_schema(&Registries).to_string()
}

/// Everything that has a name, as a JSON list.
#[pyfunction]
fn registry() -> String {
    elements::all().to_string()
}

/// The scenario with every default filled in; raises `ScenarioError`.
#[pyfunction]
fn validate(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    let parsed = scenario::parse(scenario_json, &Registries).map_err(|e| scenario_error(py, e))?;
    scenario::compile(&parsed).map_err(|e| scenario_error(py, e))?;
    Ok(scenario::normalised_text(&parsed))
}

/// One row of the speed benchmark; what to run (`crosswind_sim::runs::bench::BenchSpec`) and the row are JSON.
#[pyfunction]
#[pyo3(name = "bench")]
fn run_bench(py: Python<'_>, spec_json: &str) -> PyResult<String> {
    let spec: BenchSpec = serde_json::from_str(spec_json).map_err(|e| PyValueError::new_err(format!("bench: {e}")))?;
    let row = py.detach(|| crosswind_sim::runs::bench::run(&spec)).map_err(|e| scenario_error(py, e))?;
    serde_json::to_string(&row).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// What the kernel makes of the parameters of a `red-linux` queue, as JSON.
#[pyfunction]
fn red_effective(py: Python<'_>, queue_json: &str) -> PyResult<String> {
    let queue: serde_json::Value = serde_json::from_str(queue_json)
        .map_err(|e| scenario_error(py, ConfigError::new("", e.to_string(), "a queue as valid JSON")))?;
    let effective = effective::linux(&queue).map_err(|e| scenario_error(py, e))?;
    Ok(serde_json::to_string(&effective).expect("numbers and lists of numbers"))
}

/// Feeds chosen backlogs to the law of a `red-linux` queue: its average after each arrival, in bytes, and the verdict
/// (0 passed, 1 marked, 2 dropped early, 3 dropped above the maximum threshold).
#[pyfunction]
fn red_trace<'py>(
    py: Python<'py>,
    params_json: &str,
    seed: u64,
    time_ns: PyReadonlyArray1<'py, i64>,
    backlog_bytes: PyReadonlyArray1<'py, i64>,
    ect: PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyDict>> {
    let params = serde_json::from_str(params_json).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let (times, backlogs, ect) = (time_ns.as_slice()?, backlog_bytes.as_slice()?, ect.as_slice()?);
    if times.len() != backlogs.len() || times.len() != ect.len() {
        return Err(PyValueError::new_err("time_ns, backlog_bytes and ect must have one length"));
    }
    let told: Vec<Told> = times
        .iter()
        .zip(backlogs)
        .map(|(t, b)| Told { at: Time((*t).max(0) as u64), backlog_bytes: (*b).max(0) as u64 })
        .collect();
    let mut rng = Streams::new(seed).named("red_trace");
    let rows = trace::linux(&params, &told, &mut rng).map_err(|e| scenario_error(py, e))?;
    let capable = |e: u8| if e == 0 { IsCapable::No } else { IsCapable::Yes };
    let verdicts: Vec<u8> = rows.iter().zip(ect).map(|(r, e)| trace::code(r.1, capable(*e))).collect();
    let out = PyDict::new(py);
    out.set_item("avg_bytes", rows.iter().map(|r| r.0).collect::<Vec<f64>>().into_pyarray(py))?;
    out.set_item("verdict", verdicts.into_pyarray(py))?;
    Ok(out)
}

/// Runs repetitions of scenarios; see the Python function `crosswind.run`. Without `look_ahead` everything happens at its own
/// time: slower, with the same results. Tests compare the two.
#[pyfunction]
#[pyo3(signature = (scenarios, seed, reps, reps_total, workers, shuffle_ties=false, progress=None, laws=None, look_ahead=true,
                    folder=None, block=0))]
#[allow(clippy::too_many_arguments)]
#[expect(clippy::disallowed_methods, reason = "Python waits in this thread while the runs have theirs")]
fn run_many<'py>(
    py: Python<'py>,
    scenarios: Vec<String>,
    seed: u64,
    reps: Vec<u32>,
    reps_total: u32,
    workers: usize,
    shuffle_ties: bool,
    progress: Option<Bound<'py, PyAny>>,
    laws: Option<Bound<'py, PyDict>>,
    look_ahead: bool,
    folder: Option<std::path::PathBuf>,
    block: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let mut plans: Vec<Plan> = Vec::with_capacity(scenarios.len());
    for text in &scenarios {
        let parsed = scenario::parse(text, &Registries).map_err(|e| scenario_error(py, e))?;
        plans.push(scenario::compile(&parsed).map_err(|e| scenario_error(py, e))?);
    }
    let total = plans.len() * reps.len();
    let ties = if shuffle_ties { Ties::Shuffled } else { Ties::Ordered };
    let look_ahead = if look_ahead { LookAhead::Allowed } else { LookAhead::Never };
    let trouble = own_law::Trouble::default();
    let laws = laws.map(|l| own_law::makers(&l, &trouble)).transpose()?.unwrap_or_default();
    let folder = folder.unwrap_or_default();
    let around = if laws.is_empty() { runs::alone } else { own_law::known_to_python };
    let transports = Default::default();
    let request =
        Request { seed, reps, reps_total, block, workers, ties, look_ahead, folder, laws, transports, around };
    let state = Progress::default();
    let over = AtomicBool::new(false);
    let bell = Bell { over: &over, waiter: std::thread::current() };
    let result = std::thread::scope(|s| {
        let job = s.spawn(|| {
            let _rings_at_the_end = bell;
            run_plans(&plans, &request, &state)
        });
        watch(py, &state, total, progress.as_ref(), || {
            if trouble.has_come() {
                state.cancel.store(true, Ordering::Relaxed);
            }
            over.load(Ordering::Acquire)
        });
        py.detach(|| job.join())
    });
    if let Some(e) = trouble.take() {
        return Err(e);
    }
    let finished = match result {
        Ok(r) => r.map_err(|e| run_error(py, e))?,
        Err(panic) => return Err(PyRuntimeError::new_err(convert::panic_text(panic.as_ref()))),
    };
    let out = PyDict::new(py);
    out.set_item("tables", convert::tables(py, finished.tables)?)?;
    let failed: Vec<_> = finished.failed.into_iter().map(|f| (f.scenario, f.rep, f.why)).collect();
    out.set_item("failed", failed)?;
    out.set_item("interrupted", finished.interrupted)?;
    Ok(out)
}

/// Wakes whoever waits for a job when it ends, in whatever way.
struct Bell<'a> {
    over: &'a AtomicBool,
    waiter: std::thread::Thread,
}

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        self.waiter.unpark();
    }
}

/// Reports progress and listens for Ctrl-C until the job is done. An error of the callback cancels too.
fn watch(
    py: Python<'_>,
    state: &Progress,
    total: usize,
    progress: Option<&Bound<'_, PyAny>>,
    done: impl Fn() -> bool + Send + Sync,
) {
    let mut wait_us = 200;
    while !done() {
        // Whoever ends the job ends the wait; what else there is to see is looked at ten times a second.
        py.detach(|| std::thread::park_timeout(Duration::from_micros(wait_us)));
        wait_us = (wait_us * 2).min(100_000);
        let interrupted = py.check_signals().is_err();
        let failed = progress.is_some_and(|f| f.call1((state.done.load(Ordering::Relaxed), total)).is_err());
        if interrupted || failed {
            state.cancel.store(true, Ordering::Relaxed);
        }
    }
    if let Some(f) = progress {
        let _ = f.call1((state.done.load(Ordering::Relaxed), total));
    }
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ScenarioError", m.py().get_type::<ScenarioError>())?;
    m.add_class::<own_law::LawFacts>()?;
    m.add_function(wrap_pyfunction!(version, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(registry, m)?)?;
    m.add_function(wrap_pyfunction!(validate, m)?)?;
    m.add_function(wrap_pyfunction!(run_many, m)?)?;
    m.add_function(wrap_pyfunction!(run_bench, m)?)?;
    m.add_function(wrap_pyfunction!(red_effective, m)?)?;
    m.add_function(wrap_pyfunction!(red_trace, m)?)?;
    m.add_function(wrap_pyfunction!(laws::law_drive, m)?)?;
    m.add_function(wrap_pyfunction!(laws::law_adaptor, m)?)?;
    m.add_function(wrap_pyfunction!(laws::early_curve, m)?)?;
    #[cfg(all(feature = "emu", target_os = "linux"))]
    emulate::add(m)?;
    #[cfg(all(feature = "host", target_os = "linux"))]
    opposite::add(m)?;
    Ok(())
}
