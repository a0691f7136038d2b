//! What lies between hosts: queues, links, and the egress that joins one of each.

pub mod egress;
pub mod link;
pub mod queue;
pub mod registry;
