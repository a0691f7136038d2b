"""The share model of [Ware 2019]: BBR is limited by its window, the loss-based flows fill the rest of the buffer.

BBR's window is twice its rate times the round trip that it sees while it probes for it, when it holds four packets
a flow and the others' packets are still in the queue.
"""

from typing import NamedTuple

PACKET_B = 1500
#: Packets that a BBR flow holds while it looks for the shortest round trip, for so long, this often (s).
HELD, PROBE_S, EVERY_S = 4, 0.2, 10.0


class Path(NamedTuple):
    """A bottleneck: its rate and the round trip without a queue."""

    rate_mbps: int
    rtt_ms: int

    @property
    def packets_per_s(self) -> float:
        return self.rate_mbps * 1e6 / (8 * PACKET_B)

    @property
    def bdp_bytes(self) -> float:
        return self.rate_mbps * 1e3 * self.rtt_ms / 8


def share(path: Path, flows: int, buffer_bdp: float) -> float:
    """What `flows` BBR flows together have of the link, beside loss-based flows, over a buffer of so many BDPs."""
    c, rtt_s = path.packets_per_s, path.rtt_ms / 1e3
    q = buffer_bdp * c * rtt_s
    of_others = max(0.0, 0.5 - 1 / (2 * buffer_bdp) - HELD * flows / q)
    away = (q / c + PROBE_S + rtt_s) / EVERY_S
    return (1 - of_others) * (1 - away)
