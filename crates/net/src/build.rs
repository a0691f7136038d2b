//! What building an element needs besides its parameters: random streams by name, its link, the flows of the scenario, and
//! the elements inside it.

use crate::link::loss::BoxLoss;
use crate::queue::BoxQueue;
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Rng, Stage, Streams};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// What a row builds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Queue,
    Link,
    Loss,
    Meter,
    /// What holds packets up between queue and link.
    Delayer,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Queue => "queue",
            Kind::Link => "link",
            Kind::Loss => "loss",
            Kind::Meter => "meter",
            Kind::Delayer => "delayer",
        }
    }
    /// What is meant when a scenario names no type.
    pub fn default_type(self) -> &'static str {
        match self {
            Kind::Queue => "droptail",
            Kind::Link => "wire",
            Kind::Loss => "none",
            Kind::Meter => "token-bucket",
            Kind::Delayer => "spikes",
        }
    }
}

/// How an element inside another one is built. The registry knows all of them, and is on top; an element that holds others
/// asks for them here.
pub trait Elements: Sync {
    fn queue(&self, value: &Value, path: &str, cx: &BuildCx<'_>) -> Result<BoxQueue, ConfigError>;
    fn loss(&self, value: &Value, path: &str, cx: &BuildCx<'_>) -> Result<BoxLoss, ConfigError>;
}

/// An egress chosen at run time.
pub type BoxStage = Box<dyn Stage + Send>;

/// The flows of a scenario by name, as filters know them.
pub trait FlowNames {
    /// The numbers of the flows that `name` stands for: a group's or one flow's. `None` when there is no such name.
    fn ids(&self, name: &str) -> Option<Vec<Range<u32>>>;
    /// The names of the groups, for messages.
    fn groups(&self) -> Vec<&str>;
    /// Of each flow, the host that opens it and the other one, by number.
    fn hosts(&self) -> Arc<[[u32; 2]]>;
}

/// Between which hosts packets travel.
#[derive(Clone, Debug)]
pub enum Hosts {
    /// All between the same two.
    Unknown,
    /// By flow: the host that opened it, and the other one.
    OfFlows(Arc<[[u32; 2]]>),
    /// Each packet says so, in the fields of its timestamps ([`Hosts::write`]).
    InPackets,
}

impl Hosts {
    /// Where a packet comes from (0) or goes to (1).
    #[inline]
    pub fn end(&self, p: &Packet, end: usize) -> u32 {
        match self {
            Hosts::Unknown => 0,
            Hosts::OfFlows(all) => {
                all.get(p.flow.0 as usize).map_or(0, |both| both[end ^ usize::from(p.meta.is_reverse())])
            }
            Hosts::InPackets => [p.ts_val, p.ts_ecr][end],
        }
    }
    /// Puts both hosts into a packet whose options nobody else reads: where frames travel with their bytes.
    #[inline]
    pub fn write(p: &mut Packet, both: [u32; 2]) {
        [p.ts_val, p.ts_ecr] = both;
    }
}

/// What building an element needs besides its parameters.
#[derive(Clone, Copy)]
pub struct BuildCx<'a> {
    streams: &'a Streams,
    component: &'a str,
    link_rate: Option<BitRate>,
    link_delay: Option<Dur>,
    flows: Option<&'a dyn FlowNames>,
    /// The streams that all repetitions of a run share, and which repetition this is.
    run: Option<(&'a Streams, u32)>,
    life: Life,
    says_hosts: bool,
    elements: Option<&'static dyn Elements>,
}

/// Whether the parameters of what is built may change later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Fixed,
    Changing,
}

/// What building an element needed, for an element that will have to be built anew with other parameters.
#[derive(Clone, Debug)]
pub struct Origin {
    streams: Streams,
    component: String,
    run: Option<(Streams, u32)>,
}

impl Origin {
    pub fn with<T>(&self, build: impl FnOnce(&BuildCx<'_>) -> T) -> T {
        let run = self.run.as_ref().map(|(shared, rep)| (shared, *rep));
        build(&BuildCx { run, ..BuildCx::new(&self.streams, &self.component) })
    }
}

impl<'a> BuildCx<'a> {
    /// `component` is e.g. `link/last-hop/forward`; the random streams of its parts are named below it.
    pub fn new(streams: &'a Streams, component: &'a str) -> BuildCx<'a> {
        BuildCx {
            streams,
            component,
            link_rate: None,
            link_delay: None,
            flows: None,
            run: None,
            life: Life::Fixed,
            says_hosts: false,
            elements: None,
        }
    }
    /// For an element that may hold others: those of the registry, which gives them to all that it builds.
    pub fn with_elements(self, all: &'static dyn Elements) -> BuildCx<'a> {
        BuildCx { elements: Some(all), ..self }
    }
    /// Panics where an element was built by hand and not by the registry, and without [`BuildCx::with_elements`].
    pub fn elements(&self) -> &'static dyn Elements {
        self.elements.expect("what holds other elements is built by the registry")
    }
    /// Parameters may change later: nothing that could be needed then may be left out.
    pub fn that_changes(self) -> BuildCx<'a> {
        BuildCx { life: Life::Changing, ..self }
    }
    pub fn may_change(&self) -> bool {
        self.life == Life::Changing
    }
    /// Random streams and component, to be kept.
    pub fn origin(&self) -> Origin {
        let run = self.run.map(|(shared, rep)| (*shared, rep));
        Origin { streams: *self.streams, component: self.component.to_string(), run }
    }
    /// For one of several repetitions: `shared` are the streams of the run as a whole.
    pub fn of_repetition(self, shared: &'a Streams, index: u32) -> BuildCx<'a> {
        BuildCx { run: Some((shared, index)), ..self }
    }
    pub fn repetition(&self) -> u32 {
        self.run.map_or(0, |r| r.1)
    }
    /// The same component with random streams that are equal in all repetitions.
    pub fn across_repetitions(&self) -> BuildCx<'a> {
        BuildCx { streams: self.run.map_or(self.streams, |r| r.0), ..*self }
    }
    /// The flows of the scenario, for filters that name them.
    pub fn with_flows(self, flows: &'a dyn FlowNames) -> BuildCx<'a> {
        BuildCx { flows: Some(flows), ..self }
    }
    pub fn flows(&self) -> Option<&'a dyn FlowNames> {
        self.flows
    }
    /// Packets say themselves between which hosts they travel.
    pub fn with_hosts_in_packets(self) -> BuildCx<'a> {
        BuildCx { says_hosts: true, ..self }
    }
    /// Between which hosts packets travel.
    pub fn hosts(&self) -> Hosts {
        match self.flows {
            _ if self.says_hosts => Hosts::InPackets,
            Some(flows) => Hosts::OfFlows(flows.hosts()),
            None => Hosts::Unknown,
        }
    }
    pub fn link_rate(&self) -> Option<BitRate> {
        self.link_rate
    }
    pub fn link_delay(&self) -> Option<Dur> {
        self.link_delay
    }
    /// The component of a queue inside this one.
    pub fn below(&self, class: &str) -> String {
        let between = if class.is_empty() { "" } else { "/class/" };
        format!("{}{between}{class}", self.component)
    }
    /// For a queue inside this one, which is emptied at no more than `rate_max`.
    pub fn inside<'b>(&'b self, component: &'b str, rate_max: Option<BitRate>) -> BuildCx<'b> {
        let link_rate = match (self.link_rate, rate_max) {
            (Some(link), Some(own)) => Some(link.min(own)),
            (link, own) => link.or(own),
        };
        BuildCx { component, link_rate, ..*self }
    }
    /// For a queue in front of a link.
    pub fn of_link(&self, link_rate: Option<BitRate>, link_delay: Option<Dur>) -> BuildCx<'a> {
        BuildCx { link_rate, link_delay, ..*self }
    }
    /// The random stream of one part of the component.
    pub fn rng(&self, part: &str) -> Rng {
        self.streams.named(&format!("{}/{part}", self.component))
    }
    /// The random stream of one part that both directions of a link share: each gets the same numbers.
    pub fn shared_rng(&self, part: &str) -> Rng {
        let link = self.component.rsplit_once('/').map_or(self.component, |(link, _)| link);
        self.streams.named(&format!("{link}/{part}"))
    }
}
