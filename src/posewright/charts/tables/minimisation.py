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
from typing import TYPE_CHECKING, NamedTuple

from posewright.charts.formats import Cube, RowEffect, TruthTable, TruthTableRow, table_to_chart
from posewright.charts.model import Chart
from posewright.charts.tables.tabulation import table_of, tabulate_chart
from posewright.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from sympy import Basic

MAX_TWO_LEVEL = 8
"""Inputs up to which the two-level method is fast."""

MAX_ORDERED = 6
"""Inputs up to which the search for the best order is fast."""

Outcomes = Mapping[tuple[bool, ...], RowEffect]
"""The effect of each combination of inputs (a point) in one state."""


class CubeEffect(NamedTuple):
    """A row of one state: the inputs that it covers, and their effect."""

    cube: Cube
    effect: RowEffect


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
    test_order = _read_order(table, best_order(chart) if order == "best" else order)
    rows: list[TruthTableRow] = []
    for state in table.states:
        outcomes = {tuple(bool(value) for value in row.cube): row.effect for row in table.rows_of(state)}
        if method is Method.TWO_LEVEL:
            cube_effects = _minimise_two_level(outcomes)
        else:
            cube_effects = _minimise_by_junctions(outcomes, test_order)
        cube_effects.sort(key=_binary_digits)  # as the tables of the UC3M thesis are sorted
        for cube, effect in cube_effects:
            rows.append(TruthTableRow(state, cube, effect.next_state, effect.outputs))
    return replace(table, rows=tuple(rows))


def _binary_digits(cube_effect: CubeEffect) -> list[int]:
    """Return the inputs of a cube as 0 and 1, with 0 for an input that does not matter."""
    return [int(value or 0) for value in cube_effect.cube]


def best_order(chart: Chart) -> tuple[str, ...]:
    """Return the order of tests that needs the fewest junction rows; the first of several.

    Raises:
        InputError: there are too many inputs to try all orders.
    """
    names = tuple(table_of(chart).table_form.input_of_column)
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
    """Return the indices of the input columns in the order in which junctions test them.

    Args:
        table: the truth table.
        order: the names of all input columns in that order, as a sequence or as `w,v,u`; None takes the
            table's own order.

    Raises:
        InputError: `order` does not name every input column once.
    """
    columns = list(table.table_form.input_of_column)
    if isinstance(order, str):
        order = [name.strip() for name in order.split(",")]
    names = columns if order is None else list(order)
    if sorted(names) != sorted(columns):
        message = f"the order {', '.join(names)} does not name every input once"
        raise InputError(message, hint=f"the inputs are {', '.join(columns)}")
    return tuple(columns.index(name) for name in names)


def _minimise_by_junctions(outcomes: Outcomes, test_order: tuple[int, ...]) -> list[CubeEffect]:
    """Return the rows of one state: one for each path through a binary decision tree.

    The tree tests the inputs in the given order, and leaves out tests that make no difference. The cube of a
    path has the value of each input that the path tests, and None for the others.

    Args:
        outcomes: the effect of each combination of inputs.
        test_order: indices of the inputs in the order of the tests.
    """
    if len(set(outcomes.values())) == 1:
        point, effect = next(iter(outcomes.items()))
        return [CubeEffect((None,) * len(point), effect)]
    tested_input, *later_inputs = test_order
    false_outcomes = {point: effect for point, effect in outcomes.items() if not point[tested_input]}
    true_outcomes = {point: effect for point, effect in outcomes.items() if point[tested_input]}
    false_branch = _minimise_by_junctions(false_outcomes, tuple(later_inputs))
    true_branch = _minimise_by_junctions(true_outcomes, tuple(later_inputs))
    if false_branch == true_branch:
        return false_branch
    rows = []
    for value, branch in ((False, false_branch), (True, true_branch)):
        for cube, effect in branch:
            cube_with_test = (*cube[:tested_input], value, *cube[tested_input + 1 :])
            rows.append(CubeEffect(cube_with_test, effect))
    return rows


def _minimise_two_level(outcomes: Outcomes) -> list[CubeEffect]:
    """Return the rows of one state: for each effect, few cubes that cover exactly its input combinations.

    Raises:
        InputError: there are more than MAX_TWO_LEVEL inputs.
        MissingExtraError: SymPy is not installed.
    """
    n_inputs = len(next(iter(outcomes)))
    if n_inputs > MAX_TWO_LEVEL:
        raise InputError(f"{n_inputs} inputs are too many for two levels", hint="use the junctions method")
    rows = []
    for effect in dict.fromkeys(outcomes.values()):
        points = [point for point, point_effect in outcomes.items() if point_effect == effect]
        rows += [CubeEffect(cube, effect) for cube in _cover_points(points, n_inputs)]
    return rows


def _cover_points(points: Sequence[tuple[bool, ...]], n_inputs: int) -> list[Cube]:
    """Return few cubes that together cover exactly the given points (combinations of all inputs).

    SymPy finds them as a sum of products (Quine-McCluskey): an `Or` of `And`s of symbols and their negations.
    A sum of one product is that product alone, and a product of one literal is that literal.
    """
    if n_inputs == 0 or len(points) == 2**n_inputs:
        return [(None,) * n_inputs]
    try:
        from sympy import symbols
        from sympy.logic.boolalg import And, Not, Or, SOPform
    except ImportError as error:
        raise MissingExtraError.for_extra("two-level minimisation", "charts") from error
    inputs = list(symbols(f"x:{n_inputs}"))
    sum_of_products = SOPform(inputs, [[int(value) for value in point] for point in points])
    cubes = []
    products = sum_of_products.args if isinstance(sum_of_products, Or) else (sum_of_products,)
    for product in products:
        literals = product.args if isinstance(product, And) else (product,)
        cubes.append(tuple(_value_in_product(symbol, Not(symbol), literals) for symbol in inputs))
    return cubes


def _value_in_product(symbol: Basic, negation: Basic, literals: Collection[Basic]) -> bool | None:
    """Return the value that a product requires of an input, None if it allows both."""
    if symbol in literals:
        return True
    return False if negation in literals else None
