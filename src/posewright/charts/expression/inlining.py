"""Inlining of truth tables: each call becomes a chain of conditionals, so later stages need no functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice

from posewright.charts.expression.expression import ClampedArgument
from posewright.charts.expression.numeric import NumericConverter, TypedTree, describe_type
from posewright.charts.expression.scope import Function, FunctionRow
from posewright.charts.expression.tree import (
    Binary,
    Call,
    Literal,
    Name,
    Operator,
    Tree,
    height,
    join_cases,
    nodes_of,
    range_of,
    rewrite,
)
from posewright.charts.types import FloatType, IntType, Numeric, Type, conversion_factor

MAX_NODES = 20_000
"""Operators, names and numbers in one expression once its calls are inlined."""

MAX_LEVELS = 300
"""Levels of a tree once its calls are inlined; a row of a truth table is one level."""


class Inliner:
    """Inlines the calls of one expression and limits its size.

    Attributes:
        converter: converts arguments to the units of parameters.
        source: the text of the expression, at which errors point.
        n_nodes: number of nodes inlined so far.
        enclosing_conditions: the conditions under which the next call is evaluated, from the `and`, `or` and
            `if` that contain it.
        clamped_arguments: the arguments so far that may have to be clamped.
    """

    def __init__(self, converter: NumericConverter) -> None:
        """Start without inlined calls; `converter` is that of the expression."""
        self.converter = converter
        self.source = converter.source
        self.n_nodes = 0
        self.enclosing_conditions: list[Tree] = []
        self.clamped_arguments: list[ClampedArgument] = []

    def inline(self, function: Function, arguments: Sequence[TypedTree], call: Call) -> TypedTree:
        """Return the chain of conditionals that a call represents.

        Args:
            function: the truth table.
            arguments: one per parameter.
            call: the call as parsed.

        Raises:
            ExpressionError: an argument does not fit its parameter, or the expression grows too large.
        """
        argument_trees: dict[str, Tree] = {}
        parameters = zip(function.parameters.items(), arguments, call.arguments, strict=True)
        for (name, parameter_type), argument, parsed_argument in parameters:
            argument_trees[name] = self._convert_argument(
                function, name, argument, parameter_type, parsed_argument.offset
            )
        *cases, last_case = [
            self._inline_row(function, row, arguments=argument_trees, call=call) for row in function.rows
        ]
        _, last_value = last_case  # the last row applies if no other does
        result = join_cases(cases, last_value)
        if height(result) > MAX_LEVELS:
            message = f"more than {MAX_LEVELS} levels once {function.name} is inlined"
            hint = "join rows with X, or store its value in a local"
            self.source.fail(call.offset, message, hint=hint)
        return TypedTree(result, function.return_type)

    def _inline_row(
        self, function: Function, row: FunctionRow, arguments: Mapping[str, Tree], call: Call
    ) -> tuple[Tree, Tree]:
        """Return the condition and the value of a row, with arguments in place of parameters.

        Args:
            function: the truth table.
            row: one of its rows.
            arguments: the converted argument of each parameter.
            call: the call, at which errors point.
        """

        def insert_argument(node: Tree) -> Tree | None:
            """Return the argument in place of a parameter's name; None keeps any other node."""
            return arguments.get(node.name) if isinstance(node, Name) else None

        condition = rewrite(row.when.tree, insert_argument)
        value = rewrite(row.value.tree, insert_argument)
        inlined_nodes = chain(nodes_of(condition), nodes_of(value))
        self.n_nodes += sum(1 for _node in islice(inlined_nodes, MAX_NODES + 1))  # more need not be counted
        if self.n_nodes > MAX_NODES:
            message = f"more than {MAX_NODES} parts once {function.name} is inlined"
            self.source.fail(call.offset, message, hint="store its value in a local and use that")
        if not isinstance(function.return_type, Numeric):
            return condition, value
        converted = self._convert_number(TypedTree(value, row.value.type), function.return_type)
        return condition, self._clamp(converted, function.return_type)

    def _convert_argument(
        self, function: Function, name: str, argument: TypedTree, parameter_type: Type, offset: int
    ) -> Tree:
        """Return an argument in the unit, precision and range of its parameter.

        An argument that may leave the range is clamped, and added to `clamped_arguments`.

        Args:
            function: the truth table.
            name: the parameter.
            argument: the typed argument.
            parameter_type: the type of the parameter.
            offset: the character that an error points at.

        Raises:
            ExpressionError: the argument has another type or dimension, or is a constant out of range.
        """
        if isinstance(parameter_type, Numeric):
            has_fitting_type = isinstance(argument.type, Numeric)
        else:
            has_fitting_type = argument.type == parameter_type
        if not has_fitting_type:
            message = f"{function.name} cannot take {describe_type(argument.type)} for {name}"
            self.source.fail(offset, message, hint=f"{name} is {parameter_type}")
        if not isinstance(parameter_type, Numeric):
            return argument.tree
        argument_in_unit = argument
        if parameter_type.unit and argument.unit:
            if conversion_factor(argument.unit, parameter_type.unit) is None:
                message = f"{function.name} takes {name} in {parameter_type.unit}, not in {argument.unit}"
                self.source.fail(offset, message)
            argument_in_unit = self.converter.to_unit(
                argument, parameter_type.unit, prefer_integer=isinstance(parameter_type, IntType)
            )
        if isinstance(parameter_type, IntType) and not argument_in_unit.is_integer:
            message = f"{function.name} takes a whole number for {name}"
            self.source.fail(offset, message, hint=f"{name} is {parameter_type}")
        number = self._convert_number(argument_in_unit, parameter_type)
        value = self.converter.constant_value(number)
        if value is not None and not parameter_type.low <= value <= parameter_type.high:
            self.source.fail(
                offset, f"{value:g} is out of range for {name}", hint=f"{name} is {parameter_type}"
            )
        clamped = self._clamp(number, parameter_type)
        if clamped is not number:
            when: Tree = Literal(True)
            for condition in self.enclosing_conditions:
                when = Binary(Operator.AND, when, condition)
            self.clamped_arguments.append(
                ClampedArgument(function.name, parameter=name, tree=number, type=parameter_type, when=when)
            )
        return clamped

    def _convert_number(self, number: TypedTree, target: IntType | FloatType) -> Tree:
        """Return a number as a float of the target's precision if the target is a float."""
        if isinstance(target, IntType):
            return number.tree
        rounded = self.converter.to_single(number) if target.single else number
        return self.converter.to_float(rounded).tree

    def _clamp(self, tree: Tree, target: IntType | FloatType) -> Tree:
        """Return a number clamped to the range of the target; the same tree if it cannot leave the range."""
        if isinstance(target, FloatType) and target.is_unbounded:
            return tree
        low, high = range_of(tree, self.converter.scope.constants)
        convert = float if isinstance(target, FloatType) else int
        clamped = tree
        if high > target.high:
            clamped = Call("min", (Literal(convert(target.high)), clamped), tree.offset)
        if low < target.low:
            clamped = Call("max", (Literal(convert(target.low)), clamped), tree.offset)
        return clamped
