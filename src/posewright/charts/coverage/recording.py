"""Runs a chart and records what the run sees of it: how every decision went, and because of what.

Of each evaluation of a decision it is noted what came out, which conditions were evaluated, and which of them
brought it about: those that the other conditions do not mask. What `and` and `or` never evaluated masks
nothing; the condition of an `if` brings about only what the branch not taken would have made otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.obligation import Fact, TestObligations, has_choice
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
    children,
    compile_tree,
    split_cases,
)
from posewright.charts.machine import Interpreter, Snapshot, TickOutcome
from posewright.charts.model import Chart
from posewright.charts.scenarios import Row
from posewright.charts.types import Value
from posewright.errors import ExpressionError

Seen = frozenset[tuple[int, bool]]
"""Conditions of a decision, by number, and what they came to."""

Evaluation = tuple[int, bool, Seen, Seen]
"""A decision's number, its outcome, the conditions evaluated, those that brought the outcome about."""

Looked = tuple[bool, Seen, Seen]
Look = Callable[[Env], Looked]


class _Watch:
    """Compiles an expression so that it notes how its decisions went.

    Args:
        expression: of a machine.
        first: the number of its first decision; they are numbered in the order of `decisions_in`.
        note: is told of every evaluation.
    """

    def __init__(self, expression: Expression, first: int, note: Callable[[Evaluation], object]) -> None:
        self.expression = expression
        self.numbers = count(first)
        self.note = note

    def value(self) -> Evaluate:
        """Return what computes an expression that is no decision itself."""
        observe, compute = self.observer(self.expression.tree), self.expression.evaluate

        def both(env: Env) -> Value:
            observe(env)
            value: Value = compute(env)
            return value

        return both

    def decision(self, tree: Tree) -> Evaluate:
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
            cases, rest = split_cases(tree)
            looks = [(self.look(one, conditions), self.look(then, conditions)) for one, then in cases]
            plain = [(self.computed(one), self.computed(then)) for one, then in cases]
            return _chosen(looks, self.look(rest, conditions), plain, self.computed(rest))
        return self.condition(tree, next(conditions))

    def computed(self, tree: Tree) -> Evaluate:
        return compile_tree(tree, self.expression.fixed, self.expression.source)

    def condition(self, tree: Tree, number: int) -> Look:
        observe, compute = self.observer(tree), self.computed(tree)
        true, false = frozenset({(number, True)}), frozenset({(number, False)})

        def look(env: Env) -> Looked:
            observe(env)
            return (True, true, true) if compute(env) else (False, false, false)

        return look

    def observer(self, tree: Tree) -> Evaluate:
        """Return what looks at the decisions inside a tree that is none itself."""
        if isinstance(tree, If):
            cases, rest = split_cases(tree)
            links = [(self.decision(condition), self.observer(then)) for condition, then in cases]
            return _chain(links, self.observer(rest))
        inner = [self.observer(part) for part in children(tree) if has_choice(part)]

        def observe(env: Env) -> None:
            for one in inner:
                one(env)

        return observe


def _chain(cases: list[tuple[Evaluate, Evaluate]], rest: Evaluate) -> Evaluate:
    """Return `a if c else b if d else e`."""

    def chosen(env: Env) -> Value:
        compute = next((then for condition, then in cases if condition(env)), rest)
        value: Value = compute(env)
        return value

    return chosen


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


def _chosen(
    cases: list[tuple[Look, Look]], rest: Look, plain: list[tuple[Evaluate, Evaluate]], plain_rest: Evaluate
) -> Look:
    """Return a chain of choices; `plain` is the same chain, of which nothing is noted."""

    def otherwise(number: int, env: Env, held: bool) -> bool | None:
        """Return the value if a condition were not as it is; None where a tick would fail."""
        try:
            after = _chain(plain[number + 1 :], plain_rest) if held else plain[number][1]
            return bool(after(env))
        except ExpressionError:
            return None

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
            if otherwise(number, env, held) is (not value):
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
        self._watched = {
            id(expression): watch.decision(expression.tree) if site.decides else watch.value()
            for site in self.obligations.sites
            for expression in site.lowered
            for watch in [_Watch(expression, site.first, self.last.append)]
        }

    @property
    def coverage(self) -> Coverage:
        """What was seen so far."""
        return Coverage(self.obligations, frozenset(self.facts))

    def outcome(self, state: Snapshot, inputs: Mapping[str, object]) -> TickOutcome:
        """Return what comes of one tick; what it saw before an error counts as well."""
        self.last.clear()
        found = None
        try:
            found = self.interpreter.outcome(state, inputs, self._compute)
        finally:
            self.facts |= self.shown(found)
        self.facts.update(self._passed(found))
        return found

    def run(self, rows: Iterable[Row]) -> None:
        """Take one tick a row, from the very start."""
        state = self.interpreter.initial()
        for row in rows:
            if row.start is not None:
                state = self.interpreter.snapshot_in(row.start)
            state = self.outcome(state, row.inputs).after

    def shown(self, outcome: TickOutcome | None) -> frozenset[Fact]:
        """Return the facts that the last step saw; `outcome` is what came of it, None where it failed."""
        found: set[Fact] = set()
        for decision, value, seen, brought in self.last:
            found.add(("decision", decision, value))
            found.update(("condition", decision, *one) for one in seen)
            found.update(("effect", decision, *one, value) for one in brought)
        if outcome is not None:
            found.update(("way", way.source, way.index) for way in outcome.taken_transitions)
            found.update(("state", number) for number in outcome.after.active_nodes)
        return frozenset(found)

    def _compute(self, expression: Expression, env: Env) -> Value:
        compute = self._watched.get(id(expression), expression.evaluate)
        value: Value = compute(env)
        return value

    def _passed(self, outcome: TickOutcome) -> Iterator[Fact]:
        """Yield segments by which ways lead, and states that they leave and enter, if only in passing."""
        nodes = self.interpreter.machine.nodes
        for way in outcome.taken_transitions:
            for segment in way.segments[1:]:
                yield "segment", self.obligations.segments[id(segment)]
            for one in (way.source, *(goal.node for goal in way.targets if goal.history is None)):
                yield from (("state", number) for number in (one, *nodes[one].ancestors) if number)


def cover_run(chart: Chart, rows: Iterable[Row]) -> Coverage:
    """Run a chart over rows of inputs, and return what the run covers.

    Raises:
        ExpressionError: a guard or an action divides by zero.
        UnknownNameError: there is no state in which a row is to start.
    """
    recorder = CoverageRecorder(Interpreter(chart))
    recorder.run(rows)
    return recorder.coverage
