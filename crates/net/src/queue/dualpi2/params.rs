//! The parameters of DualPI2, and which packets go where; its page is in `dualpi2/mod.rs`.

use crate::build::BuildCx;
use crate::params::{self, Params};
use crate::queue::aqm::Setup;
use crate::queue::pi2::{self, Decides};
use crate::sched::classify::{Classes, Classifier, Filter};
use crate::switch::Switch;
use crosswind_base::{BitRate, ConfigError, Dur, Limit, Size, units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How it computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// As the RFC is written, in real numbers.
    #[default]
    Rfc9332,
    /// As the kernel, in whole numbers.
    Linux,
}

/// Whose turn it is while packets wait in both queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// By shares.
    #[default]
    Wrr,
    /// Who has waited longest, with a handicap for Classic packets.
    TsFifo,
    /// L first.
    Strict,
}

/// Which codepoints go to the L queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Classify {
    /// ECT(1) and CE.
    #[default]
    L4sEct,
    /// ECT(0), too.
    AnyEct,
}

/// What happens when marks can say no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overload {
    /// All packets are dropped with the Classic probability.
    #[default]
    Drop,
    /// L packets are marked, all of them, and the limit drops.
    Overflow,
}

/// How packets are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Picks {
    /// One whenever the probabilities have added up to 1.
    #[default]
    Spread,
    /// By chance.
    Random,
}

/// What becomes of a change that 32 bits do not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wrap {
    /// The probability stays within its bounds.
    #[default]
    Clamp,
    /// It is cut.
    Kernel,
}

/// Parameters of DualPI2.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DualPi2Params {
    /// How it computes.
    pub profile: Profile,
    /// How much both queues hold, in bytes or packets, or "none" for what follows from the link.
    pub limit: Switch<Limit>,
    /// How much both queues hold, in bytes, or "none" for what follows from `limit`.
    pub memory_limit: Switch<Size>,
    /// The delay at which the probability rests.
    pub target: Dur,
    /// The longest round trip that is to be stable.
    pub rtt_max: Dur,
    /// Between two updates of the probability.
    pub t_update: Dur,
    /// Gain of the deviation from the target, in Hz.
    pub alpha: f64,
    /// Gain of the change since the last update, in Hz.
    pub beta: f64,
    /// How many times the probability of an L packet is that before it is squared.
    pub coupling: f64,
    /// The wait from which L packets are marked for their own.
    pub step: Dur,
    /// So much later all of them are.
    pub ramp: Dur,
    /// L packets that leave more packets than these behind are marked, in place of `step`; 0: by time.
    pub step_packets: u32,
    /// With no more packets than these `step` does not mark.
    pub step_spares: u32,
    /// When these are counted.
    pub step_spares_at: Decides,
    /// Whose turn it is while packets wait in both queues.
    pub scheduler: Scheduler,
    /// The share of the Classic queue then, with `wrr`.
    pub classic_share: f64,
    /// The handicap of the Classic queue, with `ts-fifo`.
    pub time_shift: Dur,
    /// Which codepoints go to the L queue.
    pub classify: Classify,
    /// Where packets go that ECN does not send to L: `l4s`, `llll` or `classic`.
    pub filter: Vec<Filter>,
    /// What happens when marks can say no more.
    pub overload: Overload,
    /// When Classic and coupled picks are made.
    pub decides: Decides,
    /// How packets are selected.
    pub picks: Picks,
    /// What becomes of a change that 32 bits do not hold.
    pub wrap: Wrap,
    /// The longest usual packet.
    pub mtu: Size,
}

impl Default for DualPi2Params {
    fn default() -> Self {
        let pi2::Pi2Params { target, rtt_max, t_update, alpha, beta, coupling, .. } = pi2::Pi2Params::default();
        DualPi2Params {
            profile: Profile::Rfc9332,
            limit: Switch::Off,
            memory_limit: Switch::Off,
            target,
            rtt_max,
            t_update,
            alpha,
            beta,
            coupling,
            step: Dur::from_micros(800),
            ramp: Dur::from_micros(400),
            step_packets: 0,
            step_spares: 1,
            step_spares_at: Decides::Departure,
            scheduler: Scheduler::Wrr,
            classic_share: 0.0625,
            time_shift: Dur::from_millis(50),
            classify: Classify::L4sEct,
            filter: Vec::new(),
            overload: Overload::Drop,
            decides: Decides::Departure,
            picks: Picks::Spread,
            wrap: Wrap::Clamp,
            mtu: Size(1500),
        }
    }
}

/// What the profile `linux` has in place of the defaults.
pub(super) const LINUX: [(&str, &str); 8] = [
    ("step", "1 ms"),
    ("ramp", "0 s"),
    ("step_spares_at", "arrival"),
    ("picks", "random"),
    ("wrap", "kernel"),
    ("mtu", "1514 B"),
    ("decides", "departure"),
    ("scheduler", "wrr"),
];

impl Params for DualPi2Params {
    fn fill(written: &mut Map<String, Value>) {
        let is_linux = written.get("profile").is_some_and(|p| p == "linux");
        if is_linux {
            for (key, value) in LINUX {
                written.entry(key).or_insert_with(|| value.into());
            }
            written.entry("step_spares").or_insert_with(|| 0.into());
            written.entry("classic_share").or_insert_with(|| 0.1.into());
            if !written.contains_key("rtt_max") {
                written.entry("t_update").or_insert_with(|| "16 ms".into());
                written.entry("alpha").or_insert_with(|| 0.16.into());
                written.entry("beta").or_insert_with(|| 3.2.into());
            }
        }
        // One that is written, as all are once they have been filled in, is left as it is.
        pi2::fill_gains(written);
    }
    fn check(&self) -> Result<(), ConfigError> {
        pi2::check_controller(self.target, self.rtt_max, self.t_update, [self.alpha, self.beta])?;
        params::check_packet_size("mtu", self.mtu)?;
        if let Some(limit) = self.limit.as_ref() {
            params::check_limit("limit", *limit)?;
            if matches!(limit, Limit::Bytes(n) if *n < self.mtu.0) {
                return Err(ConfigError::new("limit", units::show_limit(*limit), "room for a packet of `mtu`"));
            }
        }
        if let Some(memory) = self.memory_limit.as_ref() {
            params::check_limit("memory_limit", Limit::Bytes(memory.0))?;
        }
        params::check_range("coupling", self.coupling, 0.1..=255.0)?;
        params::check_range("classic_share", self.classic_share, 0.0..=1.0)?;
        for (key, span) in [("step", self.step), ("ramp", self.ramp), ("time_shift", self.time_shift)] {
            params::check_delay(key, span)?;
        }
        self.check_profile()?;
        check_filters(&self.filter)
    }
}

impl DualPi2Params {
    /// What the other profile has, and this one has not.
    pub(super) fn check_profile(&self) -> Result<(), ConfigError> {
        let is_linux = self.profile == Profile::Linux;
        let linux_only = [
            ("overload", self.overload != Overload::Drop, "drop"),
            ("decides", self.decides != Decides::Departure, "departure"),
            ("wrap", self.wrap != Wrap::Clamp, "clamp"),
            ("step_packets", self.step_packets != 0, "0"),
        ];
        let rfc_only = [
            ("ramp", self.ramp.0 != 0, "0 s"),
            ("step_spares_at", self.step_spares_at != Decides::Arrival, "arrival"),
            ("picks", self.picks != Picks::Random, "random"),
            ("scheduler", self.scheduler != Scheduler::Wrr, "wrr"),
            ("coupling", self.coupling.fract() != 0.0, "a whole number"),
            (
                "classic_share",
                (self.classic_share * 100.0 - (self.classic_share * 100.0).round()).abs() > 1e-9,
                "a whole percentage",
            ),
        ];
        let (bad, own, other) = if is_linux {
            (rfc_only.into_iter().find(|r| r.1), "linux", "rfc9332")
        } else {
            (linux_only.into_iter().find(|r| r.1), "rfc9332", "linux")
        };
        let Some((key, _, expected)) = bad else { return Ok(()) };
        let all = serde_json::to_value(self).expect("parameters are plain data with text keys");
        Err(ConfigError::new(key, all[key].to_string(), format!("{expected}, with the profile `{own}`"))
            .hint(format!("profile = \"{other}\" knows more")))
    }

    /// The limits of both queues in front of such a link.
    pub(super) fn limits(&self, rate: Option<BitRate>) -> Setup {
        let most = Limit::Packets(10_000);
        let limit = match (self.limit.as_ref(), self.profile, rate) {
            (Some(limit), ..) => *limit,
            (None, Profile::Rfc9332, Some(rate)) => Limit::Bytes((rate.0 / 32).max(2 * self.mtu.0)),
            (None, ..) => most,
        };
        let memory = match (self.memory_limit.as_ref(), self.profile, limit) {
            (Some(memory), ..) => Some(Limit::Bytes(memory.0)),
            (None, Profile::Linux, Limit::Packets(n)) => Some(Limit::Bytes(n.saturating_mul(2 * self.mtu.0))),
            _ => None,
        };
        Setup { also: memory, ..Setup::fits(limit, Default::default()) }
    }
    /// Parts of Classic and of L packets, of how many.
    pub(super) fn shares(&self) -> [i64; 2] {
        let all = if self.profile == Profile::Linux { 100.0 } else { 65_536.0 };
        let classic = (self.classic_share * all).round();
        [classic as i64, (all - classic) as i64]
    }
}

/// Where a packet waits, and whether the law sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Classic,
    L4s,
    /// In the L queue, and never selected.
    Llll,
}

pub(super) const KINDS: [(&str, Kind); 3] = [("classic", Kind::Classic), ("l4s", Kind::L4s), ("llll", Kind::Llll)];
/// Stands for all packets that no filter takes.
pub(super) const OTHERS: &str = "others";

pub(super) fn classes_of(filters: &[Filter]) -> Classes<'_> {
    let named = KINDS.iter().map(|k| k.0).filter(|name| filters.iter().any(|f| f.class == *name));
    Classes { leaves: named.chain([OTHERS]).collect(), inner: Vec::new() }
}

pub(super) fn check_filters(filters: &[Filter]) -> Result<(), ConfigError> {
    if let Some(i) = filters.iter().position(|f| !KINDS.iter().any(|k| k.0 == f.class)) {
        let valid = KINDS.map(|k| k.0);
        return Err(ConfigError::unknown(
            format!("filter[{i}].class"),
            &filters[i].class,
            "a class of this queue",
            &valid,
        ));
    }
    classes_of(filters).check(filters, Some(OTHERS))
}

/// Filters, and what each class of theirs stands for; the last is what none of them takes.
pub(super) fn compiled(filters: &[Filter], cx: &BuildCx<'_>) -> Result<(Classifier, Vec<Kind>), ConfigError> {
    let classes = classes_of(filters);
    let kind = |name: &&str| KINDS.iter().find(|k| k.0 == *name).map_or(Kind::Classic, |k| k.1);
    let kinds = classes.leaves.iter().map(kind).collect();
    Ok((classes.compile(filters, Some(OTHERS), cx)?, kinds))
}
