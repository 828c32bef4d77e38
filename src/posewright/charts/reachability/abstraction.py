"""What of a register or a counter can make a difference, and what need not be told apart.

A register that nothing reads is dropped. One that is only compared with constants is kept by cells: the
values between two neighbouring constants do the same, so one stands for all. Any other is kept as it is.

A tick looks at a counter only to ask whether it has come to some number. States that differ in counters for
which all these answers are the same go the same ways; only afterwards do their counters differ again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
from posewright.charts.reachability.domain import Compute, Domain, find_spans, parted, plainest
from posewright.charts.reachability.limits import MAX_CELLS, SMALL
from posewright.charts.types import BoolType, FloatType, IntType, Type, Value


def is_defined(tree: Tree) -> Tree:
    """Return the condition that a term is a number: nothing else differs from itself."""
    return Binary(Operator.EQUAL, tree, tree)


def may_be_undefined(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether some term of an expression may be not a number, as far as the types tell."""
    nodes = Translator(types).translate(expression).values()
    return any(meaning.value.interval.nan for meaning in nodes)


def may_overflow(expression: Expression, types: Mapping[str, Type]) -> bool:
    """Return whether an expression as a whole may be infinite, or not a number."""
    return not Translator(types).meaning(expression).value.interval.finite


def as_register_holds(kind: Type, expression: Expression, types: Mapping[str, Type]) -> Tree:
    """Return a term as a register of that type holds it.

    Args:
        kind: of the register.
        expression: the term.
        types: of all names that it reads.
    """
    tree = expression.tree
    if isinstance(tree, Literal):
        return Literal(kind.clamp(tree.value))  # type: ignore[arg-type]  # of the kind's own sort
    if isinstance(kind, FloatType):
        number = Expression(tree, kind, expression.source, expression.fixed)
        cut = not kind.is_unbounded or may_overflow(number, types)
        nearest = _between(tree, kind.low, kind.high) if cut else tree
        nearest = Call("single", (nearest,)) if kind.single else nearest
        if not may_be_undefined(number, types):
            return nearest
        return If(is_defined(tree), nearest, Literal(kind.default))
    return _between(tree, kind.low, kind.high) if isinstance(kind, IntType) else tree


def _between(tree: Tree, low: float, high: float) -> Tree:
    return Call("max", (Call("min", (tree, Literal(high))), Literal(low)))


DIVISIONS = (Operator.OVER, Operator.MODULO)


@dataclass(frozen=True)
class Abstraction:
    """How the values of one register are told apart.

    Attributes:
        drops: not at all.
        bounds: the greatest value of every cell but the last; none where each value counts.
        values: what stands for each cell.
        single: every cell is a single value.
        marks: values that are tried at any rate, where not all can be.
    """

    kind: Type
    start: Value
    drops: bool = False
    bounds: tuple[Value, ...] = ()
    values: tuple[Value, ...] = ()
    single: bool = True
    marks: tuple[Value, ...] = ()

    def canonical(self, value: Value) -> Value:
        """Return what stands for a value."""
        if self.drops:
            return self.start
        if self.single:
            return value
        return self.values[bisect_left(self.bounds, value)]

    def rounded(self, tree: Tree) -> Tree:
        """Return a term as it is once the register holds it."""
        single = isinstance(self.kind, FloatType) and self.kind.single
        return Call("single", (tree,)) if single else tree


def keep_registers(
    machine: Machine,
    watching: Sequence[Expression] = (),
    keep: Collection[str] = (),
    marks: Mapping[str, Collection[Value]] | None = None,
) -> dict[str, Abstraction]:
    """Return how the outputs and locals of a machine are kept while it is explored.

    Args:
        machine: what is explored.
        watching: conditions that are asked after every tick.
        keep: names whose values are told apart, whether or not anything reads them.
        marks: values of numbers that are tried at any rate, where not all can be.
    """
    uses = _uses(machine, watching, keep)
    start = machine.chart.start_values()
    found = {name: _keep(name, kind, start[name], uses) for name, kind in machine.chart.variables.items()}
    for name, values in (marks or {}).items():
        fitting = tuple(value for value in values if found[name].kind.contains(value))
        found[name] = replace(found[name], marks=fitting)
    return found


def _keep(name: str, kind: Type, start: Value, uses: _Uses) -> Abstraction:
    if name not in uses.whole | uses.cells.keys():
        return Abstraction(kind, start, drops=True, single=False)
    if not isinstance(kind, IntType | FloatType):
        return Abstraction(kind, start)
    if name not in uses.whole:
        found = _by_cells(name, kind, start, uses.cells[name])
        if found is not None:
            return found
    if isinstance(kind, IntType) and kind.high - kind.low < SMALL:
        values = tuple(range(kind.low, kind.high + 1))
        return Abstraction(kind, start, bounds=values[:-1], values=values)
    return Abstraction(kind, start)


def _by_cells(
    name: str, kind: Type, start: Value, comparisons: list[tuple[Tree, Expression]]
) -> Abstraction | None:
    """Return how a register is kept that is compared with constants only, or None where that is not so."""
    axis = Domain(kind)
    cells = [axis.whole]
    for tree, expression in comparisons:
        spans, exact = find_spans(tree, name, axis, _compile_at(name, axis, expression))
        asked = Expression(tree, BoolType(), expression.source, expression.fixed)
        if not exact or len(cells) > MAX_CELLS or may_be_undefined(asked, {name: kind}):
            return None
        cells = [part for cell in cells for part in parted(cell, spans) if part]
    single = sorted(span for cell in cells for span in cell)
    if len(single) > MAX_CELLS:
        return None
    at = axis.index(start)
    values = (start if low <= at <= high else plainest(axis, ((low, high),)) for low, high in single)
    bounds = tuple(axis.value(high) for _, high in single[:-1])
    return Abstraction(kind, start, False, bounds, tuple(values), all(low == high for low, high in single))


def _compile_at(name: str, axis: Domain, expression: Expression) -> Callable[[Tree], Compute]:
    def compile_one(tree: Tree) -> Compute:
        evaluate = compile_tree(tree, expression.fixed, expression.source)
        return lambda index: evaluate({name: axis.value(index)})

    return compile_one


@dataclass
class _Uses:
    """Who reads what.

    Attributes:
        whole: registers of which every value counts.
        cells: the comparisons of registers that are only compared with constants.
    """

    registers: Mapping[str, Type]
    whole: set[str] = field(default_factory=set)
    cells: dict[str, list[tuple[Tree, Expression]]] = field(default_factory=dict)

    def names(self, tree: Tree, expression: Expression) -> set[str]:
        return {name for name in names_in(tree) if name in self.registers and name not in expression.fixed}

    def condition(self, tree: Tree, expression: Expression) -> None:
        """Note what a condition reads."""
        if isinstance(tree, If):
            cases, rest = split_cases(tree)
            for one in (*chain.from_iterable(cases), rest):
                self.condition(one, expression)
        elif isinstance(tree, Unary) and tree.operator is Operator.NOT:
            self.condition(tree.operand, expression)
        elif isinstance(tree, Binary) and tree.operator in LOGIC:
            self.condition(tree.left, expression)
            self.condition(tree.right, expression)
        elif isinstance(tree, Binary) and tree.operator in COMPARISONS:
            self.comparison(tree, expression)
        else:
            self.whole |= self.names(tree, expression)

    def comparison(self, tree: Binary, expression: Expression) -> None:
        names = self.names(tree, expression)
        alone = names_in(tree) - expression.fixed.keys() == names and len(names) == 1
        difficult = any(
            isinstance(n, If) or (isinstance(n, Binary) and n.operator in DIVISIONS) for n in nodes_of(tree)
        )
        name = next(iter(names), "")
        if alone and not difficult and isinstance(self.registers[name], IntType | FloatType):
            self.cells.setdefault(name, []).append((tree, expression))
        else:
            self.whole |= names

    def value(self, tree: Tree, expression: Expression) -> None:
        """Note what a value reads that is itself read."""
        if isinstance(tree, If):
            cases, rest = split_cases(tree)
            for condition, then in cases:
                self.condition(condition, expression)
                self.value(then, expression)
            self.value(rest, expression)
        else:
            self.whole |= self.names(tree, expression)


def _uses(machine: Machine, watching: Sequence[Expression], keep: Collection[str]) -> _Uses:
    uses = _Uses(machine.chart.variables)
    uses.whole |= set(keep) & set(machine.chart.variables)
    for condition in (*conditions_of(machine), *watching):
        uses.condition(condition.tree, condition)
    waiting = [pair for action in assignments_of(machine) for pair in action.values.items()]
    for _, value in waiting:
        for node in nodes_of(value.tree):
            if isinstance(node, Binary) and node.operator in DIVISIONS:
                uses.whole |= uses.names(value.tree, value)
    while True:
        read = uses.whole | uses.cells.keys()
        ready = [one for one in waiting if one[0] in read]
        if not ready:
            return uses
        waiting = [one for one in waiting if one[0] not in read]
        for _, value in ready:
            uses.value(value.tree, value)


def _actions(machine: Machine) -> Iterator[Action]:
    return (action for actions in all_actions(machine) for action in iterate_actions(actions))


def conditions_of(machine: Machine) -> Iterator[Expression]:
    """Yield what decides where a tick goes: guards, what is counted, and where actions branch."""
    yield from (guard for way in machine.transitions for guard in way.guards)
    yield from (counter.condition for counter in machine.counters if counter.condition is not None)
    yield from (action.when for action in _actions(machine) if isinstance(action, Branch))


def assignments_of(machine: Machine) -> Iterator[Assign]:
    """Yield all that may set outputs and locals."""
    return (action for action in _actions(machine) if isinstance(action, Assign))


Counts = tuple[int, ...]


class TimerAbstraction:
    """The counters of one machine, or of several side by side.

    Attributes:
        names: of the counters, in the order of the registers.
        every: the values met so far, by their number.
        looked: for each, the number of what a tick can tell of it.
    """

    def __init__(self, *machines: Machine) -> None:
        asked = [(counter, _asked(machine)) for machine in machines for counter in machine.counters]
        self.names = tuple(counter.name for counter, _ in asked)
        self.later = tuple(_later(counter) for counter, _ in asked)
        self.classes = tuple(
            _classes(later, numbers.get(counter.name))
            for later, (counter, numbers) in zip(self.later, asked, strict=True)
        )
        self.every: list[Counts] = []
        self.numbers: dict[Counts, int] = {}
        self.looked: list[int] = []
        self.look_numbers: dict[Counts, int] = {}
        self.tables: dict[tuple[int, ...], dict[int, int]] = {}

    def number(self, counts: Counts) -> int:
        """Return a number for these values of the counters, the same for the same."""
        found = self.numbers.setdefault(counts, len(self.every))
        if found == len(self.every):
            self.every.append(counts)
            looks = self.looks(counts)
            self.looked.append(self.look_numbers.setdefault(looks, len(self.look_numbers)))
        return found

    def number_onward(self, number: int, running: tuple[int, ...]) -> int:
        """Return the same as `onward`, number for number."""
        table = self.tables.setdefault(running, {})
        found = table.get(number)
        if found is None:
            found = table[number] = self.number(self.onward(self.every[number], running))
        return found

    def looks(self, counts: Counts) -> Counts:
        """Return what a tick can tell of counters."""
        return tuple([classes[count] for classes, count in zip(self.classes, counts, strict=True)])

    def running(self, after: Counts) -> tuple[int, ...]:
        """Return which counters went on in a tick that left these; the others begin again."""
        return tuple([i for i, count in enumerate(after) if count])

    def onward(self, counts: Counts, running: tuple[int, ...]) -> Counts:
        """Return counters after a tick in which just these went on."""
        if not running:
            return (0,) * len(counts)
        found = [0] * len(counts)
        for i in running:
            found[i] = self.later[i][counts[i]]
        return tuple(found)


def _later(counter: Counter) -> tuple[int, ...]:
    """Return what follows every value of a counter that goes on: never zero."""
    last = 1 if counter.again else counter.limit
    return (*range(1, counter.limit + 1), last)


def _classes(later: tuple[int, ...], asked: set[int] | None) -> tuple[int, ...]:
    """Return the class of every value: how many of the numbers asked for the next value has come to."""
    if asked is None:
        return tuple(range(len(later)))
    edges = sorted(asked | {number + 1 for number in asked})
    return tuple(sum(edge <= value for edge in edges) for value in later)


def _asked(machine: Machine) -> dict[str, set[int] | None]:
    """Return the numbers with which each counter is compared; None where more than that is done with it."""
    numbers = {counter.name: set[int]() for counter in machine.counters}
    compared = [(way.since_register, way.wait) for way in machine.transitions if way.wait]
    otherwise = set[str]()
    for expression in machine.expressions:
        asked = list(_comparisons(expression.tree))
        read = Tally(node.name for node in nodes_of(expression.tree) if isinstance(node, Name))
        read.subtract(name for name, _ in asked)
        otherwise |= {name for name, left in read.items() if left > 0}
        compared += asked
    for name, number in compared:
        if name in numbers:
            numbers[name].add(number)
    return {name: None if name in otherwise else asked_for for name, asked_for in numbers.items()}


def _comparisons(tree: Tree) -> Iterator[tuple[str, int]]:
    for node in nodes_of(tree):
        if not isinstance(node, Binary) or not isinstance(node.left, Name):
            continue
        wanted = node.operator in (Operator.EQUAL, Operator.LESS, Operator.GREATER_EQUAL)
        if wanted and isinstance(node.right, Literal) and type(node.right.value) is int:
            yield node.left.name, node.right.value
