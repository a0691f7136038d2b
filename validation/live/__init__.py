"""Workloads of [Järvinen 2006] between real kernels of today: `make live`."""
