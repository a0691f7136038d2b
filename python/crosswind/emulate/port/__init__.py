"""Window laws as congestion controls of the Linux kernel: BPF struct_ops programs in C, in whole numbers.

The order of things: `constants` (from the parameters of a law to what the C needs), `source` (the file), `objects`
(what compilers make of it), `alone` (the C stepped ACK by ACK beside the law that it follows), `loading` (into the
kernel, and out again), `beside` (its window beside the simulated one), `page` (what a reader gets). `data/` holds the
C: one file for each law, and what all of them share. Why: docs/decisions/0055-laws-for-a-kernel.md.
"""
