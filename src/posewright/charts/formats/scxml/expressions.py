"""Expressions of SCXML documents to the text of ours, and ours to Python's for the documents that we write.

Python's and ECMAScript's words are read alike, whatever the document's `datamodel` says: `&&` and `and`,
`'slow'` and `"slow"`. What either of them calculates otherwise than we do is refused by name.

Python, which we write, calculates as we do, but for numbers that leave 32 bits or are rounded to them. It has
no `after`, `before`, `every` and `held`: a reader that evaluates them fails, which is better than that it
goes on.
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

_ROUNDS = {"ecmascript": "%", "c89": "%/"}
"""Signs that a data model rounds towards zero with, where we do not."""

_SIGNS = {"&&": "and", "||": "or", "===": "==", "!==": "!="}
_WORDS = {"True": "true", "False": "false"}
_FUNCTIONS = {f"{of}{name}": name for of in ("", "Math.") for name in ("abs", "min", "max")}
_KEPT = frozenset({"and", "or", "not", "if", "else", "true", "false"})
_NOTHING = frozenset({"None", "null", "undefined"})

_TOKEN = re.compile(
    r"(?P<space>\s*)(?:(?P<string>'[^'\\]*'|\"[^\"\\]*\")"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)"
    r"|(?P<sign>===|!==|==|!=|<=|>=|&&|\|\||[-+*/%()<>!,]))"
)


@dataclass(frozen=True)
class DataToken:
    """A piece of an expression: whether space stands before it, what sort it is, and its text."""

    space: bool
    sort: str
    text: str


@dataclass(frozen=True)
class Renaming:
    """What the names of a document are called in its chart.

    Attributes:
        variables: the data.
        values: texts in quotes, each the value of an enumeration.
        states: by id.
        histories: ids of what is no state: it is never active.
        datamodel: whose arithmetic the document means.
        settled: states of which the place that is read knows whether they are active.
        dynamic: whether `In` may ask for other states there.
    """

    variables: Mapping[str, str]
    values: Mapping[str, str]
    states: Mapping[str, str]
    histories: Collection[str] = ()
    datamodel: str = ""
    settled: Mapping[str, bool] = field(default_factory=dict)
    dynamic: bool = True


def tokens_of(text: str, element: Element) -> Iterator[DataToken]:
    """Yield the tokens of an expression, or fail at a sign that the subset has not."""
    text, at = text.rstrip(), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            rest = text[at:].lstrip()
            what = f"{rest[:1]!r} in `{text.strip()[:60]}` is outside the subset of SCXML"
            element.fail(what, hint="== compares; and, or, not join; numbers, names, In('state')")
        yield DataToken(bool(match["space"]), match.lastgroup, match[match.lastgroup])
        at = match.end()


def translated(text: str, names: Renaming, element: Element) -> str:
    """Return an expression in our words."""
    return _Translation(text, names, element).whole()


class _Translation:
    def __init__(self, text: str, names: Renaming, element: Element) -> None:
        self.text = " ".join(text.split())
        self.names = names
        self.element = element
        self.tokens = list(tokens_of(self.text, element))
        self.position = 0
        self.depth = 0

    def fail(self, what: str, hint: str | None = None) -> NoReturn:
        self.element.fail(f"{what} in `{self.text[:60]}` is outside the subset of SCXML", hint=hint)

    def whole(self) -> str:
        if not self.tokens:
            self.element.fail("an expression is empty", hint="write a condition or a value")
        pieces = []
        while self.position < len(self.tokens):
            pieces.append(self.piece())
        return " ".join("".join(pieces).split())

    def next_is(self, text: str) -> bool:
        return self.position < len(self.tokens) and self.tokens[self.position].text == text

    def piece(self) -> str:
        """Return the next token, with what belongs to it: a bracket with all that is inside."""
        if self.position >= len(self.tokens):
            self.fail("a missing end")
        token = self.tokens[self.position]
        self.position += 1
        read = {"string": self.value, "name": self.name, "sign": self.sign}.get(token.sort)
        said = token.text if read is None else read(token.text)
        return f" {said}" if token.space else said

    def sign(self, sign: str) -> str:
        if sign in "!(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.fail(f"more than {MAX_DEPTH} brackets", "split it up")
            return self.bracket() if sign == "(" else f"(not {self.piece()})"
        if sign in _ROUNDS.get(self.names.datamodel, ""):
            self.fail(f"{sign!r}, which {self.names.datamodel} rounds otherwise,", "leave it out")
        return f" {_SIGNS[sign]} " if sign in _SIGNS else sign

    def bracket(self) -> str:
        pieces = []
        while not self.next_is(")"):
            pieces.append(self.piece())
        self.position += 1
        return f"({''.join(pieces).strip()})"

    def value(self, quoted: str) -> str:
        text = quoted[1:-1]
        if text not in self.names.values:
            self.fail(f"the text {text!r}", "texts are values of a <data> that holds nothing else")
        return self.names.values[text]

    def name(self, name: str) -> str:
        if name == "In":
            return self.inside()
        if self.next_is("("):
            if name in _FUNCTIONS:
                self.position += 1
                return _FUNCTIONS[name] + self.bracket()
            if name not in _KEPT:
                self.fail(f"the function {name}", "there is abs, min, max and In")
        if name in _KEPT or name in _WORDS:
            return _WORDS.get(name, name)
        if name not in self.names.variables:
            self.unknown(name)
        return self.names.variables[name]

    def unknown(self, name: str) -> NoReturn:
        if name in _NOTHING:
            self.fail(f"{name}", "a <data> always holds a number, a truth value or a text")
        if name.startswith("_"):
            self.fail(f"the system variable {name}", "guards read <data> and In('state')")
        if "." in name:
            self.fail(f"{name}", "a <data> holds one number, truth value or text")
        self.element.fail(f"no <data> is called {name!r}", hint="declare it in the <datamodel>")

    def inside(self) -> str:
        texts = [token.text for token in self.tokens[self.position : self.position + 3]]
        self.position += 3
        if len(texts) < 3 or texts[0] != "(" or texts[1][0] not in "'\"" or texts[2] != ")":
            self.fail("In without the name of a state", "write In('state')")
        state = texts[1][1:-1]
        if state in self.names.histories:
            return "false"
        if state not in self.names.states:
            self.element.fail(
                f"no state is called {state!r}", hint="In('id') asks for a state of the document"
            )
        if state in self.names.settled:
            return "true" if self.names.settled[state] else "false"
        if not self.names.dynamic:
            hint = "while states are left and entered, ask only for the state itself and those inside it"
            self.fail(f"In('{state}') here", hint)
        return f"in({self.names.states[state]})"


def python_text(tree: Tree, values: Collection[str]) -> str:
    """Return a tree as Python; `values` are names that are values of enumerations, which become texts."""
    return format_tree(rewrite(tree, _in_python(values)))


def python_value(value: object) -> str:
    """Return a value as Python writes it."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


def python_value_text(expression: Expression, kind: Type, values: Collection[str]) -> str:
    """Return the value of a variable as Python: kept within the variable's range where that may be needed."""
    text = python_text(expression.tree, values)
    if isinstance(kind, BoolType | EnumType) or isinstance(expression.tree, Literal) or kind == type(kind)():
        return text
    return f"max({kind.low!r}, min({kind.high!r}, {text}))"


def python_guard(when: Expression, wait_s: float, values: Collection[str]) -> str | None:
    """Return the guard of a transition as Python, None where it asks for nothing."""
    text = None if when.tree == ALWAYS.tree else python_text(when.tree, values)
    if not wait_s:
        return text
    waited = f"after({wait_s!r})"
    return waited if text is None else f"{waited} and ({text})"


def _in_python(values: Collection[str]) -> Callable[[Tree], Tree | None]:
    def change(tree: Tree) -> Tree | None:
        if isinstance(tree, Name) and tree.name in values:
            return Literal(tree.name)
        if isinstance(tree, Literal) and isinstance(tree.value, bool):
            return Name(str(tree.value))
        if isinstance(tree, InState):
            return Call("In", (Literal(tree.state),))
        if isinstance(tree, TemporalCondition):
            asked = () if tree.condition is None else (rewrite(tree.condition, change),)
            return Call(tree.operator.value, (*asked, Literal(tree.seconds)))
        return None

    return change
