"""Results of an emulation in the same shape as those of a simulation: Parquet tables and a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crosswind.core import version
from crosswind.emulate.network import Network
from crosswind.runs import SCHEMA_VERSION, Runs
from crosswind.scenario import Scenario


def manifest(scenario: Scenario, *, seed: int, reps: int, warnings: list[str]) -> dict[str, Any]:
    """What a reader must know about the tables."""
    return {
        "schema_version": SCHEMA_VERSION,
        "code_version": version(),
        "mode": "emulate",
        "seed": seed,
        "reps": reps,
        "reps_total": reps,
        "ties": "fixed",
        "interrupted": False,
        "scenarios": [{"configuration": scenario.name, "scenario": scenario.data, "file": scenario.file}],
        "emulation_warnings": warnings,
    }


def runs_of(scenario: Scenario, raw: dict[str, Any], facts: dict[str, Any], *, seed: int, reps: int = 1) -> Runs:
    """Tables as a simulation gives them, with what the machine did in the manifest."""
    warnings = list(facts["warnings"])
    m = manifest(scenario, seed=seed, reps=reps, warnings=warnings)
    m["machine"] = facts["machine"]
    runs = Runs.from_engine(raw, {scenario.name: scenario}, m)
    runs.manifest["warnings"] += warnings
    runs.manifest["trusted"] = runs.manifest["trusted"] and not any(w.startswith("not to be") for w in warnings)
    return runs


def save_session(
    network: Network, result: dict[str, Any], facts: dict[str, Any], out: Path, job: dict[str, Any]
) -> None:
    """Writes the tables of a session."""
    runs_of(network.scenario, result["tables"], facts, seed=job["seed"]).save(out)
