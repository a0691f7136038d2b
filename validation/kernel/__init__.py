"""Crosswind's shapers against those of the Linux kernel, in network namespaces."""
