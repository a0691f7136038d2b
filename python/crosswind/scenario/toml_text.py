"""Writes scenarios as TOML: what people wrote as a table is a table again, short inner tables stay on their line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

#: A value that is longer gets lines of its own.
WIDE = 100
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(data: Mapping[str, Any]) -> str:
    """TOML text of nested dicts, lists, texts, numbers and truth values; what is None is left out."""
    return "\n".join(_table(data, ())).strip("\n") + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """A table's own keys, then its tables, each below a head of its own."""
    inner = {k: v for k, v in data.items() if isinstance(v, Mapping) and (not path or len(_line(k, v)) > WIDE)}
    own = [_line(k, v) for k, v in data.items() if k not in inner and v is not None]
    lines = ["", f"[{'.'.join(map(_key, path))}]"] if path and (own or not inner) else []
    lines += own
    for k, v in inner.items():
        named = all(isinstance(x, Mapping) for x in v.values()) and len(path) == 0 and v
        for deeper, table in (((*path, k, n), t) for n, t in v.items()) if named else [((*path, k), v)]:
            lines += _table(table, deeper)
    return lines


def _line(key: str, value: Any) -> str:
    text = f"{_key(key)} = {value_text(value)}"
    if len(text) > WIDE and isinstance(value, list):
        return f"{_key(key)} = [\n" + "".join(f"  {value_text(v)},\n" for v in value) + "]"
    return text


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else value_text(key)


def value_text(value: Any) -> str:
    """A value as it stands behind its key, on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {value_text(v)}" for k, v in value.items() if v is not None) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
