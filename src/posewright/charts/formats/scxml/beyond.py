"""What a chart has that SCXML has no word for, so that another reader of its document does not know it."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.expression import Call, Expression, Inside, Timed, nodes_of
from posewright.charts.formats.scxml.act_writing import is_tangled
from posewright.charts.model import Actions, Assign, Chart, every_action, expressions_in, segments_of


def beyond_scxml(chart: Chart) -> tuple[str, ...]:
    """Return what another reader of the chart's SCXML document would do otherwise, in words.

    Inputs are not among it: they are data that whoever drives the document sets before each tick.
    """
    return tuple(text for text, there in _features(chart) if there)


def _features(chart: Chart) -> Iterator[tuple[str, bool]]:
    states = chart.every_state
    segments = [one for state in states for one in segments_of(state.transitions)]
    segments += [one for ways in chart.junctions.values() for one in segments_of(ways)]
    blocks = [block for state in states for block in (state.entry, state.during, state.exit)]
    acting = [value for block in blocks for value in expressions_in(block)]
    acting += [value for one in segments for value in expressions_in(one.do)]
    every = [*acting, *(one.when for one in segments)]
    yield (
        "times: after, before, every, held and least times",
        _asks(every, Timed) or any(one.min_s for one in states) or any(one.after_s for one in segments),
    )
    yield "actions at every tick (during)", any(state.during for state in states)
    yield "junctions", any(one.leads_on for one in segments)
    yield (
        "values set at once that read each other",
        any(map(_tangled, [*blocks, *(one.do for one in segments)])),
    )
    yield (
        "in(...) in actions, which SCXML asks between two steps of leaving and entering",
        _asks(acting, Inside),
    )
    yield (
        "numbers rounded to 32 bits",
        any(
            isinstance(node, Call) and node.function == "single"
            for one in every
            for node in nodes_of(one.tree)
        ),
    )
    yield (
        "an initial state in each region, said by the state around them",
        any(state.parallel and state.initial for state in states),
    )


def _asks(expressions: list[Expression], kind: type) -> bool:
    return any(isinstance(node, kind) for one in expressions for node in nodes_of(one.tree))


def _tangled(actions: Actions) -> bool:
    return any(isinstance(one, Assign) and is_tangled(one.values) for one in every_action(actions))
