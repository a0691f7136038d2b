//! What the names of a scenario stand for, found without a walk through everything that has one: a scenario may have a hundred
//! thousand links and name each of them several times.

use super::types::{Events, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is named in a list, or everything.
pub(super) enum Wanted<'a> {
    All,
    These(BTreeSet<&'a str>),
}

impl<'a> Wanted<'a> {
    pub(super) fn of(events: &'a Events) -> Wanted<'a> {
        match events {
            Events::All(_) => Wanted::All,
            Events::Of(names) => Wanted::these(names),
        }
    }
    pub(super) fn these(names: &'a [String]) -> Wanted<'a> {
        Wanted::These(names.iter().map(String::as_str).collect())
    }
    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Wanted::All => true,
            Wanted::These(names) => names.contains(name),
        }
    }
}

/// What is looked up by name in a plan.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    /// The forward egress of each link; the reverse one follows it.
    links: BTreeMap<String, u32>,
    /// What has a time series; `None`: everything.
    sampled: Option<BTreeSet<String>>,
    /// The nodes between which each flow goes.
    hosts: Arc<[[u32; 2]]>,
}

impl Lookup {
    /// `links`: their names, in the order of their egresses; `hosts`: the ends of each flow.
    pub(super) fn new<'a>(links: impl Iterator<Item = &'a str>, hosts: Arc<[[u32; 2]]>, record: &Record) -> Lookup {
        Lookup {
            links: links.zip((0..).step_by(2)).map(|(name, i)| (name.to_string(), i)).collect(),
            sampled: record.sampled.as_ref().map(|names| names.iter().cloned().collect()),
            hosts,
        }
    }
    /// Both directions of the link with this name.
    pub(super) fn link(&self, name: &str) -> Option<[u32; 2]> {
        self.links.get(name).map(|i| [*i, i + 1])
    }
    /// Whether something has a time series. `called`: what it, or what it belongs to, is called.
    pub(super) fn is_sampled(&self, called: &[&str]) -> bool {
        self.sampled.as_ref().is_none_or(|wanted| called.iter().any(|name| wanted.contains(*name)))
    }
    pub(super) fn hosts(&self) -> Arc<[[u32; 2]]> {
        self.hosts.clone()
    }
}
