//! The registry: one row for each queue, link and loss model. A row gives an element its name in scenario files, its
//! reference page, its schema and the way to build it.

use crate::build::Elements;
pub use crate::build::{BoxStage, BuildCx, Hosts, Kind};
use crate::diffserv::{BoxMeter, srtcm, token_bucket, trtcm, trtcm_4115, tsw2cm, tsw3cm};
use crate::egress::Egress;
use crate::link::delayer::{
    self, BoxDelayer, Held, channel_allocation, fast_reset, gate, mtu, processing_delay, spikes,
};
use crate::link::loss::{BoxLoss, ecn_field, list, none, phases, replay_window, several, uniform};
use crate::link::{BoxLink, Link, arq, atm, reordering, seawind, trace, wire};
use crate::params::{self, Params};
use crate::queue::flows::FlowQueues;
use crate::queue::red::{Red, damping_rate, floyd_jacobson, linux, ns2};
use crate::queue::rio::{self, wred};
use crate::queue::{
    BoxQueue, QueueDisc, blue, bounded, cake, cobalt, codel, droptail, dualpi2, early_discard, fq, fq_codel, fq_pie,
    lpd, pi, pi2, pie, rem, sfb, sfq,
};
use crate::sched::{drr, htb, prio, tbf};
use crosswind_base::{BitRate, ConfigError, Dur, units};
use schemars::schema_for;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Makes one element after the other from the same parameters, which were read and checked once.
pub type Make<T> = Box<dyn Fn(&BuildCx<'_>) -> Result<T, ConfigError> + Send + Sync>;

type PrepareFn<T> = fn(&Value, &str) -> Result<Make<T>, ConfigError>;

/// How an element is built from parameters of its own type.
type BuildFn<P, T> = fn(P, &BuildCx<'_>) -> Result<T, ConfigError>;

/// Reads parameters now; the result builds from them.
fn prepared<P: Params, T: 'static>(
    value: &Value,
    path: &str,
    build: BuildFn<P, T>,
) -> Result<impl Fn(&BuildCx<'_>) -> Result<T, ConfigError> + Send + Sync + use<P, T>, ConfigError> {
    let params: P = params::read_with(value, path, &normalise)?;
    let path = path.to_string();
    Ok(move |cx: &BuildCx<'_>| build(params.clone(), &cx.with_elements(&Registered)).map_err(|e| e.under(&path)))
}

#[derive(Clone, Copy)]
enum Build {
    Queue(PrepareFn<BoxQueue>),
    Link(PrepareFn<BoxLink>),
    Loss(PrepareFn<BoxLoss>),
    Meter(PrepareFn<BoxMeter>),
    Delayer(PrepareFn<BoxDelayer>),
}

/// How an element is read and built.
pub struct Built {
    normalise: fn(&Value, &str) -> Result<Value, ConfigError>,
    build: Build,
}

/// One element; its name is the `type` in scenario files.
pub type Row = crosswind_base::registry::Row<Kind, Built>;

fn normalised<P: Params>(value: &Value, path: &str) -> Result<Value, ConfigError> {
    let params: P = params::read_with(value, path, &normalise)?;
    Ok(serde_json::to_value(params).expect("parameters are plain data with text keys"))
}

macro_rules! rows {
    ($($kind:ident $name:literal $file:literal $params:ty => $build:expr;)*) => {
        &[$(Row {
            kind: Kind::$kind,
            name: $name,
            source: include_str!($file),
            schema: Some(|| schema_for!($params)),
            build: Built {
                normalise: normalised::<$params>,
                build: Build::$kind(|value, path| {
                    let build: BuildFn<$params, _> = $build;
                    let make = prepared(value, path, build)?;
                    Ok(Box::new(move |cx| Ok(Box::new(make(cx)?))))
                }),
            },
        }),*]
    };
}

/// All elements, in the order of the reference. The name of a random stream stays when its element is renamed: with another one all its
/// draws would be others (`detour`, `repair`, `on-demand`, `slow-path`).
pub static ROWS: &[Row] = rows! {
    Queue "droptail" "queue/droptail.rs" droptail::DropTailParams => new_droptail;
    Queue "bounded" "queue/bounded.rs" bounded::BoundedParams
        => |p, cx| Ok(bounded::Bounded::new(p, cx.rng("overflow")));
    Queue "red-floyd-jacobson" "queue/red/floyd_jacobson.rs" floyd_jacobson::FloydJacobsonParams
        => new_red_floyd_jacobson;
    Queue "red-linux" "queue/red/linux.rs" linux::LinuxParams => new_red_linux;
    Queue "red-ns2" "queue/red/ns2.rs" ns2::Ns2Params => new_red_ns2;
    Queue "rio" "queue/rio/mod.rs" rio::RioParams => new_rio;
    Queue "wred" "queue/rio/wred.rs" wred::WredParams => |p, cx| new_rio(p.0, cx);
    Queue "early-discard" "queue/early_discard.rs"
        early_discard::EarlyDiscardParams => new_early_discard;
    Queue "lpd" "queue/lpd.rs" lpd::LpdParams => lpd::build;
    Queue "codel" "queue/codel.rs" codel::CodelParams => |p, _| Ok(codel::queue(&p));
    Queue "cobalt" "queue/cobalt.rs" cobalt::CobaltParams => |p, cx| Ok(cobalt::queue(&p, cx.rng("cobalt")));
    Queue "fq-codel" "queue/fq_codel.rs" fq_codel::FqCodelParams => FlowQueues::build;
    Queue "cake" "queue/cake/mod.rs" cake::CakeParams => cake::Cake::build;
    Queue "blue" "queue/blue.rs" blue::BlueParams => |p, cx| Ok(blue::queue(p, cx.rng("blue")));
    Queue "sfb" "queue/sfb.rs" sfb::SfbParams => |p, cx| Ok(sfb::queue(p, [cx.rng("hash"), cx.rng("sfb")]));
    Queue "sfq" "queue/sfq.rs" sfq::SfqParams => sfq::Sfq::build;
    Queue "rem" "queue/rem.rs" rem::RemParams => new_rem;
    Queue "pi" "queue/pi.rs" pi::PiParams => |p, cx| Ok(pi::Pi::new(p, cx.rng("pi")));
    Queue "pie" "queue/pie/mod.rs" pie::PieParams => |p, cx| Ok(pie::queue(p, cx.rng("pie")));
    Queue "fq-pie" "queue/fq_pie.rs" fq_pie::FqPieParams => FlowQueues::build;
    Queue "fq" "queue/fq.rs" fq::FqParams => fq::Fq::build;
    Queue "pi2" "queue/pi2.rs" pi2::Pi2Params => |p, cx| Ok(pi2::queue(p, cx.rng("pi2")));
    Queue "dualpi2" "queue/dualpi2/mod.rs" dualpi2::DualPi2Params => dualpi2::DualPi2::build;
    Queue "tbf" "sched/tbf.rs" tbf::TbfParams => tbf::build;
    Queue "prio" "sched/prio.rs" prio::PrioParams => prio::build;
    Queue "drr" "sched/drr.rs" drr::DrrParams => drr::build;
    Queue "htb" "sched/htb/mod.rs" htb::HtbParams => htb::build;
    Link "wire" "link/wire.rs" wire::WireParams => |p, _| Ok(wire::Wire::new(p));
    Link "seawind" "link/seawind/mod.rs" seawind::SeawindParams => |p, cx| Ok(p.build(cx));
    Link "reordering" "link/reordering.rs" reordering::ReorderingParams
        => |p, cx| Ok(reordering::Reordering::new(p, cx.rng("detour")));
    Link "arq" "link/arq.rs" arq::ArqParams
        => |p, cx| Ok(arq::Arq::new(p, cx.rng("repair")));
    Link "atm" "link/atm.rs" atm::AtmParams => |p, _| Ok(atm::Atm::new(p));
    Link "trace" "link/trace.rs" trace::TraceParams => |p, _| Ok(trace::Trace::new(p));
    Loss "none" "link/loss/none.rs" none::NoLossParams => |_, _| Ok(none::NoLoss);
    Loss "list" "link/loss/list.rs" list::ListParams => |p, _| Ok(list::List::new(p));
    Loss "ecn-field" "link/loss/ecn_field.rs" ecn_field::EcnFieldParams => |p, _| Ok(ecn_field::EcnField::new(p));
    Loss "uniform" "link/loss/uniform.rs" uniform::UniformParams
        => |p, cx| Ok(uniform::Uniform::new(p, cx.rng("loss")));
    Meter "token-bucket" "diffserv/token_bucket.rs" token_bucket::TokenBucketParams
        => |p, _| Ok(token_bucket::TokenBucket::new(p));
    Meter "tsw2cm" "diffserv/tsw2cm.rs" tsw2cm::Tsw2cmParams
        => |p, cx| Ok(tsw2cm::Tsw2cm::new(p, cx.rng("meter")));
    Meter "tsw3cm" "diffserv/tsw3cm.rs" tsw3cm::Tsw3cmParams
        => |p, cx| Ok(tsw3cm::Tsw3cm::new(p, cx.rng("meter")));
    Meter "srtcm" "diffserv/srtcm.rs" srtcm::SrtcmParams
        => |p, _| Ok(srtcm::Srtcm::new(p));
    Meter "trtcm" "diffserv/trtcm.rs" trtcm::TrtcmParams
        => |p, _| Ok(trtcm::Trtcm::new(p));
    Meter "trtcm-4115" "diffserv/trtcm_4115.rs"
        trtcm_4115::Trtcm4115Params => |p, _| Ok(trtcm_4115::Trtcm4115::new(p));
    Loss "phases" "link/loss/phases.rs" phases::PhasesParams
        => |p, cx| Ok(phases::Phases::new(p, cx.shared_rng("phases"), cx.rng("loss")));
    Loss "replay-window" "link/loss/replay_window.rs" replay_window::ReplayWindowParams
        => |p, _| Ok(replay_window::ReplayWindow::new(p));
    Loss "several" "link/loss/several.rs" several::SeveralParams => several::build;
    Delayer "spikes" "link/delayer/spikes.rs" spikes::SpikesParams
        => |p, cx| Ok(spikes::Spikes::new(p, cx.shared_rng("spikes")));
    Delayer "channel-allocation" "link/delayer/channel_allocation.rs" channel_allocation::ChannelAllocationParams
        => |p, cx| Ok(channel_allocation::ChannelAllocation::new(p, cx.rng("on-demand")));
    Delayer "fast-reset" "link/delayer/fast_reset.rs" fast_reset::FastResetParams
        => |_, _| Ok(fast_reset::NoDelay);
    Delayer "processing-delay" "link/delayer/processing_delay.rs" processing_delay::ProcessingDelayParams
        => |_, _| Ok(fast_reset::NoDelay);
    Delayer "path-mtu" "link/delayer/mtu.rs" mtu::MtuParams => |_, _| Ok(fast_reset::NoDelay);
};

fn new_rio(p: rio::RioParams, cx: &BuildCx<'_>) -> Result<rio::Rio, ConfigError> {
    let rate = damping_rate(p.rate, cx.link_rate())?;
    Ok(rio::Rio::new(p, rate, cx.rng("red")))
}

fn new_early_discard(
    p: early_discard::EarlyDiscardParams,
    cx: &BuildCx<'_>,
) -> Result<early_discard::EarlyDiscard, ConfigError> {
    let rate = p.rate.or(cx.link_rate()).ok_or_else(|| {
        ConfigError::new("rate", "nothing", "the rate of the link that empties this queue")
            .hint("it is taken from the link when the link has a `rate`")
    })?;
    Ok(early_discard::EarlyDiscard::new(p.limit, rate, p.at_limit))
}

fn new_droptail(p: droptail::DropTailParams, _: &BuildCx<'_>) -> Result<droptail::DropTail, ConfigError> {
    Ok(droptail::DropTail::new(p))
}

fn new_rem(p: rem::RemParams, cx: &BuildCx<'_>) -> Result<rem::Rem, ConfigError> {
    let rate = damping_rate(p.rate, cx.link_rate())?;
    Ok(rem::Rem::new(p, rate, cx.rng("rem")))
}

fn new_red_floyd_jacobson(
    p: floyd_jacobson::FloydJacobsonParams,
    cx: &BuildCx<'_>,
) -> Result<Red<floyd_jacobson::FloydJacobson>, ConfigError> {
    let rate = damping_rate(p.rate, cx.link_rate())?;
    Ok(Red::new(p.common(), floyd_jacobson::FloydJacobson::new(p, rate), cx.rng("red")))
}

fn new_red_linux(p: linux::LinuxParams, cx: &BuildCx<'_>) -> Result<Red<linux::Linux>, ConfigError> {
    let rate = damping_rate(p.rate, cx.link_rate())?;
    Ok(Red::new(p.common(), linux::Linux::new(p, rate), cx.rng("red")))
}

fn new_red_ns2(p: ns2::Ns2Params, cx: &BuildCx<'_>) -> Result<Red<ns2::Ns2>, ConfigError> {
    let rate = damping_rate(p.rate, cx.link_rate())?;
    let link = ns2::LinkFacts { rate, delay: p.delay.or(cx.link_delay()).unwrap_or_default() };
    Ok(Red::new(p.common(), ns2::Ns2::new(p, link), cx.rng("red")))
}

/// Names of one kind, in the order of the reference.
pub fn names(kind: Kind) -> Vec<&'static str> {
    ROWS.iter().filter(|r| r.kind == kind).map(|r| r.name).collect()
}

/// The `type` of an element. `"droptail"` is short for `{ type = "droptail" }`; the kind's default needs no type.
fn type_of<'a>(kind: Kind, value: &'a Value, path: &str) -> Result<&'a str, ConfigError> {
    match value {
        Value::Null => Ok(kind.default_type()),
        Value::String(name) => Ok(name),
        Value::Object(map) => match map.get("type") {
            None => Ok(kind.default_type()),
            Some(Value::String(name)) => Ok(name),
            Some(other) => Err(ConfigError::new(format!("{path}.type"), other.to_string(), "the name of a type")),
        },
        other => {
            let expected = format!("a {} such as {{ type = \"{}\" }}", kind.name(), kind.default_type());
            Err(ConfigError::new(path, other.to_string(), expected))
        }
    }
}

/// Rate and delay of a link, where its parameters (all defaults filled in) have such keys.
fn rate_and_delay(link: &Value) -> (Option<BitRate>, Option<Dur>) {
    let text = |key: &str| link.get(key).and_then(Value::as_str);
    (text("rate").and_then(units::parse_rate), text("delay").and_then(units::parse_dur))
}

/// The row that `value` asks for, and its parameters as a table.
fn resolve(kind: Kind, value: &Value, path: &str) -> Result<(&'static Row, Value), ConfigError> {
    let name = type_of(kind, value, path)?;
    // `tc` writes underscores.
    let is_meant = |row: &&Row| row.kind == kind && (row.name == name || row.name == name.replace('_', "-"));
    let row = ROWS.iter().find(is_meant).ok_or_else(|| {
        let what = format!("a {} type", kind.name());
        ConfigError::unknown(format!("{path}.type"), name, &what, &names(kind))
    })?;
    let table = if value.is_object() { value.clone() } else { Value::Object(Map::new()) };
    Ok((row, table))
}

/// The same element with every default filled in and `type` first.
pub fn normalise(kind: Kind, value: &Value, path: &str) -> Result<Value, ConfigError> {
    let (row, table) = resolve(kind, value, path)?;
    let mut full = Map::new();
    full.insert("type".to_string(), Value::String(row.name.to_string()));
    if let Value::Object(params) = (row.build.normalise)(&table, path)? {
        full.extend(params);
    }
    Ok(Value::Object(full))
}

macro_rules! builder {
    ($(#[$doc:meta])* $name:ident, $kind:ident, $t:ty) => {
        $(#[$doc])*
        pub fn $name(value: &Value, path: &str) -> Result<Make<$t>, ConfigError> {
            let (row, table) = resolve(Kind::$kind, value, path)?;
            match row.build.build {
                Build::$kind(prepare) => prepare(&table, path),
                _ => unreachable!("rows of a kind build that kind"),
            }
        }
    };
}

builder!(
    /// Reads the parameters of a queue discipline.
    prepare_queue, Queue, BoxQueue
);
builder!(
    /// Reads the parameters of a link.
    prepare_link, Link, BoxLink
);
builder!(
    /// Reads the parameters of a loss model.
    prepare_loss, Loss, BoxLoss
);
builder!(
    /// Reads the parameters of what holds packets up.
    prepare_delayer, Delayer, BoxDelayer
);

builder!(
    /// Reads the parameters of a meter.
    prepare_meter, Meter, BoxMeter
);

/// Builds a queue discipline.
pub fn build_queue(value: &Value, path: &str, cx: &BuildCx<'_>) -> Result<BoxQueue, ConfigError> {
    prepare_queue(value, path)?(cx)
}

/// All elements, for those that hold others.
#[derive(Clone, Copy, Debug)]
pub struct Registered;

impl Elements for Registered {
    fn queue(&self, value: &Value, path: &str, cx: &BuildCx<'_>) -> Result<BoxQueue, ConfigError> {
        build_queue(value, path, cx)
    }
    fn loss(&self, value: &Value, path: &str, cx: &BuildCx<'_>) -> Result<BoxLoss, ConfigError> {
        prepare_loss(value, path)?(cx)
    }
}

/// Builds a meter.
pub fn build_meter(value: &Value, path: &str, cx: &BuildCx<'_>) -> Result<BoxMeter, ConfigError> {
    prepare_meter(value, path)?(cx)
}

/// Builds the queue of a link, to see whether it would build, and what it can do.
pub fn try_queue(queue: &Value, link: &Value, path: &str, cx: &BuildCx<'_>) -> Result<BoxQueue, ConfigError> {
    let (rate, delay) = rate_and_delay(&normalise(Kind::Link, link, path)?);
    let cx = &cx.of_link(rate, delay);
    build_queue(queue, &format!("{path}.queue"), cx)
}

/// One direction of a link, in the words of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub queue: &'a Value,
    pub link: &'a Value,
    pub loss: Option<&'a Value>,
    /// Its keys that hold packets up ([`delayer::KEYS`]), or null.
    pub delayers: &'a Value,
}

/// The parameters of one direction of a link, read and checked: any number of egresses can be made from them.
pub struct EgressMaker {
    make: Make<BoxStage>,
    /// Of the link, where its parameters (all defaults filled in) have such keys.
    rate: Option<BitRate>,
    delay: Option<Dur>,
}

impl std::fmt::Debug for EgressMaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EgressMaker({:?}, {:?})", self.rate, self.delay)
    }
}

impl EgressMaker {
    /// `path` is the link's path in the scenario; those of the queue, the loss model and what holds packets up are below it.
    pub fn new(parts: &Parts<'_>, path: &str) -> Result<EgressMaker, ConfigError> {
        let queue_path = format!("{path}.queue");
        let loss_path = format!("{path}.loss");
        let Parts { queue, link, loss, delayers } = *parts;
        let (rate, delay) = rate_and_delay(&normalise(Kind::Link, link, path)?);
        let loss = match loss {
            Some(value) if type_of(Kind::Loss, value, &loss_path)? != "none" => Some(prepare_loss(value, &loss_path)?),
            _ => None,
        };
        if delayers.as_object().is_some_and(|h| !h.is_empty()) {
            let make = held_up(delayers, prepare_queue(queue, &queue_path)?, prepare_link(link, path)?, loss, path)?;
            return Ok(EgressMaker { make, rate, delay });
        }
        let (row, table) = resolve(Kind::Queue, queue, &queue_path)?;
        // The queues that most runs have are compiled together with their links; all others go through a virtual call.
        let make = match row.name {
            "droptail" => with_link(prepared(&table, &queue_path, new_droptail)?, link, loss, path)?,
            "early-discard" => with_link(prepared(&table, &queue_path, new_early_discard)?, link, loss, path)?,
            "rio" => with_link(prepared(&table, &queue_path, new_rio)?, link, loss, path)?,
            "red-linux" => with_link(prepared(&table, &queue_path, new_red_linux)?, link, loss, path)?,
            "red-ns2" => with_link(prepared(&table, &queue_path, new_red_ns2)?, link, loss, path)?,
            _ => with_link(prepare_queue(queue, &queue_path)?, link, loss, path)?,
        };
        Ok(EgressMaker { make, rate, delay })
    }

    pub fn make(&self, cx: &BuildCx<'_>) -> Result<BoxStage, ConfigError> {
        (self.make)(&cx.of_link(self.rate, self.delay))
    }
}

/// A queue and a link with what holds packets up between them.
fn held_up(
    delayers: &Value,
    queue: Make<BoxQueue>,
    link: Make<BoxLink>,
    loss: Option<Make<BoxLoss>>,
    path: &str,
) -> Result<Make<BoxStage>, ConfigError> {
    let mut in_front = Vec::new();
    let (mut at_the_gate, mut resets, mut slow, mut largest) = (None, false, None, None);
    for (key, row) in delayer::KEYS {
        let Some(written) = delayers.get(key) else { continue };
        let at = format!("{path}.{key}");
        let mut named = written.clone();
        named["type"] = row.into();
        let made = prepare_delayer(&named, &at)?;
        match row {
            "spikes" => {}
            "fast-reset" => {
                resets = true;
                continue;
            }
            "processing-delay" => {
                slow = Some(params::read::<processing_delay::ProcessingDelayParams>(written, &at)?);
                continue;
            }
            "path-mtu" => {
                largest = Some(params::read::<mtu::MtuParams>(written, &at)?);
                continue;
            }
            _ => {
                in_front.push((key, made));
                continue;
            }
        }
        let p: spikes::SpikesParams = params::read(written, &at)?;
        if p.holds == spikes::Holds::Line {
            in_front.push((key, made));
        }
        at_the_gate = Some(p).filter(spikes::SpikesParams::touches_queue);
    }
    let path = path.to_string();
    let gated = move |cx: &BuildCx<'_>| -> Result<BoxQueue, ConfigError> {
        let queue = queue(cx)?;
        let Some(p) = &at_the_gate else { return Ok(queue) };
        let own = spikes::Spikes::new(p.clone(), cx.shared_rng("spikes"));
        Ok(Box::new(gate::Gate::new(queue, own, p, cx.rng("spikes")).map_err(|e| e.under(&path))?))
    };
    let held = move |cx: &BuildCx<'_>| -> Result<Held<BoxLink>, ConfigError> {
        Ok(Held::new(
            link(cx)?,
            in_front.iter().map(|(key, h)| Ok((*key, h(cx)?))).collect::<Result<_, ConfigError>>()?,
        ))
    };
    let make = join(gated, held, loss);
    Ok(Box::new(move |cx| {
        let mut stage = make(cx)?;
        if resets {
            stage = Box::new(fast_reset::FastReset::new(stage));
        }
        if let Some(p) = &slow {
            stage = Box::new(processing_delay::ProcessingDelay::new(stage, p.clone(), cx.rng("slow-path")));
        }
        if let Some(p) = &largest {
            stage = Box::new(mtu::Mtu::new(stage, p.clone()));
        }
        Ok(stage)
    }))
}

fn with_link<Q: QueueDisc + Send + 'static>(
    queue: impl Fn(&BuildCx<'_>) -> Result<Q, ConfigError> + Send + Sync + 'static,
    link: &Value,
    loss: Option<Make<BoxLoss>>,
    path: &str,
) -> Result<Make<BoxStage>, ConfigError> {
    let (row, table) = resolve(Kind::Link, link, path)?;
    Ok(match row.name {
        "wire" => join(queue, prepared(&table, path, |p, _| Ok(wire::Wire::new(p)))?, loss),
        "reordering" => {
            join(queue, prepared(&table, path, |p, cx| Ok(reordering::Reordering::new(p, cx.rng("detour"))))?, loss)
        }
        "seawind" => {
            let params: seawind::SeawindParams = params::read(&table, path)?;
            let (queue, loss) = (Arc::new(queue), loss.map(Arc::new));
            let is_plain = params.is_plain();
            let full = {
                let (params, queue, loss) = (params.clone(), queue.clone(), loss.clone());
                join_shared(queue, move |cx| Ok(seawind::Full::new(params.clone(), cx)), loss)
            };
            let plain = join_shared(queue, move |_| Ok(seawind::Plain::new(&params)), loss);
            Box::new(move |cx| if is_plain && !cx.may_change() { plain(cx) } else { full(cx) })
        }
        _ => join(queue, prepare_link(link, path)?, loss),
    })
}

fn join<Q, L>(
    queue: impl Fn(&BuildCx<'_>) -> Result<Q, ConfigError> + Send + Sync + 'static,
    link: impl Fn(&BuildCx<'_>) -> Result<L, ConfigError> + Send + Sync + 'static,
    loss: Option<Make<BoxLoss>>,
) -> Make<BoxStage>
where
    Q: QueueDisc + Send + 'static,
    L: Link + Send + 'static,
{
    join_shared(Arc::new(queue), link, loss.map(Arc::new))
}

/// The same, for makers that several share.
fn join_shared<Q, L>(
    queue: Arc<impl Fn(&BuildCx<'_>) -> Result<Q, ConfigError> + Send + Sync + 'static>,
    link: impl Fn(&BuildCx<'_>) -> Result<L, ConfigError> + Send + Sync + 'static,
    loss: Option<Arc<Make<BoxLoss>>>,
) -> Make<BoxStage>
where
    Q: QueueDisc + Send + 'static,
    L: Link + Send + 'static,
{
    Box::new(move |cx| {
        let (queue, link) = (queue(cx)?, link(cx)?);
        Ok(match &loss {
            None => Box::new(Egress::new(queue, link)),
            Some(loss) => Box::new(Egress::with_loss(queue, link, loss(cx)?)),
        })
    })
}
