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
from posewright.charts.types import BoolType, FloatType, IntType, Type, Value

DIVISIONS = (Operator.OVER, Operator.MODULO)


def is_defined(tree: Tree) -> Tree:
    """Return the condition that a term is a number; NaN alone differs from itself."""
    return Binary(Operator.EQUAL, tree, tree)


def may_be_undefined(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether some term of an expression may be NaN, according to the types."""
    translated_nodes = Translator(types).translate(expression).values()
    return any(node.value.interval.nan for node in translated_nodes)


def _may_overflow(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether the value of an expression may be infinite or NaN."""
    return not Translator(types).translate_root(expression).value.interval.finite


def convert_to_register(value_type: Type, expression: Expression, types: Mapping[str, Type]) -> Tree:
    """Return a term for the value that a register has once an expression is assigned to it.

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
    return Call("max", (Call("min", (tree, Literal(high))), Literal(low)))


@dataclass(frozen=True)
class Abstraction:
    """Which values of one register are distinguished.

    Attributes:
        value_type: type of the register.
        start: its initial value.
        drops: whether none are; the register always has its initial value.
        bounds: the greatest value of every cell but the last; empty if there are no cells.
        values: the value that represents each cell.
        is_exact: whether every cell is a single value, or there are no cells.
        values_to_try: values that are tried in any case, where not all values can be.
    """

    value_type: Type
    start: Value
    drops: bool = False
    bounds: tuple[Value, ...] = ()
    values: tuple[Value, ...] = ()
    is_exact: bool = True
    values_to_try: tuple[Value, ...] = ()

    @property
    def merges_values(self) -> bool:
        """Whether one value may represent several."""
        return self.drops or not self.is_exact

    def canonical(self, value: Value) -> Value:
        """Return the value that represents another one."""
        if self.drops:
            return self.start
        if self.is_exact:
            return value
        return self.values[bisect_left(self.bounds, value)]

    def rounded(self, tree: Tree) -> Tree:
        """Return a term with the rounding of a register of 32-bit fractions."""
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
        tracked: names whose exact values are kept, whether or not anything reads them.
        values_to_try: values of numbers that are tried in any case, where not all can be.
    """
    uses = _find_register_uses(machine, watched_conditions, tracked)
    start_values = machine.chart.start_values()
    abstractions = {
        name: _abstract_register(name, value_type, start=start_values[name], uses=uses)
        for name, value_type in machine.chart.variables.items()
    }
    for name, values in (values_to_try or {}).items():
        valid_values = tuple(value for value in values if abstractions[name].value_type.contains(value))
        abstractions[name] = replace(abstractions[name], values_to_try=valid_values)
    return abstractions


def _abstract_register(name: str, value_type: Type, start: Value, uses: _RegisterUses) -> Abstraction:
    """Return how precisely states record a register: not at all, by cells, or by its exact value."""
    is_exact = name in uses.exact_names
    if not is_exact and name not in uses.comparisons:
        return Abstraction(value_type, start, drops=True, is_exact=False)
    if not isinstance(value_type, IntType | FloatType):
        return Abstraction(value_type, start)
    if not is_exact:
        abstraction = _abstract_by_cells(name, value_type, start, comparisons=uses.comparisons[name])
        if abstraction is not None:
            return abstraction
    if isinstance(value_type, IntType) and value_type.high - value_type.low < MAX_ENUMERATED:
        values = tuple(range(value_type.low, value_type.high + 1))
        return Abstraction(value_type, start, bounds=values[:-1], values=values)
    return Abstraction(value_type, start)


def _abstract_by_cells(
    name: str, value_type: Type, start: Value, comparisons: list[tuple[Tree, Expression]]
) -> Abstraction | None:
    """Return the abstraction of a register by the comparisons that read it.

    Args:
        name: the name of the register.
        value_type: its type.
        start: its initial value, which represents its cell.
        comparisons: the comparisons with the expressions they are part of; none reads another name.

    Returns:
        None if the values of a comparison are not exactly known, or there are too many cells.
    """
    domain = Domain(value_type)
    classes = [domain.full]
    for tree, expression in comparisons:
        spans, exact = find_spans(
            tree, name, domain, compile_at_index=_index_compiler(name, domain, expression)
        )
        comparison = Expression(tree, BoolType(), expression.source, expression.constant_values)
        if not exact or len(classes) > MAX_CELLS or may_be_undefined(comparison, {name: value_type}):
            return None
        classes = [part for old_class in classes for part in partition(old_class, spans) if part]
    cells = sorted(span for spans in classes for span in spans)
    if len(cells) > MAX_CELLS:
        return None
    start_index = domain.index(start)
    values = []
    for low, high in cells:
        has_start = low <= start_index <= high
        values.append(start if has_start else simplest_value(domain, ((low, high),)))
    bounds = tuple(domain.value(high) for _, high in cells[:-1])
    is_exact = all(low == high for low, high in cells)
    return Abstraction(value_type, start, bounds=bounds, values=tuple(values), is_exact=is_exact)


def _index_compiler(name: str, domain: Domain, expression: Expression) -> CompileAtIndex:
    """Return a function that compiles a term of one name to a function of the index of its value."""

    def compile_at_index(tree: Tree) -> IndexFunction:
        evaluate = compile_tree(tree, expression.constant_values, expression.source)
        return lambda index: evaluate({name: domain.value(index)})

    return compile_at_index


@dataclass
class _RegisterUses:
    """How conditions and values read registers.

    Attributes:
        registers: types of all registers.
        exact_names: registers of which every value matters.
        comparisons: for registers that are compared with constants, these comparisons.
    """

    registers: Mapping[str, Type]
    exact_names: set[str] = field(default_factory=set)
    comparisons: dict[str, list[tuple[Tree, Expression]]] = field(default_factory=dict)

    @property
    def read_names(self) -> set[str]:
        """Registers that are read."""
        return self.exact_names | self.comparisons.keys()

    def registers_in(self, tree: Tree, expression: Expression) -> set[str]:
        """Return the registers that a part of an expression reads."""
        return {
            name
            for name in names_in(tree)
            if name in self.registers and name not in expression.constant_values
        }

    def add_condition(self, tree: Tree, expression: Expression) -> None:
        """Record the registers that a condition reads: exactly, or only by comparisons with constants."""
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
        if not reads_one_register or any(_is_if_or_division(node) for node in nodes_of(tree)):
            self.exact_names |= registers
            return
        (name,) = registers
        if isinstance(self.registers[name], IntType | FloatType):
            self.comparisons.setdefault(name, []).append((tree, expression))
        else:
            self.exact_names.add(name)

    def add_value(self, tree: Tree, expression: Expression) -> None:
        """Record the registers that an assigned value reads, where the assigned register is read itself."""
        if isinstance(tree, If):
            cases, default = split_cases(tree)
            for condition, value in cases:
                self.add_condition(condition, expression)
                self.add_value(value, expression)
            self.add_value(default, expression)
        else:
            self.exact_names |= self.registers_in(tree, expression)


def _is_if_or_division(node: Tree) -> bool:
    return isinstance(node, If) or (isinstance(node, Binary) and node.operator in DIVISIONS)


def _find_register_uses(
    machine: Machine, watched_conditions: Sequence[Expression], tracked: Collection[str]
) -> _RegisterUses:
    """Return how a machine reads its registers: directly, or through values that are read in turn."""
    uses = _RegisterUses(machine.chart.variables)
    uses.exact_names |= set(tracked) & set(machine.chart.variables)
    for condition in (*list_conditions(machine), *watched_conditions):
        uses.add_condition(condition.tree, condition)
    assignments = [pair for action in list_assignments(machine) for pair in action.values.items()]
    for _, value in assignments:  # whether a value divides by zero matters even if nothing reads it
        for node in nodes_of(value.tree):
            if isinstance(node, Binary) and node.operator in DIVISIONS:
                uses.exact_names |= uses.registers_in(value.tree, value)
    while True:
        read_names = uses.read_names
        read_values = [value for name, value in assignments if name in read_names]
        if not read_values:
            return uses
        assignments = [(name, value) for name, value in assignments if name not in read_names]
        for value in read_values:
            uses.add_value(value.tree, value)


def _list_actions(machine: Machine) -> Iterator[Action]:
    return (action for actions in all_actions(machine) for action in iterate_actions(actions))


def list_conditions(machine: Machine) -> Iterator[Expression]:
    """Yield the conditions that decide what a tick does: guards, conditions of counters and of branches."""
    yield from (guard for transition in machine.transitions for guard in transition.guards)
    yield from (counter.condition for counter in machine.counters if counter.condition is not None)
    yield from (action.when for action in _list_actions(machine) if isinstance(action, Branch))


def list_assignments(machine: Machine) -> Iterator[Assign]:
    """Yield all assignments to outputs and locals."""
    return (action for action in _list_actions(machine) if isinstance(action, Assign))


Counts = tuple[int, ...]
"""The values of all counters."""


class TimerAbstraction:
    """The counters of one machine, or of several side by side; numbers the values that occur.

    Attributes:
        names: the names of the counters, in the order of the registers.
        next_counts: for each counter, the value that follows every value while it runs.
        classes: for each counter, the class of every value; a tick cannot distinguish values of one class.
        all_counts: the values that have occurred, by number.
        class_numbers: for each of these, the number of its classes.
    """

    def __init__(self, *machines: Machine) -> None:
        """Collect the counters of all machines, and compute the classes of their values."""
        compared_numbers: list[set[int] | None] = []
        counters: list[Counter] = []
        for machine in machines:
            numbers_by_name = _find_compared_numbers(machine)
            for counter in machine.counters:
                counters.append(counter)
                compared_numbers.append(numbers_by_name.get(counter.name))
        self.names = tuple(counter.name for counter in counters)
        self.next_counts = tuple(_next_counts(counter) for counter in counters)
        self.classes = tuple(map(_classify_counts, self.next_counts, compared_numbers))
        self.all_counts: list[Counts] = []
        self.class_numbers: list[int] = []
        self._numbers: dict[Counts, int] = {}
        self._numbers_by_classes: dict[Counts, int] = {}
        self._advance_tables: dict[tuple[int, ...], dict[int, int]] = {}

    def number(self, counts: Counts) -> int:
        """Return the number of some values of the counters."""
        number = self._numbers.setdefault(counts, len(self.all_counts))
        if number == len(self.all_counts):
            self.all_counts.append(counts)
            classes = self.classify(counts)
            class_number = self._numbers_by_classes.setdefault(classes, len(self._numbers_by_classes))
            self.class_numbers.append(class_number)
        return number

    def advance_number(self, number: int, running: tuple[int, ...]) -> int:
        """Return the number of the values that `advance` returns for the values with a number."""
        table = self._advance_tables.setdefault(running, {})
        next_number = table.get(number)
        if next_number is None:
            next_number = table[number] = self.number(self.advance(self.all_counts[number], running))
        return next_number

    def classify(self, counts: Counts) -> Counts:
        """Return the classes of some values of the counters."""
        return tuple([classes[count] for classes, count in zip(self.classes, counts, strict=True)])

    def running(self, counts_after: Counts) -> tuple[int, ...]:
        """Return the indices of the counters that ran in a tick, by their values after it."""
        return tuple([i for i, count in enumerate(counts_after) if count])

    def advance(self, counts: Counts, running: tuple[int, ...]) -> Counts:
        """Return the counters after a tick in which those at the indices `running` run; others are reset."""
        advanced = [0] * len(counts)
        for i in running:
            advanced[i] = self.next_counts[i][counts[i]]
        return tuple(advanced)


def _next_counts(counter: Counter) -> tuple[int, ...]:
    """Return the value that follows every value of a counter while it runs; never zero."""
    after_limit = 1 if counter.restarts else counter.limit
    return (*range(1, counter.limit + 1), after_limit)


def _classify_counts(next_counts: tuple[int, ...], compared_numbers: set[int] | None) -> tuple[int, ...]:
    """Return the class of every value of a counter, by how its next value compares with the numbers."""
    if compared_numbers is None:
        return tuple(range(len(next_counts)))
    edges = sorted(compared_numbers | {number + 1 for number in compared_numbers})
    return tuple(sum(edge <= count for edge in edges) for count in next_counts)


def _find_compared_numbers(machine: Machine) -> dict[str, set[int] | None]:
    """Return the numbers with which each counter is compared; None for a counter that is read otherwise."""
    numbers = {counter.name: set[int]() for counter in machine.counters}
    comparisons = [
        (transition.since_register, transition.wait) for transition in machine.transitions if transition.wait
    ]
    read_otherwise = set[str]()
    for expression in machine.expressions:
        own_comparisons = list(_list_count_comparisons(expression.tree))
        n_reads = Tally(node.name for node in nodes_of(expression.tree) if isinstance(node, Name))
        n_reads.subtract(name for name, _ in own_comparisons)
        read_otherwise |= {name for name, count in n_reads.items() if count > 0}
        comparisons += own_comparisons
    for name, number in comparisons:
        if name in numbers:
            numbers[name].add(number)
    return {
        name: None if name in read_otherwise else compared_numbers
        for name, compared_numbers in numbers.items()
    }


def _list_count_comparisons(tree: Tree) -> Iterator[tuple[str, int]]:
    """Yield the names that an expression compares with integers by `==`, `<` or `>=`, with the integers."""
    for node in nodes_of(tree):
        if not isinstance(node, Binary) or not isinstance(node.left, Name):
            continue
        if node.operator not in (Operator.EQUAL, Operator.LESS, Operator.GREATER_EQUAL):
            continue
        if isinstance(node.right, Literal) and type(node.right.value) is int:
            yield node.left.name, node.right.value
