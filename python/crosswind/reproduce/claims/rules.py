"""The rules by which a measured value is judged, for all studies: rules S0 to S11.

A published number is a sample: the source ran n repetitions and printed a median, a quartile, a share, an order. The
rules say how far two samples of n lie apart by chance (95 % of them). A band is the wider of the one that a claim was
given and the one of its rule, never their sum; a rule only widens. n is the *printed* number of repetitions.

| rule | statistic | accepted |
|---|---|---|
| S0 | any, with a stated effect | a value in the band without the stated sign is `consistent`, not passed |
| S1 | median | 2.6 IQR / sqrt(n) round the print; for a difference of medians both IQRs count |
| S2 | quartile (10th or 90th percentile) | 2.8 (3.5) IQR / sqrt(n) |
| S3 | IQR | a factor exp(3.2 / sqrt(n)) |
| S4 | ratio of two IQRs | a factor exp(4.6 / sqrt(n)), and below (above) 1 where the text says smaller (larger) |
| S5 | median of a small count | the larger of 1 and S1, not beyond "no effect" |
| S6 | share p of n | 2.8 sqrt(p (1 - p) / n) |
| S7 | every, no, all, never | 3 exceptions up to n = 15, 4 above, over all cells of the claim together |
| S8 | extreme of n runs | the print lies among our extremes of n runs, and these lie in twice the band |
| S8k | k of n runs | our share lies in the Clopper-Pearson interval of the print |
| S9 | order, gap printed | the sign; where chance can turn it, a turned one is `consistent` |
| S9n | order, no gap printed | the whole interval has the sign; ten seeds or more |
| S10 | words: harmed, lower, better; similar, same; slightly | see `words` |
| S11 | one printed run | the smaller of t s sqrt(1 + 1/m) and twice the half-width, round the print |

Times have long upper tails: above the median S2 and S3 hold for about 79 % instead of 95 %. That is said beside a near
miss; nothing is widened for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from crosswind.optional import load
from crosswind.reproduce.claims.bands import FREE, Band, above, at_least, at_most, below, near
from crosswind.stats import NOTHING, Estimate

Verdict = Literal["pass", "consistent", "unclear", "fail", "withheld", "not yet", "reported", "error"]
#: Fewest seeds for a statement about an order or in words, fewest runs for a rate, fewest blocks for an extreme.
SEEDS, RUNS, BLOCKS = 10, 200, 50
#: What "harmed" and "similar" mean, one for all.
HARM, ALIKE, ALIKE_INTERVAL, SLIGHT = 0.05, 0.05, 0.15, 0.10


@dataclass(frozen=True)
class Seeds(Estimate):
    """An estimate from one value per seed, with the standard deviation of those values."""

    sd: float = math.nan


@dataclass(frozen=True)
class Criterion:
    """What makes a measured value pass.

    The value lies in `accept`, its whole interval in `sure`, and it has the sign of `effect` (else it is consistent).
    It rests on at least `least_n` values. `covers`: the interval must hold this value. `open_at`: an interval that
    holds this value decides nothing. `ours` makes the band of what was measured, where the rule asks for our scatter.
    """

    accept: Band = FREE
    rule: str = ""
    effect: Band | None = None
    sure: Band | None = None
    least_n: int = 0
    covers: float | None = None
    open_at: float | None = None
    ours: Callable[[Estimate], Band] | None = field(default=None, compare=False)

    def band(self, e: Estimate) -> Band:
        """The band by which this estimate is judged."""
        return self.ours(e) if self.ours is not None else self.accept

    def judge(self, e: Estimate) -> Verdict:
        """pass, consistent, unclear or fail; reported where everything is accepted."""
        if self == Criterion():
            return "reported"
        if math.isnan(e.value) or e.n < self.least_n:
            return "unclear"
        accept = self.band(e)
        if self.covers is not None:
            inside = e.low <= self.covers <= e.high and (self.sure or FREE).holds_all(e)
            return "pass" if inside else "fail"
        if not accept.holds(e.value):
            undecided = self.open_at is not None and e.low <= self.open_at <= e.high
            return "unclear" if undecided or accept.touches(e) else "fail"
        if self.sure is not None and not self.sure.holds_all(e):
            return "unclear"
        return "consistent" if self.effect is not None and not self.effect.holds(e.value) else "pass"

    def why(self, e: Estimate) -> str:
        """What is missing for a verdict, if it is the number of values."""
        short = 0 < e.n < self.least_n and not math.isnan(e.value)
        return f"{e.n} values; judged with at least {self.least_n}" if short else ""


@dataclass(frozen=True)
class Printed:
    """What a source printed of a statistic: its value, its interquartile ranges, and n, the repetitions behind it.

    `band` is what the claim accepts without a rule. `effect` is the stated sign, `says` the word that S4 and S10 ask
    for (smaller, larger; lower, higher, similar, slightly lower, slightly higher), `percentile` what S2 is about.
    """

    value: float | None = None
    iqr: Sequence[float] = ()
    n: int = 0
    band: Band | None = None
    effect: Band | None = None
    says: str = ""
    percentile: int = 25
    no_effect: float | None = None

    def need(self, what: str, *found: object) -> None:
        """Raises ValueError when something that a rule needs is missing."""
        if any(f is None or f == () or f == 0 for f in found):
            raise ValueError(f"needs {what}")

    @property
    def centre(self) -> float:
        self.need("a printed number", () if self.value is None else 1)
        return float(self.value or 0.0)

    @property
    def spread(self) -> float:
        """The IQR; of a difference the root of the sum of both squares."""
        self.need("the printed `iqr`", tuple(self.iqr))
        return math.hypot(*self.iqr)

    @property
    def root_n(self) -> float:
        self.need("the printed number of repetitions `n`", self.n)
        return math.sqrt(self.n)

    def wider(self, own: Band, rule: str, **more: object) -> Criterion:
        """The wider of the rule's band and the claim's."""
        accept = own if self.band is None or self.band.free else self.band.wider(own)
        return replace(Criterion(accept, rule, self.effect), **more)  # type: ignore[arg-type]


def median_half_width(p: Printed) -> float:
    """S1."""
    return 2.6 * p.spread / p.root_n


def median(p: Printed) -> Criterion:
    """S1: a median, or the difference of two (two IQRs)."""
    return p.wider(near(p.centre, median_half_width(p)), "S1")


def quartile(p: Printed) -> Criterion:
    """S2: a quartile, or the 10th or 90th percentile."""
    factor = 3.5 if p.percentile in (10, 90) else 2.8
    return p.wider(near(p.centre, factor * p.spread / p.root_n), "S2")


def _by_factor(p: Printed, strength: float) -> Band:
    factor = math.exp(strength / p.root_n)
    return Band(p.centre / factor, p.centre * factor)


def iqr(p: Printed) -> Criterion:
    """S3: an interquartile range."""
    return p.wider(_by_factor(p, 3.2), "S3")


def iqr_ratio(p: Printed) -> Criterion:
    """S4: the ratio of two interquartile ranges; the side of 1 that the text names is kept strictly."""
    found = p.wider(_by_factor(p, 4.6), "S4")
    effect = {"smaller": below(1.0), "larger": above(1.0)}.get(p.says, p.effect)
    if p.says in ("smaller", "larger") and effect is not None:
        return replace(found, accept=_cut(found.accept, effect), effect=effect)
    return replace(found, effect=effect)


def _cut(band: Band, by: Band) -> Band:
    """A band that ends where another does; an end that is cut is left to `effect`, which is strict."""
    return Band(max(band.low, by.low), min(band.high, by.high))


def small_count(p: Printed) -> Criterion:
    """S5: the median of a small count (printed 10 or less)."""
    half = max(1.0, median_half_width(p) if p.iqr else 0.0)
    found = p.wider(near(p.centre, half), "S5")
    if p.no_effect is None:
        return found
    side = at_least(p.no_effect) if p.centre > p.no_effect else at_most(p.no_effect)
    strict = above(p.no_effect) if p.centre > p.no_effect else below(p.no_effect)
    return replace(found, accept=_cut(found.accept, side), effect=p.effect or strict)


def share(p: Printed) -> Criterion:
    """S6: a share p of n repetitions, neither 0 nor 1."""
    if not 0.0 < p.centre < 1.0:
        raise ValueError("needs a share between 0 and 1; 0 and 1 are `every` and `never`: rule S7")
    return p.wider(near(p.centre, 2.8 * math.sqrt(p.centre * (1 - p.centre)) / p.root_n), "S6")


def exceptions_allowed(n: int) -> int:
    """S7: one-sided 5 %."""
    return 3 if n <= 15 else 4


def every(p: Printed) -> Criterion:
    """S7: how many exceptions there are to "every" or "never", over all cells of the claim together."""
    p.need("the printed number of repetitions `n`", p.n)
    return Criterion(at_most(exceptions_allowed(p.n)), "S7", p.effect)


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a share of which k of n are true: where the binomial tails beyond k have half of the rest each.

    By halving, without SciPy: every reading of a data file needs it, a plain installation too.
    """
    tail = (1.0 - confidence) / 2.0
    low = _share_where(lambda p: 1.0 - _at_most(k - 1, n, p) > tail) if k else 0.0
    high = _share_where(lambda p: _at_most(k, n, p) < tail) if k < n else 1.0
    return low, high


def _at_most(k: int, n: int, p: float) -> float:
    """The probability of k or fewer of n, each with probability p (0 < p < 1)."""
    logs = (math.log(math.comb(n, i)) + i * math.log(p) + (n - i) * math.log1p(-p) for i in range(k + 1))
    return math.fsum(map(math.exp, logs))


def _share_where(beyond: Callable[[float], bool]) -> float:
    """The share from which on something is true."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high


def k_of_n(p: Printed) -> Criterion:
    """S8, "k of n" (the print is k): our share, over 200 runs or more, lies in the interval of the print."""
    p.need("the printed number of repetitions `n`", p.n)
    return Criterion(Band(*clopper_pearson(round(p.centre), p.n)), "S8k", p.effect, least_n=RUNS)


def extreme(p: Printed) -> Criterion:
    """S8, the extreme of n runs: the estimate is `extremes`, the claim's band round the print is its half-width."""
    if p.band is None or math.isinf(p.band.width):
        raise ValueError("needs a band with two ends: our extremes must lie within twice of it")
    wide = Band(2 * p.band.low - p.centre, 2 * p.band.high - p.centre)
    return Criterion(wide, "S8", sure=wide, least_n=BLOCKS, covers=p.centre)


def extremes(values: npt.ArrayLike, n: int, pick: Callable[[npt.NDArray[np.float64]], float]) -> Estimate:
    """The extremes of blocks of n runs: median, 2.5 and 97.5 percentile, and how many blocks there are."""
    v = np.asarray(values, dtype=np.float64)
    v = v[np.isfinite(v)]
    blocks = v[: v.size // n * n].reshape(-1, n)
    if blocks.size == 0:
        return NOTHING
    found = np.array([pick(b) for b in blocks])
    low, middle, high = np.quantile(found, [0.025, 0.5, 0.975])
    return Estimate(float(middle), float(low), float(high), len(blocks))


def order(p: Printed) -> Criterion:
    """S9: the sign of a difference whose gap is printed; where chance can turn the sign, a turned one is consistent."""
    gap = abs(p.centre)
    if gap == 0.0:
        raise ValueError("needs a printed gap other than 0")
    reach = median_half_width(p)
    up = p.centre > 0
    sign = above(0.0) if up else below(0.0)
    turned = at_least(gap - reach) if up else at_most(reach - gap)
    accept = sign if gap >= reach else turned
    return replace(p.wider(accept, "S9"), effect=sign)


def order_without_gap(p: Printed) -> Criterion:
    """S9n: the stated sign, and an interval over ten seeds or more without 0."""
    p.need("the stated sign `effect`", p.effect)
    sign = p.effect or FREE
    return Criterion(sign, "S9n", sure=sign, least_n=SEEDS, open_at=0.0)


def words(p: Printed) -> Criterion:
    """S10, for a relative change.

    * `lower`, `higher`: the whole interval has the sign, and the change is 5 % or more.
    * `similar`: the change is 5 % at most, and the interval lies in -+15 %.
    * `slightly lower`, `slightly higher`: the sign, by S9 where a gap is printed, else S9n, and 10 % at most.
    """
    if p.says == "similar":
        return Criterion(near(0.0, ALIKE), "S10", sure=near(0.0, ALIKE_INTERVAL), least_n=SEEDS)
    signs = {"lower": below(0.0), "higher": above(0.0)}
    if p.says in signs:
        far = at_most(-HARM) if p.says == "lower" else at_least(HARM)
        return Criterion(far, "S10", sure=signs[p.says], least_n=SEEDS)
    if p.says.startswith("slightly ") and p.says.split()[1] in signs:
        sign = signs[p.says.split()[1]]
        own = order(p) if p.value is not None and p.iqr else order_without_gap(replace(p, effect=sign))
        inside = _cut(own.accept, near(0.0, SLIGHT))
        return replace(own, accept=inside, effect=sign, rule="S10")
    expected = "lower, higher, similar, slightly lower or slightly higher"
    raise ValueError(f"needs `says`: {expected}" + (f", not {p.says}" if p.says else ""))


def one_run(p: Printed) -> Criterion:
    """S11: one printed run of a random simulation, against our mean over ten seeds or more (`Seeds`)."""
    if p.band is None or math.isinf(p.band.width):
        raise ValueError("needs a band with two ends: twice of it is the cap")
    cap = max(p.centre - p.band.low, p.band.high - p.centre) * 2

    def ours(e: Estimate) -> Band:
        return near(p.centre, min(cap, one_run_half_width(e)))

    return Criterion(near(p.centre, cap), "S11", p.effect, least_n=SEEDS, ours=ours)


def one_run_half_width(e: Estimate) -> float:
    """t(m-1) s sqrt(1 + 1/m) with our standard deviation s over m seeds: 2.37 s for ten of them; no limit for one."""
    if e.n < 2:
        return math.inf  # One seed says nothing of its scatter; it is not judged either.
    scipy_stats = load("scipy.stats", "this claim")
    sd = getattr(e, "sd", math.nan)
    if not math.isfinite(sd):
        raise TypeError("rule S11 needs an estimate over seeds with its standard deviation: measure it with `seeds`")
    return float(scipy_stats.t.ppf(0.975, e.n - 1) * sd * math.sqrt(1 + 1 / e.n))


RULES: dict[str, Callable[[Printed], Criterion]] = {
    "S1": median,
    "S2": quartile,
    "S3": iqr,
    "S4": iqr_ratio,
    "S5": small_count,
    "S6": share,
    "S7": every,
    "S8": extreme,
    "S8k": k_of_n,
    "S9": order,
    "S9n": order_without_gap,
    "S10": words,
    "S11": one_run,
}


def agreement(rule: str, p: Printed) -> Band | None:
    """What S1, S2 or S3 alone accept, where an IQR is printed: the column *statistical agreement*."""
    alone = replace(p, band=None, effect=None)
    if p.value is None or not p.n or (not p.iqr and rule != "S3"):
        return None
    made = {"S2": quartile, "S3": iqr}.get(rule, median)
    return made(alone).accept
