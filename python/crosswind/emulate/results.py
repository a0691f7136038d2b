"""Results of an emulation in the same shape as those of a simulation: Parquet tables and a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crosswind.emulate.network import Network
from crosswind.results import Runs
from crosswind.run.kept import Ask, manifest_of
from crosswind.scenario import Scenario


def runs_of(scenario: Scenario, raw: dict[str, Any], facts: dict[str, Any], *, seed: int, reps: int = 1) -> Runs:
    """Tables as a simulation gives them, with what the machine did in the manifest."""
    warnings = list(facts["warnings"])
    m = manifest_of({scenario.name: scenario}, Ask(seed, reps))
    m |= {"mode": "emulate", "interrupted": False, "workers": 1, "machine": facts["machine"]}
    m["wall_s"] = round(facts["view"]["time_ns"] / 1e9, 3)
    runs = Runs.from_engine(dict(raw), {scenario.name: scenario}, m)
    runs.manifest["warnings"] += warnings
    runs.manifest["trusted"] = runs.manifest["trusted"] and not any(w.startswith("not to be") for w in warnings)
    return runs


def save_session(
    network: Network, result: dict[str, Any], facts: dict[str, Any], out: Path, job: dict[str, Any]
) -> None:
    """Writes the tables of a session."""
    runs_of(network.scenario, result["tables"], facts, seed=job["seed"]).save(out)
