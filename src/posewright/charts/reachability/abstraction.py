"""Abstraction of registers and counters: which of their values an exploration keeps apart.

A register that nothing reads is dropped. One that is only compared with constants is kept by cells: all
values between two neighbouring constants have the same effect, so one of them represents the cell. Any other
register keeps its exact values.

A tick reads a counter only to compare it with constants. States whose counters differ, but not in the results
of these comparisons, have the same ticks; only afterwards may their counters compare differently.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

from posewright.charts.expression import (
    COMPARISONS,
    LOGIC,
    Binary,
    Call,
    Expression,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    compile_tree,
    names_in,
    nodes_of,
    split_cases,
)
from posewright.charts.machine import Counter, Machine, all_actions
from posewright.charts.model import Action, Assign, Branch, iterate_actions
from posewright.charts.proof import Translator
from posewright.charts.reachability.domain import (
    CompileAtIndex,
    Domain,
    IndexFunction,
    find_spans,
    partition,
    simplest_value,
)
from posewright.charts.reachability.limits import MAX_CELLS, MAX_ENUMERATED
from posewright.charts.types import FloatType, IntType, Type, Value

DIVISIONS = (Operator.OVER, Operator.MODULO)


def is_defined(tree: Tree) -> Tree:
    """Return the condition that a term is a number; NaN alone differs from itself."""
    return Binary(Operator.EQUAL, tree, tree)


def may_be_undefined(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether some term of an expression may be NaN, according to the types."""
    translated_nodes = Translator(types).translate_nodes(expression).values()
    return any(node.value.interval.may_be_nan for node in translated_nodes)


def _may_overflow(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether the value of an expression may be infinite or NaN."""
    return not Translator(types).translate_root(expression).value.interval.is_finite


def convert_to_register(value_type: Type, expression: Expression, types: Mapping[str, Type]) -> Tree:
    """Return a term for the value that a register has once an expression is assigned to it.

    Numbers are clamped to the range of the register, fractions are rounded to its size, and NaN is replaced
    by its default, each only where it can make a difference.

    Args:
        value_type: type of the register.
        expression: the assigned expression.
        types: the types of all names that it reads.
    """
    tree = expression.tree
    if isinstance(tree, Literal):
        return Literal(value_type.clamp(tree.value))  # type: ignore[arg-type]  # the value is of that type
    if isinstance(value_type, IntType):
        return _clamp(tree, value_type.low, value_type.high)
    if not isinstance(value_type, FloatType):
        return tree
    number = Expression(tree, value_type, expression.source, expression.constant_values)
    converted: Tree = tree
    if not value_type.is_unbounded or _may_overflow(number, types):
        converted = _clamp(converted, value_type.low, value_type.high)
    if value_type.single:
        converted = Call("single", (converted,))
    if may_be_undefined(number, types):
        return If(is_defined(tree), converted, Literal(value_type.default))
    return converted


def _clamp(tree: Tree, low: float, high: float) -> Tree:
    """Return a term clamped to a range."""
    return Call("max", (Call("min", (tree, Literal(high))), Literal(low)))


@dataclass(frozen=True)
class Abstraction:
    """Which values of one register the exploration tells apart.

    Values that the chart cannot tell apart form a cell, a range of neighbouring values. One value represents
    all values of its cell.

    Attributes:
        value_type: type of the register.
        start_value: its initial value.
        is_unread: whether nothing reads the register. No values are told apart then, and a state has its
            initial value.
        cell_bounds: the greatest value of every cell but the last; empty if there are no cells.
        cell_values: the value that represents each cell.
        is_exact: whether every cell is a single value, or there are no cells.
        values_to_try: values that are tried in any case, where not all values can be.
    """

    value_type: Type
    start_value: Value
    is_unread: bool = False
    cell_bounds: tuple[Value, ...] = ()
    cell_values: tuple[Value, ...] = ()
    is_exact: bool = True
    values_to_try: tuple[Value, ...] = ()

    @property
    def merges_values(self) -> bool:
        """Whether one value may represent several."""
        return self.is_unread or not self.is_exact

    def representative_of(self, value: Value) -> Value:
        """Return the value that represents all values of the cell with this value."""
        if self.is_unread:
            return self.start_value
        if self.is_exact:
            return value
        return self.cell_values[bisect_left(self.cell_bounds, value)]

    def round_term(self, tree: Tree) -> Tree:
        """Return a term as the register stores it: rounded to 32 bits if it is a fraction of that size."""
        is_single = isinstance(self.value_type, FloatType) and self.value_type.single
        return Call("single", (tree,)) if is_single else tree


def abstract_registers(
    machine: Machine,
    watched_conditions: Sequence[Expression] = (),
    tracked: Collection[str] = (),
    values_to_try: Mapping[str, Collection[Value]] | None = None,
) -> dict[str, Abstraction]:
    """Return the abstractions of the outputs and locals of a machine, by name.

    Args:
        machine: the machine that is explored.
        watched_conditions: conditions that are evaluated after every tick.
        tracked: names whose exact values are recorded, whether or not anything reads them.
        values_to_try: for some numbers, values that are tried in any case, where not all values can be.
    """
    uses = _find_register_uses(machine, watched_conditions, tracked)
    start_values = machine.chart.start_values()
    abstractions = {
        name: _abstract_register(name, value_type, start_value=start_values[name], uses=uses)
        for name, value_type in machine.chart.variables.items()
    }
    for name, values in (values_to_try or {}).items():
        valid_values = tuple(value for value in values if abstractions[name].value_type.contains(value))
        abstractions[name] = replace(abstractions[name], values_to_try=valid_values)
    return abstractions


def _abstract_register(name: str, value_type: Type, start_value: Value, uses: _RegisterUses) -> Abstraction:
    """Return how precisely states record a register: not at all, by cells, or by its exact value.

    A register that nothing reads is dropped. A number that is only compared with constants is recorded by
    cells, if these can be found. An integer of few values has one cell for each; any other register has no
    cells and keeps its exact value.

    Args:
        name: the name of the register.
        value_type: its type.
        start_value: its initial value.
        uses: how the chart reads its registers.
    """
    needs_exact_value = name in uses.exact_names
    if not needs_exact_value and name not in uses.comparisons:
        return Abstraction(value_type, start_value, is_unread=True, is_exact=False)
    if not isinstance(value_type, IntType | FloatType):
        return Abstraction(value_type, start_value)
    if not needs_exact_value:
        abstraction = _abstract_by_cells(name, value_type, start_value, comparisons=uses.comparisons[name])
        if abstraction is not None:
            return abstraction
    if isinstance(value_type, IntType) and value_type.high - value_type.low < MAX_ENUMERATED:
        cell_values = tuple(range(value_type.low, value_type.high + 1))
        return Abstraction(value_type, start_value, cell_bounds=cell_values[:-1], cell_values=cell_values)
    return Abstraction(value_type, start_value)


def _abstract_by_cells(
    name: str, value_type: Type, start_value: Value, comparisons: list[_Comparison]
) -> Abstraction | None:
    """Return the abstraction of a register by the comparisons that read it.

    The values are divided into sets, in each of which every comparison has the same result. The spans of
    these sets are the cells.

    Args:
        name: the name of the register.
        value_type: its type.
        start_value: its initial value, which represents its cell.
        comparisons: the comparisons; none reads another name.

    Returns:
        None if the values of a comparison are not exactly known, or there are too many cells.
    """
    domain = Domain(value_type)
    value_sets = [domain.full_set]
    for comparison in comparisons:
        spans, is_exact_set = find_spans(
            comparison.tree,
            name,
            domain,
            compile_at_index=_build_index_compiler(name, domain, comparison.expression),
        )
        if not is_exact_set or len(value_sets) > MAX_CELLS:
            return None
        if may_be_undefined(comparison.expression.with_tree(comparison.tree), {name: value_type}):
            return None
        value_sets = [part for value_set in value_sets for part in partition(value_set, spans) if part]
    cells = sorted(span for value_set in value_sets for span in value_set)
    if len(cells) > MAX_CELLS:
        return None
    start_index = domain.index_of(start_value)
    cell_values = []  # the value that represents each cell
    for low, high in cells:
        has_start_value = low <= start_index <= high
        cell_values.append(start_value if has_start_value else simplest_value(domain, ((low, high),)))
    return Abstraction(
        value_type,
        start_value,
        cell_bounds=tuple(domain.value_at(high) for _low, high in cells[:-1]),
        cell_values=tuple(cell_values),
        is_exact=all(low == high for low, high in cells),
    )


def _build_index_compiler(name: str, domain: Domain, expression: Expression) -> CompileAtIndex:
    """Return a function that compiles a term, which reads one name, to a function of an index.

    Args:
        name: the name that the terms read.
        domain: its values. The compiled function takes the index of a value in this domain.
        expression: the expression that the terms are parts of.
    """

    def compile_at_index(tree: Tree) -> IndexFunction:
        """Return a function that computes a term from the index of the name's value."""
        evaluate = compile_tree(tree, expression.constant_values, expression.source)
        return lambda index: evaluate({name: domain.value_at(index)})

    return compile_at_index


class _Comparison(NamedTuple):
    """A comparison, and the expression that it is a part of."""

    tree: Tree
    expression: Expression


@dataclass
class _RegisterUses:
    """How conditions and values read registers.

    Attributes:
        register_types: types of all registers, by name.
        exact_names: registers of which every value matters.
        comparisons: for registers that are compared with constants, these comparisons.
    """

    register_types: Mapping[str, Type]
    exact_names: set[str] = field(default_factory=set)
    comparisons: dict[str, list[_Comparison]] = field(default_factory=dict)

    @property
    def read_names(self) -> set[str]:
        """Registers that are read."""
        return self.exact_names | self.comparisons.keys()

    def registers_in(self, tree: Tree, expression: Expression) -> set[str]:
        """Return the names of the registers that a part of an expression reads."""
        return {
            name
            for name in names_in(tree)
            if name in self.register_types and name not in expression.constant_values
        }

    def add_condition(self, tree: Tree, expression: Expression) -> None:
        """Record how a condition reads its registers: exactly, or only by comparisons with constants.

        Args:
            tree: the tree of the condition.
            expression: the expression that it is a part of.
        """
        if isinstance(tree, If):
            cases, default = split_cases(tree)
            for part in (*chain.from_iterable(cases), default):
                self.add_condition(part, expression)
        elif isinstance(tree, Unary) and tree.operator is Operator.NOT:
            self.add_condition(tree.operand, expression)
        elif isinstance(tree, Binary) and tree.operator in LOGIC:
            self.add_condition(tree.left, expression)
            self.add_condition(tree.right, expression)
        elif isinstance(tree, Binary) and tree.operator in COMPARISONS:
            self._add_comparison(tree, expression)
        else:
            self.exact_names |= self.registers_in(tree, expression)

    def _add_comparison(self, tree: Binary, expression: Expression) -> None:
        """Record how a comparison reads registers.

        One that reads a single number, without `if` or division, only divides that register into cells. Any
        other makes the exact values of its registers matter.
        """
        registers = self.registers_in(tree, expression)
        reads_one_register = (
            len(registers) == 1 and names_in(tree) - expression.constant_values.keys() == registers
        )
        has_if_or_division = any(isinstance(node, If) or _is_division(node) for node in nodes_of(tree))
        if not reads_one_register or has_if_or_division:
            self.exact_names |= registers
            return
        (name,) = registers
        if isinstance(self.register_types[name], IntType | FloatType):
            self.comparisons.setdefault(name, []).append(_Comparison(tree, expression))
        else:
            self.exact_names.add(name)

    def add_value(self, tree: Tree, expression: Expression) -> None:
        """Record the registers that an assigned value reads.

        Args:
            tree: the tree of the value; the register that it is assigned to is read somewhere.
            expression: the expression that it is a part of.
        """
        if isinstance(tree, If):
            cases, default = split_cases(tree)
            for condition, value in cases:
                self.add_condition(condition, expression)
                self.add_value(value, expression)
            self.add_value(default, expression)
        else:
            self.exact_names |= self.registers_in(tree, expression)


def _is_division(node: Tree) -> bool:
    """Return whether a node is a quotient or a remainder."""
    return isinstance(node, Binary) and node.operator in DIVISIONS


def _find_register_uses(
    machine: Machine, watched_conditions: Sequence[Expression], tracked: Collection[str]
) -> _RegisterUses:
    """Return how a machine reads its registers: directly, or through values that are read in turn.

    Args:
        machine: the machine.
        watched_conditions: conditions that are evaluated after every tick; they read registers as well.
        tracked: names whose exact values matter in any case.
    """
    uses = _RegisterUses(machine.chart.variables)
    uses.exact_names |= set(tracked) & set(machine.chart.variables)
    for condition in (*list_conditions(machine), *watched_conditions):
        uses.add_condition(condition.tree, condition)
    assignments = [pair for action in list_assignments(machine) for pair in action.values.items()]
    for _name, value in assignments:  # whether a value divides by zero matters even if nothing reads it
        if any(_is_division(node) for node in nodes_of(value.tree)):
            uses.exact_names |= uses.registers_in(value.tree, value)
    # a value that is assigned to a register matters once something reads that register
    remaining_assignments = assignments
    while True:
        read_names = uses.read_names
        read_values = [value for name, value in remaining_assignments if name in read_names]
        if not read_values:
            return uses
        remaining_assignments = [
            (name, value) for name, value in remaining_assignments if name not in read_names
        ]
        for value in read_values:
            uses.add_value(value.tree, value)


def _list_actions(machine: Machine) -> Iterator[Action]:
    """Return all actions of a machine, including those inside branches."""
    return (action for actions in all_actions(machine) for action in iterate_actions(actions))


def list_conditions(machine: Machine) -> Iterator[Expression]:
    """Yield the conditions that decide what a tick does: guards, conditions of counters and of branches."""
    yield from (guard for transition in machine.transitions for guard in transition.guards)
    yield from (counter.condition for counter in machine.counters if counter.condition is not None)
    yield from (action.when for action in _list_actions(machine) if isinstance(action, Branch))


def list_assignments(machine: Machine) -> Iterator[Assign]:
    """Yield all assignments to outputs and locals."""
    return (action for action in _list_actions(machine) if isinstance(action, Assign))


CounterValues = tuple[int, ...]
"""The values of all counters."""


class CounterAbstraction:
    """The counters of one machine, or of several side by side, and which of their values act alike.

    A counter counts the ticks since a state was entered or a condition became true. Two of its values are of
    one class if a tick cannot distinguish them.

    The values of all counters together, a `CounterValues` tuple, get a number when they occur first: the
    `counter_values_id`.

    Attributes:
        counter_names: the names of the counters, in the order of the registers.
        next_value_tables: for each counter, a table of the value that follows each value while it runs.
        class_tables: for each counter, a table of the class of each value.
        values_of_id: the counter values with each `counter_values_id`.
        class_id_of_values: a number for the classes of all counters together, by `counter_values_id`: counter
            values with the same number have the same ticks.
    """

    def __init__(self, *machines: Machine) -> None:
        """Collect the counters of all machines, and compute the classes of their values."""
        counters: list[Counter] = []
        compared_numbers: list[set[int] | None] = []  # for each counter; None if every value matters
        for machine in machines:
            compared_numbers_by_name = _find_compared_numbers(machine)
            for counter in machine.counters:
                counters.append(counter)
                compared_numbers.append(compared_numbers_by_name.get(counter.name))
        self.counter_names = tuple(counter.name for counter in counters)
        self.next_value_tables = tuple(_compute_next_values(counter) for counter in counters)
        self.class_tables = tuple(map(_classify_values, self.next_value_tables, compared_numbers))
        self.values_of_id: list[CounterValues] = []
        self.class_id_of_values: list[int] = []
        self._id_by_values: dict[CounterValues, int] = {}
        self._id_by_classes: dict[CounterValues, int] = {}
        # caches of `id_after_tick`: by the indices of the running counters, then by `counter_values_id`
        self._next_ids: dict[tuple[int, ...], dict[int, int]] = {}

    def id_of_values(self, counter_values: CounterValues) -> int:
        """Return the `counter_values_id` of some counter values, which are stored if they are new."""
        next_id = len(self.values_of_id)
        counter_values_id = self._id_by_values.setdefault(counter_values, next_id)
        is_new = counter_values_id == next_id
        if is_new:
            self.values_of_id.append(counter_values)
            classes = self.classes_of_values(counter_values)
            class_id = self._id_by_classes.setdefault(classes, len(self._id_by_classes))
            self.class_id_of_values.append(class_id)
        return counter_values_id

    def id_after_tick(self, counter_values_id: int, running_counters: tuple[int, ...]) -> int:
        """Return the number of the counter values after a tick.

        Args:
            counter_values_id: the number of the counter values before the tick.
            running_counters: the indices of the counters that run in the tick; the others are reset.
        """
        cached_ids = self._next_ids.setdefault(running_counters, {})
        next_id = cached_ids.get(counter_values_id)
        if next_id is None:
            counter_values = self.values_of_id[counter_values_id]
            next_id = self.id_of_values(self.advance(counter_values, running_counters))
            cached_ids[counter_values_id] = next_id
        return next_id

    def classes_of_values(self, counter_values: CounterValues) -> CounterValues:
        """Return the class of the value of each counter."""
        pairs = zip(self.class_tables, counter_values, strict=True)
        return tuple([class_table[value] for class_table, value in pairs])

    def running_counters(self, values_after_tick: CounterValues) -> tuple[int, ...]:
        """Return the indices of the counters that ran in a tick; one that did not run is zero after it."""
        return tuple([i for i, value in enumerate(values_after_tick) if value])

    def advance(self, counter_values: CounterValues, running_counters: tuple[int, ...]) -> CounterValues:
        """Return the counters after a tick in which those at some indices run; the others are reset."""
        advanced_values = [0] * len(counter_values)
        for i in running_counters:
            advanced_values[i] = self.next_value_tables[i][counter_values[i]]
        return tuple(advanced_values)


def _compute_next_values(counter: Counter) -> tuple[int, ...]:
    """Return, for each value of a counter from 0 to its limit, the value after a tick in which it runs.

    It is never zero: a counter that restarts continues with 1, any other stays at its limit.
    """
    value_after_limit = 1 if counter.restarts else counter.limit
    return (*range(1, counter.limit + 1), value_after_limit)


def _classify_values(next_values: tuple[int, ...], compared_numbers: set[int] | None) -> tuple[int, ...]:
    """Return the number of the class of every value of a counter, from 0 on.

    A tick advances the counters before it reads them. Values are therefore of one class if their next values
    compare alike (less, equal or greater) with every compared number.

    Args:
        next_values: the value that follows every value while the counter runs.
        compared_numbers: the numbers with which the chart compares the counter; None if every value matters.
    """
    if compared_numbers is None:
        return tuple(range(len(next_values)))  # a class for each value
    # a class begins at each compared number, and at the number after it
    class_starts = sorted(compared_numbers | {number + 1 for number in compared_numbers})
    classes = []
    for next_value in next_values:
        n_classes_begun = sum(start <= next_value for start in class_starts)
        classes.append(n_classes_begun)
    return tuple(classes)


def _find_compared_numbers(machine: Machine) -> dict[str, set[int] | None]:
    """Return, by the name of each counter, the numbers that the machine compares it with.

    None for a counter that is also read otherwise, so that every value matters.
    """
    numbers_by_counter = {counter.name: set[int]() for counter in machine.counters}
    # a transition with a waiting time compares the counter of its source state with that time
    comparisons = [
        (transition.since_register, transition.wait_ticks)
        for transition in machine.transitions
        if transition.wait_ticks
    ]
    names_read_otherwise = set[str]()
    for expression in machine.expressions:
        comparisons_in_expression = list(_list_comparisons_with_integers(expression.tree))
        comparisons += comparisons_in_expression
        # a name that is read more often than it is compared is read otherwise as well
        n_reads_by_name = Tally(node.name for node in nodes_of(expression.tree) if isinstance(node, Name))
        n_comparisons_by_name = Tally(name for name, _number in comparisons_in_expression)
        names_read_otherwise |= (n_reads_by_name - n_comparisons_by_name).keys()
    for name, number in comparisons:
        if name in numbers_by_counter:
            numbers_by_counter[name].add(number)
    return {
        name: None if name in names_read_otherwise else numbers
        for name, numbers in numbers_by_counter.items()
    }


def _list_comparisons_with_integers(tree: Tree) -> Iterator[tuple[str, int]]:
    """Yield the names that an expression compares with integers by `==`, `<` or `>=`, with the integers."""
    for node in nodes_of(tree):
        if not isinstance(node, Binary) or not isinstance(node.left, Name):
            continue
        if node.operator not in (Operator.EQUAL, Operator.LESS, Operator.GREATER_EQUAL):
            continue
        if isinstance(node.right, Literal) and type(node.right.value) is int:  # a Boolean is no integer here
            yield node.left.name, node.right.value
