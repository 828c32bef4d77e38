"""A comparison that reads inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from posewright.charts.expression import Expression, Literal, Name, Tree, compile_tree, names_in, rewritten
from posewright.charts.reachability.axis import Domain, Spans
from posewright.charts.reachability.lines import Compute, where
from posewright.charts.reachability.path import PathCondition
from posewright.charts.reachability.relation import Decider, Relation
from posewright.charts.reachability.settling import Settling
from posewright.charts.reachability.undefined import may_be_undefined
from posewright.charts.types import BoolType, Value
from posewright.errors import ExpressionError

FEW = 8
"""Values of an input up to which each is followed on a path of its own, where several inputs are compared."""

FEW_UNSOLVED = 64
"""The same where there is no solver."""

Env = dict[str, Any]


class Atom:
    """A comparison without `and`, `or` or `if` inside; called with the registers and a path, it answers.

    Args:
        expression: of which it is a part.
        tree: the comparison.
        axes: the values of every input and event.
        divisors: what answers whether a divisor in it is zero.
    """

    def __init__(
        self,
        expression: Expression,
        tree: Tree,
        axes: Mapping[str, Domain],
        divisors: tuple[Callable[[Env, PathCondition], Any], ...],
    ) -> None:
        self.expression = expression
        self.tree = tree
        self.axes = axes
        self.divisors = divisors
        names = sorted(names_in(tree) - expression.fixed.keys())
        self.inputs = tuple(name for name in names if name in axes)
        self.registers = tuple(name for name in names if name not in axes)
        self.evaluate = compile_tree(tree, expression.fixed, expression.source)
        self.only = self.inputs[0] if len(self.inputs) == 1 else None
        self.sets: dict[object, tuple[Spans, bool]] = {}

    def __call__(self, env: Env, path: PathCondition) -> bool:
        """Return whether the comparison holds on this path."""
        for zero in self.divisors:
            if zero(env, path):
                self.evaluate({**env, **path.inputs()})
        held = tuple([env[name] for name in self.registers])
        if self.only is not None:
            return self.one(self.only, held, (), path)
        return self.several(held, path)

    def one(self, name: str, held: tuple[Value, ...], given: tuple[Value, ...], path: PathCondition) -> bool:
        """Answer where just one input is not known."""
        key = (name, held, given)
        found = self.sets.get(key)
        if found is None:
            others = [one for one in self.inputs if one != name]
            env = {**dict(zip(self.registers, held, strict=True)), **dict(zip(others, given, strict=True))}
            found = self.sets[key] = self.where(name, env, path.solver.decider)
        spans, exact = found
        if not exact and path.solver.decider is not None:
            return path.relate(self.relation(held, path))
        if not exact:
            path.doubts.append(f"`{self.expression}` was decided at some values of {name} only")
        return path.split(name, spans)

    def where(self, name: str, env: Env, decider: Decider | None) -> tuple[Spans, bool]:
        """Return the values of one input for which the comparison holds, and whether that is exact."""
        axis, compile_at = self.axes[name], self.compile_at(name, env)
        spans, exact = where(self.tree, name, axis, compile_at)
        exact = exact and not may_be_undefined(self.put_in(env).condition, {name: axis.kind})
        if exact or decider is None:
            return spans, exact
        holds = compile_at(self.tree)
        return Settling(name, axis, self.put_in(env), decider, lambda index: bool(holds(index))).settle(spans)

    def compile_at(self, name: str, env: Env) -> Callable[[Tree], Compute]:
        """Return what makes a term ready to be computed for every value of one input."""
        value_of, expression = self.axes[name].value, self.expression

        def compile_one(tree: Tree) -> Compute:
            evaluate, around = compile_tree(tree, expression.fixed, expression.source), dict(env)

            def compute(index: int) -> Any:
                around[name] = value_of(index)
                try:
                    return evaluate(around)
                except ExpressionError:
                    return False  # a path on which a divisor is zero ends before it comes here

            return compute

        return compile_one

    def several(self, held: tuple[Value, ...], path: PathCondition) -> bool:
        """Answer where several inputs are compared."""
        few = FEW_UNSOLVED if path.solver.decider is None else FEW
        while True:
            open_names = [name for name in self.inputs if not path.known(name)]
            if len(open_names) <= 1:
                break
            small = min(open_names, key=path.size)
            if path.size(small) > few and self.axes[small].is_number:
                return path.relate(self.relation(held, path))
            path.pick(small)
        known = {name: path.value(name) for name in self.inputs if path.known(name)}
        if not open_names:
            return bool(self.evaluate({**dict(zip(self.registers, held, strict=True)), **known}))
        name = open_names[0]
        given = tuple(known.values())
        return self.one(name, held, given, path)

    def relation(self, held: tuple[Value, ...], path: PathCondition) -> Relation:
        """Return the comparison with every name put in that has one value."""
        known: dict[str, Value] = dict(zip(self.registers, held, strict=True))
        return self.put_in(known | {name: path.value(name) for name in self.inputs if path.known(name)})

    def put_in(self, known: Mapping[str, Value]) -> Relation:
        """Return the comparison with these names put in."""

        def value(node: Tree) -> Tree | None:
            return Literal(known[node.name]) if isinstance(node, Name) and node.name in known else None

        return Relation(replace(self.expression, tree=rewritten(self.tree, value), type=BoolType()))
