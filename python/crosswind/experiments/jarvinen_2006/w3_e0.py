"""How long does a web page take that is loaded beside two long downloads on a slow, error-free wireless last hop?

Two bulk transfers of 640 segments; an HTTP/1.0 page of a body and eight inline objects, each on a connection of its
own, at most four at a time, starts somewhere in the first 36 s. Eight configurations: Baseline or Enhanced TCP, one
queue or a class of its own for the page (DS), drop-tail or RED with ECN; 120 repetitions each.

What the source printed: 52 s in BL; ECN and above all DS shorten it, Enhanced TCP a little. With DS the page loses no
packets. In BL nearly every page has a spurious timeout, mostly of an initial window of its body or first objects.

What may differ here: as for W1. Rates of the classes are not printed: here they lie above the link's rate, which does
the limiting by its back-pressure, with equal quanta. Numbers of a page are sums over its nine connections.

Why claims fail. Measured here, 60 repetitions, by changing one thing at a time in BL+DS:

* **A page in a class of its own (J70, J76, J81).** It takes 43 s with BL (37.5 s printed) and 35.5 s with ETCP (38.0
  s), so the order of the two turns round. What separates them is the initial window: three stages (body, two rounds
  of objects) of one round trip of 2.3 s each; BL+DS with a window of four takes 36.5 s. What BL's pages wait for are
  delayed ACKs of first segments and a queue that is shared in packets of two: with ACKs delayed by 40 ms instead of
  200 ms it is 40.4 s, without any delay 38.8 s, with quanta of one packet 42.8 s and no spurious timeout (quanta are
  not printed; `htb-quantum` has 1000 B), with strict priority for the page 37.2 s. Bursts of the classes change
  nothing. Presumably the source's mobile host acknowledged first segments sooner than its printed 200 ms.
* **Spurious timeouts (J73, J76, J77, J78).** There are 449 in 120 repetitions of BL (309 printed), and of the
  timeouts of these connections nine in ten are of a SYN or a first segment that was not lost: it waits for more than
  3 s. That befalls objects 4 to 6 as well (13 % of all, 3 % printed), since the queue is as long when they start; in
  the source it must have been shorter by then. All of BL+DS's befall the third inline object, as in the source, but
  in nearly half of the repetitions. ETCP has three to four per page (three printed); an exact median leaves no room.
* **Late pages (J84).** A bulk flow in BL+DS has what the source's Figure 21 shows, a timeout of the first segment that
  was sent again, 10 ms before its ACK. The others, and all four in BL+DS+ECN, are of a retransmission that was dropped:
  RED drops what cannot be marked. They count as spurious by the suggested rule because ACKs of other segments still
  arrive. With the receive window of Linux 2.4 (`linux-window`) BL's pages lose the spurious timeouts of their bodies
  that the source saw in every repetition (J75): the window reading that helps W1 and W2 contradicts W3.
* **The faster flow (J72, J82, J83).** Printed changes of ranges are tested to 10 points, as all changes are. The
  range of pages in BL+DS is 1.5 s (1.1 s printed), and 5.7 s with ECN (2.9 s): some of these pages find no queue at
  all. BL's range of the faster flow, to which the others are compared, is 7.4 s (3.4 s printed); theirs are as
  printed (ETCP 10.6 s, 11.6 s printed), so it is BL's bulk flows that differ (see W1). ETCP's range for late starts
  is 1.9 s (2.9 s printed); 8 s with `kernel-fifo`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures, stats
from crosswind.claims import (
    Band,
    Claim,
    MissingDataError,
    Part,
    above,
    at_least,
    at_most,
    below,
    between,
    near,
    within,
)
from crosswind.experiments.base import Results, published
from crosswind.experiments.jarvinen_2006 import measures, parts, readings, study, testbed
from crosswind.experiments.jarvinen_2006.parts import change_part, share_part, upper, value_part
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

P = published("w3_e0.csv", __file__)
WORKLOAD = testbed.Workload("w3-e0", ("page",))
RESPONSE, OVERALL, FASTER = "page_response_s", "overall_throughput", "faster_elapsed_s"
OBJECTS_BYTES = 823_680
ORDER = ("BL", "ETCP", "BL+ECN", "ETCP+ECN", "ETCP+DS", "BL+DS", "ETCP+DS+ECN", "BL+DS+ECN")
# Printed medians of neighbours less than two seconds apart need only weak order, and where the printed gap is below 2 %
# (BL+DS, ETCP+DS) a fall by less than that is no contradiction.
NEAR_s, SLACK_s = 2.0, {"BL+DS": parts.LEVEL * 38.0}
WITH_DS = tuple(c for c in testbed.EIGHT if "+DS" in c)


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The eight configurations; `variant` names what differs from the suggested reading (testbed.Reading)."""
    return testbed.configurations(WORKLOAD, testbed.EIGHT, variant)


def order_parts() -> list[Part]:
    """Each configuration against the one before in the printed order; near neighbours may be level."""
    gaps = {"BL+ECN": 1.1, "ETCP+DS+ECN": 1.6, "BL+DS": 0.5, "BL+DS+ECN": 2.0}
    out = []
    for a, b in itertools.pairwise(ORDER):
        accept = at_most(SLACK_s.get(b, 0.0)) if gaps.get(b, 9.0) < NEAR_s else below(0.0)
        out.append(parts.difference_part(f"{b} minus {a}", b, a, RESPONSE, accept, "< 0", unit="s"))
    return out


def by_object(r: Results, configuration: str, column: str) -> npt.NDArray[np.float64]:
    """Totals over all repetitions for the body (0) and the inline objects (1 to 8)."""
    t = r.table("objects").filter(pl.col("configuration") == configuration)
    if t.is_empty():
        raise MissingDataError(f"no page in {configuration}")
    return t.group_by("object").agg(pl.col(column).sum()).sort("object")[column].to_numpy().astype(float)


def _share_of(column: str, objects: list[int], accept: Band, printed: str, label: str) -> Part:
    def measure(r: Results) -> Estimate:
        mine, all_nine = (_objects_hit(r, "BL", x, column) for x in (objects, list(range(9))))
        if not all_nine.sum():
            raise MissingDataError("none at all")
        return stats.estimate(
            lambda a, b, axis: np.sum(a, axis=axis) / np.sum(b, axis=axis), mine, all_nine, pairing="paired"
        )

    return Part(label, measure, accept, printed, "%")


def _objects_hit(
    r: Results, configuration: str, number: list[int], column: str = "spurious"
) -> npt.NDArray[np.float64]:
    """Per repetition: spurious timeouts, or another count, of some objects of the page."""
    t = r.table("objects").filter((pl.col("configuration") == configuration) & pl.col("object").is_in(number))
    return t.group_by("rep").agg(pl.col(column).sum()).sort("rep")[column].to_numpy().astype(float)


def _late_body(r: Results) -> npt.NDArray[np.bool_]:
    late = r.of("BL", "page_start_s") > 20.0
    return _objects_hit(r, "BL", [0])[late] > 0


def _rising_with_start(r: Results) -> Estimate:
    start, count = r.of("ETCP", "page_start_s"), r.of("ETCP", "page_spurious")
    return stats.estimate(
        lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis), count[start > 20.0], count[start < 20.0]
    )


def _by_start(side: str, what: Any, label: str, accept: Band, printed: str) -> Part:
    where = pl.col("page_start_s") < 20.0 if side == "early" else pl.col("page_start_s") >= 20.0
    return Part(label, lambda r: stats.estimate(what, r.of("ETCP", FASTER, where)), accept, printed, "s", 2)


def _bulk_spurious(configuration: str) -> Any:
    def hit(r: Results) -> npt.NDArray[np.bool_]:
        late = r.of(configuration, "page_start_s") > 32.0
        both = r.of(configuration, "faster_spurious") + r.of(configuration, "slower_spurious")
        return both[late] > 0

    return hit


RESPONSE_CLAIMS = (
    Claim(
        "J5",
        "Overall throughput times elapsed time of the slower flow is the size of the objects",
        "823680 B (W3); 7832 B/s x 105.2 s",
        [parts.identity_part(c, within(OBJECTS_BYTES, 0.003), "823680 B") for c in testbed.EIGHT],
    ),
    Claim(
        "J70",
        "Response time of the page: DS+ECN shortest, then DS, then ECN; BL longest",
        "BL 52.1 s; 46.4, 45.3, 40.1, 38.0, 37.5, 35.9, 33.9 s",
        [value_part("BL", "BL", RESPONSE, within(52.1, 0.15), 52.1, unit="s"), *order_parts()],
    ),
    Claim(
        "J71",
        "DS without ECN shortens BL's pages and steadies them",
        "-28 %, maximum -38 %, IQR -78 %",
        [
            change_part("median", "BL+DS", "BL", RESPONSE, near(-0.28, 0.10), -0.28),
            change_part("maximum", "BL+DS", "BL", RESPONSE, near(-0.38, 0.10), -0.38, of=np.max),
            change_part("IQR", "BL+DS", "BL", RESPONSE, near(-0.78, 0.10), -0.78, of=stats.iqr_of),
        ],
    ),
    Claim(
        "J72",
        "BL: DS with ECN is less steady than DS alone",
        "IQR +160 %",
        [change_part("IQR", "BL+DS+ECN", "BL+DS", RESPONSE, near(1.60, 0.10), 1.60, of=stats.iqr_of)],
    ),
    Claim(
        "J73",
        "BL, Table 8: body and objects 1 to 3 carry most spurious timeouts and drops; 4 to 6 hardly any",
        "timeouts 74 %, with 7 and 8 97 %; drops 77 %",
        [
            _share_of("spurious", [0, 1, 2, 3], near(0.74, 0.10), "74 %", "spurious timeouts, body to object 3"),
            _share_of("spurious", [0, 1, 2, 3, 7, 8], near(0.97, 0.10), "97 %", "spurious timeouts, with 7 and 8"),
            _share_of("spurious", [4, 5, 6], Band(), "3 %", "spurious timeouts, objects 4 to 6"),
            _share_of("drops", [0, 1, 2, 3], at_least(0.65), "77 %", "drops, body to object 3"),
            _share_of("drops", [0], Band(), "24 %", "drops, body"),
            _share_of("drops", [8], Band(), "0.6 %", "drops, object 8"),
        ],
    ),
    Claim(
        "J74",
        "BL: nearly every page has a spurious timeout",
        "93 % of repetitions",
        [share_part("with one", "BL", lambda r: r.of("BL", "page_spurious") > 0, at_least(0.80), "93 %")],
    ),
    Claim(
        "J75",
        "BL: every page that starts after 20 s has a spurious timeout of its body",
        "every repetition",
        [share_part("with one, start after 20 s", "BL", _late_body, at_least(0.95), "100 %")],
    ),
    Claim(
        "J76",
        "DS removes all drops of the page and nearly all of its spurious timeouts",
        "0; upper quartile 0; ETCP+DS median 1",
        [
            *(value_part(f"drops, maximum, {c}", c, "page_drops", at_most(0), 0, of=np.max, digits=0) for c in WITH_DS),
            value_part("spurious timeouts, upper quartile, BL+DS", "BL+DS", "page_spurious", at_most(0), 0, of=upper),
            value_part("spurious timeouts, median, ETCP+DS", "ETCP+DS", "page_spurious", between(1, 1), 1),
        ],
    ),
    Claim(
        "J77",
        "ETCP+DS: spurious timeout of the last object of the first burst, seldom one more",
        "75 %; 12 %",
        [
            share_part("object 3", "ETCP+DS", lambda r: _objects_hit(r, "ETCP+DS", [3]) > 0, near(0.75, 0.15), "75 %"),
            share_part(
                "a later object",
                "ETCP+DS",
                lambda r: _objects_hit(r, "ETCP+DS", [4, 5, 6, 7, 8]) > 0,
                near(0.12, 0.15),
                "12 %",
            ),
        ],
    ),
    Claim(
        "J78",
        "ETCP: three spurious timeouts a page, more for later starts, none only for starts below 2 s",
        "3; rising",
        [
            value_part("median", "ETCP", "page_spurious", between(3, 3), 3),
            Part("start after 20 s minus before", _rising_with_start, above(0.0), "> 0"),
            share_part(
                "start below 2 s: repetitions without",
                "ETCP",
                lambda r: r.of("ETCP", "page_spurious", pl.col("page_start_s") < 2.0) == 0,
                above(0.0),
                "some",
            ),
        ],
    ),
)
CLAIMS = (
    *RESPONSE_CLAIMS,
    Claim(
        "J79",
        "Overall throughput within 0.7 %; ETCP a little above BL",
        "7832, 7841, 7854; 7872, 7873, 7879, 7878 B/s",
        [
            *parts.table_parts(OVERALL, OVERALL, P, 0.007, unit="B/s", digits=0),
            change_part("ETCP against BL", "ETCP", "BL", OVERALL, between(0.002, 0.01), 0.005),
        ],
    ),
    Claim(
        "J80",
        "With DS, ECN lowers the minimum of overall throughput",
        "lower minima",
        [
            change_part(
                f"minimum, {tcp}+DS+ECN against {tcp}+DS", f"{tcp}+DS+ECN", f"{tcp}+DS", OVERALL, below(0.0), of=np.min
            )
            for tcp in ("BL", "ETCP")
        ],
    ),
    Claim(
        "J81",
        "Simultaneous throughput of the page rises from BL to BL+DS+ECN",
        "1658 < 1872 < 1910 < 2145 < 2282 ~ 2299 < 2416 < 2541 B/s",
        [
            *parts.table_parts("simultaneous_page", "simultaneous_page", P, 0.10, unit="B/s", digits=0),
            *parts.rising("simultaneous_page", ORDER, {"BL+DS": parts.LEVEL}),
        ],
    ),
    Claim(
        "J82",
        "ECN and ETCP make the faster flow's time vary more, DS with BL less",
        "IQR +125 %, +242 %, +244 %; -29 %",
        [
            change_part(c, c, "BL", FASTER, near(x, 0.10), x, of=stats.iqr_of)
            for c in ("BL+ECN", "ETCP", "ETCP+DS", "BL+DS")
            for x in (P[("faster_elapsed_iqr_change", c)],)
        ],
    ),
    Claim(
        "J83",
        "ETCP, Table 9: the faster flow's time varies for starts before 20 s, hardly after",
        "IQR 12.1 s; 2.9 s; minimum 87.65 to 89.06 s",
        [
            _by_start("early", stats.iqr_of, "IQR, start before 20 s", within(12.07, 0.15), "12.1 s"),
            _by_start("late", stats.iqr_of, "IQR, start after 20 s", within(2.93, 0.15), "2.9 s"),
            _by_start("early", np.min, "minimum, start before 20 s", within(89.06, 0.15), "89.06 s"),
            _by_start("late", np.min, "minimum, start after 20 s", within(87.65, 0.15), "87.65 s"),
        ],
    ),
    Claim(
        "J84",
        "BL+DS, start after 32 s: a bulk flow has a spurious timeout; with ECN none",
        "yes; none",
        [
            share_part("repetitions", "BL+DS", _bulk_spurious("BL+DS"), above(0.0), "some"),
            share_part("repetitions", "BL+DS+ECN", _bulk_spurious("BL+DS+ECN"), at_most(0.0), "none"),
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 20a-f, 23 and Table 8 as bars."""
    bulk = {"faster": FASTER, "slower": "slower_elapsed_s"}
    roles = ("faster", "slower", "page")
    boxes = (
        ("fig-20a", "Overall throughput (Fig. 20a)", {"all": OVERALL}, "overall throughput (B/s)", None),
        ("fig-20b", "Response time of the page (Fig. 20b)", {"page": RESPONSE}, "response time (s)", 0.0),
        ("fig-20c", "Elapsed times of the bulk flows (Fig. 20c)", bulk, "elapsed time (s)", None),
        ("fig-20d", "Spurious timeouts (Fig. 20d)", {x: f"{x}_spurious" for x in roles}, "spurious timeouts", 0.0),
        (
            "fig-20d-resends",
            "Unnecessary retransmissions (Fig. 20d)",
            {x: f"{x}_unnecessary" for x in roles},
            "retransmissions in vain",
            0.0,
        ),
        ("fig-20e", "Drops by flow (Fig. 20e)", {x: f"{x}_drops" for x in roles}, "drops (packets)", 0.0),
        (
            "fig-20f",
            "Simultaneous throughput (Fig. 20f)",
            {x: f"simultaneous_{x}" for x in roles},
            "simultaneous throughput (B/s)",
            0.0,
        ),
    )
    points = {"ETCP": (r.of("ETCP", "page_start_s"), r.of("ETCP", "page_spurious"))}
    names = ["body", *map(str, range(1, 9))]
    return [
        *(figures.quartile_bars(n, f"{c}.", measures.columns(r, what), y, floor) for n, c, what, y, floor in boxes),
        figures.scatter(
            "fig-23",
            "Spurious timeouts of a page against its start, ETCP (Fig. 23).",
            points,
            "start of the page (s)",
            "spurious timeouts",
        ),
        figures.bars(
            "table-8",
            "Spurious timeouts and drops by object over all repetitions, BL (Table 8).",
            {
                what: dict(zip(names, by_object(r, "BL", column), strict=True))
                for what, column in (("spurious timeouts", "spurious"), ("drops", "drops"))
            },
            "number",
        ),
    ]


EXPERIMENT = study.experiment(
    "w3-e0",
    "Two bulk flows and a web page on an error-free 64 kbit/s last hop",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures,
    variants=readings.PAGE,
    headline=parts.headline(RESPONSE, "s", testbed.EIGHT),
)
