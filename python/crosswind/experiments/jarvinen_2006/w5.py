"""What the three experiments of the combined workload share: a page and a stream of two bursts beside two downloads."""

from typing import Literal

from crosswind.experiments.jarvinen_2006 import testbed

RESPONSE, OVERALL = "page_response_s", "overall_throughput"
STREAM_PACKETS = 2 * testbed.STREAM_PACKETS
REPS = 40
ROLES = ("faster", "slower", "page")
Side = Literal["every", "minimal"]


def workload(name: str, bulk_bytes: int = testbed.BULK_BYTES) -> testbed.Workload:
    """Two bulk flows, a page, a stream of two bursts with 5 to 15 s between them."""
    return testbed.Workload(name, ("page", "audio"), bulk_bytes=bulk_bytes, bursts=2)
