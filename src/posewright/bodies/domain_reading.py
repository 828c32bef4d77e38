"""Ranges of bodies as native documents: `*.bodies.yaml`."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from posewright.bodies.domain_randomization import Distribution, DomainRandomization, Normal, Uniform
from posewright.documents import Node, read_document
from posewright.errors import InputError, UnknownNameError
from posewright.robots import is_path

FOLDER = Path(__file__).with_name("catalogue")
SUFFIX = ".bodies.yaml"

_KEYS = {
    "friction": "friction",
    "mass_scale": "mass_scale",
    "stiffness_scale": "stiffness_scale",
    "damping_scale": "damping_scale",
    "armature_scale": "armature_scale",
    "latency_frames": "latency_frames",
    "com_shift_m": "com_shift_m",
    "slope_deg": "slope_rad",
}
"""Fields of `DomainRandomization` by their keys in a document."""


def variation_ranges(name: str | Path = "random") -> DomainRandomization:
    """Return how far bodies differ.

    Args:
        name: of ranges that ship, one of `variation_names()`, or the path of a document of one's own.

    Raises:
        UnknownNameError: none of that name ships.
        DocumentError: the document cannot be read.
    """
    if is_path(name):
        return read_variation_ranges(Path(name))
    if name not in variation_names():
        raise UnknownNameError.among("set of bodies", name, variation_names())
    return _shipped(str(name))


def variation_names() -> tuple[str, ...]:
    """Return the names of the ranges that ship, in alphabetical order."""
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}")))


@cache
def _shipped(name: str) -> DomainRandomization:
    return read_variation_ranges(FOLDER / f"{name}{SUFFIX}")


def read_variation_ranges(path: Path) -> DomainRandomization:
    """Read a document of ranges.

    Raises:
        DocumentError: it cannot be read, a key is unknown or missing, or no body may have a number of it.
    """
    document = read_document(path)
    fields = document.fields(required=("bodies", "ranges"), optional=("source",))
    fields["bodies"].text()
    entries = fields["ranges"].fields(optional=_KEYS)
    draws = {_KEYS[key]: _draw(node, degrees=key.endswith("_deg")) for key, node in entries.items()}
    for name, node in ((_KEYS[key], node) for key, node in entries.items()):
        _refuse_impossible(name, draws[name], node)
    return DomainRandomization(**draws)


def _draw(node: Node, *, degrees: bool) -> Distribution:
    """Return how a number is drawn: between `low` and `high`, or about a `mean` with the deviation `sd`."""
    given = node.fields()
    keys = ("mean", "sd") if "sd" in given or "mean" in given else ("low", "high")
    fields = node.fields(required=(*keys, "source"), optional=())
    fields["source"].text()
    one, other = (fields[key].number() for key in keys)
    unit = math.radians(1.0) if degrees else 1.0
    try:
        return Normal(one * unit, other * unit) if "sd" in keys else Uniform(one * unit, other * unit)
    except InputError as error:
        node.fail(error.message, hint=error.hint)


def _refuse_impossible(name: str, draw: Distribution, node: Node) -> None:
    try:
        DomainRandomization(**{name: draw})
    except InputError as error:
        node.fail(error.message, hint=error.hint)
