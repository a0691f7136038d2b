//! Window laws written in Python: one object for each connection, asked on every ACK.

use crosswind_sim::flows::OwnLaws;
use crosswind_transport::tcp::Trigger;
use crosswind_transport::tcp::law::own::{Facts, Maker, OwnLaw};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Python knows the thread from before its first run to after its last: otherwise each question to a law would make it known
/// and forget it again, which takes longer than the question.
pub fn known_to_python(work: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| py.detach(work));
}

/// The first exception of a law. After it all laws stay silent, and the runs are cancelled.
#[derive(Clone, Default)]
pub struct Trouble(Arc<(AtomicBool, Mutex<Option<PyErr>>)>);

impl Trouble {
    pub fn has_come(&self) -> bool {
        self.0.0.load(Ordering::Acquire)
    }
    pub fn take(&self) -> Option<PyErr> {
        self.0.1.lock().ok()?.take()
    }
    fn note(&self, e: PyErr) {
        if let Ok(mut first) = self.0.1.lock() {
            first.get_or_insert(e);
        }
        self.0.0.store(true, Ordering::Release);
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

/// The largest window that a law may want, in segments.
const WINDOW_MAX: f64 = 1e9;

/// Whose law it is, for messages; and where to say that something went wrong.
#[derive(Clone)]
struct Owner {
    law: String,
    flow: String,
    trouble: Trouble,
}

/// The object of one connection, and its two methods, looked up once.
struct Methods {
    object: Py<PyAny>,
    on_ack: Py<PyAny>,
    on_loss: Py<PyAny>,
}

/// The law of one connection; without methods when its object could not be made.
struct PythonLaw {
    methods: Option<Methods>,
    owner: Owner,
}

impl PythonLaw {
    fn made(owner: &Owner, make: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) -> PythonLaw {
        let methods = Python::attach(|py| {
            let object = make(py)?;
            let (on_ack, on_loss) = (object.getattr(py, "on_ack")?, object.getattr(py, "on_loss")?);
            Ok(Methods { object, on_ack, on_loss })
        });
        PythonLaw { methods: methods.map_err(|e| owner.trouble.note(e)).ok(), owner: owner.clone() }
    }

    fn ask(&self, method: impl Fn(&Methods) -> &Py<PyAny>, facts: LawFacts) -> Option<f64> {
        let methods = self.methods.as_ref()?;
        if self.owner.trouble.has_come() {
            return None;
        }
        let now_s = facts.now_s;
        let answer = Python::attach(|py| match method(methods).call1(py, (facts,))?.extract::<Option<f64>>(py)? {
            Some(w) if !(0.0..=WINDOW_MAX).contains(&w) => Err(self.owner.absurd(py, method(methods), w, now_s)),
            sane => Ok(sane),
        });
        answer.unwrap_or_else(|e| {
            self.owner.trouble.note(e);
            None
        })
    }
}

impl Owner {
    /// The error about a window that is none.
    fn absurd(&self, py: Python<'_>, method: &Py<PyAny>, window: f64, now_s: f64) -> PyErr {
        let name = method.getattr(py, "__name__").map_or_else(|_| "the law".into(), |n| n.to_string());
        let kwargs = PyDict::new(py);
        let made = || -> PyResult<PyErr> {
            kwargs.set_item("path", format!("flow.{}.tcp.own_law", self.flow))?;
            kwargs.set_item("found", format!("a window of {window} segments from {name} at {now_s:.6} s"))?;
            kwargs.set_item("expected", "0 to 1e9 segments, or None")?;
            let error = py.import("crosswind.errors")?.getattr("InputError")?;
            Ok(PyErr::from_value(error.call((format!("law `{}`", self.law),), Some(&kwargs))?))
        };
        made().unwrap_or_else(|e| e)
    }
}

impl OwnLaw for PythonLaw {
    fn on_ack(&mut self, facts: &Facts) -> Option<f64> {
        self.ask(|m| &m.on_ack, LawFacts::of(facts, None))
    }
    fn reduce(&mut self, why: Trigger, facts: &Facts) -> Option<f64> {
        self.ask(|m| &m.on_loss, LawFacts::of(facts, Some(why)))
    }
    fn copy(&self) -> Box<dyn OwnLaw> {
        let Some(methods) = &self.methods else {
            return Box::new(PythonLaw { methods: None, owner: self.owner.clone() });
        };
        let copied = |py: Python<'_>| Ok(py.import("copy")?.call_method1("deepcopy", (&methods.object,))?.unbind());
        Box::new(PythonLaw::made(&self.owner, copied))
    }
}

/// What makes the laws of a dict name -> class (or anything that is called without arguments and gives an object).
pub fn makers(laws: &Bound<'_, PyDict>, trouble: &Trouble) -> PyResult<OwnLaws> {
    let mut out = OwnLaws::new();
    for (name, class) in laws {
        // `every_ack = True` in the class: it hears of all of them.
        let hears_all = class.getattr_opt("every_ack")?.map_or(Ok(false), |v| v.is_truthy())?;
        let (class, trouble, law) = (class.unbind(), trouble.clone(), name.extract::<String>()?);
        let named = law.clone();
        let make = move |flow: &str| -> Box<dyn OwnLaw> {
            let owner = Owner { law: law.clone(), flow: flow.into(), trouble: trouble.clone() };
            Box::new(PythonLaw::made(&owner, |py| class.call0(py)))
        };
        let maker = Maker::new(make);
        out.insert(named, if hears_all { maker.of_every_ack() } else { maker });
    }
    Ok(out)
}
