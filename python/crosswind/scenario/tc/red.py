"""The words behind `red`, with the defaults of `tc` for what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crosswind.errors import InputError

WORDS = ("limit", "min", "max", "avpkt", "burst", "probability", "bandwidth")


@dataclass(frozen=True)
class Red:
    """What was written, with the defaults of `tc`; sizes in bytes."""

    limit: int
    min: int
    max: int
    avpkt: int
    burst: int
    probability: float
    rate_bps: int
    marks: str = "drop"
    is_adaptive: bool = False
    filled_in: tuple[str, ...] = ()

    @staticmethod
    def of(where: str, given: Mapping[str, Any]) -> Red:
        """From the values of the words. Raises InputError where one is missing that `tc` demands."""
        for word in ("limit", "avpkt"):
            if word not in given:
                raise InputError(where, path=word, found="nothing", expected=f"`{word}`, which tc demands")
        limit, avpkt = given["limit"], given["avpkt"]
        most = given.get("max", limit // 4)
        least = given.get("min", 0) or most // 3
        return Red(
            limit=limit,
            min=least,
            max=most,
            avpkt=avpkt,
            burst=given.get("burst", (2 * least + most) // (3 * max(1, avpkt))),
            probability=given.get("probability", 0.02),
            rate_bps=given.get("bandwidth", 10_000_000),
            marks="mark" if given.get("ecn") else "drop",
            is_adaptive=bool(given.get("adaptive")),
            filled_in=tuple(w for w in WORDS if w not in given),
        )

    def queue(self) -> dict[str, Any]:
        """The same as the table of a queue in a scenario."""
        return {
            "type": "red-linux",
            "limit": f"{self.limit} B",
            "min_th": f"{self.min} B",
            "max_th": f"{self.max} B",
            "avpkt": f"{self.avpkt} B",
            "burst": self.burst,
            "max_p": self.probability,
            # Kernels that adapt take the probability as it is written.
            "max_p_rounding": "none" if self.is_adaptive else "tc-plog",
            "rate": f"{self.rate_bps} bit/s",
            "ecn": self.marks,
            **({"adaptive": True} if self.is_adaptive else {}),
        }
