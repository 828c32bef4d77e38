"""Two charts side by side: every way in which a tick of both can go, with one and the same inputs.

Outputs that nothing reads are compared by the terms that they are set to. Their values may be many, and need
not be gone through: whether two charts set an output to the same is a question about two terms, and whoever
does not set it keeps what was the same before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posewright.charts.expression import (
    Binary,
    Expression,
    Literal,
    Name,
    Operator,
    Tree,
    names_in,
    rewritten,
)
from posewright.charts.machine import Interpreter, Machine, Snapshot, TickConditions
from posewright.charts.reachability.abstraction import (
    Counts,
    TimerAbstraction,
    assignments_of,
    held,
    keep_registers,
)
from posewright.charts.reachability.conditions import Answer
from posewright.charts.reachability.domain import Domain
from posewright.charts.reachability.limits import SMALL, Limits, WorkBudget
from posewright.charts.reachability.path import InputSpace, PathCondition, paths
from posewright.charts.reachability.questions import Questions
from posewright.charts.reachability.states import AbstractState, AbstractStates, SymbolicStep, gathered
from posewright.charts.types import BoolType, FloatType, IntType, Type, Value


def _constant(value: Value) -> Expression:
    return Expression(Literal(value), BoolType())


def _value(term: Expression) -> Value | None:
    """Return the value of a term, where it does not depend on inputs."""
    return term.tree.value if isinstance(term.tree, Literal) else None


def _unread_outputs(machine: Machine) -> frozenset[str]:
    """Return the outputs of a machine that can be compared by their terms: only such outputs read them."""
    kept: frozenset[str] = frozenset()
    while True:
        keeps = keep_registers(machine, keep=kept)
        outputs = frozenset(name for name in machine.chart.outputs if keeps[name].drops)
        read = _read_by(machine, outputs) & keeps.keys()
        if read <= kept:
            return outputs
        kept |= read


def _read_by(machine: Machine, outputs: frozenset[str]) -> frozenset[str]:
    """Return the other names that the terms of these outputs read."""
    values = (pair for action in assignments_of(machine) for pair in action.values.items())
    return frozenset[str]().union(*(value.names for name, value in values if name in outputs)) - outputs


def _is_large(kind: Type) -> bool:
    """Return whether a type has more values than are gone through one by one."""
    return isinstance(kind, FloatType) or (isinstance(kind, IntType) and kind.high - kind.low >= SMALL)


class _TermRecorder:
    """Notes what some outputs are set to in a tick.

    Args:
        machine: that sets them.
        outputs: what is noted.
        answers: what answers each expression of the machine; those of these outputs are replaced.
        axes: the values of every input.

    Attributes:
        terms: what each output was set to last; whoever takes a tick empties it first.
    """

    def __init__(
        self,
        machine: Machine,
        outputs: frozenset[str],
        answers: dict[int, Answer],
        axes: Mapping[str, Domain],
    ) -> None:
        self.axes = axes
        self.outputs = {name: machine.chart.outputs[name] for name in outputs}
        self.types = {name: axis.kind for name, axis in axes.items()} | dict(machine.chart.outputs)
        self.terms: dict[str, Expression] = {}
        self._before: dict[str, Expression] = {}  # the same, before what is being set just now
        for action in assignments_of(machine):
            first = True
            for name, value in action.values.items():
                if name in outputs:
                    answers[id(value)] = self.noted(name, value, answers[id(value)], first=first)
                    first = False

    def noted(self, name: str, expression: Expression, answer: Answer, *, first: bool) -> Answer:
        """Return what answers as before, and notes the term; `first` of those that are set at once."""
        known = [one for one in expression.names if one not in self.axes and one not in self.outputs]
        asks = len(known) < len(expression.names)
        terms: dict[Value, Expression] = {}
        kind = self.outputs[name]

        def note(env: dict[str, Any], path: PathCondition) -> Any:
            if first:
                self._before = dict(self.terms)
            value = answer(env, path)
            if asks:
                self.terms[name] = self.term(expression, {one: env[one] for one in known})
            else:
                self.terms[name] = terms[value] = terms.get(value) or _constant(_fitted(kind, value))
            return value

        return note

    def term(self, expression: Expression, known: Mapping[str, Value]) -> Expression:
        """Return the term of an expression, with all put in that is known or was noted before."""
        trees: dict[str, Tree] = {
            name: Literal(value) for name, value in {**expression.fixed, **known}.items()
        }
        trees |= {name: held(self.outputs[name], one, self.types) for name, one in self._before.items()}
        return _put_in(expression, trees)


def _put_in(term: Expression, trees: Mapping[str, Tree]) -> Expression:
    """Return a term with other terms in place of names."""

    def found(node: Tree) -> Tree | None:
        return trees.get(node.name) if isinstance(node, Name) else None

    term = term.with_tree(rewritten(term.tree, found))
    return term if names_in(term.tree) else _constant(term.evaluate({}))


class _TermComparison:
    """Asks whether two terms come to the same once a register holds them."""

    def __init__(self, axes: Mapping[str, Domain], outputs: Mapping[str, Type]) -> None:
        self.types = {name: axis.kind for name, axis in axes.items()}
        self.questions = Questions(axes, self.types)
        self.outputs = outputs
        self.known: dict[tuple[str, Expression, Expression], Answer] = {}

    def differ(self, name: str, one: Expression, other: Expression, path: PathCondition) -> bool:
        """Return whether two terms of an output differ on this path."""
        if one == other:
            return False
        values = _value(one), _value(other)
        if values[0] is not None and values[1] is not None:
            return _fitted(self.outputs[name], values[0]) != _fitted(self.outputs[name], values[1])
        key = (name, one, other)
        if key not in self.known:
            self.known[key] = self.answer(name, one, other)
        return bool(self.known[key]({}, path))

    def answer(self, name: str, one: Expression, other: Expression) -> Answer:
        ours, theirs = (held(self.outputs[name], term, self.types) for term in (one, other))
        tree = Binary(Operator.UNEQUAL, ours, theirs)
        asked = one if names_in(one.tree) else other
        return self.questions.condition(Expression(tree, BoolType(), asked.source))


def _fitted(kind: Type, value: Value) -> Value:
    """Return a value as a register of that type holds it, be it infinite or not a number."""
    return kind.fit(value)  # type: ignore[arg-type]  # of the kind's own sort


Held = tuple[tuple[Expression, Expression] | None, ...]
"""What both hold in each output that is compared by terms; None: the same, but it is not known what."""

Both = tuple[int, int, Held]
"""Where two charts stand: of each, the number of what its state is, counters aside; and what both hold."""


class NotToldError(Exception):
    """One chart sets an output and the other keeps it: then it has to be told what it was.

    It never leaves `equivalent`, which begins again.
    """

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


class ProductSpace:
    """Two charts with the same inputs, events and outputs, to be explored as if they were one.

    A step of both is a `SymbolicStep` of the one, with one answer: whether it tells the two charts apart, as
    the outputs then differ, or only one of the ticks fails. Nothing follows on a step that does.

    Args:
        a: runs the one.
        b: runs the other.
        limits: how far to go.
        budget: the work that may be done.
        told: outputs whose values are told apart, and how often that was asked for: where they are set to
            constants, or (2) whatever they are set to. Of others it is enough that both hold the same.

    Attributes:
        doubts: in words, why steps may be missing.
        count: steps looked at.
    """

    def __init__(
        self, a: Interpreter, b: Interpreter, limits: Limits, budget: WorkBudget, told: Mapping[str, int]
    ) -> None:
        outputs = a.chart.outputs
        self.inputs = InputSpace.of(a.chart)
        self.limits = limits
        self.budget = budget
        self.told = told
        self.runs = (a, b)
        terms = _unread_outputs(a.machine) & _unread_outputs(b.machine)
        terms -= {name for name in told if told[name] > 1 or not _is_large(outputs[name])}
        self.by_terms = tuple(name for name in outputs if name in terms)
        self.by_value = tuple(name for name in outputs if name not in terms)
        self.sides = (self._side(a, terms), self._side(b, terms))
        self.clocks = TimerAbstraction(a.machine, b.machine)
        self.records = tuple(
            _TermRecorder(side.machine, terms, side.follower.answers, self.inputs.axes) for side in self.sides
        )
        self.comparison = _TermComparison(self.inputs.axes, outputs)
        self.rests: list[Both] = []
        self.rest_numbers: dict[Both, int] = {}
        self.known: dict[tuple[int, int], AbstractState] = {}
        self.doubts: dict[str, None] = {}
        self.count = 0

    def _side(self, run: Interpreter, terms: frozenset[str]) -> AbstractStates:
        keep = (*self.by_value, *_read_by(run.machine, terms))
        asked = TickConditions(run.machine, ())
        return AbstractStates(run, self.inputs, asked, keep, limits=self.limits, budget=self.budget)

    def start(self, one: Snapshot, other: Snapshot) -> tuple[int, Counts]:
        """Return the place of two states whose outputs are known."""
        values = [(name, one.outputs[name], other.outputs[name]) for name in self.by_terms]
        held = tuple(
            None if a == b and name not in self.told else (_constant(a), _constant(b))
            for name, a, b in values
        )
        return self.place(one, other, held)

    def place(self, one: Snapshot, other: Snapshot, held: Held) -> tuple[int, Counts]:
        """Return the number of what the state of both is, counters aside, and the counters of both."""
        (rest, counts), (other_rest, other_counts) = self.sides[0].split(one), self.sides[1].split(other)
        both = rest, other_rest, held
        number = self.rest_numbers.setdefault(both, len(self.rests))
        if number == len(self.rests):
            self.rests.append(both)
        return number, (*counts, *other_counts)

    def at_number(self, rest: int, number: int) -> AbstractState:
        """Return what can happen in a state of both; its counters by their number."""
        key = (rest, self.clocks.looked[number])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.look(self.rests[rest], self.clocks.every[number])
            self.count += len(found.cases)
        return found

    def look(self, both: Both, counts: Counts) -> AbstractState:
        """Follow every path of a tick of both."""
        one, other = self.sides
        at = len(one.machine.counters)
        states = one.joined(both[0], counts[:at]), other.joined(both[1], counts[at:])
        followed = paths(
            self.inputs,
            lambda path: self.step(states, both[2], path),
            self.limits.cases_of_one,
            self.budget,
        )
        found = gathered(states[0], ((path, *step) for path, step in followed))
        self.doubts |= found.doubts
        return found

    def step(
        self, states: tuple[Snapshot, Snapshot], held: Held, path: PathCondition
    ) -> tuple[SymbolicStep, tuple[int, tuple[int, ...]] | None]:
        """Return what comes of one path: a step, and where it leads."""
        one, other = self.sides
        for record in self.records:
            record.terms.clear()
        first = one.follower.follow(states[0], path)
        second = other.follower.follow(states[1], path)

        def found(*, apart: bool) -> SymbolicStep:
            answers = (apart,)
            return SymbolicStep(path.inputs(), first.after, first.taken, first.raised, first.error, answers)

        if first.after is None or second.after is None:
            return found(apart=first.after is not second.after), None
        same = all(first.env[name] == second.env[name] for name in self.by_value)
        after = self.held(held, path) if same else None
        if after is None:
            return found(apart=True), None
        rest, counts = self.place(first.after, second.after, after)
        return found(apart=False), (rest, self.clocks.running(counts))

    def held(self, before: Held, path: PathCondition) -> Held | None:
        """Return what the outputs are after a tick, None where they differ."""
        found: list[tuple[Expression, Expression] | None] = []
        for name, known in zip(self.by_terms, before, strict=True):
            set_to = (record.terms.get(name) for record in self.records)
            one, other = (self.put_in(term, before, number) for number, term in enumerate(set_to))
            if known is not None:
                one, other = one or known[0], other or known[1]
            missing = self.missing(name, one, other)
            if missing is not None:
                raise NotToldError(missing)
            if one is None or other is None:
                found.append(None)
            elif self.comparison.differ(name, one, other, path):
                return None
            else:
                found.append(self.remembered(name, one, other))
        return tuple(found)

    def put_in(self, term: Expression | None, before: Held, side: int) -> Expression | None:
        """Return a term in which the outputs that it reads are put in as far as they are known."""
        if term is None or term.names.isdisjoint(self.by_terms):
            return term
        known = {name: held[side].tree for name, held in zip(self.by_terms, before, strict=True) if held}
        return _put_in(term, known)

    def missing(self, name: str, one: Expression | None, other: Expression | None) -> str | None:
        """Return which output has to be told for the terms of one to be compared; None where none has."""
        if one == other:
            return None
        if one is None or other is None:
            return name
        read = (*sorted(one.names), *sorted(other.names))
        return next((name for name in read if name in self.by_terms), None)

    def remembered(
        self, name: str, one: Expression, other: Expression
    ) -> tuple[Expression, Expression] | None:
        """Return what is to be known of an output that is the same in both."""
        values, kind = (_value(one), _value(other)), self.comparison.outputs[name]
        if name not in self.told or values[0] is None or values[1] is None:
            return None
        return _constant(_fitted(kind, values[0])), _constant(_fitted(kind, values[1]))
