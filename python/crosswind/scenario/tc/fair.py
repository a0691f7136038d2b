"""Queues of flows that `tc` sets up with words of their own: cake, sfq and sfb."""

from __future__ import annotations

from typing import Any

from crosswind.errors import InputError
from crosswind.scenario.tc import units
from crosswind.scenario.tc.words import COUNT, NUMBER, RATE, SIZE, TIME, YES, Word, means, one, refused

Queue = dict[str, Any]
#: Round trips that have a name in `cake`.
RTTS = {
    "datacentre": 100_000,
    "lan": 1_000_000,
    "metro": 10_000_000,
    "regional": 30_000_000,
    "internet": 100_000_000,
    "oceanic": 300_000_000,
    "satellite": 1_000_000_000,
}
TINS = ("besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence")
ISOLATION = ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")
FRAMINGS = (
    "ethernet", "docsis", "pppoe-ptm", "bridged-ptm", "ipoa-vcmux", "ipoa-llcsnap", "bridged-vcmux", "bridged-llcsnap",
    "pppoa-vcmux", "pppoa-llc", "pppoe-vcmux", "pppoe-llcsnap", "conservative",
)  # fmt: skip
SECOND = 1_000_000_000
P_MAX = 65_535


def _seconds(text: str) -> int:
    return units.count(text) * SECOND


def _milliseconds(text: str) -> int:
    return units.count(text) * 1_000_000


def _words(name: str, values: tuple[str, ...]) -> dict[str, Word]:
    return {v: Word(name, means(v)) for v in values}


def _bytes(text: str) -> int:
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    return sign * units.count(digits)


#: Words behind `cake`; those that ask for what a scenario has anyway change nothing.
CAKE: dict[str, Word] = {
    "bandwidth": Word("rate", RATE),
    "unlimited": Word("rate", means(None)),
    "rtt": Word("rtt", TIME),
    **{name: Word("rtt", means(ns)) for name, ns in RTTS.items()},
    **_words("tins", TINS),
    **_words("isolation", ISOLATION),
    **_words("framing", FRAMINGS),
    "raw": Word("framing", means("none")),
    "overhead": Word("overhead", one(_bytes)),
    "mpu": Word("mpu", COUNT),
    **{w: Word("cells", means(c)) for w, c in (("noatm", "none"), ("atm", "atm"), ("ptm", "ptm"))},
    "ingress": Word("charge", means("all")),
    "egress": Word("charge", means("sent")),
    "memlimit": Word("memory_limit", SIZE),
    **{w: Word(w, means(True)) for w in ("nat", "wash")},
    **{w: Word(w.removeprefix("no"), means(False)) for w in ("nonat", "nowash")},
    "ack-filter": Word("ack_filter", means("on")),
    "ack-filter-aggressive": Word("ack_filter", means("aggressive")),
    "no-ack-filter": Word("ack_filter", means("off")),
    **{w: Word("gso", means(False)) for w in ("split-gso", "no-split-gso")},
    **{
        w: Word(w, refused(f"nothing of that name: {why}"))
        for w, why in (
            ("autorate-ingress", "the rate is the one that is written"),
            ("fwmark", "tins go by code points"),
        )
    },
}
#: Words that change nothing in a scenario of one line, and why.
WITHOUT_EFFECT = {
    "nat": "hosts of a scenario are behind no NAT: they are told apart as they are",
    "wash": "code points stay as they are behind the queue, where nobody looks at them",
}
#: Words behind `sfq`.
SFQ: dict[str, Word] = {
    "limit": Word("limit", COUNT),
    "perturb": Word("perturb", one(_seconds)),
    "quantum": Word("quantum", SIZE),
    "divisor": Word("divisor", COUNT),
    "depth": Word("depth", COUNT),
    "flows": Word("flows", COUNT),
    "headdrop": Word("headdrop", YES),
    **{
        w: Word(w, refused("no RED inside of sfq: fq_codel is here"))
        for w in ("redflowlimit", "min", "max", "avpkt", "burst", "probability", "ecn", "harddrop")
    },
}
#: Words behind `sfb`.
SFB: dict[str, Word] = {
    "rehash": Word("rehash", one(_milliseconds)),
    "db": Word("warmup", one(_milliseconds)),
    "limit": Word("limit", COUNT),
    "max": Word("max", COUNT),
    "target": Word("bin_size", COUNT),
    "increment": Word("increment", NUMBER),
    "decrement": Word("decrement", NUMBER),
    "penalty_rate": Word("penalty_rate", COUNT),
    "penalty_burst": Word("penalty_burst", COUNT),
}


def notes(where: str, kind: str, v: dict[str, Any]) -> list[str]:
    """What the words of such a queue ask for that a scenario has anyway, or that it does not show."""
    return [f"{where}: {kind} {word}: {why}" for word, why in WITHOUT_EFFECT.items() if v.get(word)]


def queue(where: str, kind: str, v: dict[str, Any]) -> Queue:
    """The table of such a queue. Raises InputError where words contradict each other."""
    return {"cake": _cake, "sfq": _sfq, "sfb": _sfb}[kind](where, v)


def _cake(where: str, v: dict[str, Any]) -> Queue:
    own = [w for w in ("overhead", "mpu", "cells") if w in v]
    if "framing" in v and own:
        found = f"`{v['framing']}` and `{own[0]}`"
        raise InputError(where, path="cake", found=found, expected="the name of a line, or its numbers")
    out: Queue = {"type": "cake"}
    if v.get("rate") is not None:
        out["rate"] = units.shown_rate(v["rate"])
    out |= {"rtt": units.shown_time(v["rtt"])} if "rtt" in v else {}
    out |= {k: v[k] for k in ("tins", "isolation", "framing", "cells", "charge", "ack_filter") if k in v}
    return out | {k: f"{v[k]} B" for k in ("overhead", "mpu", "memory_limit") if k in v}


def _sfq(_where: str, v: dict[str, Any]) -> Queue:
    out: Queue = {"type": "sfq"}
    out |= {"limit": f"{v['limit']} packets"} if "limit" in v else {}
    out |= {k: v[k] for k in ("flows", "depth", "divisor") if k in v}
    out |= {"quantum": f"{v['quantum']} B"} if "quantum" in v else {}
    out |= {"perturb": units.shown_time(v["perturb"])} if v.get("perturb") else {}
    return out | ({"head_drop": "on"} if v.get("headdrop") else {})


def _sfb(where: str, v: dict[str, Any]) -> Queue:
    out: Queue = {"type": "sfb"}
    out |= {"limit": f"{v['limit']} packets"} if v.get("limit") else {}
    # As tc fills in one from the other.
    target, most = v.get("bin_size", 0), v.get("max", 0)
    most = most or ((target * 5 + 1) // 4 if target else 25)
    out |= {"max": most, "bin_size": target or (most * 4 + 3) // 5}
    for word, default in (("increment", 0.0005), ("decrement", 0.00005)):
        share = v.get(word, default)
        if not 0 <= share <= 1:
            raise InputError(where, path=f"sfb {word}", found=f"{share:g}", expected="a share from 0 to 1")
        out[word] = int(share * P_MAX + 0.5)
    out |= {k: v[k] for k in ("penalty_rate", "penalty_burst") if k in v}
    return out | {k: units.shown_time(v[k]) for k in ("rehash", "warmup") if k in v}
