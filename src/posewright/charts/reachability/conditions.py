"""Conditions made ready to be answered while the inputs are not known: one answer, or a path for each.

`and`, `or` and `a if c else b` ask only as far as they must, as they do in a running chart. What is left are
truth values and comparisons. A comparison of one number splits that number's values; where, is
found by bisection, and what that only guessed is settled by proof. One of several numbers becomes a relation
between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from posewright.charts.expression import (
    COMPARISONS,
    LOGIC,
    Binary,
    Expression,
    If,
    Literal,
    Name,
    Operator,
    Tree,
    Unary,
    cases_of,
    compile_tree,
    names_in,
    nodes_of,
    rewritten,
)
from posewright.charts.reachability.abstraction import may_be_undefined
from posewright.charts.reachability.bisection import Compute, where
from posewright.charts.reachability.domain import Domain, Spans, count, parted
from posewright.charts.reachability.limits import (
    FEW,
    FEW_UNSOLVED,
    MAX_BESIDE,
    MAX_NEIGHBOURS,
    MAX_ROUNDS,
    WORK_FOR_VALUE,
)
from posewright.charts.reachability.path import Decider, PathCondition, Relation
from posewright.charts.types import BoolType, Type, Value
from posewright.errors import ExpressionError


class Settling:
    """A condition over one number, and the set of values for which it is thought to hold.

    Args:
        name: of the number.
        axis: its values.
        relation: the condition.
        decider: who proves.
        holds: what the condition is at the value of that number on the axis.
    """

    def __init__(
        self, name: str, axis: Domain, relation: Relation, decider: Decider, holds: Callable[[int], bool]
    ) -> None:
        self.name = name
        self.axis = axis
        self.relation = relation
        self.decider = decider
        self.holds = holds

    def settle(self, spans: Spans) -> tuple[Spans, bool]:
        """Return the set for which the condition holds, and whether that is proved."""
        for _ in range(MAX_ROUNDS):
            outside = parted(self.axis.whole, spans)[1]
            known, wrong = self.mistake(spans, self.relation.turned())
            if known and wrong is None:
                known, wrong = self.mistake(outside, self.relation)
            if not known or wrong is None:
                return spans, known
            around = (self.around(wrong),)
            spans = _sorted(spans + around) if self.holds(wrong) else parted(spans, around)[1]
        return spans, False

    def mistake(self, spans: Spans, relation: Relation) -> tuple[bool, int | None]:
        """Return whether it is known if a relation can hold in a set, and a number for which it does."""
        if not spans:
            return True, None
        found = self.decider.decide({self.name: self.axis}, {self.name: spans}, [relation])
        value = None if found.values is None else found.values.get(self.name)
        return not found.unknown, None if value is None else self.axis.index(value)

    def around(self, index: int) -> tuple[int, int]:
        """Return the values beside one for which the condition is the same, as far as they were looked at."""
        ((low, high),) = self.axis.whole
        low, high = max(low, index - MAX_NEIGHBOURS), min(high, index + MAX_NEIGHBOURS)
        answer, ends = self.holds(index), []
        for step in (-1, 1):
            at = index
            while low <= at + step <= high and self.holds(at + step) is answer:
                at += step
            ends.append(at)
        return ends[0], ends[1]


def _sorted(spans: Spans) -> Spans:
    """Return spans in order, those that meet as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


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
            found = self.sets[key] = self.where(name, env, path)
        spans, exact = found
        if not exact and path.solver.decider is not None:
            return path.relate(self.relation(held, path))
        if not exact:
            path.doubts.append(f"`{self.expression}` was decided at some values of {name} only")
        return path.split(name, spans)

    def where(self, name: str, env: Env, path: PathCondition) -> tuple[Spans, bool]:
        """Return the values of one input for which the comparison holds, and whether that is exact."""
        axis, compile_at, decider = self.axes[name], self.compile_at(name, env, path), path.solver.decider
        spans, exact = where(self.tree, name, axis, compile_at)
        exact = exact and not may_be_undefined(self.put_in(env).condition, {name: axis.kind})
        if exact or decider is None:
            return spans, exact
        holds = compile_at(self.tree)
        return Settling(name, axis, self.put_in(env), decider, lambda index: bool(holds(index))).settle(spans)

    def compile_at(self, name: str, env: Env, path: PathCondition) -> Callable[[Tree], Compute]:
        """Return what makes a term ready to be computed for every value of one input."""
        value_of, expression = self.axes[name].value, self.expression

        def compile_one(tree: Tree) -> Compute:
            evaluate, around = compile_tree(tree, expression.fixed, expression.source), dict(env)

            def compute(index: int) -> Any:
                path.work += WORK_FOR_VALUE
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


Answer = Callable[[dict[str, Any], PathCondition], Any]
"""From the registers and a path to a value; the path then holds only the inputs that give it."""

DIVISIONS = frozenset({Operator.OVER, Operator.MODULO})


class ConditionQuestions:
    """Makes the conditions of one expression ready.

    Args:
        expression: in which they stand.
        axes: the values of every input and event.
        types: of all names that it reads.
    """

    def __init__(self, expression: Expression, axes: Mapping[str, Domain], types: Mapping[str, Type]) -> None:
        self.expression = expression
        self.fixed = expression.fixed
        self.axes = axes
        self.types = types

    def inputs(self, tree: Tree) -> list[str]:
        """Return the inputs that a tree reads."""
        return sorted(name for name in names_in(tree) if name in self.axes and name not in self.fixed)

    def plain(self, tree: Tree) -> Answer:
        """Return what answers with the value of a tree that reads no inputs."""
        evaluate = compile_tree(tree, self.fixed, self.expression.source)
        return lambda env, _path: evaluate(env)

    def is_truth(self, tree: Tree) -> bool:
        """Return whether a tree is true or false, rather than a number or a name."""
        if isinstance(tree, If):
            return self.is_truth(cases_of(tree)[1])
        if isinstance(tree, Literal):
            return isinstance(tree.value, bool)
        if isinstance(tree, Name):
            fixed = self.fixed.get(tree.name)
            return (
                isinstance(self.types.get(tree.name), BoolType) if fixed is None else isinstance(fixed, bool)
            )
        logic = LOGIC | COMPARISONS | {Operator.NOT}
        return isinstance(tree, Unary | Binary) and tree.operator in logic

    def truth(self, tree: Tree) -> Answer:
        """Return what answers a condition."""
        if not self.inputs(tree):
            return self.plain(tree)
        if isinstance(tree, Name):
            name = tree.name
            return lambda _env, path: path.holds(name)
        if self.is_split_at_once(tree):
            return Atom(self.expression, tree, self.axes, ())
        if isinstance(tree, If):
            return self.choice(tree, self.truth)
        if isinstance(tree, Unary):
            inner = self.truth(tree.operand)
            return lambda env, path: not inner(env, path)
        return self.joined(tree) if isinstance(tree, Binary) else self.plain(tree)

    def is_split_at_once(self, tree: Tree) -> bool:
        """Return whether a condition asks one long number, and little else: its values then part in two.

        Of a truth table with many rows that leaves two paths, and not one for each row.
        """
        if self.zeros(tree):
            return False
        sizes = sorted(count(self.axes[name].whole) for name in self.inputs(tree))
        alone = len(sizes) == 1 or chooses(tree)
        return alone and sizes[-1] > FEW and prod(sizes[:-1]) <= MAX_BESIDE

    def joined(self, tree: Binary) -> Answer:
        """Return what answers `and`, `or` and comparisons."""
        if tree.operator in LOGIC:
            return self.logic(tree)
        return self.same_truth(tree) if self.is_truth(tree.left) else self.comparison(tree)

    def logic(self, tree: Binary) -> Answer:
        """Return what answers `and` and `or`."""
        left, right = self.truth(tree.left), self.truth(tree.right)
        if tree.operator is Operator.AND:
            return lambda env, path: left(env, path) and right(env, path)
        return lambda env, path: left(env, path) or right(env, path)

    def same_truth(self, tree: Binary) -> Answer:
        """Return what answers whether two conditions are alike."""
        left, right = self.truth(tree.left), self.truth(tree.right)
        wanted = tree.operator is Operator.EQUAL
        return lambda env, path: (left(env, path) == right(env, path)) is wanted

    def choice(self, tree: If, make: Callable[[Tree], Answer]) -> Answer:
        """Return what answers a chain of cases; `make` is asked for each when it is first needed."""
        cases, rest = cases_of(tree)
        conditions = [self.truth(condition) for condition, _ in cases]
        trees = [*(then for _, then in cases), rest]
        made: list[Answer | None] = [None] * len(trees)

        def answer(env: dict[str, Any], path: PathCondition) -> Any:
            index = next((i for i, holds in enumerate(conditions) if holds(env, path)), len(conditions))
            found = made[index]
            if found is None:
                found = made[index] = make(trees[index])
            return found(env, path)

        return answer

    def lifted(self, tree: Tree, make: Callable[[Tree], Answer]) -> Answer | None:
        """Return what asks the outermost choice inside a term first; None where there is none."""
        inner = next((node for node in nodes_of(tree) if isinstance(node, If)), None)
        if inner is None:
            return None
        return self.choice(
            inner, lambda one: make(rewritten(tree, lambda node: one if node is inner else None))
        )

    def comparison(self, tree: Tree) -> Answer:
        """Return what answers a comparison of numbers, or of names."""
        lifted = self.lifted(tree, self.truth)
        if lifted is not None:
            return lifted
        return Atom(self.expression, tree, self.axes, self.divisors(tree))

    def divisors(self, tree: Tree) -> tuple[Answer, ...]:
        """Return what answers, for every divisor in a term that may be zero, whether it is."""
        return tuple(self.truth(zero) for zero in self.zeros(tree))

    def zeros(self, tree: Tree) -> list[Tree]:
        """Return the conditions for a divisor to be zero, those left out that are never met."""
        found: list[Tree] = [
            Binary(Operator.EQUAL, node.right, Literal(0))
            for node in nodes_of(tree)
            if isinstance(node, Binary) and node.operator in DIVISIONS
        ]
        source = self.expression.source
        return [
            zero
            for zero in found
            if names_in(zero) - self.fixed.keys() or compile_tree(zero, self.fixed, source)({})
        ]


def chooses(tree: Tree) -> bool:
    """Return whether there is an `a if c else b` in a tree."""
    return any(isinstance(node, If) for node in nodes_of(tree))
