"""The same scenario in the simulator and between real kernels, side by side: `make twin`."""
