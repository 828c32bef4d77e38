"""Outputs that nothing reads: compared by the terms that they are set to.

Their values may be many, and need not be gone through: whether two charts set an output to the same is a
question about two terms, and whoever does not set it keeps what was the same before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
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
from posewright.charts.machine import Machine, every_actions
from posewright.charts.model import Assign, every_action
from posewright.charts.reachability.axis import Domain
from posewright.charts.reachability.conditions import Answer
from posewright.charts.reachability.keeping import keep_registers
from posewright.charts.reachability.lines import SMALL
from posewright.charts.reachability.path import PathCondition
from posewright.charts.reachability.questions import Questions
from posewright.charts.reachability.undefined import held
from posewright.charts.types import BoolType, FloatType, IntType, Type, Value


@dataclass(frozen=True)
class Term:
    """What an output was set to, in terms of the inputs."""

    expression: Expression

    @property
    def value(self) -> Value | None:
        """The value, where it does not depend on inputs."""
        tree = self.expression.tree
        return tree.value if isinstance(tree, Literal) else None

    def reads(self, outputs: Collection[str]) -> list[str]:
        """Return which of these outputs it depends on: on what they were before the tick."""
        return sorted(self.expression.names.intersection(outputs))


def constant_term(value: Value) -> Term:
    """Return the term that is always a value."""
    return Term(Expression(Literal(value), BoolType()))


def unread_outputs(machine: Machine) -> frozenset[str]:
    """Return the outputs of a machine that can be compared by their terms: only such outputs read them."""
    kept: frozenset[str] = frozenset()
    while True:
        keeps = keep_registers(machine, keep=kept)
        outputs = frozenset(name for name in machine.chart.outputs if keeps[name].drops)
        read = read_by(machine, outputs) & keeps.keys()
        if read <= kept:
            return outputs
        kept |= read


def read_by(machine: Machine, outputs: frozenset[str]) -> frozenset[str]:
    """Return the other names that the terms of these outputs read."""
    values = (value.names for name, value in _assignments(machine) if name in outputs)
    return frozenset[str]().union(*values) - outputs


def is_large(kind: Type) -> bool:
    """Return whether a type has more values than are gone through one by one."""
    return isinstance(kind, FloatType) or (isinstance(kind, IntType) and kind.high - kind.low >= SMALL)


def _settings(machine: Machine) -> list[Assign]:
    actions = (action for actions in every_actions(machine) for action in every_action(actions))
    return [action for action in actions if isinstance(action, Assign)]


def _assignments(machine: Machine) -> list[tuple[str, Expression]]:
    return [pair for action in _settings(machine) for pair in action.values.items()]


class Noting:
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
        self.terms: dict[str, Term] = {}
        self._before: dict[str, Term] = {}  # the same, before what is being set just now
        for action in _settings(machine):
            first = True
            for name, value in action.values.items():
                if name in outputs:
                    answers[id(value)] = self.noted(name, value, answers[id(value)], first=first)
                    first = False

    def noted(self, name: str, expression: Expression, answer: Answer, *, first: bool) -> Answer:
        """Return what answers as before, and notes the term; `first` of those that are set at once."""
        known = [one for one in expression.names if one not in self.axes and one not in self.outputs]
        asks = len(known) < len(expression.names)
        terms: dict[Value, Term] = {}
        kind = self.outputs[name]

        def note(env: dict[str, Any], path: PathCondition) -> Any:
            if first:
                self._before = dict(self.terms)
            value = answer(env, path)
            if asks:
                self.terms[name] = self.term(expression, {one: env[one] for one in known})
            else:
                self.terms[name] = terms[value] = terms.get(value) or constant_term(fitted(kind, value))
            return value

        return note

    def term(self, expression: Expression, known: Mapping[str, Value]) -> Term:
        """Return the term of an expression, with all put in that is known or was noted before."""
        trees: dict[str, Tree] = {
            name: Literal(value) for name, value in {**expression.fixed, **known}.items()
        }
        trees |= {
            name: held(self.outputs[name], one.expression, self.types) for name, one in self._before.items()
        }
        return put_in(Term(expression), trees)


def put_in(term: Term, trees: Mapping[str, Tree]) -> Term:
    """Return a term with other terms in place of names."""

    def found(node: Tree) -> Tree | None:
        return trees.get(node.name) if isinstance(node, Name) else None

    expression = term.expression.with_tree(rewritten(term.expression.tree, found))
    return Term(expression) if names_in(expression.tree) else constant_term(expression.evaluate({}))


class Comparing:
    """Asks whether two terms come to the same once a register holds them."""

    def __init__(self, axes: Mapping[str, Domain], outputs: Mapping[str, Type]) -> None:
        self.types = {name: axis.kind for name, axis in axes.items()}
        self.questions = Questions(axes, self.types)
        self.outputs = outputs
        self.known: dict[tuple[str, Term, Term], Answer] = {}

    def differ(self, name: str, one: Term, other: Term, path: PathCondition) -> bool:
        """Return whether two terms of an output differ on this path."""
        if one == other:
            return False
        if one.value is not None and other.value is not None:
            return fitted(self.outputs[name], one.value) != fitted(self.outputs[name], other.value)
        key = (name, one, other)
        if key not in self.known:
            self.known[key] = self.answer(name, one, other)
        return bool(self.known[key]({}, path))

    def answer(self, name: str, one: Term, other: Term) -> Answer:
        """Return what answers whether two terms differ."""
        kind = self.outputs[name]
        ours, theirs = (held(kind, term.expression, self.types) for term in (one, other))
        tree = Binary(Operator.UNEQUAL, ours, theirs)
        asked = one.expression if names_in(one.expression.tree) else other.expression
        return self.questions.condition(Expression(tree, BoolType(), asked.source))


def fitted(kind: Type, value: Value) -> Value:
    """Return a value as a register of that type holds it, be it infinite or not a number."""
    return kind.fit(value)  # type: ignore[arg-type]  # of the kind's own sort
