"""Expressions made ready to be answered while the inputs are not known; `Questions` is asked for them.

`and`, `or` and `a if c else b` ask only as far as they must, as they do in a running chart. What is left are
truth values, which are asked of the path, and comparisons (`Atom`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

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
    compile_tree,
    names_in,
    nodes_of,
    rewrite,
    split_cases,
)
from posewright.charts.reachability.abstraction import DIVISIONS, Abstraction, is_defined, may_be_undefined
from posewright.charts.reachability.conditions import Answer, Atom, Registers
from posewright.charts.reachability.domain import Domain, bisected, count
from posewright.charts.reachability.limits import FEW, MAX_BESIDE, MAX_PICKED
from posewright.charts.reachability.path import PathCondition
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value


class Questions:
    """Makes expressions ready.

    Args:
        axes: the values of every input and event.
        types: of all names that expressions read.
    """

    def __init__(self, axes: Mapping[str, Domain], types: Mapping[str, Type]) -> None:
        self.axes = axes
        self.types = types

    def condition(self, expression: Expression) -> Answer:
        """Return what answers a condition."""
        return _ExpressionQuestions(expression, self.axes, self.types).truth(expression.tree)

    def value(self, expression: Expression, keep: Abstraction) -> Answer:
        """Return what answers with the value of an expression, as exactly as its register is to be kept."""
        maker = _ExpressionQuestions(expression, self.axes, self.types)
        return maker.dropped(expression.tree, keep) if keep.drops else maker.kept(expression.tree, keep)


class _ExpressionQuestions:
    """Makes the parts of one expression ready."""

    def __init__(self, expression: Expression, axes: Mapping[str, Domain], types: Mapping[str, Type]) -> None:
        self.expression = expression
        self.fixed = expression.fixed
        self.axes = axes
        self.types = types

    def inputs(self, tree: Tree) -> list[str]:
        return sorted(name for name in names_in(tree) if name in self.axes and name not in self.fixed)

    def compiled(self, tree: Tree) -> Callable[[Mapping[str, Value]], Value]:
        return compile_tree(tree, self.fixed, self.expression.source)

    def plain(self, tree: Tree) -> Answer:
        """Return what answers with the value of a tree that reads no inputs."""
        evaluate = self.compiled(tree)
        return lambda env, _path: evaluate(env)

    # Conditions

    def is_truth(self, tree: Tree) -> bool:
        """Return whether a tree is true or false, rather than a number or a name."""
        if isinstance(tree, If):
            return self.is_truth(split_cases(tree)[1])
        if isinstance(tree, Name) and tree.name not in self.fixed:
            return isinstance(self.types.get(tree.name), BoolType)
        if isinstance(tree, Literal | Name):
            return isinstance(tree.value if isinstance(tree, Literal) else self.fixed[tree.name], bool)
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
            return Atom(self.expression, tree, self.axes)
        if isinstance(tree, If):
            return self.choice(tree, self.truth)
        if isinstance(tree, Unary) or (
            isinstance(tree, Binary) and (tree.operator in LOGIC or self.is_truth(tree.left))
        ):
            return self.logic(tree)
        return self.lifted(tree, self.truth) or self.comparison(tree)

    def is_split_at_once(self, tree: Tree) -> bool:
        """Return whether a condition asks one long number, and little else: its values then part in two.

        Of a truth table with many rows that leaves two paths, and not one for each row.
        """
        if self.zeros(tree):
            return False
        sizes = sorted(count(self.axes[name].whole) for name in self.inputs(tree))
        alone = len(sizes) == 1 or _choice_in(tree) is not None
        return alone and sizes[-1] > FEW and prod(sizes[:-1]) <= MAX_BESIDE

    def logic(self, tree: Unary | Binary) -> Answer:
        """Return what answers `not`, `and`, `or`, and whether two conditions are alike."""
        if isinstance(tree, Unary):
            inner = self.truth(tree.operand)
            return lambda env, path: not inner(env, path)
        left, right = self.truth(tree.left), self.truth(tree.right)
        if tree.operator is Operator.AND:
            return lambda env, path: left(env, path) and right(env, path)
        if tree.operator is Operator.OR:
            return lambda env, path: left(env, path) or right(env, path)
        alike = tree.operator is Operator.EQUAL
        return lambda env, path: (left(env, path) == right(env, path)) is alike

    def choice(self, tree: If, make: Callable[[Tree], Answer]) -> Answer:
        """Return what answers a chain of cases; `make` is asked for each when it is first needed."""
        cases, rest = split_cases(tree)
        conditions = [self.truth(condition) for condition, _ in cases]
        trees = [*(then for _, then in cases), rest]
        made: dict[int, Answer] = {}

        def answer(env: Registers, path: PathCondition) -> Value:
            index = next((i for i, holds in enumerate(conditions) if holds(env, path)), len(conditions))
            if index not in made:
                made[index] = make(trees[index])
            return made[index](env, path)

        return answer

    def lifted(self, tree: Tree, make: Callable[[Tree], Answer]) -> Answer | None:
        """Return what asks the outermost choice inside a term first; None where there is none."""
        inner = _choice_in(tree)
        if inner is None:
            return None
        return self.choice(
            inner, lambda one: make(rewrite(tree, lambda node: one if node is inner else None))
        )

    def comparison(self, tree: Tree) -> Answer:
        atom = Atom(self.expression, tree, self.axes)
        if not self.zeros(tree):
            return atom
        divide = self.dividing(tree)

        def answer(env: Registers, path: PathCondition) -> bool:
            divide(env, path)
            return atom(env, path)

        return answer

    # Divisors

    def zeros(self, tree: Tree) -> list[Tree]:
        """Return the conditions for a divisor to be zero, those left out that are never met."""
        found = [
            Binary(Operator.EQUAL, node.right, Literal(0))
            for node in nodes_of(tree)
            if isinstance(node, Binary) and node.operator in DIVISIONS
        ]
        return [zero for zero in found if names_in(zero) - self.fixed.keys() or self.compiled(zero)({})]

    def dividing(self, tree: Tree) -> Callable[[Registers, PathCondition], None]:
        """Return what fails as the run would, on a path on which a divisor in a term is zero."""
        zeros = [self.truth(zero) for zero in self.zeros(tree)]
        evaluate = self.compiled(tree)

        def answer(env: Registers, path: PathCondition) -> None:
            for zero in zeros:
                if zero(env, path):
                    evaluate({**env, **path.inputs()})

        return answer

    # Values

    def dropped(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what only looks whether a value can be computed: nobody will read it."""
        if not self.inputs(tree):
            return self.plain(tree)

        def again(one: Tree) -> Answer:
            return self.dropped(one, keep)

        if self.zeros(tree):
            if isinstance(tree, If):
                return self.choice(tree, again)
            if self.is_truth(tree):
                return self.truth(tree)
            lifted = self.lifted(tree, again)
            if lifted is not None:
                return lifted
        divide = self.dividing(tree)

        def answer(env: Registers, path: PathCondition) -> Value:
            path.loose = True
            divide(env, path)
            return keep.start

        return answer

    def kept(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what answers with a value that somebody will read."""
        if not self.inputs(tree):
            return self.plain(tree)
        if self.is_truth(tree):
            return self.truth(tree)

        def again(one: Tree) -> Answer:
            return self.kept(one, keep)

        if _choice_in(tree) is not None and self.is_split_at_once(tree):
            if keep.values:
                return self.cells(tree, keep)
            if isinstance(keep.kind, EnumType):
                return self.name_of(tree, keep.kind)
        if isinstance(tree, If):
            return self.choice(tree, again)
        return self.lifted(tree, again) or self.number(tree, keep)

    def name_of(self, tree: Tree, kind: EnumType) -> Answer:
        """Return what answers with one of several names."""
        last = kind.values[-1]
        questions = [(value, self.equals(tree, value)) for value in kind.values[:-1]]
        return lambda env, path: next((value for value, holds in questions if holds(env, path)), last)

    def equals(self, tree: Tree, value: Value) -> Answer:
        return self.truth(Binary(Operator.EQUAL, tree, Literal(value)))

    def number(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what answers with a number, as exactly as it is kept."""
        divide, evaluate, names = self.dividing(tree), self.compiled(tree), self.inputs(tree)
        cells = self.cells(tree, keep) if keep.values else None
        marked = [(mark, self.equals(keep.rounded(tree), mark)) for mark in keep.marks]

        def answer(env: Registers, path: PathCondition) -> Value:
            divide(env, path)
            if all(path.known(name) for name in names):
                return evaluate({**env, **{name: path.value(name) for name in names}})
            if cells is not None:
                return cells(env, path)
            mark = next((mark for mark, holds in marked if holds(env, path)), None)
            if mark is not None:
                return mark
            pick = path.pick if prod(map(path.size, names)) <= MAX_PICKED else path.sample
            return evaluate({**env, **{name: pick(name) for name in names}})

        return answer

    def cells(self, tree: Tree, keep: Abstraction) -> Answer:
        """Return what answers with the value that stands for all of the same cell."""
        term, below = keep.rounded(tree), dict[int, Answer]()
        defined = self.defined(tree, keep)

        def answer(env: Registers, path: PathCondition) -> Value:
            def is_below(cell: int) -> bool:
                if cell not in below:
                    below[cell] = self.truth(Binary(Operator.LESS_EQUAL, term, Literal(keep.bounds[cell])))
                return bool(below[cell](env, path))

            if defined is not None and not defined(env, path):
                value = keep.canonical(keep.kind.default)
            else:
                value = keep.values[bisected(is_below, 0, len(keep.bounds))]
            path.loose = path.loose or not keep.single
            return value

        return answer

    def defined(self, tree: Tree, keep: Abstraction) -> Answer | None:
        """Return what answers whether a term is a number; None where it always is.

        A register that is given no number is set to zero, which no comparison with the term tells.
        """
        if not isinstance(keep.kind, FloatType):
            return None
        term = Expression(tree, keep.kind, self.expression.source, self.fixed)
        return self.truth(is_defined(tree)) if may_be_undefined(term, self.types) else None


def _choice_in(tree: Tree) -> If | None:
    """Return the outermost `a if c else b` in a tree; None where there is none."""
    return next((node for node in nodes_of(tree) if isinstance(node, If)), None)
