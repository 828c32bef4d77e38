"""Comparisons made ready to be answered while the inputs are not known: one answer, or a path for each.

A comparison of one number splits that number's values; where, is found by bisection, and what that only
guessed is settled by proof. One of several numbers becomes a relation between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from posewright.charts.expression import Expression, Literal, Name, Tree, compile_tree, names_in, rewrite
from posewright.charts.proof import Prover
from posewright.charts.reachability.abstraction import may_be_undefined
from posewright.charts.reachability.domain import Compute, Domain, Spans, find_spans, joined, parted
from posewright.charts.reachability.limits import (
    FEW,
    MAX_NEIGHBOURS,
    MAX_ROUNDS,
    WORK_FOR_VALUE,
)
from posewright.charts.reachability.path import PathCondition, Relation, decide
from posewright.charts.types import BoolType, Value
from posewright.errors import ExpressionError

Registers = dict[str, Value]
"""What every register holds, by its name."""

Answer = Callable[[Registers, PathCondition], Value]
"""From the registers and a path to a value; the path then holds only the inputs that give it."""


class Atom:
    """A comparison without `and`, `or` or `if` inside; called with the registers and a path, it answers.

    Args:
        expression: of which it is a part.
        tree: the comparison.
        axes: the values of every input and event.
    """

    def __init__(self, expression: Expression, tree: Tree, axes: Mapping[str, Domain]) -> None:
        self.expression = expression
        self.tree = tree
        self.axes = axes
        names = sorted(names_in(tree) - expression.fixed.keys())
        self.inputs = tuple(name for name in names if name in axes)
        self.registers = tuple(name for name in names if name not in axes)
        self._evaluate = compile_tree(tree, expression.fixed, expression.source)
        self._sets: dict[object, tuple[Spans, bool]] = {}

    def __call__(self, env: Registers, path: PathCondition) -> bool:
        """Return whether the comparison holds on this path."""
        held = {name: env[name] for name in self.registers}
        if len(self.inputs) == 1:
            return self._one(self.inputs[0], held, path)
        while True:
            open_names = [name for name in self.inputs if not path.known(name)]
            if len(open_names) <= 1:
                break
            small = min(open_names, key=path.size)
            if path.size(small) > FEW and self.axes[small].is_number:
                return path.relate(self._relation(held, path))
            path.pick(small)
        held |= {name: path.value(name) for name in self.inputs if path.known(name)}
        return self._one(open_names[0], held, path) if open_names else bool(self._evaluate(held))

    def _one(self, name: str, held: dict[str, Value], path: PathCondition) -> bool:
        """Answer where just one input is not known."""
        key = (name, tuple(held.values()))
        if key not in self._sets:
            self._sets[key] = self._where(name, held, path)
        spans, exact = self._sets[key]
        return path.split(name, spans) if exact else path.relate(self._relation(held, path))

    def _where(self, name: str, held: Mapping[str, Value], path: PathCondition) -> tuple[Spans, bool]:
        """Return the values of one input for which the comparison holds, and whether that is exact."""
        axis, compile_at, relation = self.axes[name], self._compile_at(name, held, path), self._put_in(held)
        spans, exact = find_spans(self.tree, name, axis, compile_at)
        exact = exact and not may_be_undefined(relation.condition, {name: axis.kind})
        if exact:
            return spans, True
        computed = compile_at(self.tree)

        def holds(index: int) -> bool:
            return bool(computed(index))

        return _settled(spans, name, axis, relation, prover=path.solver.prover, holds=holds)

    def _compile_at(
        self, name: str, held: Mapping[str, Value], path: PathCondition
    ) -> Callable[[Tree], Compute]:
        """Return what makes a term ready to be computed for every value of one input."""
        value_of, expression = self.axes[name].value, self.expression

        def compile_one(tree: Tree) -> Compute:
            evaluate, around = compile_tree(tree, expression.fixed, expression.source), dict(held)

            def compute(index: int) -> Value:
                path.work += WORK_FOR_VALUE
                around[name] = value_of(index)
                try:
                    value: Value = evaluate(around)
                except ExpressionError:
                    value = False  # a path on which a divisor is zero ends before it comes here
                return value

            return compute

        return compile_one

    def _relation(self, held: Mapping[str, Value], path: PathCondition) -> Relation:
        return self._put_in({**held, **{name: path.value(name) for name in self.inputs if path.known(name)}})

    def _put_in(self, known: Mapping[str, Value]) -> Relation:
        """Return the comparison with every name put in that has one value."""

        def value(node: Tree) -> Tree | None:
            return Literal(known[node.name]) if isinstance(node, Name) and node.name in known else None

        return Relation(replace(self.expression, tree=rewrite(self.tree, value), type=BoolType()))


def _settled(
    spans: Spans,
    name: str,
    axis: Domain,
    relation: Relation,
    *,
    prover: Prover,
    holds: Callable[[int], bool],
) -> tuple[Spans, bool]:
    """Return the set of values for which a relation holds, guessed at first, and whether that is proved."""

    def mistake(inside: Spans, claim: Relation) -> tuple[bool, int | None]:
        """Return whether it is known if a relation can hold in a set, and a number for which it does."""
        if not inside:
            return True, None
        found = decide(prover, {name: axis}, {name: inside}, [claim])
        value = None if found.values is None else found.values.get(name)
        return not found.unknown, None if value is None else axis.index(value)

    for _ in range(MAX_ROUNDS):
        known, wrong = mistake(spans, relation.turned())
        if known and wrong is None:
            known, wrong = mistake(parted(axis.whole, spans)[1], relation)
        if not known or wrong is None:
            return spans, known
        around = (_alike_around(wrong, axis, holds),)
        spans = joined(spans + around) if holds(wrong) else parted(spans, around)[1]
    return spans, False


def _alike_around(index: int, axis: Domain, holds: Callable[[int], bool]) -> tuple[int, int]:
    """Return the values beside one for which a condition is the same, as far as they were looked at."""
    ((low, high),) = axis.whole
    first, last, answer = index, index, holds(index)
    while first > max(low, index - MAX_NEIGHBOURS) and holds(first - 1) is answer:
        first -= 1
    while last < min(high, index + MAX_NEIGHBOURS) and holds(last + 1) is answer:
        last += 1
    return first, last
