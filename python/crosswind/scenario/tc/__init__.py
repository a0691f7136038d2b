"""Lines of `tc` as a scenario: what stands behind a device becomes a link, with its queue, filters and flows.

| file | holds |
|---|---|
| `units` | rates, sizes, times and shares as `tc` reads them |
| `words` | the grammar: which words each kind of qdisc, class and filter takes |
| `lines` | one statement per line: device, parent, handle, kind and the words behind it |
| `filters` | `u32`, `fw`, `flower` and `matchall` as filters of a scenario |
| `active`, `fair` | queues by delay, with pacing, by flow: their words and tables |
| `queues` | qdiscs and classes as queues |
| `importing` | all of it together |
"""

from crosswind.scenario.tc.importing import Imported, Options, imported

__all__ = ["Imported", "Options", "imported"]
