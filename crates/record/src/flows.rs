//! Of which flows something is recorded.

use crosswind_base::FlowId;

/// Which flows an observer cares about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Flows {
    #[default]
    None,
    All,
    /// Indexed by flow number; flows beyond the end are not chosen. Build it with [`Flows::only`].
    Some(Vec<bool>),
}

impl Flows {
    pub fn only(flows: impl IntoIterator<Item = FlowId>) -> Flows {
        let mut chosen = Vec::new();
        for FlowId(i) in flows {
            if chosen.len() <= i as usize {
                chosen.resize(i as usize + 1, false);
            }
            chosen[i as usize] = true;
        }
        Flows::Some(chosen)
    }

    #[inline]
    pub fn contains(&self, flow: FlowId) -> bool {
        match self {
            Flows::None => false,
            Flows::All => true,
            Flows::Some(chosen) => chosen.get(flow.0 as usize).copied().unwrap_or(false),
        }
    }
}
