"""The block `parameters:` of a tuning's document: what is searched, and between which bounds."""

from __future__ import annotations

from posewright.documents import Node
from posewright.errors import InputError, UnknownNameError
from posewright.gaits import EXPLANATIONS, Gait
from posewright.search import Dimension

_START = "{range: [low, high], start: value}"
_HINT = f"[low, high], or {_START}"


def read_dimensions(node: Node, gait: Gait) -> tuple[Dimension, ...]:
    """Read what is searched, each by a dotted name as `Gait.changed` takes it.

    Raises:
        DocumentError: no number, a bound that the parameter cannot have, a range without the gait's own
            value and without a start, or a value that two names set.
        UnknownNameError: the gait has no such parameter.
    """
    entries = node.fields()
    if not entries:
        node.fail("nothing is searched", hint=f"ground_speed_m_s: {_HINT}")
    setters: dict[str, str] = {}
    dimensions = []
    for name, entry in entries.items():
        low, high, start = _bounds(entry)
        sets = _sets(entry, name, gait, low, high)
        for value in sets:
            if value in setters:
                entry.fail(f"{value} is set by {setters[value]} too", hint="search it once")
            setters[value] = name
        if start is None:
            start = _own(entry, name, gait, sets[0])
            _expect_within(entry, start, low, high)
        dimensions.append(Dimension(name, low, high, start, _is_whole(name)))
    return tuple(dimensions)


def _own(node: Node, name: str, gait: Gait, value: str) -> float:
    """Return the gait's own value, where the search begins; fail where a name sets several that differ."""
    own = gait.flat[value]
    if gait.changed({name: own}).flat != gait.flat:
        node.fail(f"the gait has several values for {name}", hint=f"search each by itself; or {_START}")
    return own


def _expect_within(node: Node, own: float, low: float, high: float) -> None:
    if not low <= own <= high:
        node.fail(
            f"the gait has {own:g}, outside {low:g} to {high:g}", hint=f"a range with that in it; or {_START}"
        )


def _bounds(node: Node) -> tuple[float, float, float | None]:
    """Return low, high and, where it is told, the start."""
    if not isinstance(node.value, dict):
        return (*_range(node), None)
    told = node.fields(required=("range",), optional=("start",))
    low, high = _range(told["range"])
    return low, high, told["start"].number(low=low, high=high) if "start" in told else None


def _range(node: Node) -> tuple[float, float]:
    ends = node.items()
    if len(ends) != 2:
        node.fail(f"expected two numbers, found {len(ends)}", hint=_HINT)
    low, high = (end.number() for end in ends)
    if not low < high:
        node.fail(
            f"the range goes from {low:g} to {high:g}",
            hint="the lower number first; what is fixed is not searched",
        )
    return low, high


def _sets(node: Node, name: str, gait: Gait, low: float, high: float) -> list[str]:
    """Return the values of the gait that a name sets, or fail where one of the bounds cannot be."""
    try:
        at_low, at_high = (gait.changed({name: end}).flat for end in (low, high))
    except UnknownNameError as error:
        raise UnknownNameError(error.message, where=node.where, hint=error.hint) from error
    except InputError as error:
        node.fail(error.message, hint=error.hint)
    return [value for value in at_low if at_low[value] != at_high[value]]


def _is_whole(name: str) -> bool:
    base = name.partition(".")[0]
    return base in EXPLANATIONS and EXPLANATIONS[base].is_whole
