"""Open points of the source, as other readings that can be run beside the main one (decision 0024).

`former` was the main reading before the study was corrected: it takes every resolution that was suggested before
anything was measured, and counts a timeout as spurious where any later ACK covers old data. All stand in
`data/readings.toml`.
"""

from crosswind.reproduce import variants

WRITTEN = variants(__file__)
MAIN = WRITTEN["main"]
COMMON = MAIN | WRITTEN["common"]
TCP, STREAM, PAGE, ARQ = (COMMON | WRITTEN[group] for group in ("tcp", "stream", "page", "arq"))
