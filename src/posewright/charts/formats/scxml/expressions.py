"""Expressions of SCXML documents, in Python's or ECMAScript's words, to the text of ours.

Both are read alike, whatever the document's `datamodel` says: `&&` and `and`, `'slow'` and `"slow"`. What
either of them calculates otherwise than we do is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from posewright.charts.formats.scxml.markup import Element

DATAMODELS = ("python", "ecmascript", "null", "c89")

MAX_DEPTH = 100

_ROUNDS = {"ecmascript": "%", "c89": "%/"}
"""Signs that a data model rounds towards zero with, where we do not."""

_SIGNS = {"&&": "and", "||": "or", "===": "==", "!==": "!="}
_WORDS = {"True": "true", "False": "false"}
_FUNCTIONS = {
    "Math.abs": "abs",
    "Math.min": "min",
    "Math.max": "max",
    "abs": "abs",
    "min": "min",
    "max": "max",
}
_KEPT = frozenset({"and", "or", "not", "if", "else", "true", "false"})
_NOTHING = frozenset({"None", "null", "undefined"})

_TOKEN = re.compile(
    r"(?P<space>\s*)(?:(?P<string>'[^'\\]*'|\"[^\"\\]*\")"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)"
    r"|(?P<sign>===|!==|==|!=|<=|>=|&&|\|\||[-+*/%()<>!,]))"
)


@dataclass(frozen=True)
class Token:
    """A piece of an expression: whether space stands before it, what sort it is, and its text."""

    space: bool
    sort: str
    text: str


@dataclass(frozen=True)
class Words:
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


def tokens_of(text: str, element: Element) -> Iterator[Token]:
    """Yield the tokens of an expression.

    Raises:
        FormatError: it has a sign that the subset has not.
    """
    text, at = text.rstrip(), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            rest = text[at:].lstrip()
            what = f"{rest[:1]!r} in `{text.strip()[:60]}` is outside the subset of SCXML"
            element.fail(what, hint="== compares; and, or, not join; numbers, names, In('state')")
        yield Token(bool(match["space"]), match.lastgroup, match[match.lastgroup])
        at = match.end()


def translated(text: str, words: Words, element: Element) -> str:
    """Return an expression in our words.

    Raises:
        FormatError: it has something that our language has not.
    """
    return _Translation(text, words, element).whole()


class _Translation:
    def __init__(self, text: str, words: Words, element: Element) -> None:
        self.text = " ".join(text.split())
        self.words = words
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
        space = " " if token.space else ""
        if token.sort == "string":
            return space + self.value(token.text[1:-1])
        if token.sort == "name":
            return space + self.name(token.text)
        if token.sort == "sign":
            return space + self.sign(token.text)
        return space + token.text

    def sign(self, sign: str) -> str:
        if sign in "!(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.fail(f"more than {MAX_DEPTH} brackets", "split it up")
            return self.bracket() if sign == "(" else f"(not {self.piece()})"
        if sign in _ROUNDS.get(self.words.datamodel, ""):
            self.fail(f"{sign!r}, which {self.words.datamodel} rounds otherwise,", "leave it out")
        return f" {_SIGNS[sign]} " if sign in _SIGNS else sign

    def bracket(self) -> str:
        pieces = []
        while not self.next_is(")"):
            pieces.append(self.piece())
        self.position += 1
        return f"({''.join(pieces).strip()})"

    def value(self, text: str) -> str:
        if text not in self.words.values:
            self.fail(f"the text {text!r}", "texts are values of a <data> that holds nothing else")
        return self.words.values[text]

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
        if name not in self.words.variables:
            self.unknown(name)
        return self.words.variables[name]

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
        if state in self.words.histories:
            return "false"
        if state not in self.words.states:
            self.element.fail(
                f"no state is called {state!r}", hint="In('id') asks for a state of the document"
            )
        if state in self.words.settled:
            return "true" if self.words.settled[state] else "false"
        if not self.words.dynamic:
            hint = "while states are left and entered, ask only for the state itself and those inside it"
            self.fail(f"In('{state}') here", hint)
        return f"in({self.words.states[state]})"
