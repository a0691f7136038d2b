"""What is to be run: scenario files, their values and units, traces, and the network as a graph.

| file | holds |
|---|---|
| `scenario` | a scenario: read, changed, checked |
| `toml_lines` | where in a file a value stands |
| `quantity` | numbers with units, as people write them |
| `traces` | files that a scenario names |
| `tc` | lines of the kernel's traffic control, read into a scenario |
| `topology` | the network as a graph: Mermaid, Graphviz, SVG |
"""

from crosswind.scenario.scenario import Scenario, parse_assignment, parse_value, show

__all__ = ["Scenario", "parse_assignment", "parse_value", "show"]
