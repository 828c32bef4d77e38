"""Types of the data of a document that does not say them: from what is assigned and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from posewright.charts.expression import Source, names_in, parse, parse_expression
from posewright.charts.formats.scxml.data import Setting
from posewright.charts.formats.scxml.expressions import Token, Words, tokens_of, translated
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.model import scope_of
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type

EXPRESSIONS = ("cond", "expr")
"""Attributes that hold expressions."""

MAX_ROUNDS = 20
"""How far a type may follow from another that follows from another."""

_SAME = frozenset({"==", "!=", "===", "!=="})


def texts_of(root: Element, settings: Iterable[Setting], variables: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each variable that holds texts, all texts that it may be asked for or set to.

    Variables that share a text share all of them.
    """
    found: dict[str, list[str]] = {}
    for setting in settings:
        tokens = list(tokens_of(setting.text, setting.element))
        for token in _outside_in(tokens):
            if token.sort == "string":
                found.setdefault(setting.location, []).append(token.text[1:-1])
    for element in root.walk():
        if element.name in ("log", "data"):
            continue
        for key in EXPRESSIONS:
            tokens = list(tokens_of(element.get(key) or "", element)) if element.get(key) else []
            _compared(tokens, found)
    return _shared({name: texts for name, texts in found.items() if name in set(variables)})


def _outside_in(tokens: list[Token]) -> Iterable[Token]:
    """Yield tokens, the argument of `In` left out."""
    for i, token in enumerate(tokens):
        if not (i >= 2 and tokens[i - 2].text == "In"):
            yield token


def _compared(tokens: list[Token], found: dict[str, list[str]]) -> None:
    """Note the texts that variables of texts are compared with."""
    for one, sign, other in zip(tokens, tokens[1:], tokens[2:], strict=False):
        name, text = (one, other) if one.sort == "name" else (other, one)
        if sign.text in _SAME and name.sort == "name" and text.sort == "string" and name.text in found:
            found[name.text].append(text.text[1:-1])


def _shared(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the same with the texts of variables that share one put together."""
    groups: list[dict[str, None]] = []
    for texts in found.values():
        together = dict.fromkeys(texts)
        apart = []
        for group in groups:
            if group.keys() & together.keys():
                together = {**group, **together}
            else:
                apart.append(group)
        groups = [*apart, together]
    return {name: list(next(group for group in groups if texts[0] in group)) for name, texts in found.items()}


def infer_types(
    known: Mapping[str, Type], unknown: Mapping[str, Element], settings: list[Setting], words: Words
) -> dict[str, Type]:
    """Return the types of the `unknown` variables.

    Args:
        known: types by the names of the chart.
        unknown: the others, by the names of the document.
        settings: of all variables, those of their <data> too.
        words: how the document's names are called in the chart.

    Raises:
        FormatError: nothing says a variable's type, or it holds a number here and a truth value there.
    """
    found: dict[str, Type] = {}
    for _ in range(MAX_ROUNDS):
        before = dict(found)
        for setting in settings:
            if setting.location in unknown:
                _learn(setting, known, found, words)
        if found == before:
            break
    for name, element in unknown.items():
        if words.variables[name] not in found:
            hint = "write its value, as in <data id=... expr='0'/>"
            element.fail(f"nothing says what {name} holds", hint=hint)
    return found


def _learn(setting: Setting, known: Mapping[str, Type], found: dict[str, Type], words: Words) -> None:
    """Note the type of what is assigned, where the types of all it reads are known."""
    source = Source(translated(setting.text, words, setting.element), setting.element.where)
    scope = scope_of({**known, **found}, {}, states=frozenset(words.states.values()))
    if not names_in(parse(source)) <= set(scope.names):
        return
    kind = parse_expression(source, scope).type
    name = words.variables[setting.location]
    found[name] = _joined(found.get(name, kind), kind, setting)


def _joined(one: Type, other: Type, setting: Setting) -> Type:
    if isinstance(one, BoolType) != isinstance(other, BoolType):
        what = f"{setting.location} holds a truth value in one place and a number in another"
        setting.element.fail(what, hint="a <data> holds one sort of value")
    if isinstance(one, EnumType) or isinstance(other, EnumType) or isinstance(one, BoolType):
        return one
    return FloatType() if isinstance(one, FloatType) or isinstance(other, FloatType) else IntType()
