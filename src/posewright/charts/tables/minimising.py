"""Fewer rows for the same truth table, with inputs that do not matter marked X.

Two ways, both exact:

*Junctions* is the UC3M thesis's own. Its chart asks for one input at a time, at junctions, in the
order of the columns. A question whose answer changes nothing below it is left out; every path through
the questions that remain is one row. The rows never overlap, and they say in which order a robot has to
look at its sensors. (They are the paths of a reduced ordered decision diagram.)

*Two-level* asks for few products per outcome, whatever their order: prime implicants chosen by SymPy's
SOPform, which does not promise that there are none fewer. Products with the same outcome may overlap;
of different outcomes they never do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import permutations
from typing import Any

from posewright.charts.formats import Cube, TruthTable, TruthTableRow, table_to_chart
from posewright.charts.model import Chart
from posewright.charts.tables.tabulating import table_of, tabulate_chart
from posewright.errors import InputError, MissingExtraError

MAX_TWO_LEVEL = 8
MAX_ORDERED = 6
"""Inputs up to which the two-level way, and the search for the best order, stay quick."""

Effect = tuple[str, tuple[bool, ...]]
Outcomes = Mapping[tuple[bool, ...], Effect]


class Method(Enum):
    """How rows are made fewer."""

    JUNCTIONS = "junctions"
    TWO_LEVEL = "two-level"


def minimise(
    chart: Chart, method: Method | str = Method.JUNCTIONS, *, order: Sequence[str] | str | None = None
) -> TruthTable:
    """Return the rows that say the same as a chart's whole truth table.

    Args:
        chart: a sound chart of truth values.
        method: how to do it: `junctions` or `two-level`.
        order: columns of inputs in the order in which junctions ask for them, as a sequence or as `w,v,u`;
            `best` looks for the order with the fewest rows; None takes the table's own.

    Raises:
        InputError: the chart is unsound, is no truth table, `order` does not name every input once, or
            there is no such method.
        MissingExtraError: SymPy is needed and not there.
    """
    method = _method(method)
    table = tabulate_chart(chart)
    asked = _positions(table, best_order(chart) if order == "best" else order)
    cubes = _two_level if method is Method.TWO_LEVEL else lambda outcomes: _paths(outcomes, asked)
    rows: list[TruthTableRow] = []
    for state in table.states:
        outcomes = {tuple(bool(sign) for sign in row.cube): row.effect for row in table.rows_of(state)}
        # as in the UC3M thesis: by value, a sign that does not matter counting as 0
        found = sorted(cubes(outcomes), key=lambda pair: [int(sign or 0) for sign in pair[0]])
        rows += [TruthTableRow(state, cube, *effect) for cube, effect in found]
    return replace(table, rows=tuple(rows))


def best_order(chart: Chart) -> tuple[str, ...]:
    """Return the order of questions that needs the fewest junction rows; the earliest among equals.

    Raises:
        InputError: too many inputs to try all orders.
    """
    names = tuple(table_of(chart).form.inputs)
    if len(names) > MAX_ORDERED:
        raise InputError(f"{len(names)} inputs have too many orders", hint=f"at most {MAX_ORDERED} are tried")
    return min(permutations(names), key=lambda order: len(minimise(chart, order=order).rows))


def minimised_chart(chart: Chart, method: Method = Method.JUNCTIONS) -> Chart:
    """Return the chart with one transition per minimised row, and all its other words kept."""
    return table_to_chart(minimise(chart, method), like=chart)


def _method(method: Method | str) -> Method:
    if isinstance(method, str) and method not in {member.value for member in Method}:
        raise InputError(f"no method is called {method!r}", hint="junctions or two-level")
    return Method(method)


def _positions(table: TruthTable, order: Sequence[str] | str | None) -> tuple[int, ...]:
    columns = list(table.form.inputs)
    if isinstance(order, str):
        order = [name.strip() for name in order.split(",")]
    names = columns if order is None else list(order)
    if sorted(names) != sorted(columns):
        raise InputError(
            f"the order {', '.join(names)} does not name every input once", hint=", ".join(columns)
        )
    return tuple(columns.index(name) for name in names)


def _paths(outcomes: Outcomes, order: tuple[int, ...]) -> list[tuple[Cube, Effect]]:
    """Return the rows that asking for the inputs in this order leaves."""
    if len(set(outcomes.values())) == 1:
        point, effect = next(iter(outcomes.items()))
        return [((None,) * len(point), effect)]
    first, rest = order[0], order[1:]
    below = []
    for answer in (False, True):
        half = {point: effect for point, effect in outcomes.items() if point[first] is answer}
        below.append(_paths(half, rest))
    if below[0] == below[1]:
        return below[0]
    return [
        ((*cube[:first], answer, *cube[first + 1 :]), effect)
        for answer, rows in zip((False, True), below, strict=True)
        for cube, effect in rows
    ]


def _two_level(outcomes: Outcomes) -> list[tuple[Cube, Effect]]:
    count = len(next(iter(outcomes)))
    if count > MAX_TWO_LEVEL:
        raise InputError(f"{count} inputs are too many for two levels", hint="use the junctions method")
    return [
        (cube, effect)
        for effect in dict.fromkeys(outcomes.values())
        for cube in _products([point for point, found in outcomes.items() if found == effect], count)
    ]


def _products(points_on: Sequence[tuple[bool, ...]], count: int) -> list[Cube]:
    """Return products that together cover exactly the given points; few, but maybe not the fewest."""
    if count == 0 or len(points_on) == 2**count:
        return [(None,) * count]
    try:
        from sympy import symbols
        from sympy.logic.boolalg import And, Not, Or, SOPform
    except ImportError as error:
        raise MissingExtraError.for_extra("two-level minimisation", "charts") from error
    signs = list(symbols(f"x:{count}"))
    form = SOPform(signs, [[int(value) for value in point] for point in points_on])
    cubes = []
    for product in form.args if isinstance(form, Or) else (form,):
        literals = product.args if isinstance(product, And) else (product,)
        cubes.append(tuple(_sign(sign, literals, Not(sign)) for sign in signs))
    return cubes


def _sign(sign: Any, literals: Any, negated: Any) -> bool | None:
    if sign in literals:
        return True
    return False if negated in literals else None
