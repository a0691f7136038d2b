"""Real hosts behind emulated links: namespaces, the sandbox around them, real workloads.

Everything lives in namespaces of its own: when their processes end, however they end, the kernel takes all of it away.
The order of things: `needs` (what must be there), `sandbox` (the outer process), `inside` (the first process of the
sandbox), `hosts` (one namespace for each host), `session` (a command in the place of one host), `testbed` (a whole
scenario with real workloads).
"""
