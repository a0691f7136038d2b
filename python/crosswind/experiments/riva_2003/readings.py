"""Open points of the source, as other readings that can be run beside the main one (`data/readings.toml`).

The main one is what the machines of the source ran, as far as its words and their code tell (decision 0016). `former`
takes every resolution that was suggested before anything was measured; `kernel` is the reading that stood beside it.
The others change one thing in the main one.
"""

from crosswind.reproduce import variants

ALL = variants(__file__)["all"]
