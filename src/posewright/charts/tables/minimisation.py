"""Minimisation of truth tables: fewer rows with the same meaning, with X for inputs that do not matter.

There are two methods, both exact:

*Junctions* is the method of the UC3M thesis. Its chart tests one input after another, at junctions, in the
order of the columns. A test is left out where both answers lead to the same rows; every path through the
remaining tests is one row. The rows never overlap, and they show in which order a robot has to read its
sensors. (They are the paths of a reduced ordered decision diagram.)

*Two-level* minimises the number of products per outcome, without an order of tests: prime implicants selected
by SymPy's SOPform, which does not guarantee the minimum. Products with the same outcome may overlap; products
of different outcomes never do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import permutations
from typing import TYPE_CHECKING

from posewright.charts.formats import Cube, TruthTable, TruthTableRow, table_to_chart
from posewright.charts.model import Chart
from posewright.charts.tables.tabulation import table_of, tabulate_chart
from posewright.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from sympy import Basic

MAX_TWO_LEVEL = 8
"""Inputs up to which the two-level method is fast."""

MAX_ORDERED = 6
"""Inputs up to which the search for the best order is fast."""

Effect = tuple[str, tuple[bool, ...]]
"""The next state and the outputs."""

Outcomes = Mapping[tuple[bool, ...], Effect]
"""The effect of each combination of inputs in one state."""


class Method(Enum):
    """The methods of minimisation."""

    JUNCTIONS = "junctions"
    TWO_LEVEL = "two-level"


def minimise(
    chart: Chart, method: Method | str = Method.JUNCTIONS, *, order: Sequence[str] | str | None = None
) -> TruthTable:
    """Return the minimised truth table of a chart.

    Args:
        chart: a sound chart whose inputs and outputs are truth values.
        method: `junctions` or `two-level`.
        order: columns of inputs in the order in which junctions test them, as a sequence or as `w,v,u`;
            `best` searches for the order with the fewest rows; None takes the table's own order.

    Raises:
        InputError: the chart is unsound or has no truth table, `order` does not name every input once, or
            there is no such method.
        MissingExtraError: the two-level method needs SymPy, which is not installed.
    """
    method = _read_method(method)
    table = tabulate_chart(chart)
    positions = _read_order(table, best_order(chart) if order == "best" else order)
    rows: list[TruthTableRow] = []
    for state in table.states:
        outcomes = {tuple(bool(value) for value in row.cube): row.effect for row in table.rows_of(state)}
        if method is Method.TWO_LEVEL:
            cubes = _minimise_two_level(outcomes)
        else:
            cubes = _minimise_by_junctions(outcomes, positions)
        # the order of the UC3M thesis
        cubes.sort(key=_binary_digits)
        rows += [TruthTableRow(state, cube, *effect) for cube, effect in cubes]
    return replace(table, rows=tuple(rows))


def _binary_digits(cube_and_effect: tuple[Cube, Effect]) -> list[int]:
    """Return the inputs of a cube as 0 and 1, with 0 for an input that does not matter."""
    cube, _ = cube_and_effect
    return [int(value or 0) for value in cube]


def best_order(chart: Chart) -> tuple[str, ...]:
    """Return the order of tests that needs the fewest junction rows; the first of several.

    Raises:
        InputError: there are too many inputs to try all orders.
    """
    names = tuple(table_of(chart).form.inputs)
    if len(names) > MAX_ORDERED:
        message = f"cannot try all orders of {len(names)} inputs"
        raise InputError(message, hint=f"at most {MAX_ORDERED} inputs; or give the order")
    return min(permutations(names), key=lambda order: len(minimise(chart, order=order).rows))


def minimised_chart(chart: Chart, method: Method = Method.JUNCTIONS) -> Chart:
    """Return the chart with one transition per minimised row, and everything else unchanged."""
    return table_to_chart(minimise(chart, method), like=chart)


def _read_method(method: Method | str) -> Method:
    if isinstance(method, str) and method not in {member.value for member in Method}:
        raise InputError(f"unknown method {method!r}", hint="use junctions or two-level")
    return Method(method)


def _read_order(table: TruthTable, order: Sequence[str] | str | None) -> tuple[int, ...]:
    """Return the positions of input columns in the order of tests."""
    columns = list(table.form.inputs)
    if isinstance(order, str):
        order = [name.strip() for name in order.split(",")]
    names = columns if order is None else list(order)
    if sorted(names) != sorted(columns):
        message = f"the order {', '.join(names)} does not name every input once"
        raise InputError(message, hint=f"the inputs are {', '.join(columns)}")
    return tuple(columns.index(name) for name in names)


def _minimise_by_junctions(outcomes: Outcomes, order: tuple[int, ...]) -> list[tuple[Cube, Effect]]:
    """Return the cubes of the paths through tests of the inputs in this order."""
    if len(set(outcomes.values())) == 1:
        point, effect = next(iter(outcomes.items()))
        return [((None,) * len(point), effect)]
    tested = order[0]
    branches = []
    for answer in (False, True):
        half = {point: effect for point, effect in outcomes.items() if point[tested] is answer}
        branches.append(_minimise_by_junctions(half, order[1:]))
    if branches[0] == branches[1]:
        return branches[0]
    return [
        ((*cube[:tested], answer, *cube[tested + 1 :]), effect)
        for answer, rows in zip((False, True), branches, strict=True)
        for cube, effect in rows
    ]


def _minimise_two_level(outcomes: Outcomes) -> list[tuple[Cube, Effect]]:
    """Return for each effect the cubes that cover its input combinations (two-level minimisation)."""
    n_inputs = len(next(iter(outcomes)))
    if n_inputs > MAX_TWO_LEVEL:
        raise InputError(f"{n_inputs} inputs are too many for two levels", hint="use the junctions method")
    cubes = []
    for effect in dict.fromkeys(outcomes.values()):
        points = [point for point, own_effect in outcomes.items() if own_effect == effect]
        cubes += [(cube, effect) for cube in _cover_points(points, n_inputs)]
    return cubes


def _cover_points(points: Sequence[tuple[bool, ...]], n_inputs: int) -> list[Cube]:
    """Return few cubes that together cover exactly the given points."""
    if n_inputs == 0 or len(points) == 2**n_inputs:
        return [(None,) * n_inputs]
    try:
        from sympy import symbols
        from sympy.logic.boolalg import And, Not, Or, SOPform
    except ImportError as error:
        raise MissingExtraError.for_extra("two-level minimisation", "charts") from error
    inputs = list(symbols(f"x:{n_inputs}"))
    form = SOPform(inputs, [[int(value) for value in point] for point in points])
    cubes = []
    for product in form.args if isinstance(form, Or) else (form,):
        literals = product.args if isinstance(product, And) else (product,)
        cubes.append(tuple(_value_in_product(symbol, Not(symbol), literals) for symbol in inputs))
    return cubes


def _value_in_product(symbol: Basic, negation: Basic, literals: Collection[Basic]) -> bool | None:
    """Return the value that a product requires of an input, None if any."""
    if symbol in literals:
        return True
    return False if negation in literals else None
