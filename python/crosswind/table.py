"""A table for people: on a terminal, on a page, in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

ROWS_SHOWN = 20


@dataclass(frozen=True)
class Table:
    """Rows of text with their heads; `note` says what the numbers are."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    note: str = ""


def as_text(table: Table) -> str:
    """A table as plain text, in columns."""
    rows = [table.heads, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.heads))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *([table.note] if table.note else [])])


def table_html(table: Table) -> str:
    """A summary table as HTML."""
    heads = "".join(f'<th style="text-align:left">{escape(h)}</th>' for h in table.heads)
    rows = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in table.rows[:ROWS_SHOWN])
    more = len(table.rows) - ROWS_SHOWN
    note = " ".join(p for p in (table.note, f"{more} more rows." if more > 0 else "") if p)
    return (
        f"<table><caption style='text-align:left;font-weight:600'>{escape(table.title)}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>" + (f"<p>{escape(note)}</p>" if note else "")
    )
