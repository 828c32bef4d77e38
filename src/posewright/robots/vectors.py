"""Three lengths on a card: where something lies."""

from __future__ import annotations

from posewright.documents import Node

Vector = tuple[float, float, float]

FARTHEST_M = 10.0
"""No part of a small robot is farther from another."""


def parse_vector(node: Node) -> Vector:
    """Read `[x, y, z]` in metres, or raise DocumentError."""
    entries = node.items()
    if len(entries) != 3:
        node.fail(f"expected three numbers, found {len(entries)}", hint="[x, y, z] in metres")
    x, y, z = (entry.number(low=-FARTHEST_M, high=FARTHEST_M) for entry in entries)
    return x, y, z
