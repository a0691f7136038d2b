"""Does RED treat the late short transfer better than drop-tail does?

The three transfers of A behind RED (5000, 18000, burst 12, 0.1; limit 20 000 B) at 0, 2, 4, 5 and 5.5 s (B1 to B5).

What the source printed: medians of 9.4 to 11.5 s for the third transfer whatever its start, no exception in 100 runs,
twice as many packets sent again by the long transfers, and the same 36.65 s for the slowest.

What is measured in the main reading: 7.1 to 12.0 s for the third transfer, no exception, 37.4 to 37.8 s for the
slowest.

What may differ here: the rows of 4 and 5 s of the source's Table 5-4 may be interchanged (O-9); claims accept either.

One thing changed at a time in the main reading: RED's clock (`red-clock-10mbit`) leaves R54 unclear and moves nothing
else, because the queue is hardly ever idle while transfers last; the published form of its law with the same weight
(`red-floyd-jacobson`) lets R43, R48 and R49 pass. Memory (`memory`) passes 11 claims instead of 9: without it
drop-tail, with which RED is compared, has another pattern (see A).

Why claims fail in the main reading. **R1, R2, R3, R52**: RED's slowest transfer ends after 37.8 s, because of its
timer. By RFC 6298 the timer is not started afresh when a segment is sent again; with a floor of 200 ms (O-14) instead
of a second it fires before the repair can be acknowledged, 5 to 8 times per long transfer at 0 s. Measured: if it is
started afresh, as the kernel does and RFC 6675 (section 6) leaves open (`timer-restarts`), R2 and R52 pass, R1 is
unclear and R3 still fails. **R53, R58**: one long transfer keeps the drop-tail link (see A), so the fastest is 4 to
12 s slower behind RED. **R46**: behind drop-tail SYNs are lost at 2 s rather than at 4 s. **R51**: 70 to 75
duplicates for the fastest (52.5 printed), whose first overshoot is repaired in one go. **R57**: an outlier of one run
(23.4 s here). **R11, R43, R47, R48, R49, R59** are unclear: all of them compare with drop-tail, whose medians
scatter, but for RED's own quartiles in R43 (4.5 s; 4.4 s accepted).

What is measured in `kernel`: 9.1 to 11.1 s for the third transfer (quartiles 3.8 s apart on average; 3.7 s printed),
no exception, 2.5 times as many packets sent again, 36.63 s for the slowest.

One thing changed at a time in `kernel`: RED's clock (`kernel-red-clock-10mbit`) and the published form of its law
with the same weight (`kernel-red-floyd-jacobson`) move four claims each by a step, among them R3. The last segment
that keeps to the window (`kernel-final-in-window`) brings the third transfer behind drop-tail down to 9.1 and 9.4 s
at 0 and 5.5 s, where RED needs 9.4 to 10.8 s: R41, R47, R49, R50, R55 are unclear or fail then.

Why claims fail in `kernel`. **R3** (unclear): in 5 of 20 runs at 2 s the slowest transfer loses its last segment and
waits for the timer (0.35 s between the quartiles; 0.2 s accepted). **R53, R54** (unclear) compare with drop-tail at 0
s, where one long transfer is 4.7 s too fast (see A). **R56**: one run of the listed drop-tail cells is fairer than
any of the source's 60. **R57**: an outlier of one run (19.2 s here; 33 s printed).

With 200 repetitions 12 claims pass, 10 fail, 2 unclear; in `kernel` 20 claims pass, 2 fail, 2 unclear.

Verdicts by reading (passed, failed, unclear; 20 repetitions).

* Main reading: 9, 9, 6.
* One thing changed in it: `memory` 11, 7, 6; `exact-fit` 7, 11, 6; `ack-each` 9, 10, 5; `ack-every-second` 6, 8, 10;
  `frames` 12, 10, 2; `kbit-1000` 8, 8, 8; `red-clock-10mbit` 8, 9, 7; `red-floyd-jacobson` 11, 7, 6; `window-32k` 13,
  5, 6; `timer-restarts` 14, 6, 4; `rto-linux` 11, 6, 7; `rto-1s` 12, 6, 6; `mss-1460` 11, 8, 5; `fack` 9, 6, 9;
  `sack-kept` 11, 8, 5.
* `kernel`: 19, 2, 3.
* One thing changed in that: `kernel-final-in-window` 14, 3, 7; `kernel-no-memory` 13, 4, 7; `kernel-unknown-peer` 19,
  2, 3; `kernel-exact-fit` 15, 5, 4; `kernel-queue-counts-frames` 19, 2, 3; `kernel-delayed-acks` 19, 2, 3;
  `kernel-learnt-acks` 15, 2, 7; `kernel-learnt-acks-long` 18, 2, 4; `kernel-ack-every-second` 16, 4, 4;
  `kernel-ip-length` 19, 1, 4; `kernel-kbit-1000` 17, 3, 4; `kernel-no-tick` 18, 2, 4; `kernel-hysteresis` 17, 2, 5;
  `kernel-red-clock-10mbit` 19, 2, 3; `kernel-red-floyd-jacobson` 19, 2, 3; `kernel-sack` 17, 1, 6;
  `kernel-later-timer` 17, 2, 5; `kernel-no-fack` 17, 3, 4; `kernel-at-once` 16, 1, 7; `kernel-two-duplicates-wait`
  14, 3, 7; `kernel-rto-1s` 23, 1, 0; `kernel-window-32k` 18, 2, 4; `kernel-mss-1460` 20, 2, 2; `kernel-wide-class-2`
  19, 2, 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind import stats
from crosswind.claims import Band, Claim, Part, above, at_least, at_most, below, between, near, within
from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import a, a_figures, parts, pictures, published, study, testbed
from crosswind.experiments.riva_2003.parts import across, chosen, outlier, pooled, share_part, spread, value_part
from crosswind.experiments.riva_2003.testbed import RED_STARTS_s as STARTS_s
from crosswind.experiments.riva_2003.testbed import cell
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

CELLS = {s: cell("RED", s) for s in STARTS_s}
RED = list(CELLS.values())
TD = [f"a/{cell('TD', s)}" for s in STARTS_s]
BOTH = list(zip(RED, TD, strict=True))
EVERY = [*(f"a/{c}" for c in a.ALL), *RED]
PRINTED = published.cells("table_5-4.csv", "elapsed_median_s", "third_flow_start_s", flow="third")
LISTED = (("RED 2", "a/TD 2"), ("RED 5.5", "a/TD 5.5"))
TCP_BYTES = 653_444
FAST = ("-2.29 s", "0.29 s", "0.31 s", "-0.04 s", "1.43 s")


def configurations(**variant: Any) -> dict[str, Scenario]:
    """The five start times."""
    reading = testbed.Reading(**variant)
    events = ("long", "third")
    return {c: testbed.three("RED", s, reading, events=events if s == 5.5 else ()) for s, c in CELLS.items()}


def _either(start: float) -> Band:
    """The band of a start; 4 and 5 s accept each other's."""
    values = [PRINTED[4.0], PRINTED[5.0]] if start in (4.0, 5.0) else [PRINTED[start]]
    bands = [within(v, 0.25) for v in values]
    return Band(min(b.low for b in bands), max(b.high for b in bands))


def _apart(column: str, accept: Band, printed: tuple[str, ...]) -> list[Part]:
    return parts.differences("RED minus drop-tail", BOTH, column, accept, printed)


def _busy(r: Results) -> Estimate:
    """The smallest median share of the line that the packets of all three take until the slowest is done."""
    return stats.exact(
        float(min(TCP_BYTES / np.nanmedian(r.of(c, "slowest_elapsed_s")) / testbed.RATE_Bps for c in EVERY))
    )


def _mirror(r: Results) -> Estimate:
    """Correlation over the starts between the medians of the fastest and the third transfer."""

    def statistic(*samples: Any, axis: int) -> Any:
        m = np.array([np.median(s, axis=axis) for s in samples])
        fast, third = (x - x.mean(axis=0) for x in (m[: len(RED)], m[len(RED) :]))
        return (fast * third).sum(axis=0) / np.sqrt((fast**2).sum(axis=0) * (third**2).sum(axis=0))

    return stats.estimate(statistic, *(r.of(c, f"{x}_elapsed_s") for x in ("fastest", "third") for c in RED))


def _rest() -> list[Part]:
    """RED's last-packet delay over drop-tail's."""
    return [
        parts.ratio(f"{r} over {t[2:]}", (r, "slowest_rest_s"), (t, "slowest_rest_s"), between(0.4, 0.7), p)
        for (r, t), p in zip(LISTED, ("0.57", "0.49"), strict=True)
    ]


CLAIMS = (
    Claim(
        "R1",
        "The slowest transfer takes the same time at all 12 drop-tail and 5 RED starts (runs without exception)",
        "36.58 to 36.67 s",
        [
            *parts.range_of(EVERY, "slowest_elapsed_s", (36.58, 36.67), 0.02, where=~pl.col("exception")),
            across(
                "spread of the medians",
                EVERY,
                "slowest_elapsed_s",
                spread,
                at_most(0.3),
                "0.09 s",
                where=~pl.col("exception"),
                unit="s",
            ),
        ],
    ),
    Claim(
        "R2",
        "The bottleneck is busy until the end, under both queues",
        "99.5 %",
        [Part("smallest share of the 17 cells", _busy, at_least(0.97), "99.5 %", "%")],
    ),
    Claim(
        "R3",
        "The quartile range of the slowest transfer's elapsed time is small in all 17 cells",
        "0.04 to 0.16 s",
        [
            across(
                "largest range",
                EVERY,
                "slowest_elapsed_s",
                lambda m: m.max(axis=0),
                at_most(0.2),
                "0.16 s",
                each=stats.iqr_of,
                unit="s",
            )
        ],
    ),
    Claim(
        "R11",
        "The last packet of the slowest transfer waits about 0.95 s behind drop-tail, about 0.5 s behind RED",
        "0.96, 0.94, 0.97; 0.54, 0.48 s",
        [
            *_rest(),
            *parts.shown(
                "slowest_rest_s",
                {"a/TD 0": 0.96, "a/TD 2": 0.94, "a/TD 5.5": 0.97, "RED 2": 0.54, "RED 5.5": 0.48},
            ),
        ],
    ),
    Claim(
        "R40",
        "Elapsed time of the third transfer behind RED by start (4 and 5 s may be interchanged)",
        "10.51, 11.51, 9.52, 11.34, 9.37 s",
        [value_part(c, c, "third_elapsed_s", _either(s), PRINTED[s], unit="s", digits=2) for s, c in CELLS.items()],
    ),
    Claim(
        "R41",
        "RED is faster for the third transfer at every start; drop-tail takes 1.6 times as long at 2 s or more",
        "by 2.0, 11.8, 6.1, 3.1, 2.7 s; 2.03",
        [
            *_apart("third_elapsed_s", below(0.0), ("-2.0 s", "-11.8 s", "-6.1 s", "-3.1 s", "-2.7 s")),
            parts.ratio(
                "drop-tail over RED, 2 s",
                ("a/TD 2", "third_elapsed_s"),
                ("RED 2", "third_elapsed_s"),
                at_least(1.6),
                "2.03",
            ),
        ],
    ),
    Claim(
        "R42",
        "Medians differ less over the starts than behind drop-tail",
        "2.1 against 11.3 s",
        [
            across(
                "spread over that of drop-tail",
                [*RED, *TD],
                "third_elapsed_s",
                lambda m: spread(m[: len(RED)]) / spread(m[len(RED) :]),
                at_most(0.5),
                "0.19",
            )
        ],
    ),
    Claim(
        "R43",
        chosen(
            "Quartile ranges of the third transfer are smaller than behind drop-tail",
            "their mean within the printed ranges",
        ),
        "2.9 to 4.4 s, mean 3.7 against 5.6 s",
        [
            parts.mean_of("mean range", RED, "third_elapsed_s", between(2.9, 4.4), "3.7 s", each=stats.iqr_of),
            across(
                "mean range minus that of drop-tail",
                [*RED, *TD],
                "third_elapsed_s",
                lambda m: m[: len(RED)].mean(axis=0) - m[len(RED) :].mean(axis=0),
                below(0.0),
                "-1.9 s",
                each=stats.iqr_of,
                unit="s",
            ),
        ],
    ),
    Claim(
        "R44",
        "No exceptions",
        "0 of 100",
        [share_part("runs", "", lambda r: pooled(r, RED, "exception"), at_most(0.01), "0 %")],
    ),
    Claim(
        "R45",
        "The third transfer's transmission at 2 s is much shorter than behind drop-tail",
        "9.88 against 20.82 s",
        [
            parts.ratio(
                "drop-tail over RED", ("a/TD 2", "third_xmit_s"), ("RED 2", "third_xmit_s"), at_least(1.6), "2.1"
            )
        ],
    ),
    Claim(
        "R46",
        chosen(
            "Handshake at 4 s: short behind RED; at 0 and 2 s about as behind drop-tail",
            "below 1.5 s and half of drop-tail's; 0.5 s",
        ),
        "0.57 against 3.81 s",
        [
            value_part("RED 4", "RED 4", "third_handshake_s", below(1.5), 0.57, unit="s", digits=2),
            parts.ratio(
                "RED over drop-tail, 4 s",
                ("RED 4", "third_handshake_s"),
                ("a/TD 4", "third_handshake_s"),
                below(0.5),
                "0.15",
            ),
            *parts.differences("RED minus drop-tail", BOTH[:2], "third_handshake_s", near(0.0, 0.5), ("0 s", "0 s")),
        ],
    ),
    Claim(
        "R47",
        chosen("Average throughput of the third transfer, above drop-tail at every start", "20 %, as in R16"),
        "4308 to 5148 B/s",
        [
            *parts.range_of(RED, "third_throughput", (4308, 5148), 0.2, each=np.mean, unit="B/s", digits=0),
            *parts.differences(
                "RED minus drop-tail", BOTH, "third_throughput", above(0.0), each=np.mean, unit="B/s", digits=0
            ),
        ],
    ),
    Claim(
        "R48",
        "Long transfers send about twice as many packets again as behind drop-tail",
        "10.5 to 14 against 5 to 6",
        [parts.long_again(f"{r} over drop-tail", r, t, between(1.5, 3.5), "2") for r, t in LISTED],
    ),
    Claim(
        "R49",
        "The third transfer sends slightly fewer packets again, or as many",
        "4 and 3 against 5 and 3",
        parts.differences("RED minus drop-tail", LISTED, "third_retx", at_most(0.0), ("-1", "0"), unit="", digits=1),
    ),
    Claim(
        "R50",
        "Packets sent again, long over third: nearer to the ratio of the loads than behind drop-tail",
        "2.5 to 4.3 against 1.1 to 1.9",
        [
            *(parts.long_over_third(c, at_least(2.0), "2.5 to 4.3") for c, _ in LISTED),
            *(parts.more_per_third(r, t, above(0.0), "> 0") for r, t in LISTED),
        ],
    ),
    Claim(
        "R51",
        chosen("Duplicate ACKs and triple duplicate ACKs", "long 25 % and 2, third 30 % and 1"),
        "long 51 to 52.5 and 8 to 9; third 9.5 to 11 and 2",
        [
            *parts.of_long("dupacks", [c for c, _ in LISTED], between(51 * 0.75, 52.5 * 1.25)),
            *parts.of_long("triple", [c for c, _ in LISTED], between(6, 11)),
            *parts.of_third("dupacks", {"RED 2": 11, "RED 5.5": 9.5}, lambda _: between(9.5 * 0.7, 11 * 1.3)),
            *parts.of_third("triple", {"RED 2": 2, "RED 5.5": 2}, lambda v: near(v, 1)),
        ],
    ),
    Claim(
        "R52",
        "The slowest transfer takes as long behind RED as behind drop-tail",
        "<= 0.05 s",
        _apart("slowest_elapsed_s", near(0.0, 0.5), ("-0.03 s", "0.04 s", "0.05 s", "0.05 s", "-0.01 s")),
    ),
    Claim(
        "R53",
        "The fastest transfer's medians differ by 2.3 s at most, most at 0 s",
        "-2.29, 0.29, 0.31, -0.04, 1.43 s",
        [
            *_apart("fastest_elapsed_s", near(0.0, 2.3), FAST),
            across(
                "0 s, minus the largest of the others",
                [*RED, *TD],
                "fastest_elapsed_s",
                lambda m: abs(m[0] - m[5]) - abs(m[1:5] - m[6:]).max(axis=0),
                above(0.0),
                "> 0",
                unit="s",
            ),
        ],
    ),
    Claim(
        "R54",
        "Over the starts, a slow fastest transfer goes with a fast third",
        "nearly mirror images",
        [Part("correlation of medians", _mirror, below(0.0), "< 0", "", 2)],
    ),
    Claim(
        "R55",
        "RED ends the long transfers' slow start earlier",
        "earlier",
        _apart("long_first_congestion_s", below(0.0), ("< 0",) * 5),
    ),
    Claim(
        "R56",
        "A RED run with three nearly equal throughputs occurs; behind drop-tail Jain's index stays below 0.993",
        "0.999",
        [
            outlier("largest of a RED cell", RED, "jain_three", np.nanmax, at_least(0.995), "0.999", unit="", digits=4),
            outlier(
                "largest of the listed drop-tail cells",
                [f"a/{c}" for c in a.THREE],
                "jain_three",
                np.nanmax,
                at_most(0.993),
                "0.993",
                unit="",
                digits=4,
            ),
        ],
    ),
    Claim(
        "R57",
        chosen("The longest third transfer behind RED, once", "25 %"),
        "33 s; the long ones then 36.1 and 36.6 s",
        [outlier("longest", RED, "third_elapsed_s", np.nanmax, within(33.0, 0.25), "33 s")],
    ),
    Claim(
        "R58",
        "RED's retransmissions cost no throughput: fastest within 1 s of drop-tail on average",
        "-0.2 s",
        [
            across(
                "mean over the starts, RED minus drop-tail",
                [*RED, *TD],
                "fastest_elapsed_s",
                lambda m: (m[: len(RED)] - m[len(RED) :]).mean(axis=0),
                near(0.0, 1.0),
                "-0.2 s",
                each=np.mean,
                unit="s",
            )
        ],
    ),
    Claim("R59", "The queue is shorter behind RED: about half the delay (as R11)", "about half", _rest()),
)


def pictures_of(r: Results) -> list[Picture]:
    """Figures 5-13, 5-14 and 5-15."""
    both = {"drop-tail": {s: f"a/{cell('TD', s)}" for s in STARTS_s}, "RED": CELLS}

    def curves(column: str) -> dict[str, Any]:
        return {k: pictures.curve(r, cells, column) for k, cells in both.items()}

    third = {
        "elapsed time (s)": curves("third_elapsed_s"),
        "handshake (s)": curves("third_handshake_s"),
        "transmission (s)": curves("third_xmit_s"),
        "throughput (B/s)": curves("third_throughput"),
        "packets sent again": curves("third_retx"),
    }
    long = {
        f"{what}, {x}": curves(f"{x}_{column}")
        for x in ("fastest", "slowest")
        for what, column in (("elapsed time (s)", "elapsed_s"), ("packets sent again", "retx"))
    }
    x = "start of the third transfer (s)"
    shown = [
        pictures.against_start(
            "fig-5-13",
            "The third transfer behind both queues (Fig. 5-13): medians and quartiles, for the elapsed time also the "
            "least and the largest value.",
            third,
            x,
            ends=("elapsed time (s)",),
        ),
        pictures.against_start("fig-5-14", "The long transfers behind both queues (Fig. 5-14).", long, x),
    ]
    if not r.runs.events().is_empty():
        fair = int(np.nanargmax(r.of("RED 5.5", "jain_three")))
        flows = a_figures.example(r, "RED 5.5", fair)
        shown.append(pictures.sequences("fig-5-15", "The fairest run at 5.5 s behind RED (as Fig. 5-15).", flows))
    return shown


EXPERIMENT = study.beside_drop_tail(
    "b",
    "Three transfers, one of them late and short, behind RED",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures_of,
    headline=lambda r: a_figures.numbers(r, RED, RED),
)
