"""One TCP flow that loses one packet in each of its cycles: what it gets and loses over whole cycles, and over 2000 s.

A run is watched by totals: a cycle is the time between two losses. What lies before the first loss after slow start is
left out.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosswind.experiments.bhandarkar_2006 import nets
from crosswind.experiments.bhandarkar_2006.measures import of_a_run
from crosswind.reproduce import Results, needed

#: Samples in a cycle.
STEPS = 40
Numbers = npt.NDArray[np.float64]


def cycle_s(rate_mbps: float, buffer: float, rtt_ms: float) -> float:
    """How long TCP's window takes from half of what fits to all of it, one segment a round trip."""
    capacity, per_s = nets.bdp(rate_mbps, rtt_ms), nets.bdp(rate_mbps, 1000)
    most = capacity + buffer
    waits = max(most / 2, capacity)
    return (waits - most / 2) * rtt_ms / 1e3 + (most**2 - waits**2) / 2 / per_s


@dataclass(frozen=True)
class SawTooth:
    """Totals over time: payload in bytes, packets that arrived at the bottleneck, and those it dropped."""

    t: Numbers
    payload: Numbers
    arrived: Numbers
    drops: Numbers
    rate_bps: float

    def losses(self) -> list[int]:
        """The samples by which a loss had happened, one for each cycle."""
        new = np.flatnonzero(np.diff(self.drops) > 0) + 1
        # Slow start loses very many at once, and what it loses is gone within a few round trips.
        begins = 0 if new.size == 0 or self.drops[new[0]] - self.drops[new[0] - 1] < 10 else 1
        late = [int(k) for k in new[begins:] if k > new[0] + 2 or not begins]
        return [k for i, k in enumerate(late) if i == 0 or k > late[i - 1] + STEPS // 4]

    def whole(self, least: int = 3) -> tuple[int, int]:
        """The first and the last of the samples between which whole cycles lie; the same number of losses."""
        at = self.losses()
        needed(len(at) > least, f"{max(0, len(at) - 1)} whole cycles, of at least {least}")
        return at[0], at[-1]

    def loss(self) -> float:
        """Drops over arrivals in whole cycles."""
        a, b = self.whole()
        return float((self.drops[b] - self.drops[a]) / (self.arrived[b] - self.arrived[a]))

    def used(self) -> float:
        """Payload over the rate of the link in whole cycles."""
        a, b = self.whole()
        return float((self.payload[b] - self.payload[a]) * 8 / (self.t[b] - self.t[a]) / self.rate_bps)

    def _between(self, total: Numbers, since: Numbers, seconds: float) -> Numbers:
        return np.interp(since + seconds, self.t, total) - np.interp(since, self.t, total)

    def phases(self, seconds: float = 2000.0, n: int = 10) -> tuple[Numbers, Numbers]:
        """Payload over the rate, and drops over arrivals, in so many seconds from n phases of a cycle on."""
        a, b = self.whole()
        cycle = (self.t[b] - self.t[a]) / (len(self.losses()) - 1)
        since = self.t[a] + cycle * np.arange(n) / n
        needed(since[-1] + seconds <= self.t[-1], f"the run is too short for {seconds:.0f} s from every phase")
        used = self._between(self.payload, since, seconds) * 8 / seconds / self.rate_bps
        return used, self._between(self.drops, since, seconds) / self._between(self.arrived, since, seconds)

    def used_between(self, since_s: float, until_s: float) -> float:
        """Payload over the rate between two times."""
        sent = self._between(self.payload, np.array([since_s]), until_s - since_s)[0]
        return float(sent) * 8 / (until_s - since_s) / self.rate_bps


def of(r: Results, label: str) -> SawTooth:
    """The totals of a run. Raises as `Results.of` does where it was not made."""
    r.of(label, "rep")
    runs = r.runs.only(label, [0])

    def total(metric: str, entity: str) -> tuple[Numbers, Numbers]:
        found = of_a_run(runs.sample(metric, entity), f"{metric} of {entity} in {label}").sort("time_ns")
        return found["time_ns"].to_numpy() / 1e9, found["value"].to_numpy()

    t, payload = total("size_bytes", "one")
    arrived, drops = (total(m, "bottleneck/forward")[1] for m in ("arrived_packets", "drops_packets"))
    links = runs.links()
    rate = float(links.filter(links["link"] == "bottleneck")["rate_bps"][0])
    return SawTooth(t, payload, arrived, drops, rate)
