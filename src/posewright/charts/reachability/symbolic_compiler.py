"""Compiler of expressions to symbolic functions, which are evaluated while the inputs are not known.

`and`, `or` and `a if c else b` evaluate only as much as they must, as in a running chart. The rest are
Booleans, which the path decides, and comparisons (`SymbolicComparison`).
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
from posewright.charts.reachability.comparisons import Registers, SymbolicComparison, SymbolicFunction
from posewright.charts.reachability.domain import Domain, bisect_first, count_values
from posewright.charts.reachability.limits import (
    MAX_BRANCHED_COMBINATIONS,
    MAX_BRANCHED_VALUES,
    MAX_STORED_COMBINATIONS,
)
from posewright.charts.reachability.path import PathCondition
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value

CompileTree = Callable[[Tree], SymbolicFunction]


class SymbolicCompiler:
    """Compiles expressions over inputs, events and registers.

    Args:
        domains: the values of every input and event.
        types: the types of all names that the expressions read.
    """

    def __init__(self, domains: Mapping[str, Domain], types: Mapping[str, Type]) -> None:
        self.domains = domains
        self.types = types

    def compile_condition(self, expression: Expression) -> SymbolicFunction:
        """Return a function that returns whether a condition holds on a path."""
        return _ExpressionCompiler(expression, self.domains, self.types).compile_condition(expression.tree)

    def compile_value(self, expression: Expression, abstraction: Abstraction) -> SymbolicFunction:
        """Return a function that computes an assigned value as exactly as its register keeps it."""
        compiler = _ExpressionCompiler(expression, self.domains, self.types)
        if abstraction.is_unread:
            return compiler.compile_dropped_value(expression.tree, abstraction)
        return compiler.compile_stored_value(expression.tree, abstraction)


class _ExpressionCompiler:
    """Compiles the parts of one expression to functions of the registers and a path.

    Attributes:
        expression: the expression.
        constant_values: the values of the names in it that are constants.
        domains: the values of every input and event.
        types: the types of all names that it reads.
    """

    def __init__(
        self, expression: Expression, domains: Mapping[str, Domain], types: Mapping[str, Type]
    ) -> None:
        """Prepare the compilation of one expression.

        Args:
            expression: the expression.
            domains: the values of every input and event.
            types: the types of all names that it reads.
        """
        self.expression = expression
        self.constant_values = expression.constant_values
        self.domains = domains
        self.types = types

    def _inputs_in(self, tree: Tree) -> list[str]:
        """Return the names of the inputs and events that a tree reads, sorted."""
        return sorted(
            name for name in names_in(tree) if name in self.domains and name not in self.constant_values
        )

    def _compile_concrete(self, tree: Tree) -> Callable[[Mapping[str, Value]], Value]:
        """Return a function that evaluates a tree where every name has a known value."""
        return compile_tree(tree, self.constant_values, self.expression.source)

    def _compile_without_inputs(self, tree: Tree) -> SymbolicFunction:
        """Return a function that computes a tree that reads no inputs."""
        evaluate = self._compile_concrete(tree)
        return lambda registers, _path: evaluate(registers)

    # Conditions

    def _is_boolean(self, tree: Tree) -> bool:
        """Return whether the value of a tree is a truth value, not a number or a value of an enumeration."""
        if isinstance(tree, If):
            _cases, default = split_cases(tree)
            return self._is_boolean(default)
        if isinstance(tree, Name) and tree.name not in self.constant_values:
            return isinstance(self.types.get(tree.name), BoolType)
        if isinstance(tree, Literal | Name):
            value = tree.value if isinstance(tree, Literal) else self.constant_values[tree.name]
            return isinstance(value, bool)
        boolean_operators = LOGIC | COMPARISONS | {Operator.NOT}
        return isinstance(tree, Unary | Binary) and tree.operator in boolean_operators

    def compile_condition(self, tree: Tree) -> SymbolicFunction:
        """Return a function that returns whether a condition holds on a path."""
        if not self._inputs_in(tree):
            return self._compile_without_inputs(tree)
        if isinstance(tree, Name):
            name = tree.name
            return lambda _registers, path: path.holds(name)
        if self._can_split_directly(tree):
            return SymbolicComparison(self.expression, tree, self.domains)
        if isinstance(tree, If):
            return self._compile_if(tree, self.compile_condition)
        if isinstance(tree, Unary | Binary) and self._combines_conditions(tree):
            return self._compile_logic(tree)
        evaluate_by_branch = self._compile_by_branch(tree, self.compile_condition)
        return evaluate_by_branch or self._compile_comparison(tree)

    def _can_split_directly(self, tree: Tree) -> bool:
        """Return whether a condition reads one large input and little else.

        The values of that input are then split in two: those for which the whole condition holds, and the
        others. A truth table with many rows then has two paths, not one for each row.
        """
        if self._list_zero_conditions(tree):
            return False  # a divisor that is zero needs a path of its own
        # the number of values of each input, in ascending order
        sizes = sorted(count_values(self.domains[name].full_set) for name in self._inputs_in(tree))
        *smaller_sizes, largest_size = sizes
        if smaller_sizes and _find_outermost_if(tree) is None:
            return False  # without an `if` in it, a condition has few paths anyway
        n_small_combinations = prod(smaller_sizes)
        return largest_size > MAX_BRANCHED_VALUES and n_small_combinations <= MAX_BRANCHED_COMBINATIONS

    def _combines_conditions(self, tree: Unary | Binary) -> bool:
        """Return whether a condition is a `not`, `and` or `or`, or compares two conditions."""
        return isinstance(tree, Unary) or tree.operator in LOGIC or self._is_boolean(tree.left)

    def _compile_logic(self, tree: Unary | Binary) -> SymbolicFunction:
        """Return a function for `not`, `and`, `or`, and for the equality of two conditions."""
        if isinstance(tree, Unary):
            operand = self.compile_condition(tree.operand)
            return lambda registers, path: not operand(registers, path)
        left = self.compile_condition(tree.left)
        right = self.compile_condition(tree.right)
        if tree.operator is Operator.AND:
            return lambda registers, path: left(registers, path) and right(registers, path)
        if tree.operator is Operator.OR:
            return lambda registers, path: left(registers, path) or right(registers, path)
        is_equality = tree.operator is Operator.EQUAL
        return lambda registers, path: (left(registers, path) == right(registers, path)) is is_equality

    def _compile_if(self, tree: If, compile_without_if: CompileTree) -> SymbolicFunction:
        """Return a function for a chain of `if`s; a branch is compiled when it is first needed.

        Args:
            tree: the chain.
            compile_without_if: compiles the value of a branch.
        """
        cases, default = split_cases(tree)
        condition_functions = [self.compile_condition(condition) for condition, _value in cases]
        branch_trees = [*(value for _condition, value in cases), default]
        compiled_branches: dict[int, SymbolicFunction] = {}  # by the index of the branch

        def evaluate_first_true_branch(registers: Registers, path: PathCondition) -> Value:
            """Return the value of the first branch whose condition holds on a path, else of the default."""
            branch_index = len(condition_functions)  # that of the default
            for i, condition_holds in enumerate(condition_functions):
                if condition_holds(registers, path):
                    branch_index = i
                    break
            if branch_index not in compiled_branches:
                compiled_branches[branch_index] = compile_without_if(branch_trees[branch_index])
            evaluate_branch = compiled_branches[branch_index]
            return evaluate_branch(registers, path)

        return evaluate_first_true_branch

    def _compile_by_branch(self, tree: Tree, compile_without_if: CompileTree) -> SymbolicFunction | None:
        """Return a function that evaluates `1 + (a if c else b)` like `1 + a if c else 1 + b`.

        It decides the outermost `if` in a term first. The term is compiled once for each branch, with that
        branch in place of the `if`.

        Args:
            tree: the term.
            compile_without_if: compiles the term with one branch in place of the `if`.

        Returns:
            None if there is no `if` in the term.
        """
        outermost_if = _find_outermost_if(tree)
        if outermost_if is None:
            return None

        def compile_with_branch(branch: Tree) -> SymbolicFunction:
            """Compile the term with a branch in place of the `if`."""
            # `rewrite` keeps the nodes for which the function returns None
            return compile_without_if(rewrite(tree, lambda node: branch if node is outermost_if else None))

        return self._compile_if(outermost_if, compile_with_branch)

    def _compile_comparison(self, tree: Tree) -> SymbolicFunction:
        """Return a function for a comparison; it raises an ExpressionError where a divisor is zero."""
        evaluate_comparison = SymbolicComparison(self.expression, tree, self.domains)
        if not self._list_zero_conditions(tree):
            return evaluate_comparison
        require_nonzero_divisors = self._compile_divisor_check(tree)

        def check_and_evaluate(registers: Registers, path: PathCondition) -> bool:
            """Return whether the comparison holds on a path, where no divisor may be zero."""
            require_nonzero_divisors(registers, path)
            return evaluate_comparison(registers, path)

        return check_and_evaluate

    # Divisors

    def _list_zero_conditions(self, tree: Tree) -> list[Tree]:
        """Return the conditions `divisor == 0` of all divisors in a tree that may be zero.

        A divisor that is a constant other than zero is left out.
        """
        zero_conditions: list[Tree] = []
        for node in nodes_of(tree):
            if not isinstance(node, Binary) or node.operator not in DIVISIONS:
                continue
            is_zero = Binary(Operator.EQUAL, node.right, Literal(0))
            has_variables = bool(names_in(is_zero) - self.constant_values.keys())
            if has_variables or self._compile_concrete(is_zero)({}):
                zero_conditions.append(is_zero)
        return zero_conditions

    def _compile_divisor_check(self, tree: Tree) -> Callable[[Registers, PathCondition], None]:
        """Return a function that raises the error of a division by zero if a divisor in the tree is zero."""
        zero_conditions = [
            self.compile_condition(condition) for condition in self._list_zero_conditions(tree)
        ]
        evaluate = self._compile_concrete(tree)

        def require_nonzero_divisors(registers: Registers, path: PathCondition) -> None:
            """Raise the ExpressionError of a division by zero if a divisor is zero on the path."""
            for is_zero in zero_conditions:
                if is_zero(registers, path):
                    evaluate({**registers, **path.inputs()})  # raises the error

        return require_nonzero_divisors

    # Values

    def compile_dropped_value(self, tree: Tree, abstraction: Abstraction) -> SymbolicFunction:
        """Return a function for a value assigned to a register that nothing reads.

        The value need not be known: the function raises an ExpressionError if a divisor is zero, else it
        returns the register's initial value.

        Args:
            tree: the tree of the assigned value.
            abstraction: the abstraction of the register.
        """
        if not self._inputs_in(tree):
            return self._compile_without_inputs(tree)

        def compile_without_if(branch: Tree) -> SymbolicFunction:
            """Return the function for one branch of a conditional."""
            return self.compile_dropped_value(branch, abstraction)

        # where a divisor may be zero, only the branches that are evaluated may fail
        if self._list_zero_conditions(tree):
            if isinstance(tree, If):
                return self._compile_if(tree, compile_without_if)
            if self._is_boolean(tree):
                return self.compile_condition(tree)
            evaluate_by_branch = self._compile_by_branch(tree, compile_without_if)
            if evaluate_by_branch is not None:
                return evaluate_by_branch
        require_nonzero_divisors = self._compile_divisor_check(tree)

        def check_and_return_start_value(registers: Registers, path: PathCondition) -> Value:
            """Return the register's initial value; no divisor may be zero on the path."""
            path.has_representative_values = True
            require_nonzero_divisors(registers, path)
            return abstraction.start_value

        return check_and_return_start_value

    def compile_stored_value(self, tree: Tree, abstraction: Abstraction) -> SymbolicFunction:
        """Return a function that computes a value assigned to a register that something reads.

        Args:
            tree: the tree of the assigned value.
            abstraction: which values of the register are told apart.
        """
        if not self._inputs_in(tree):
            return self._compile_without_inputs(tree)
        if self._is_boolean(tree):
            return self.compile_condition(tree)

        def compile_without_if(branch: Tree) -> SymbolicFunction:
            """Return the function for one branch of a conditional."""
            return self.compile_stored_value(branch, abstraction)

        # the values of one large input are split by the result of all `if`s, not branch by branch
        if _find_outermost_if(tree) is not None and self._can_split_directly(tree):
            if abstraction.cell_values:
                return self._compile_cell_value(tree, abstraction)
            if isinstance(abstraction.value_type, EnumType):
                return self._compile_enum_value(tree, abstraction.value_type)
        if isinstance(tree, If):
            return self._compile_if(tree, compile_without_if)
        evaluate_by_branch = self._compile_by_branch(tree, compile_without_if)
        return evaluate_by_branch or self._compile_number(tree, abstraction)

    def _compile_enum_value(self, tree: Tree, value_type: EnumType) -> SymbolicFunction:
        """Return a function that finds a value of an enumeration by comparing it with all but the last."""
        *compared_values, last_value = value_type.values
        equality_tests = [(value, self._compile_equality(tree, value)) for value in compared_values]

        def find_enum_value(registers: Registers, path: PathCondition) -> Value:
            """Return the value that the tree has on a path."""
            for value, has_value in equality_tests:
                if has_value(registers, path):
                    return value
            return last_value  # it has none of the other values

        return find_enum_value

    def _compile_equality(self, tree: Tree, value: Value) -> SymbolicFunction:
        """Return a function that decides whether a tree has a certain value."""
        return self.compile_condition(Binary(Operator.EQUAL, tree, Literal(value)))

    def _compile_number(self, tree: Tree, abstraction: Abstraction) -> SymbolicFunction:
        """Return a function that computes an assigned number as exactly as its register keeps it.

        If all inputs in the term are fixed on the path, it is the number itself. Otherwise, if the register
        keeps its values by cells, it is the value that represents the cell. Otherwise each of the register's
        `values_to_try` gets a path, and the remaining paths fix the inputs: one for each combination of their
        values if there are few, else for some samples.

        Args:
            tree: the tree of the assigned number.
            abstraction: which values of the register are told apart.
        """
        require_nonzero_divisors = self._compile_divisor_check(tree)
        evaluate_concrete = self._compile_concrete(tree)
        input_names = self._inputs_in(tree)
        compute_cell_value = self._compile_cell_value(tree, abstraction) if abstraction.cell_values else None
        equality_tests = [
            (value, self._compile_equality(abstraction.round_term(tree), value))
            for value in abstraction.values_to_try
        ]

        def compute_number(registers: Registers, path: PathCondition) -> Value:
            """Return the assigned number on a path, or the value that represents its cell.

            Inputs that have several values on the path are fixed only where there are no cells.
            """
            require_nonzero_divisors(registers, path)
            if all(path.is_fixed(name) for name in input_names):
                input_values = {name: path.value(name) for name in input_names}
                return evaluate_concrete({**registers, **input_values})
            if compute_cell_value is not None:
                return compute_cell_value(registers, path)
            for value_to_try, has_value in equality_tests:
                if has_value(registers, path):
                    return value_to_try
            n_combinations = prod(map(path.n_possible_values, input_names))
            if n_combinations <= MAX_STORED_COMBINATIONS:
                input_values = {name: path.fork_all_values(name) for name in input_names}
            else:
                input_values = {name: path.fork_samples(name) for name in input_names}
            return evaluate_concrete({**registers, **input_values})

        return compute_number

    def _compile_cell_value(self, tree: Tree, abstraction: Abstraction) -> SymbolicFunction:
        """Return a function that computes the value that represents the cell of an assigned value.

        A cell is a range of values that the chart cannot tell apart. The cells are in ascending order, each
        but the last with a bound, its greatest value.

        Args:
            tree: the tree of the assigned value.
            abstraction: the cells of the register that it is assigned to.
        """
        rounded_tree = abstraction.round_term(tree)
        is_number = self._compile_is_number(tree, abstraction)  # None: it always is a number
        comparisons_with_bounds: dict[int, SymbolicFunction] = {}  # by the index of the cell

        def is_at_most_bound(cell_index: int, registers: Registers, path: PathCondition) -> bool:
            """Return whether the assigned value is at most the bound of a cell."""
            if cell_index not in comparisons_with_bounds:
                bound = Literal(abstraction.cell_bounds[cell_index])
                comparison = Binary(Operator.LESS_EQUAL, rounded_tree, bound)
                comparisons_with_bounds[cell_index] = self.compile_condition(comparison)
            compare_with_bound = comparisons_with_bounds[cell_index]
            return bool(compare_with_bound(registers, path))

        def compute_cell_value(registers: Registers, path: PathCondition) -> Value:
            """Return the value that represents the cell of the assigned value on a path."""
            if is_number is not None and not is_number(registers, path):
                # a register that is set to NaN gets its default
                cell_value = abstraction.representative_of(abstraction.value_type.default)
            else:
                # the first cell whose bound the value does not exceed; the last one has no bound
                cell_index = bisect_first(
                    lambda index: is_at_most_bound(index, registers, path),
                    low=0,
                    high=len(abstraction.cell_bounds),
                )
                cell_value = abstraction.cell_values[cell_index]
            if not abstraction.is_exact:
                path.has_representative_values = True
            return cell_value

        return compute_cell_value

    def _compile_is_number(self, tree: Tree, abstraction: Abstraction) -> SymbolicFunction | None:
        """Return a function that returns whether an assigned fraction is a number, not NaN.

        Returns:
            None if it always is a number.
        """
        if not isinstance(abstraction.value_type, FloatType):
            return None
        term = Expression(tree, abstraction.value_type, self.expression.source, self.constant_values)
        return self.compile_condition(is_defined(tree)) if may_be_undefined(term, self.types) else None


def _find_outermost_if(tree: Tree) -> If | None:
    """Return the outermost `a if c else b` in a tree; None if there is none."""
    return next((node for node in nodes_of(tree) if isinstance(node, If)), None)
