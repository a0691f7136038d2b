"""How the experiments of [Gurtov 2004] are declared. Single traces need one repetition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crosswind.claims import Claim
from crosswind.experiments.base import Study

STUDY = Study("gurtov-2004", "[Gurtov 2004]", reps=1)
experiment = STUDY.experiment


def withheld(number: int, statement: str, parts: Sequence[Any]) -> Claim:
    """A claim whose published outcome is not known here: it is measured and reported."""
    return Claim(f"G{number}", statement, "withheld", parts, withheld="yes")
