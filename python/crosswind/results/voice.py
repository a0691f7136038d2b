"""How a telephone call over such a path would be judged: the E-model of ITU-T G.107 for G.711 without concealment.

All parameters that are not delay or loss have the defaults of the recommendation. `r_factor` goes from 0 to about 93
(above 80: satisfied users), `mos` from 1 (bad) to 4.5; 4.0 is what users of the telephone network are used to.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

Numbers = npt.ArrayLike
Vector = npt.NDArray[np.float64]
Form = Literal["full", "short"]

# ITU-T G.107 (06/2015), defaults of table 2. Levels in dB.
NOISE = -61.17921  # No: sum of all noises
RO = 15 - 1.5 * (8 + NOISE)  # basic signal-to-noise ratio, clause 7.2; SLR = 8
IS = 1.41357  # impairments that come with the voice itself, clause 7.3
TELR, WEPL = 65.0, 110.0  # loudness of the talker echo, loss of the listener echo
LISTENER_ECHO = 10.5 * (WEPL + 7)
IE_MAX, BPL = 95.0, 4.3  # codec G.711 without concealment, random losses: clause 7.5 with Ie = 0, G.113 appendix I
# Cole and Rosenbluth, Voice over IP performance monitoring (2001): short forms for the same codec.
SHORT_R, SHORT_SLOPE, SHORT_KNEE, SHORT_KNEE_ms = 94.2, 0.024, 0.11, 177.3
SHORT_LOSS = (30.0, 15.0)
WORST, BEST = 1.0, 4.5


def r_factor(delay_ms: Numbers, loss_ratio: Numbers, form: Form = "full") -> Vector:
    """Transmission rating R.

    `delay_ms`: one-way delay from mouth to ear in milliseconds; `loss_ratio`: share of lost packets, 0 to 1 (arrays
    are taken element by element). `form`: "full" is G.107; "short" has straight lines for the delay and a logarithm
    for losses (Cole and Rosenbluth 2001), and is far milder towards losses.
    """
    t = np.asarray(delay_ms, dtype=np.float64)
    loss = np.asarray(loss_ratio, dtype=np.float64)
    if form == "short":
        late = SHORT_KNEE * np.maximum(0.0, t - SHORT_KNEE_ms)
        return SHORT_R - SHORT_SLOPE * t - late - SHORT_LOSS[0] * np.log1p(SHORT_LOSS[1] * loss)
    percent = 100 * loss
    equipment = IE_MAX * percent / (percent + BPL)
    return RO - IS - _absolute_delay(t) - _listener_echo(t) - _talker_echo(t) - equipment


def _absolute_delay(t: Vector) -> Vector:
    """Idd: conversation suffers from 100 ms on, even without any echo."""
    x = np.log2(np.maximum(t, 100.0) / 100)
    return 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)


def _listener_echo(t: Vector) -> Vector:
    """Idle."""
    rle = LISTENER_ECHO * (2 * t + 1) ** -0.25
    return (RO - rle) / 2 + np.sqrt((RO - rle) ** 2 / 4 + 169)


def _talker_echo(t: Vector) -> Vector:
    """Idte: nothing below 1 ms."""
    heard = TELR - 40 * np.log10((1 + t / 10) / (1 + t / 150)) + 6 * np.exp(-0.3 * t**2)
    re = 80 + 2.5 * (heard - 14)
    roe = -1.5 * (NOISE - 2)
    worse = ((roe - re) / 2 + np.sqrt((roe - re) ** 2 / 4 + 100) - 1) * (1 - np.exp(-t))
    return np.where(t < 1, 0.0, worse)


def mos_of(r: Numbers) -> Vector:
    """Mean opinion score of a rating (G.107 annex B), 1 to 4.5. The cubic dips below 1 near R = 6; that is 1, too."""
    r = np.asarray(r, dtype=np.float64)
    score = WORST + 0.035 * r + 7e-6 * r * (r - 60) * (100 - r)
    return np.where(r < 0, WORST, np.where(r > 100, BEST, np.maximum(WORST, score)))


def mos(delay_ms: Numbers, loss_ratio: Numbers, form: Form = "full") -> Vector:
    """Mean opinion score of a call with that one-way delay and share of lost packets. Arguments as `r_factor`."""
    return mos_of(r_factor(delay_ms, loss_ratio, form))
