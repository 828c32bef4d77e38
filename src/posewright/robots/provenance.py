"""Sources: where the numbers of a card come from.

A block says `source: key` or `source: [key, key]`; the keys are spelled out once, under `sources:`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from posewright.documents import Node


def check_sources(root: Node) -> None:
    """Refuse a card whose `source:` names a key that `sources:` does not spell out.

    Raises:
        UnknownNameError: at the line of the key.
    """
    known = root.fields()["sources"].fields()
    for node in _blocks(root):
        if "source" in node.value:
            source_keys(node.fields()["source"], known)


def source_keys(node: Node, known: Collection[str]) -> tuple[str, ...]:
    """Return the keys of one `source:`, or raise UnknownNameError."""
    entries = node.items() if isinstance(node.value, list) else [node]
    return tuple(entry.choice("source", known) for entry in entries)


def _blocks(node: Node) -> Iterator[Node]:
    """Yield every mapping below `node`, itself first."""
    if isinstance(node.value, dict):
        yield node
        for child in node.fields().values():
            yield from _blocks(child)
    elif isinstance(node.value, list):
        for child in node.items():
            yield from _blocks(child)
