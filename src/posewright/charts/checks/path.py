"""What a tick had to be given to come to a certain place: conditions on its inputs alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from posewright.charts.checks.conditions import holding, is_value
from posewright.charts.checks.recorder import Recorder
from posewright.charts.expression import Expression


def path_to(
    tick: Recorder, passed: int, names: frozenset[str], inputs: Collection[str]
) -> tuple[Expression, ...]:
    """Return the conditions under which a tick goes the same way up to a place, as far as they matter.

    Args:
        tick: that was taken.
        passed: how many expressions it had computed when it came to the place.
        names: what is read there: what a variable was set to matters where it is read afterwards.
        inputs: names of the inputs.

    Conditions on inputs that have nothing to do with `names` are left out: the tick has met them.
    """
    written = {write.passed: write.name for write in tick.writes}
    relevant, found = set(names), list[Expression]()
    for place in range(passed - 1, -1, -1):
        expression, held, value = tick.asked[place]
        if place in written and written[place] not in relevant:
            continue
        relevant.discard(written.get(place, ""))
        relevant |= expression.names
        registers = {name: held[name] for name in expression.names if name not in inputs}
        asked = holding(expression, registers)
        if asked.names:
            found.append(is_value(asked, value))
    return tuple(connected(found, names & frozenset(inputs)))


def connected(conditions: Sequence[Expression], names: frozenset[str]) -> list[Expression]:
    """Return the conditions that share a name with `names`, or with another such condition."""
    reached, rest, kept = set(names), list(conditions), list[Expression]()
    while True:
        near = [one for one in rest if one.names & reached]
        if not near:
            return kept
        kept += near
        rest = [one for one in rest if one not in near]
        reached |= {name for one in near for name in one.names}
