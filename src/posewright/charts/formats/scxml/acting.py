"""Executable content to actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from posewright.charts.expression import Expression, Literal, Scope, Source, parse_expression
from posewright.charts.formats.scxml.data import required, written
from posewright.charts.formats.scxml.events import Events
from posewright.charts.formats.scxml.expressions import Words, translated
from posewright.charts.formats.scxml.mail import Mail
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.formats.scxml.python_text import python_assigned, python_text
from posewright.charts.formats.scxml.sending import is_mail, ticks_of
from posewright.charts.model import ALWAYS, Action, Actions, Assign, Branch, Raise
from posewright.charts.types import BoolType, Numeric, Type

AT_ONCE = own("at_once")
"""Marks an <assign> that is set at once with the one before it."""


@dataclass(frozen=True)
class Content:
    """Reads executable content and guards of one document, at one place in it.

    Attributes:
        words: what names are called, and what `In` may ask for at this place.
        settable: outputs and locals.
        lists: what a <foreach> may go over.
    """

    words: Words
    scope: Scope
    events: Events
    settable: dict[str, Type]
    lists: dict[str, tuple[str, ...]]
    mail: Mail | None = None

    def within(self, settled: dict[str, bool]) -> Content:
        """Return the same at a place where these states are known to be active or not, and no others."""
        return replace(self, words=replace(self.words, settled=settled, dynamic=False))

    def guard(self, element: Element) -> Expression:
        """Return the condition of a transition or an <if>; where it says nothing, it always holds.

        Raises:
            FormatError: it is outside the subset, or says one thing in our words and another in Python's.
            ExpressionError: it does not type.
        """
        text = element.get(own("when"))
        if text is not None:
            return parse_expression(Source(text, element.where), self.scope, BoolType())
        if element.get("cond") is None:
            return ALWAYS
        return self.truth(translated(required(element, "cond"), self.words, element), element)

    def condition(self, element: Element) -> Expression:
        """Return the condition of an <if> or an <elseif>."""
        if element.get("cond") is None and element.get(own("when")) is None:
            element.fail(f"<{element.name}> without 'cond'", hint="write the condition")
        when = self.guard(element)
        require_same(element, "cond", python_text(when.tree, self.scope.values), own("when"))
        return when

    def truth(self, text: str, element: Element) -> Expression:
        """Return a condition; a number stands for that it is not zero."""
        found = parse_expression(Source(text, element.where), self.scope)
        if isinstance(found.type, Numeric) and not isinstance(found.tree, Literal):
            text = f"({text}) != 0" if " " in text else f"{text} != 0"
        return parse_expression(Source(text, element.where), self.scope, BoolType())

    def actions(self, elements: Iterable[Element]) -> Actions:
        """Return what these elements do, one after the other."""
        found: list[Action] = []
        for element in elements:
            for action in self.done_by(element):
                joins = isinstance(action, Assign) and element.get(AT_ONCE) == "true" and found
                last = found[-1] if joins else None
                if isinstance(last, Assign) and isinstance(action, Assign):
                    found[-1] = replace(last, values={**last.values, **action.values})
                else:
                    found.append(action)
        return tuple(found)

    def done_by(self, element: Element) -> Actions:
        """Return what one element does."""
        if element.name == "raise":
            return (Raise(self.events.called[required(element, "event")], element.line),)
        if element.name == "assign":
            return (self.assign(element),)
        if element.name == "if":
            return (self.branch(element),)
        if element.name == "foreach":
            return self.foreach(element)
        return self.sent(element) if element.name in ("send", "cancel") else ()

    def assign(self, element: Element) -> Assign:
        """Return what an <assign> sets."""
        location = required(element, "location")
        name = self.settable_name(location, element)
        text, kind = element.get(own("value")), self.settable[name]
        if text is not None:
            value = parse_expression(Source(text, element.where), self.scope, kind)
            python = python_assigned(value, kind, self.scope.values)
            require_same(element, "expr", python, own("value"))
            return Assign({name: value}, element.line)
        return Assign({name: self.value(written(element), kind, element)}, element.line)

    def value(self, text: str, kind: Type | None, element: Element) -> Expression:
        """Return a value that an attribute of the document writes."""
        source = Source(translated(text, self.words, element), element.where)
        return parse_expression(source, self.scope, kind)

    def settable_name(self, location: str, element: Element) -> str:
        """Return what a location is called in the chart.

        Raises:
            FormatError: it cannot be set.
        """
        name = self.words.variables.get(location, "")
        if name in self.settable:
            return name
        what, hint = f"there is no <data> {location!r} to assign to", "declare it in the <datamodel>"
        if name:
            what, hint = f"{location} cannot be set", "an input comes from outside, a constant never changes"
        elif location.startswith("_") or "." in location or location in self.lists:
            hint = "what can be set is a <data> with one number, truth value or text"
        return element.fail(what, hint=hint)

    def branch(self, element: Element) -> Branch:
        """Return the branch that an <if> with its <elseif> and <else> is."""
        heads: list[tuple[Element, list[Element]]] = [(element, [])]
        for child in element.children:
            if child.name in ("elseif", "else"):
                if heads[-1][0].name == "else":
                    child.fail(f"<{child.name}> behind <else>", hint="<else/> is the last")
                heads.append((child, []))
            else:
                heads[-1][1].append(child)
        otherwise: Actions = ()
        for head, inside in reversed(heads):
            if head.name == "else":
                otherwise = self.actions(inside)
            else:
                otherwise = (Branch(self.condition(head), self.actions(inside), otherwise, head.line),)
        (branch,) = (action for action in otherwise if isinstance(action, Branch))
        return branch

    def foreach(self, element: Element) -> Actions:
        """Return what a <foreach> over a list that is written down does, element by element."""
        array = required(element, "array")
        if array not in self.lists:
            hint = "write the list in a <data>, as in [1, 2, 3], and change it nowhere"
            element.fail(f"<foreach> over {array!r} is outside the subset of SCXML", hint=hint)
        return tuple(self._turns(element, self.lists[array]))

    def _turns(self, element: Element, items: Iterable[str]) -> Iterator[Action]:
        inside = [child for child in element.children if child.name != "log"]
        for number, text in enumerate(items):
            for key, value in (("item", text), ("index", str(number))):
                if element.get(key):
                    name = self.settable_name(required(element, key), element)
                    yield Assign({name: self.value(value, self.settable[name], element)}, element.line)
            yield from self.actions(inside)

    def sent(self, element: Element) -> Actions:
        """Return what a <send> or a <cancel> does."""
        if element.name == "cancel":
            name = required(element, "sendid")
            found = self.mail.cancel(name, self.read) if self.mail is not None else ()
            if not found:
                element.fail(f"nothing is sent with the id {name!r}", hint="give a <send> this id")
            return found
        event = self.events.called[required(element, "event")]
        if self.mail is None or not is_mail(element):
            return (Raise(event, element.line),)
        wait = ticks_of(element, self.mail.tick_s)
        return self.mail.send(event, element.get("id") or "", wait, self.read)

    def read(self, text: str, kind: Type | None) -> Expression:
        """Return an expression that we wrote ourselves."""
        return parse_expression(text, self.scope, kind)


def require_same(element: Element, key: str, python: str | None, ours: str) -> None:
    """Refuse an element that says one thing for every reader of SCXML and another in our words.

    Args:
        element: what says both.
        key: the attribute of SCXML.
        python: what it would be for what our attribute says.
        ours: the name of our attribute.
    """
    if element.get(ours) is None:
        return
    said = " ".join((element.get(key) or "").split())
    if said != " ".join((python or "").split()):
        hint = f"{ours} would be {key}={python!r}: change both, or leave {ours} out"
        element.fail(f"{key!r} and {ours!r} of <{element.name}> say different things", hint=hint)
