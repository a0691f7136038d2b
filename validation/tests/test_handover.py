"""A handover from GPRS to UMTS beside ns-2: the time until TCP uses the new link in full."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from validation.ns2 import handover
from validation.ns2.handover import CELLS, STARTS_S, TOLERANCE_S, in_crosswind, references, time_to_full_use


def test_full_use_begins_with_the_first_of_three_full_seconds() -> None:
    packets = [(t, 480.0) for t in np.arange(34.0, 60.0, 0.01)]
    assert time_to_full_use(packets) == 4.0
    assert time_to_full_use([(t, 240.0) for t, _ in packets]) == 30.0, "half of the link is not full"


def test_the_script_reads_the_keys_that_it_is_given() -> None:
    read = set(re.findall(r"\$opt\((\w+)\)", handover.SCRIPT.read_text()))
    given = set(re.findall(r'(?m)^ +"(\w+)":', Path(handover.__file__).read_text()))
    assert "then_bps" in read and read == given


@pytest.mark.engine
def test_the_new_link_is_full_when_it_is_in_ns2() -> None:
    apart = {c: np.mean(in_crosswind(c, STARTS_S)) - references()[c] for c in CELLS}
    assert len(apart) == 6 and all(abs(d) <= TOLERANCE_S for d in apart.values()), apart
