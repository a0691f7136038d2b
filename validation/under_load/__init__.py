"""Delay under load: real programs on real kernels behind an emulated link, and the same simulated."""
