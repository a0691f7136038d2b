"""The experiments of [Gurtov 2004]: spurious timeouts, real-time data and vertical handovers in wireless overlays.

One file per experiment. `study` declares one, `parts` has claims and measures that recur.
"""
