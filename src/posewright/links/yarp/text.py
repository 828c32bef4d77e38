"""Bottles as text: what a person types at `yarp rpc`."""

from __future__ import annotations

from posewright.links.yarp.bottle import Bottle


def to_text(bottle: Bottle) -> str:
    """Return a bottle as YARP prints it, on one line."""
    raise NotImplementedError


def from_text(text: str) -> Bottle:
    """Read what `to_text` writes, or a person types (FormatError)."""
    raise NotImplementedError
