"""A small table in HTML, as notebooks show values."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def html_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table with a caption; all text is escaped."""
    lines = [_row("th", columns), *(_row("td", row) for row in rows)]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
