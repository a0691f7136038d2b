"""Documented choices: where a body breaks a clause on purpose, and says so (`choices.toml`)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("choices.toml")


@cache
def _known() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def choice_of(body: str, law: str, case: str) -> str:
    """Why a body with a law breaks the clause of a case on purpose; nothing if nobody says that it does."""
    of = _known().get(body, {})
    return of.get(law, {}).get(case, "") or of.get("any", {}).get(case, "")
