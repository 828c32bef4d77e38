"""Names and expressions of a program, made ready; and what is found wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from posewright.errors import UnknownNameError
from posewright.runtimes.robobasic.machine import WORD_MASK, Machine, Variable
from posewright.runtimes.robobasic.servos import board_facts
from posewright.runtimes.robobasic.tree import (
    Argument,
    Call,
    Chain,
    Expression,
    Finding,
    Name,
    Number,
    Severity,
    Text,
)

T = TypeVar("T")

TYPES = {"BYTE": 0xFF, "INTEGER": WORD_MASK}
GIVEN = ("RR", "A16", "A26")
"""Variables of the controller itself, which templates use without DIM: those of its ACTION command."""

RANDOM = "RND"
"""Reads 0..255, another number each time."""

FUNCTIONS = {
    "AD": (0, 7),
    "IN": (0, 63),
    "BYTEIN": (0, 7),
    "REMOCON": (0, 1),
    "SONAR": (0, 63),
    "RCIN": (0, 63),
    "AIMOTORIN": (0, 31),
}
"""Those that read a port, and the least and the most of its number (manual)."""


MOST_COMPARED = 1_000_000
MOST_SIGNS = 64
"""How many comparisons "did you mean" may take, in names times the square of a name's length, and the longest
name that is compared, which is the longest there is (manual): a file of unknown words is checked at once."""

Value = Callable[[Machine], int]
"""An expression made ready."""

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


def _joined(pieces: Sequence[T], operators: Sequence[str], join: Callable[[str, T, T], T]) -> T:
    """Return one of many: arithmetic from left to right, then comparisons, then logic (manual)."""
    for level in (_ARITHMETIC.keys() | _DIVISIONS, _COMPARISONS.keys(), _LOGIC.keys()):
        found, left = [pieces[0]], []
        for operator, piece in zip(operators, pieces[1:], strict=True):
            if operator in level:
                found[-1] = join(operator, found[-1], piece)
            else:
                left.append(operator)
                found.append(piece)
        pieces, operators = found, left
    return pieces[0]


def _computed(operator: str, first: int, second: int) -> int:
    if operator in _DIVISIONS:
        return first // second if operator == "/" else first % second
    how = _ARITHMETIC.get(operator) or _COMPARISONS.get(operator) or _LOGIC[operator]
    return how(first, second)


def _folded(numbers: Sequence[int], operators: Sequence[str]) -> int | None:
    """Return the value of a chain of numbers; None where it divides by 0, which is told when it runs."""
    try:
        return _joined(numbers, operators, _computed)
    except ZeroDivisionError:
        return None


class Names:
    """What the names of one program mean, and its expressions made ready.

    Attributes:
        line: the one that is being made ready.
        findings: all that was found, in no order.
        variables: by name in capitals.
        constants: by name in capitals.
        declared: the first line that declares a variable, by name in capitals.
        written: the first line that gives one a value.
        looked_at: the first line that reads one.
    """

    def __init__(self) -> None:
        self.line = 0
        self._compared = 0
        self.findings: list[Finding] = []
        self.constants: dict[str, int] = {}
        self.variables: dict[str, Variable] = {}
        self.declared: dict[str, int] = {}
        self.written: dict[str, int] = {}
        self.looked_at: dict[str, int] = {}

    def find(
        self, rule: str, message: str, hint: str = "", severity: Severity = Severity.ERROR, column: int = 1
    ) -> None:
        """Take note of something about the line at hand."""
        self.findings.append(Finding(self.line, rule, message, hint, severity, column))

    def find_unknown(self, kind: str, name: str, known: Collection[str], message: str = "") -> None:
        """Take note of a name that nothing has, and which of the `known`, in capitals, was perhaps meant."""
        self.find(f"unknown-{kind}", message or f"there is no {kind} {name}", self._near(kind, name, known))

    def pass_over(self, word: str, known: Collection[str]) -> None:
        """Take note of a statement that nobody knows: a slip of the pen, or one of another board."""
        hint = self._near("statement", word, known)
        if hint.startswith("did you mean"):
            self.find("unknown-statement", f"there is no statement {word}", hint)
        else:
            why = "it is skipped; the MR-C3024 has no such statement"
            self.find("unknown-statement", f"there is no statement {word}", why, Severity.WARNING)

    def _near(self, kind: str, name: str, known: Collection[str]) -> str:
        self._compared += len(known) * min(len(name), MOST_SIGNS) ** 2
        if self._compared > MOST_COMPARED or len(name) > MOST_SIGNS:
            return ""
        return UnknownNameError.among(kind, name.upper(), known).hint or "" if known else ""

    def declare_variable(self, name: str, kind: str) -> None:
        """Take note of what DIM says."""
        key = name.upper()
        if kind.upper() not in TYPES:
            self.find("type", f"there is no type {kind}", "BYTE, 0..255, or INTEGER, 0..65535")
        elif key in self.constants:
            self.find("name-twice", f"{name} is already a constant", "another name")
        else:
            before, most = self.variables.get(key), TYPES[kind.upper()]
            if before is not None and before.most != most:
                self.find(
                    "name-twice", f"{name} was declared with another type before", "one DIM for each name"
                )
            place = before.place if before is not None else len(self.variables)
            self.variables[key] = Variable(str(name), place, most)
            self.declared.setdefault(key, self.line)

    def declare_constant(self, name: str, value: Expression) -> None:
        """Take note of what CONST says."""
        key, known = name.upper(), self.constant(value)
        if known is not None:
            self.value(value)  # which tells of a number that is too large
        if key in self.variables:
            self.find("name-twice", f"{name} is already a variable", "another name")
        elif known is None:
            self.find("constant", f"the value of {name} is not known before the program runs", "a number")
        elif self.constants.setdefault(key, known) != known:
            self.find("name-twice", f"{name} is already {self.constants[key]}", "one CONST for each name")

    def constant(self, expression: Argument) -> int | None:
        """Return the value of an expression of numbers and constants; None where there is more in it."""
        match expression:
            case Number(value):
                return value & WORD_MASK
            case Text(text) if len(text) == 1:
                return ord(text)
            case Name(name, None):
                return self.constants.get(name.upper())
            case Chain(operands, operators):
                known = [self.constant(one) for one in operands]
                numbers = [one for one in known if one is not None]
                return _folded(numbers, operators) if len(numbers) == len(known) else None
        return None

    def variable(self, name: str) -> Variable | None:
        """Return the variable of a name; one that no DIM declares is a byte, and is told."""
        if name.upper() in self.constants:
            self.find("constant", f"{name} is a constant", "a variable, declared by DIM")
            return None
        if (found := self.variables.get(name.upper())) is None:
            found = Variable(str(name), len(self.variables), TYPES["BYTE"])
            self.variables[name.upper()] = found
            if name.upper() not in GIVEN:
                hint = (
                    f"DIM {name} AS BYTE; it is treated as a byte here, but the original compiler refuses it"
                )
                self.find("undeclared", f"{name} is not declared", hint, Severity.WARNING)
        return found

    def value(self, expression: Argument) -> Value:
        """Return an expression made ready."""
        match expression:
            case Number(value, text):
                if value > WORD_MASK:
                    hint = f"0..{WORD_MASK}; {value & WORD_MASK} is what remains"
                    self.find("number", f"{text} is too large", hint, Severity.WARNING)
                known = value & WORD_MASK
                return lambda _: known
            case Text(text):
                return self._code(text)
            case Name():
                return self._place(expression)
            case Call():
                return self._call(expression)
            case Chain():
                return self._chain(expression)
            case _:
                self.find(
                    "expression", "a number is missing here", "a number, a variable or a port such as AD(5)"
                )
                return lambda _: 0

    def _code(self, text: str) -> Value:
        code = ord(text) if len(text) == 1 else WORD_MASK
        if code > TYPES["BYTE"]:
            self.find(
                "expression", f'"{text}" is not a number', 'a single character, "a", stands for its code'
            )
        return lambda _: code

    def _place(self, name: Name) -> Value:
        if name.key in self.constants:
            known = self.constants[name.key]
            return lambda _: known
        if name.key == RANDOM and name.key not in self.variables:
            return lambda machine: machine.board.random()
        variable = self.variable(name.name)
        if variable is None:
            return lambda _: 0
        self.looked_at.setdefault(name.key, self.line)
        place, bit = variable.place, self.bit(name, variable)
        if bit is None:
            return lambda machine: machine.values[place]
        return lambda machine: machine.values[place] >> bit & 1

    def bit(self, name: Name, variable: Variable) -> int | None:
        """Return the bit of `A.3`, None of `A`."""
        if name.bit is not None and name.bit >= variable.most.bit_length():
            self.find("bit", f"{name.name} has no bit {name.bit}", f"0..{variable.most.bit_length() - 1}")
            return 0
        return name.bit

    def _call(self, call: Call) -> Value:
        word, line = call.name.upper(), self.line
        if len(call.arguments) != 1:
            self.find("function", f"{word} takes one number, not {len(call.arguments)}", f"{word}(number)")
            return lambda _: 0
        number = self.value(call.arguments[0])
        if word in {"PEEK", "ROMPEEK"}:
            if word == "PEEK":
                return lambda machine: machine.board.memory.get(number(machine), 0)
            return lambda machine: machine.board.eeprom.get(number(machine), board_facts().erased)
        if word == "MOTORIN":
            low, high = 0, 31
        elif word in FUNCTIONS:
            low, high = FUNCTIONS[word]
        else:
            self.find_unknown("function", call.name, [*FUNCTIONS, "MOTORIN", "PEEK", "ROMPEEK"])
            return lambda _: 0

        def read(machine: Machine) -> int:
            asked = number(machine)
            if not low <= asked <= high:
                raise machine.fail(line, f"{word}({asked})", f"{low}..{high}")
            value = machine.board.look(word, asked)
            if word == "REMOCON" and value:
                machine.board.tell("key", line, key=value)
            return value

        known = self.constant(call.arguments[0])
        if known is not None and not low <= known <= high:
            self.find("port", f"there is no {word}({known})", f"{low}..{high}")
        return read

    def _chain(self, chain: Chain) -> Value:
        values = [self.value(one) for one in chain.operands]
        for operator, operand in zip(chain.operators, chain.operands[1:], strict=True):
            if operator in _DIVISIONS and self.constant(operand) == 0:
                self.find("division", "a division by 0", "divide by 1 or more")
        return _joined(values, chain.operators, self._binary)

    def _binary(self, operator: str, first: Value, second: Value) -> Value:
        if operator in _DIVISIONS:
            return self._division(operator, first, second)
        how = _ARITHMETIC.get(operator) or _COMPARISONS.get(operator) or _LOGIC[operator]
        return lambda machine: how(first(machine), second(machine))

    def _division(self, operator: str, first: Value, second: Value) -> Value:
        line, rest = self.line, operator != "/"

        def divide(machine: Machine) -> int:
            divisor = second(machine)
            if divisor == 0:
                raise machine.fail(line, "a division by 0", "check with IF first")
            quotient, remainder = divmod(first(machine), divisor)
            return remainder if rest else quotient

        return divide
