"""Random scenarios, as the fuzzer of `validation/` writes them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from crosswind.core import core
from crosswind.scenario.toml_text import written

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def random_scenario(seed: int) -> str | None:
    """The text of a random scenario that the engine accepts; None where there is none of this seed."""
    making, checks = (importlib.import_module(f"validation.fuzz.{name}") for name in ("making", "checks"))
    maker = making.Maker(json.loads(core().schema()), seed)
    scenario, refused = maker.mended(maker.scenario(), checks.refusal)
    scenario.pop("record", None)
    return None if refused is not None else written(scenario)
