//! Window laws written in Python: one object for each connection, asked on every ACK.

use crosswind_sim::world::OwnLaws;
use crosswind_transport::tcp::Trigger;
use crosswind_transport::tcp::law::own::{Facts, Maker, OwnLaw};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex};

/// The first exception of a law. After it all laws stay silent, and the runs are cancelled.
#[derive(Clone, Default)]
pub struct Trouble(Arc<Mutex<Option<PyErr>>>);

impl Trouble {
    pub fn has_come(&self) -> bool {
        self.0.lock().is_ok_and(|e| e.is_some())
    }
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().ok()?.take()
    }
    fn note(&self, e: PyErr) {
        if let Ok(mut first) = self.0.lock() {
            first.get_or_insert(e);
        }
    }
}

/// What a law hears, as Python sees it. Windows in segments, times in seconds.
#[pyclass(frozen, get_all, module = "crosswind")]
pub struct LawFacts {
    now_s: f64,
    cwnd: f64,
    ssthresh: f64,
    flight: f64,
    acked: f64,
    rtt_s: Option<f64>,
    /// The profile lets the window grow on this ACK.
    may_grow: bool,
    /// Newly delivered, in order or by SACK; shown to be lost; delivered by an ACK that reports marks (ECN). Segments.
    delivered: f64,
    lost: f64,
    ce: f64,
    /// In the network after the ACK, in segments.
    in_flight: f64,
    /// A loss or a timeout is being repaired.
    recovering: bool,
    /// For laws with `every_ack`. Segments per second, where the ACK gives a sample, and whether the sender had run out of data.
    rate: Option<f64>,
    app_limited: bool,
    least_rtt_s: Option<f64>,
    /// Round trips so far.
    rounds: u64,
    /// Of a reduction: `loss`, `timeout`, `echo`, `early` or `local`. Of an ACK: nothing.
    why: Option<&'static str>,
}

impl LawFacts {
    fn of(f: &Facts, why: Option<Trigger>) -> LawFacts {
        let why = why.map(|w| match w {
            Trigger::Loss => "loss",
            Trigger::Timeout => "timeout",
            Trigger::Echo => "echo",
            Trigger::Early => "early",
            Trigger::Local => "local",
        });
        LawFacts {
            now_s: f.now.as_secs_f64(),
            cwnd: f.cwnd_segments,
            ssthresh: f.ssthresh_segments,
            flight: f.flight_segments,
            acked: f.acked_segments,
            rtt_s: f.rtt.map(|r| r.as_secs_f64()),
            may_grow: f.may_grow,
            delivered: f.delivered_segments,
            lost: f.lost_segments,
            ce: f.ce_segments,
            in_flight: f.in_flight_segments,
            recovering: f.is_recovering,
            rate: f.delivery.and_then(|d| d.rate).map(|rate| rate / f.segment_bytes),
            app_limited: f.delivery.is_some_and(|d| d.is_app_limited),
            least_rtt_s: f.delivery.and_then(|d| d.least_trip).map(|r| r.as_secs_f64()),
            rounds: f.delivery.map_or(0, |d| d.rounds),
            why,
        }
    }
}

#[pymethods]
impl LawFacts {
    fn __repr__(&self) -> String {
        let why = self.why.map_or(String::new(), |w| format!(", {w}"));
        format!("LawFacts(at {:.6} s, window {:.2} of threshold {:.2}{why})", self.now_s, self.cwnd, self.ssthresh)
    }
}

/// The object of one connection; none when it could not be made.
struct PythonLaw {
    object: Option<Py<PyAny>>,
    trouble: Trouble,
}

impl PythonLaw {
    fn made(trouble: &Trouble, make: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) -> PythonLaw {
        let object = Python::attach(make).map_err(|e| trouble.note(e)).ok();
        PythonLaw { object, trouble: trouble.clone() }
    }

    fn ask(&self, method: &str, facts: LawFacts) -> Option<f64> {
        let object = self.object.as_ref()?;
        if self.trouble.has_come() {
            return None;
        }
        let answer = Python::attach(|py| object.call_method1(py, method, (facts,))?.extract::<Option<f64>>(py));
        answer.unwrap_or_else(|e| {
            self.trouble.note(e);
            None
        })
    }
}

impl OwnLaw for PythonLaw {
    fn on_ack(&mut self, facts: &Facts) -> Option<f64> {
        self.ask("on_ack", LawFacts::of(facts, None))
    }
    fn reduce(&mut self, why: Trigger, facts: &Facts) -> Option<f64> {
        self.ask("on_loss", LawFacts::of(facts, Some(why)))
    }
    fn copy(&self) -> Box<dyn OwnLaw> {
        let copied = PythonLaw::made(&self.trouble, |py| {
            let Some(object) = &self.object else { return Ok(py.None()) };
            Ok(py.import("copy")?.call_method1("deepcopy", (object,))?.unbind())
        });
        Box::new(copied)
    }
}

/// What makes the laws of a dict name -> class (or anything that is called without arguments and gives an object).
pub fn makers(laws: &Bound<'_, PyDict>, trouble: &Trouble) -> PyResult<OwnLaws> {
    let mut out = OwnLaws::new();
    for (name, class) in laws {
        // `every_ack = True` in the class: it hears of all of them.
        let hears_all = class.getattr_opt("every_ack")?.map_or(Ok(false), |v| v.is_truthy())?;
        let (class, trouble) = (class.unbind(), trouble.clone());
        let make = move || -> Box<dyn OwnLaw> { Box::new(PythonLaw::made(&trouble, |py| class.call0(py))) };
        let maker = Maker::new(make);
        out.insert(name.extract::<String>()?, if hears_all { maker.of_every_ack() } else { maker });
    }
    Ok(out)
}
