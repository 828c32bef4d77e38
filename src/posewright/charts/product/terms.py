"""What variables are set to in a tick, as terms over the inputs: recorded, and compared.

A variable that nothing reads may hold too many values to go through. Whether two charts set it to the same is
a question about two terms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from posewright.charts.expression import (
    Binary,
    Expression,
    Literal,
    Name,
    Operator,
    Tree,
    names_in,
    rewrite,
)
from posewright.charts.machine import Snapshot
from posewright.charts.reachability import (
    AbstractStates,
    Answer,
    Domain,
    Followed,
    PathCondition,
    Questions,
    Registers,
    as_register_holds,
    assignments_of,
)
from posewright.charts.types import BoolType, Type, Value


def constant_term(value: Value) -> Expression:
    """Return the term that is a value."""
    return Expression(Literal(value), BoolType())


def term_value(term: Expression) -> Value | None:
    """Return the value of a term; None where it depends on inputs."""
    return term.tree.value if isinstance(term.tree, Literal) else None


def fitted(kind: Type, value: Value) -> Value:
    """Return a value as a register of that type holds it, be it infinite or not a number."""
    return kind.clamp(value)  # type: ignore[arg-type]  # of the kind's own sort


def substituted(term: Expression, trees: Mapping[str, Tree]) -> Expression:
    """Return a term with other terms in place of names."""

    def replacement(node: Tree) -> Tree | None:
        return trees.get(node.name) if isinstance(node, Name) else None

    term = term.with_tree(rewrite(term.tree, replacement))
    return term if names_in(term.tree) else constant_term(term.evaluate({}))


class TermRecorder:
    """Follows ticks of one chart and records what some variables are set to.

    Args:
        states: of the chart.
        names: the variables that are recorded.

    Attributes:
        terms: what each variable was set to last in the tick that was followed; none where it was not set.
    """

    def __init__(self, states: AbstractStates, names: Collection[str]) -> None:
        self.axes = states.inputs.axes
        self.kinds = {name: kind for name, kind in states.machine.chart.variables.items() if name in names}
        self.types = {name: axis.kind for name, axis in self.axes.items()} | self.kinds
        self.terms: dict[str, Expression] = {}
        self._before: dict[str, Expression] = {}  # the same, before the assignment that is under way
        answers: dict[int, Answer] = {}
        for action in assignments_of(states.machine):
            first = True
            for name, value in action.values.items():
                if name in self.kinds:
                    answer = states.follower.answers[id(value)]
                    answers[id(value)] = self._recording(name, value, answer, first=first)
                    first = False
        self._follower = states.follower.answering(answers)

    def follow(self, state: Snapshot, path: PathCondition) -> Followed:
        """Take one tick along a path."""
        self.terms = {}
        return self._follower.follow(state, path)

    def _recording(self, name: str, expression: Expression, answer: Answer, *, first: bool) -> Answer:
        """Return what answers as before, and records the term; `first` of those that are set at once."""
        known = [read for read in expression.names if read not in self.axes and read not in self.kinds]
        is_known = len(known) == len(expression.names)
        reads_recorded = not expression.names.isdisjoint(self.kinds)
        kind = self.kinds[name]
        constants: dict[Value, Expression] = {}
        terms: dict[tuple[Value, ...], Expression] = {}

        def record(env: Registers, path: PathCondition) -> Value:
            if first:
                self._before = dict(self.terms)
            value = answer(env, path)
            if is_known:
                if value not in constants:
                    constants[value] = constant_term(fitted(kind, value))
                self.terms[name] = constants[value]
                return value
            key = tuple([env[read] for read in known])
            if reads_recorded:
                self.terms[name] = self._term(expression, dict(zip(known, key, strict=True)))
                return value
            if key not in terms:
                terms[key] = self._term(expression, dict(zip(known, key, strict=True)))
            self.terms[name] = terms[key]
            return value

        return record

    def _term(self, expression: Expression, known: Mapping[str, Value]) -> Expression:
        """Return the term of an expression, with all put in that is known or was recorded before."""
        trees: dict[str, Tree] = {
            name: Literal(value) for name, value in {**expression.fixed, **known}.items()
        }
        for name, term in self._before.items():
            trees[name] = as_register_holds(self.kinds[name], term, self.types)
        return substituted(expression, trees)


class TermComparison:
    """Asks whether two terms come to the same once a register holds them."""

    def __init__(self, axes: Mapping[str, Domain], kinds: Mapping[str, Type]) -> None:
        self.types = {name: axis.kind for name, axis in axes.items()}
        self.questions = Questions(axes, self.types)
        self.kinds = kinds
        self._answers: dict[tuple[str, Expression, Expression], Answer] = {}

    def differ(self, name: str, one: Expression, other: Expression, path: PathCondition) -> bool:
        """Return whether two terms of a variable differ on this path."""
        if one == other:
            return False
        value = term_value(one)
        other_value = term_value(other)
        kind = self.kinds[name]
        if value is not None and other_value is not None:
            return fitted(kind, value) != fitted(kind, other_value)
        key = (name, one, other)
        if key not in self._answers:
            one_tree = as_register_holds(kind, one, self.types)
            other_tree = as_register_holds(kind, other, self.types)
            source = (one if names_in(one.tree) else other).source
            unequal = Expression(Binary(Operator.UNEQUAL, one_tree, other_tree), BoolType(), source)
            self._answers[key] = self.questions.condition(unequal)
        return bool(self._answers[key]({}, path))


def are_same(one: Mapping[str, Expression], other: Mapping[str, Expression]) -> bool:
    """Return whether the same variables are set to the same terms, as far as their text tells."""
    return one.keys() == other.keys() and all(term.tree == other[name].tree for name, term in one.items())
