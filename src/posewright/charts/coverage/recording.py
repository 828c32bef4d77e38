"""Runs a chart and records what the run sees of it: how every decision went, and because of what.

Each evaluation of a decision is noted as four numbers: which decision, what came out, which conditions were
evaluated, and which of them brought it about. A condition is two bits, one for either value. It brought the
outcome about where the other conditions do not mask it. What `and` and `or` never evaluated masks nothing;
the condition of an `if` brings about only what the branch not taken would have made otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.obligation import Fact, TestObligations, bit_of, has_choice
from posewright.charts.expression import (
    LOGIC,
    Binary,
    Env,
    Evaluate,
    Expression,
    If,
    Operator,
    Tree,
    Unary,
    cases_of,
    children,
    compile_tree,
)
from posewright.charts.machine import Interpreter, Outcome, Snapshot
from posewright.charts.model import Chart
from posewright.charts.scenarios import Row
from posewright.errors import ExpressionError

Evaluation = tuple[int, bool, int, int]
"""A decision's index, its outcome, the conditions evaluated, those that brought the outcome about."""

Looked = tuple[bool, int, int]
Look = Callable[[Env], Looked]
Note = Callable[[Evaluation], object]


def watched(expression: Expression, first: int, note: Note, *, decides: bool) -> Evaluate:
    """Return the function that computes an expression and notes how its decisions went.

    Args:
        expression: of a machine.
        first: the index of its first decision.
        note: is told of every evaluation.
        decides: whether the expression is a decision itself.
    """
    watch = _Watch(expression, first, note)
    if decides:
        return watch.decision(expression.tree)
    observe, compute = watch.observer(expression.tree), expression.evaluate

    def both(env: Env) -> Any:
        observe(env)
        return compute(env)

    return both


class _Watch:
    """Compiles a tree; numbers decisions in the order of `decisions_in`."""

    def __init__(self, expression: Expression, first: int, note: Note) -> None:
        self.expression = expression
        self.numbers = count(first)
        self.note = note

    def computed(self, tree: Tree) -> Evaluate:
        return compile_tree(tree, self.expression.fixed, self.expression.source)

    def decision(self, tree: Tree) -> Callable[[Env], bool]:
        number, note = next(self.numbers), self.note
        look = self.look(tree, count())

        def decide(env: Env) -> bool:
            value, seen, brought = look(env)
            note((number, value, seen, brought))
            return value

        return decide

    def look(self, tree: Tree, conditions: count[int]) -> Look:
        """Return what looks at a part of a decision: its value, conditions evaluated, those that matter."""
        if isinstance(tree, Binary) and tree.operator in LOGIC:
            left, right = self.look(tree.left, conditions), self.look(tree.right, conditions)
            return _joined(left, right, tree.operator is Operator.OR)
        if isinstance(tree, Unary) and tree.operator is Operator.NOT:
            return _denied(self.look(tree.operand, conditions))
        if isinstance(tree, If):
            cases, rest = cases_of(tree)
            looks = [(self.look(one, conditions), self.look(then, conditions)) for one, then in cases]
            plain = [(self.computed(one), self.computed(then)) for one, then in cases]
            return _chosen(looks, self.look(rest, conditions), _Otherwise(plain, self.computed(rest)))
        return self.condition(tree, next(conditions))

    def condition(self, tree: Tree, number: int) -> Look:
        compute = self.computed(tree)
        true = (True, bit_of(number, True), bit_of(number, True))
        false = (False, bit_of(number, False), bit_of(number, False))
        if not has_choice(tree):
            return lambda env: true if compute(env) else false
        observe = self.observer(tree)

        def look(env: Env) -> Looked:
            observe(env)
            return true if compute(env) else false

        return look

    def observer(self, tree: Tree) -> Evaluate:
        """Return what looks at the decisions inside a tree that is none itself."""
        if isinstance(tree, If):
            cases, rest = cases_of(tree)
            links = [(self.decision(condition), self.observer(then)) for condition, then in cases]
            return _chain(links, self.observer(rest))
        inner = [self.observer(part) for part in children(tree) if has_choice(part)]

        def observe(env: Env) -> None:
            for one in inner:
                one(env)

        return inner[0] if len(inner) == 1 else observe


def _chain(cases: list[tuple[Evaluate, Evaluate]], rest: Evaluate) -> Evaluate:
    """Return `a if c else b if d else e`."""

    def chosen(env: Env) -> Any:
        for condition, then in cases:
            if condition(env):
                return then(env)
        return rest(env)

    return chosen


class _Otherwise:
    """What a chain of choices would come to the other way; computing it notes nothing."""

    def __init__(self, cases: list[tuple[Evaluate, Evaluate]], rest: Evaluate) -> None:
        self.cases = cases
        self.rest = rest

    def value(self, number: int, env: Env, *, held: bool) -> bool | None:
        """Return the value if a condition, none before it holding, were not as it is (`held`).

        None where that cannot be computed: a tick that fails is no outcome.
        """
        try:
            after = _chain(self.cases[number + 1 :], self.rest) if held else self.cases[number][1]
            return bool(after(env))
        except ExpressionError:
            return None


def _joined(left: Look, right: Look, decisive: bool) -> Look:
    """Return `left or right` (decided by a true side), or `left and right` (by a false one)."""

    def look(env: Env) -> Looked:
        one = left(env)
        if one[0] is decisive:
            return one
        value, seen, brought = right(env)
        return value, one[1] | seen, brought if value is decisive else one[2] | brought

    return look


def _denied(inner: Look) -> Look:
    def look(env: Env) -> Looked:
        value, seen, brought = inner(env)
        return not value, seen, brought

    return look


def _chosen(cases: list[tuple[Look, Look]], rest: Look, otherwise: _Otherwise) -> Look:
    def look(env: Env) -> Looked:
        asked: list[Looked] = []
        taken = rest
        for condition, then in cases:
            asked.append(condition(env))
            if asked[-1][0]:
                taken = then
                break
        value, seen, brought = taken(env)
        for number, (held, evaluated, mattered) in enumerate(asked):
            seen |= evaluated
            if otherwise.value(number, env, held=held) is (not value):
                brought |= mattered
        return value, seen, brought

    return look


class CoverageRecorder:
    """Steps a chart like an interpreter, and records what every step sees.

    Attributes:
        facts: what was seen so far.
        last: evaluations of the last step, in order.
    """

    def __init__(self, interpreter: Interpreter, obligations: TestObligations | None = None) -> None:
        self.interpreter = interpreter
        self.obligations = obligations or TestObligations(interpreter.machine)
        self.facts: set[Fact] = set()
        self.last: list[Evaluation] = []
        self._shows: dict[Evaluation, frozenset[Fact]] = {}
        self._watched = {
            id(expression): watched(expression, site.first, self.last.append, decides=site.decides)
            for site in self.obligations.sites
            for expression in site.lowered
        }

    @property
    def coverage(self) -> Coverage:
        """What was seen so far."""
        return Coverage(self.obligations, frozenset(self.facts))

    def step(self, state: Snapshot, inputs: Mapping[str, object]) -> Snapshot:
        """Return where the chart stands after one tick; as `Interpreter.step`."""
        return self.outcome(state, inputs).after

    def outcome(self, state: Snapshot, inputs: Mapping[str, object]) -> Outcome:
        """Return what comes of one tick; what it saw before an error counts as well."""
        self.last.clear()
        found = None
        try:
            found = self.interpreter.outcome(state, inputs, self._compute)
        finally:
            self.facts |= self.shown(found)
        self.facts.update(self._passed(found))
        return found

    def run(self, rows: Iterable[Row], start: str | None = None) -> None:
        """Take one tick a row, from the very start or from a state."""
        interpreter = self.interpreter
        state = interpreter.initial() if start is None else interpreter.entered(start)
        for row in rows:
            if row.start is not None:
                state = interpreter.entered(row.start)
            state = self.step(state, row.inputs)

    def shown(self, outcome: Outcome | None) -> frozenset[Fact]:
        """Return the facts that the last step saw; `outcome` is what came of it, None where it failed."""
        found: set[Fact] = set()
        for evaluation in self.last:
            if evaluation not in self._shows:
                self._shows[evaluation] = frozenset(_facts_of(evaluation))
            found |= self._shows[evaluation]
        if outcome is not None:
            found.update(("way", way.source, way.index) for way in outcome.taken)
            found.update(("state", number) for number in outcome.after.numbers)
        return frozenset(found)

    def _compute(self, expression: Expression, env: Mapping[str, Any]) -> Any:
        watch = self._watched.get(id(expression))
        return expression.evaluate(env) if watch is None else watch(env)

    def _passed(self, outcome: Outcome) -> Iterator[Fact]:
        """Yield segments by which ways lead, and states that they leave and enter, if only in passing."""
        nodes = self.interpreter.machine.nodes
        for way in outcome.taken:
            for segment in way.segments[1:]:
                yield "segment", self.obligations.segments[id(segment)]
            for one in (way.source, *(goal.node for goal in way.goals if goal.memory is None)):
                yield from (("state", number) for number in (one, *nodes[one].around) if number)


def cover_run(chart: Chart, rows: Iterable[Row], start: str | None = None) -> Coverage:
    """Run a chart over rows of inputs, and return what the run covers.

    Raises:
        ExpressionError: a guard or an action divides by zero.
        UnknownNameError: there is no state called `start`.
    """
    recorder = CoverageRecorder(Interpreter(chart))
    recorder.run(rows, start)
    return recorder.coverage


def _facts_of(evaluation: Evaluation) -> Iterator[Fact]:
    """Yield what an evaluation of a decision shows."""
    decision, outcome, seen, brought = evaluation
    yield "decision", decision, outcome
    for bit in _bits(seen):
        yield "condition", decision, bit
    for bit in _bits(brought):
        yield "effect", decision, bit, outcome


def _bits(number: int) -> Iterator[int]:
    while number:
        bit = number & -number
        yield bit
        number ^= bit
