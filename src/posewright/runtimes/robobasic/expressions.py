"""The variables and constants of a program, and the compilation of its expressions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from posewright.errors import UnknownNameError
from posewright.runtimes.robobasic.machine import WORD_MASK, BasicMachine, Variable
from posewright.runtimes.robobasic.servos import board_parameters
from posewright.runtimes.robobasic.tree import (
    Argument,
    BasicFinding,
    Chain,
    Expression,
    FunctionCall,
    Identifier,
    Number,
    Severity,
    Text,
)

T = TypeVar("T")

TYPES = {"BYTE": 0xFF, "INTEGER": WORD_MASK}
"""The types of variables with their largest values."""

PREDEFINED_VARIABLES = ("RR", "A16", "A26")
"""Variables of the controller itself, which templates use without DIM: those of its ACTION command."""

RANDOM = "RND"
"""Reads 0..255, another number each time."""

PORT_FUNCTIONS = {
    "AD": (0, 7),
    "IN": (0, 63),
    "BYTEIN": (0, 7),
    "REMOCON": (0, 1),
    "SONAR": (0, 63),
    "RCIN": (0, 63),
    "AIMOTORIN": (0, 31),
}
"""Functions that read a port, with the smallest and largest port number (manual)."""

MOTOR_NUMBERS = (0, 31)
"""Smallest and largest argument of MOTORIN."""

MAX_COMPARISON_COST = 1_000_000
"""Limit for all "did you mean" searches of a program, in names times the square of a name's length, so that a
file of unknown names is checked at once."""

MAX_NAME_LENGTH = 64
"""The length of the longest names (manual); longer ones get no "did you mean"."""

CompiledExpression = Callable[[BasicMachine], int]
"""A function that evaluates an expression in the state of a machine."""

_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b & WORD_MASK,
    "-": lambda a, b: a - b & WORD_MASK,
    "*": lambda a, b: a * b & WORD_MASK,
    "<<": lambda a, b: a << min(b, 16) & WORD_MASK,
    ">>": lambda a, b: a >> min(b, 16),
}
_DIVISIONS = {"/", "%", "MOD"}
_COMPARISONS: Mapping[str, Callable[[int, int], int]] = {
    "=": lambda a, b: int(a == b),
    "<>": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    "=<": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "=>": lambda a, b: int(a >= b),
}
_LOGIC: Mapping[str, Callable[[int, int], int]] = {
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b,
}
_PRECEDENCE = (_ARITHMETIC.keys() | _DIVISIONS, _COMPARISONS.keys(), _LOGIC.keys())
"""Groups of operators, the one that binds tightest first; within a group from left to right (manual)."""

_OPERATIONS = {**_ARITHMETIC, **_COMPARISONS, **_LOGIC}


def _reduce_chain(operands: Sequence[T], operators: Sequence[str], combine: Callable[[str, T, T], T]) -> T:
    """Return the result of a chain: its operands combined two by two, in the order of precedence.

    Args:
        operands: numbers, or functions that evaluate them.
        operators: the operators between them.
        combine: returns the result of an operator for two operands.
    """
    for group in _PRECEDENCE:
        combined = [operands[0]]
        remaining_operators = []
        for operator, operand in zip(operators, operands[1:], strict=True):
            if operator in group:
                combined[-1] = combine(operator, combined[-1], operand)
            else:
                remaining_operators.append(operator)
                combined.append(operand)
        operands = combined
        operators = remaining_operators
    return operands[0]


def _calculate(operator: str, first: int, second: int) -> int:
    """Return the result of an operator for two numbers.

    Raises:
        ZeroDivisionError: a division by 0.
    """
    if operator in _DIVISIONS:
        return first // second if operator == "/" else first % second
    return _OPERATIONS[operator](first, second)


class SymbolTable:
    """The variables, constants and findings of one program; compiles its expressions.

    Attributes:
        line: the line under compilation.
        findings: the findings in no particular order.
        constants: values by name in capitals.
        variables: the variables by name in capitals.
        declaration_lines: the first line that declares a variable, by name in capitals.
        assignment_lines: the first line that sets a variable, by name in capitals.
        read_lines: the first line that reads a variable, by name in capitals.
    """

    def __init__(self) -> None:
        self.line = 0  # set by the compiler for each line, from 1
        self.findings: list[BasicFinding] = []
        self.constants: dict[str, int] = {}
        self.variables: dict[str, Variable] = {}
        self.declaration_lines: dict[str, int] = {}
        self.assignment_lines: dict[str, int] = {}
        self.read_lines: dict[str, int] = {}
        self._comparison_cost = 0  # of all searches for similar names so far; see MAX_COMPARISON_COST

    # Findings.

    def report(
        self, rule: str, message: str, hint: str = "", severity: Severity = Severity.ERROR, column: int = 1
    ) -> None:
        """Add a finding about the line under compilation."""
        self.findings.append(BasicFinding(self.line, rule, message, hint, severity, column))

    def report_unknown(self, kind: str, name: str, known_names: Collection[str], message: str = "") -> None:
        """Report an unknown name as an error; the hint names the nearest of some names in capitals."""
        hint = self._suggest(kind, name, known_names)
        self.report(f"unknown-{kind}", message or f"there is no {kind} {name}", hint)

    def report_unknown_statement(self, keyword: str, known_keywords: Collection[str]) -> None:
        """Report an unknown statement: an error if it looks misspelt, and a warning otherwise.

        Programs for other boards have statements that the MR-C3024 has not.
        """
        message = f"there is no statement {keyword}"
        hint = self._suggest("statement", keyword, known_keywords)
        if hint.startswith("did you mean"):
            self.report("unknown-statement", message, hint)
        else:
            hint = "it is skipped; the MR-C3024 has no such statement"
            self.report("unknown-statement", message, hint, severity=Severity.WARNING)

    def _suggest(self, kind: str, name: str, known_names: Collection[str]) -> str:
        """Return a hint with the nearest known names; empty if there are none or the search is too costly."""
        self._comparison_cost += len(known_names) * min(len(name), MAX_NAME_LENGTH) ** 2
        if self._comparison_cost > MAX_COMPARISON_COST or len(name) > MAX_NAME_LENGTH or not known_names:
            return ""
        return UnknownNameError.among(kind, name.upper(), known_names).hint or ""

    # Variables and constants.

    def declare_variable(self, name: str, kind: str) -> None:
        """Declare a variable of DIM; reports an unknown type and a name that is declared otherwise."""
        key = name.upper()
        if kind.upper() not in TYPES:
            self.report("type", f"there is no type {kind}", "BYTE, 0..255, or INTEGER, 0..65535")
            return
        if key in self.constants:
            self.report("name-twice", f"{name} is already a constant", "use another name")
            return
        max_value = TYPES[kind.upper()]
        previous = self.variables.get(key)
        if previous is not None and previous.max_value != max_value:
            message = f"{name} is already declared with another type"
            self.report("name-twice", message, "one DIM for each name")
        index = previous.index if previous is not None else len(self.variables)
        self.variables[key] = Variable(str(name), index, max_value)
        self.declaration_lines.setdefault(key, self.line)

    def declare_constant(self, name: str, value: Expression) -> None:
        """Declare a constant of CONST; reports a value that is not constant and a name declared otherwise."""
        key = name.upper()
        constant = self.fold_constant(value)
        if constant is not None:
            self.compile_value(value)  # reports a number that is too large
        if key in self.variables:
            self.report("name-twice", f"{name} is already a variable", "use another name")
        elif constant is None:
            self.report("constant", f"the value of {name} is not constant", "a number")
        elif self.constants.setdefault(key, constant) != constant:
            message = f"{name} is already declared as {self.constants[key]}"
            self.report("name-twice", message, "one CONST for each name")

    def resolve_variable(self, name: str) -> Variable | None:
        """Return the variable of a name; None for a constant, which is reported.

        A name without DIM becomes a byte and is reported as a warning.
        """
        key = name.upper()
        if key in self.constants:
            self.report("constant", f"{name} is a constant", "a variable, declared by DIM")
            return None
        variable = self.variables.get(key)
        if variable is not None:
            return variable
        variable = Variable(str(name), len(self.variables), TYPES["BYTE"])
        self.variables[key] = variable
        if key not in PREDEFINED_VARIABLES:
            hint = f"DIM {name} AS BYTE; it is treated as a byte here, but the original compiler rejects it"
            self.report("undeclared", f"{name} is not declared", hint, severity=Severity.WARNING)
        return variable

    def resolve_bit(self, name: Identifier, variable: Variable) -> int | None:
        """Return the bit number of `A.3`, or None for `A`; reports a bit that the type does not have."""
        n_bits = variable.max_value.bit_length()
        if name.bit is not None and name.bit >= n_bits:
            self.report("bit", f"{name.name} has no bit {name.bit}", f"0..{n_bits - 1}")
            return 0
        return name.bit

    # Expressions.

    def fold_constant(self, expression: Argument) -> int | None:  # noqa: PLR0911 -- one case for each node
        """Return the value of an expression of numbers and constants; None for any other expression.

        A division by 0 counts as not constant, since it is an error at run time.
        """
        match expression:
            case Number(value):
                return value & WORD_MASK
            case Text(text) if len(text) == 1:
                return ord(text)
            case Identifier(name, None):
                return self.constants.get(name.upper())
            case Chain(operands, operators):
                numbers: list[int] = []
                for operand in operands:
                    number = self.fold_constant(operand)
                    if number is None:
                        return None
                    numbers.append(number)
                try:
                    return _reduce_chain(numbers, operators, _calculate)
                except ZeroDivisionError:
                    return None
        return None

    def compile_value(self, expression: Argument) -> CompiledExpression:
        """Return a function that evaluates an expression.

        Problems are reported; the function then returns 0 or, for a number that is too large, its lower 16
        bits.
        """
        match expression:
            case Number(value, text):
                if value > WORD_MASK:
                    hint = f"expected 0..{WORD_MASK}; the value becomes {value & WORD_MASK}"
                    self.report("number", f"{text} is too large", hint, severity=Severity.WARNING)
                number = value & WORD_MASK
                return lambda _: number
            case Text(text):
                code = ord(text) if len(text) == 1 else WORD_MASK
                if code > TYPES["BYTE"]:
                    hint = 'a single character, "a", stands for its code'
                    self.report("expression", f'"{text}" is not a number', hint)
                return lambda _: code
            case Identifier():
                return self._compile_name(expression)
            case FunctionCall():
                return self._compile_call(expression)
            case Chain():
                return self._compile_chain(expression)
            case _:
                hint = "a number, a variable or a port such as AD(5)"
                self.report("expression", "a number is missing here", hint)
                return lambda _: 0

    def _compile_name(self, name: Identifier) -> CompiledExpression:
        """Return a function that evaluates a constant, RND, a variable or one bit of it."""
        if name.key in self.constants:
            constant = self.constants[name.key]
            return lambda _: constant
        if name.key == RANDOM and name.key not in self.variables:
            return lambda machine: machine.board.draw_random()
        variable = self.resolve_variable(name.name)
        if variable is None:
            return lambda _: 0
        self.read_lines.setdefault(name.key, self.line)
        index = variable.index
        bit = self.resolve_bit(name, variable)
        if bit is None:
            return lambda machine: machine.values[index]
        return lambda machine: machine.values[index] >> bit & 1

    def _compile_call(self, call: FunctionCall) -> CompiledExpression:
        """Return a function that reads a port or the memory; problems are reported."""
        function = call.name.upper()
        if len(call.arguments) != 1:
            message = f"{function} takes one number, not {len(call.arguments)}"
            self.report("function", message, f"{function}(number)")
            return lambda _: 0
        evaluate_argument = self.compile_value(call.arguments[0])
        if function == "PEEK":
            return lambda machine: machine.board.memory.get(evaluate_argument(machine), 0)
        if function == "ROMPEEK":
            erased = board_parameters().erased
            return lambda machine: machine.board.eeprom.get(evaluate_argument(machine), erased)
        if function != "MOTORIN" and function not in PORT_FUNCTIONS:
            functions = [*PORT_FUNCTIONS, "MOTORIN", "PEEK", "ROMPEEK"]
            self.report_unknown("function", call.name, functions)
            return lambda _: 0
        low, high = PORT_FUNCTIONS.get(function, MOTOR_NUMBERS)
        constant = self.fold_constant(call.arguments[0])
        if constant is not None and not low <= constant <= high:
            self.report("port", f"there is no {function}({constant})", f"{low}..{high}")
        line = self.line

        def read_port(machine: BasicMachine) -> int:
            """Return the value of a port; REMOCON also records the key."""
            port_number = evaluate_argument(machine)
            if not low <= port_number <= high:
                raise machine.error_at(line, f"{function}({port_number})", f"{low}..{high}")
            value = machine.board.read_port(function, port_number)
            if function == "REMOCON" and value:
                machine.board.record_event("key", line, key=value)
            return value

        return read_port

    def _compile_chain(self, chain: Chain) -> CompiledExpression:
        """Return a function that evaluates a chain; a division by the constant 0 is reported."""
        evaluators = [self.compile_value(operand) for operand in chain.operands]
        for operator, operand in zip(chain.operators, chain.operands[1:], strict=True):
            if operator in _DIVISIONS and self.fold_constant(operand) == 0:
                self.report("division", "a division by 0", "divide by 1 or more")
        return _reduce_chain(evaluators, chain.operators, self._compile_operation)

    def _compile_operation(
        self, operator: str, evaluate_first: CompiledExpression, evaluate_second: CompiledExpression
    ) -> CompiledExpression:
        """Return a function that applies an operator; a division by 0 is an error at run time."""
        if operator not in _DIVISIONS:
            operation = _OPERATIONS[operator]
            return lambda machine: operation(evaluate_first(machine), evaluate_second(machine))
        line = self.line

        def divide(machine: BasicMachine) -> int:
            divisor = evaluate_second(machine)
            if divisor == 0:
                raise machine.error_at(line, "a division by 0", "check with IF first")
            return _calculate(operator, evaluate_first(machine), divisor)

        return divide
