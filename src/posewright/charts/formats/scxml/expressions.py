"""Translation between expressions of SCXML documents and those of charts.

Words of Python and of ECMAScript are accepted alike, whatever the document's `datamodel` is: `&&` and `and`,
`'slow'` and `"slow"`. An operator that a data model computes differently from a chart is an error.

Documents are written with Python's expressions. Python computes like a chart, except for integers beyond 32
bits and floats rounded to 32 bits. It has no `after`, `before`, `every` and `held`, so another reader that
evaluates these fails instead of running a different chart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from posewright.charts.expression import (
    Call,
    Expression,
    InState,
    Literal,
    Name,
    TemporalCondition,
    Tree,
    format_tree,
    rewrite,
)
from posewright.charts.model import ALWAYS
from posewright.charts.types import BoolType, EnumType, Type
from posewright.documents.markup import Element

DATAMODELS = ("python", "ecmascript", "null", "c89")

MAX_DEPTH = 100

_ROUNDING_OPERATORS = {"ecmascript": frozenset({"%"}), "c89": frozenset({"%", "/"})}
"""Operators that a data model rounds towards zero, unlike a chart."""

_CHART_SIGNS = {"&&": "and", "||": "or", "===": "==", "!==": "!="}
_CHART_TRUTH_VALUES = {"True": "true", "False": "false"}
_CHART_FUNCTION_BY_NAME = {f"{of}{name}": name for of in ("", "Math.") for name in ("abs", "min", "max")}
_KEYWORDS = frozenset({"and", "or", "not", "if", "else", "true", "false"})
_NULL_VALUES = frozenset({"None", "null", "undefined"})

_TOKEN = re.compile(
    r"(?P<space>\s*)(?:(?P<string>'[^'\\]*'|\"[^\"\\]*\")"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)"
    r"|(?P<sign>===|!==|==|!=|<=|>=|&&|\|\||[-+*/%()<>!,]))"
)


@dataclass(frozen=True)
class DataToken:
    """A token of an expression.

    Attributes:
        has_space_before: whether there is space before it.
        kind: `string`, `number`, `name` or `sign`.
        text: the token as written, with the quotes of a string.
    """

    has_space_before: bool
    kind: str
    text: str

    @property
    def quoted_text(self) -> str:
        """The text between the quotes of a string."""
        return self.text[1:-1]


@dataclass(frozen=True)
class NamesInChart:
    """What the names in an expression of a document mean in its chart.

    Attributes:
        variable_by_data_id: the variable or constant of the chart that each <data> becomes.
        enum_value_by_text: the enumeration value that each quoted text becomes.
        state_by_id: the name in the chart of each state.
        history_ids: ids of histories, which are never active.
        datamodel: the data model of the document, such as `ecmascript`.
        known_states: whether a state is active where the expression is evaluated, by the state's id; only
            states of which that is known.
        may_test_other_states: whether `In` may test a state there that is not in `known_states`.
    """

    variable_by_data_id: Mapping[str, str]
    enum_value_by_text: Mapping[str, str]
    state_by_id: Mapping[str, str]
    history_ids: Collection[str] = ()
    datamodel: str = ""
    known_states: Mapping[str, bool] = field(default_factory=dict)
    may_test_other_states: bool = True


def tokens_of(text: str, element: Element) -> Iterator[DataToken]:
    """Yield the tokens of an expression, or raise a FormatError at an unsupported character."""
    text = text.rstrip()
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None or match.lastgroup is None:
            character = text[offset:].lstrip()[:1]
            message = f"{character!r} in `{text.strip()[:60]}` is not in the supported subset of SCXML"
            element.fail(message, hint="== compares; and, or, not join; numbers, names, In('state')")
        yield DataToken(bool(match["space"]), match.lastgroup, match[match.lastgroup])
        offset = match.end()


def translate_expression(text: str, names: NamesInChart, element: Element) -> str:
    """Return the text of an expression of the document as an expression of the chart.

    Args:
        text: the expression in the document.
        names: what the names of the document mean in the chart.
        element: the element that it belongs to, for messages.

    Raises:
        FormatError: it is not in the supported subset of SCXML.
    """
    return _Translation(text, names, element).translate()


class _Translation:
    """Translates one expression, token by token.

    Attributes:
        text: the expression, for messages.
        names: the names in the chart.
        element: the element that the expression is in.
        tokens: its tokens.
        position: index of the next token.
        depth: number of brackets and negations so far, which is limited as they are translated recursively.
    """

    def __init__(self, text: str, names: NamesInChart, element: Element) -> None:
        """Split the expression into tokens; raises a FormatError at an unsupported character."""
        self.text = " ".join(text.split())
        self.names = names
        self.element = element
        self.tokens = list(tokens_of(self.text, element))
        self.position = 0
        self.depth = 0

    def fail(self, subject: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that a part of the text is not supported."""
        message = f"{subject} in `{self.text[:60]}` is not in the supported subset of SCXML"
        self.element.fail(message, hint=hint)

    def translate(self) -> str:
        """Return the text as an expression of charts."""
        if not self.tokens:
            self.element.fail("an expression is empty", hint="write a condition or a value")
        parts = []
        while self.position < len(self.tokens):
            parts.append(self.translate_next())
        return " ".join("".join(parts).split())

    def next_is(self, text: str) -> bool:
        """Return whether the next token has a text."""
        return self.position < len(self.tokens) and self.tokens[self.position].text == text

    def translate_next(self) -> str:
        """Return the translation of the next token, and move on to the one after it.

        An opening bracket is translated with everything up to the closing one, a function with its arguments.
        """
        if self.position >= len(self.tokens):
            self.fail("a missing end")
        token = self.tokens[self.position]
        self.position += 1
        if token.kind == "string":
            text = self.translate_string(token.text)
        elif token.kind == "name":
            text = self.translate_name(token.text)
        elif token.kind == "sign":
            text = self.translate_sign(token.text)
        else:
            text = token.text
        return f" {text}" if token.has_space_before else text

    def translate_sign(self, sign: str) -> str:
        """Return the text of a sign in our notation; `(` and `!` are translated with their operand."""
        if sign in ("!", "("):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.fail(f"more than {MAX_DEPTH} brackets", "split it up")
            return self.translate_bracket() if sign == "(" else f"(not {self.translate_next()})"
        if sign in _ROUNDING_OPERATORS.get(self.names.datamodel, ()):
            self.fail(f"{sign!r}, which {self.names.datamodel} rounds differently,", "leave it out")
        return f" {_CHART_SIGNS[sign]} " if sign in _CHART_SIGNS else sign

    def translate_bracket(self) -> str:
        """Translate the tokens up to the closing bracket, and return them in brackets."""
        parts = []
        while not self.next_is(")"):
            parts.append(self.translate_next())
        self.position += 1
        return f"({''.join(parts).strip()})"

    def translate_string(self, quoted: str) -> str:
        """Return the enumeration value of a text in quotes, or raise a FormatError if it is none."""
        text = quoted[1:-1]
        if text not in self.names.enum_value_by_text:
            self.fail(f"the text {text!r}", "texts are values of a <data> that holds nothing else")
        return self.names.enum_value_by_text[text]

    def translate_name(self, name: str) -> str:
        """Return the text of a name in our notation: a <data>, a truth value, a keyword or a call.

        Of a call, the bracket behind the name is translated as well.
        """
        if name == "In":
            return self.translate_state_test()
        if self.next_is("("):
            if name in _CHART_FUNCTION_BY_NAME:
                self.position += 1
                return _CHART_FUNCTION_BY_NAME[name] + self.translate_bracket()
            if name not in _KEYWORDS:  # a bracket may follow a keyword, as in `not (a)`
                self.fail(f"the function {name}", "the functions are abs, min, max and In")
        if name in _KEYWORDS or name in _CHART_TRUTH_VALUES:
            return _CHART_TRUTH_VALUES.get(name, name)
        if name not in self.names.variable_by_data_id:
            self.fail_unknown_name(name)
        return self.names.variable_by_data_id[name]

    def fail_unknown_name(self, name: str) -> NoReturn:
        """Raise the FormatError for a name that is no <data>, with a hint that depends on the name."""
        if name in _NULL_VALUES:
            self.fail(f"{name}", "a <data> always holds a number, a truth value or a text")
        if name.startswith("_"):
            self.fail(f"the system variable {name}", "guards read <data> and In('state')")
        if "." in name:
            self.fail(f"{name}", "a <data> holds one number, truth value or text")
        self.element.fail(f"unknown <data> {name!r}", hint="declare it in the <datamodel>")

    def translate_state_test(self) -> str:
        """Return the translation of `In('state')`: `in(state)`, or true or false where that is known.

        The token `In` was read already.

        Raises:
            FormatError: no bracket with one text follows, there is no such state, or it may not be tested.
        """
        n_tokens = 3  # an opening bracket, a text in quotes, a closing bracket
        token_texts = [token.text for token in self.tokens[self.position : self.position + n_tokens]]
        self.position += n_tokens
        missing_texts = [""] * (n_tokens - len(token_texts))
        opening, quoted_id, closing = token_texts + missing_texts
        if opening != "(" or not quoted_id.startswith(("'", '"')) or closing != ")":
            self.fail("In without the name of a state", "write In('state')")
        state_id = quoted_id[1:-1]
        if state_id in self.names.history_ids:
            return "false"
        if state_id not in self.names.state_by_id:
            hint = "In('id') tests a state of the document"
            self.element.fail(f"unknown state {state_id!r}", hint=hint)
        if state_id in self.names.known_states:
            return "true" if self.names.known_states[state_id] else "false"
        if not self.names.may_test_other_states:
            hint = "while states are left and entered, test only the state itself and those inside it"
            self.fail(f"In('{state_id}') here", hint)
        return f"in({self.names.state_by_id[state_id]})"


def python_text(tree: Tree, enum_values: Collection[str]) -> str:
    """Return a tree as Python text; the names in `enum_values` become quoted texts."""
    return format_tree(rewrite(tree, _build_python_converter(enum_values)))


def python_value(value: object) -> str:
    """Return a value as Python text."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


def python_value_text(expression: Expression, value_type: Type, enum_values: Collection[str]) -> str:
    """Return an assigned value as Python text, clamped to the range of the variable's type if needed."""
    text = python_text(expression.tree, enum_values)
    if isinstance(value_type, BoolType | EnumType) or isinstance(expression.tree, Literal):
        return text
    has_full_range = value_type == type(value_type)()
    return text if has_full_range else f"max({value_type.low!r}, min({value_type.high!r}, {text}))"


def python_guard(when: Expression, wait_s: float, enum_values: Collection[str]) -> str | None:
    """Return the guard and minimum time [s] of a transition as Python text, None if there are neither."""
    text = None if when.tree == ALWAYS.tree else python_text(when.tree, enum_values)
    if not wait_s:
        return text
    elapsed = f"after({wait_s!r})"
    return elapsed if text is None else f"{elapsed} and ({text})"


def _build_python_converter(enum_values: Collection[str]) -> Callable[[Tree], Tree | None]:
    """Return a function that returns the form of a node in Python, or None if that is the same.

    Args:
        enum_values: the names that are values of enumerations; they become quoted texts.
    """

    def to_python(tree: Tree) -> Tree | None:
        """Return the form of a node in Python; None if it is the same."""
        if isinstance(tree, Name) and tree.name in enum_values:
            return Literal(tree.name)
        if isinstance(tree, Literal) and isinstance(tree.value, bool):
            return Name(str(tree.value))
        if isinstance(tree, InState):
            return Call("In", (Literal(tree.state),))
        if isinstance(tree, TemporalCondition):
            condition = () if tree.condition is None else (rewrite(tree.condition, to_python),)
            return Call(tree.operator.value, (*condition, Literal(tree.seconds)))
        return None

    return to_python
