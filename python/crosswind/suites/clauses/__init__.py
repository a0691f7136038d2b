"""Does a congestion control do what the standards say? Cases of a clause each.

`case` reads `data/*.toml`; `trace` is what was seen of one flow; `windows`, `wire` and `cubic` measure it, by
the names of `measure`; `audit` runs and judges; `page` shows.
"""
