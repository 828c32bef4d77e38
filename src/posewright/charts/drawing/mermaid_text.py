"""Names and signs that Mermaid takes."""

from __future__ import annotations

RESERVED = frozenset({"end", "state", "note", "direction", "class", "classdef", "default", "root", "as"})
"""Words that Mermaid would not take for a state's name."""

_ENTITIES = {ord(sign): f"#{ord(sign)};" for sign in '#;:"<>%&`{}[]\\'}


def identifier(name: str) -> str:
    """Return a state's name as Mermaid takes it."""
    return name if name[0].isalpha() and name.lower() not in RESERVED else f"state_{name}"


def escaped(text: str) -> str:
    """Return a text in which no letter means anything to Mermaid."""
    return text.translate(_ENTITIES)
