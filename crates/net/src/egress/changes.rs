//! New parameters of the parts of an egress while it runs: its queue, its link, its losses, what holds packets up.

use super::Egress;
use crate::link::loss::LossModel;
use crate::link::{Link, delayer};
use crate::queue::QueueDisc;
use crosswind_base::{ConfigError, Cx, Setting};
use serde_json::{Map, Value};

/// The keys of a part that are to change.
fn table<'a>(value: &'a Value, key: &str) -> Result<&'a Map<String, Value>, ConfigError> {
    value.as_object().ok_or_else(|| ConfigError::new(key, value.to_string(), "a table of the keys that change"))
}

/// New parameters of the parts of an egress.
#[derive(Clone, Default)]
pub(super) struct NewParts {
    queue: Option<Setting>,
    loss: Option<Setting>,
    delayers: Vec<NewDelayer>,
    link: Option<Setting>,
}

#[derive(Clone)]
struct NewDelayer {
    key: &'static str,
    of_link: Option<Setting>,
    of_queue: Option<Setting>,
}

impl<Q: QueueDisc, L: Link, M: LossModel> Egress<Q, L, M> {
    /// What holds packets up is in front of the link, in the queue, or in both.
    fn read_delayer(&self, key: &'static str, new: &Value) -> Result<NewDelayer, ConfigError> {
        let of_link = self.link.read_delayer(key, new)?;
        let of_queue = if key == "spikes" { self.queue.read_gate(new)? } else { None };
        if of_link.is_some() || of_queue.is_some() {
            return Ok(NewDelayer { key, of_link, of_queue });
        }
        let expected = format!("a link that has `{key}` from the start, or spikes that do what they did before");
        Err(ConfigError::new("", new.to_string(), expected))
    }

    /// `queue`, `loss` and what holds packets up are tables of their own.
    pub(super) fn read_parts(&self, set: &Map<String, Value>) -> Result<NewParts, ConfigError> {
        let (mut of_link, mut new) = (set.clone(), NewParts::default());
        if let Some(queue) = of_link.shift_remove("queue") {
            new.queue = Some(self.queue.read_change(table(&queue, "queue")?).map_err(|e| e.under("queue"))?);
        }
        if let Some(loss) = of_link.shift_remove("loss") {
            new.loss = Some(self.loss.read_change(table(&loss, "loss")?).map_err(|e| e.under("loss"))?);
        }
        for (key, _) in delayer::KEYS {
            if let Some(written) = of_link.shift_remove(key) {
                new.delayers.push(self.read_delayer(key, &written).map_err(|e| e.under(key))?);
            }
        }
        if !of_link.is_empty() {
            new.link = Some(self.link.read_change(&of_link)?);
        }
        Ok(new)
    }

    /// The link changes for whatever is transmitted from now on. A driver that changes a stage does not let it look ahead.
    pub(super) fn change_parts(&mut self, new: &NewParts, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.bring_up_to_now(cx);
        if let Some(queue) = &new.queue {
            self.queue.change(queue, cx).map_err(|e| e.under("queue"))?;
        }
        if let Some(loss) = &new.loss {
            self.loss.change(loss, cx.now).map_err(|e| e.under("loss"))?;
        }
        for h in &new.delayers {
            if let Some(of_link) = &h.of_link {
                self.link.change_delayer(h.key, of_link, cx.now).map_err(|e| e.under(h.key))?;
            }
            if let Some(of_queue) = &h.of_queue {
                self.queue.change_gate(of_queue, cx.now).map_err(|e| e.under(h.key))?;
            }
        }
        if let Some(link) = &new.link {
            self.link.change(link, cx.now)?;
        }
        // What a change makes due is due now: nobody would be woken for it later.
        if self.queue.next_wake().is_some_and(|at| at <= cx.now) {
            self.queue.wake(cx);
        }
        self.pump(cx);
        self.settle(self.queue.backlog(), cx.now);
        Ok(())
    }
}
