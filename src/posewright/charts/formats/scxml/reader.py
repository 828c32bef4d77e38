"""SCXML documents to charts: those of other tools, as far as the subset goes, and our own without loss.

A document becomes the tree of a native one, with the lines of its elements; the native reader does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posewright.charts.expression import Expression, Literal, Scope, SourceText, parse_expression
from posewright.charts.formats.document_fields import MAX_TIME_S
from posewright.charts.formats.native_nodes import Entries, Items
from posewright.charts.formats.native_reader import chart_of_document
from posewright.charts.formats.scxml.datamodel import DataModel, assigned, read_data
from posewright.charts.formats.scxml.expressions import (
    DATAMODELS,
    Renaming,
    python_guard,
    python_text,
    python_value_text,
    translated,
)
from posewright.charts.formats.scxml.names import DocumentEvents, name_events, name_states
from posewright.charts.formats.scxml.send_queue import Mail, is_mail, laid_out, mail_of, ticks_of
from posewright.charts.formats.scxml.vocabulary import (
    AT_ONCE,
    DEFAULT,
    MOORE,
    STATES,
    mapping_at,
    own,
    read_elements,
)
from posewright.charts.model import (
    ALWAYS,
    ELSE,
    Chart,
    ChartKind,
    Otherwise,
    Priority,
    StepMode,
    Transition,
    chart_name_of_file,
    else_guard,
    has_alternatives,
    to_chart_name,
)
from posewright.charts.types import BoolType, Numeric, Type
from posewright.documents import Node, PlainData
from posewright.documents.markup import Element

PERIOD_S = 0.01
"""The sample period of a document that does not say it [s]: SCXML knows of none."""


def parse_scxml(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of an SCXML document; `path` is only used in messages and for the name.

    Raises:
        FormatError: it is no SCXML, or has something that is outside the subset; says what, and the line.
        ExpressionError: a guard or a value does not parse or does not type.
        InputError: states and targets do not fit together.
    """
    root = read_elements(text, path)
    for key, usual in (("binding", "early"), ("version", "1.0")):
        if root.get(key) not in (None, usual):
            root.fail(f"{key}={root.get(key)!r} is outside the subset of SCXML", hint=f"there is {usual!r}")
    if (root.get("datamodel") or "null") not in DATAMODELS:
        hint = f"there is {', '.join(DATAMODELS)}"
        root.fail(f"the data model {root.get('datamodel')!r} is outside the subset of SCXML", hint=hint)
    return chart_of_document(Node(_DocumentReader(laid_out(root)).tree(), path, "", root.line))


@dataclass(frozen=True)
class _Content:
    """Reads executable content and guards of one document, at one place in it.

    Attributes:
        names: what names are called, and what `In` may ask for at this place.
        settable: outputs and locals.
        lists: what a <foreach> may go over.
    """

    names: Renaming
    scope: Scope
    events: DocumentEvents
    settable: Mapping[str, Type]
    lists: Mapping[str, tuple[str, ...]]
    mail: Mail | None

    def within(self, settled: dict[str, bool]) -> _Content:
        """Return the same at a place where these states are known to be active or not, and no others."""
        return replace(self, names=replace(self.names, settled=settled, dynamic=False))

    def guard(self, element: Element) -> str | None:
        """Return the condition of a transition or an <if>; a number stands for that it is not zero."""
        text = element.get(own("when"))
        if text is not None or element.get("cond") is None:
            return text
        text = translated(element.required("cond"), self.names, element)
        found = self.parsed(text, None, element)
        if isinstance(found.type, Numeric) and not isinstance(found.tree, Literal):
            return f"({text}) != 0" if " " in text else f"{text} != 0"
        return text

    def parsed(self, text: str, kind: Type | None, element: Element) -> Expression:
        return parse_expression(SourceText(text, element.where), self.scope, kind)

    def condition(self, element: Element) -> str:
        text = self.guard(element)
        if text is None:
            element.fail(f"<{element.name}> without 'cond'", hint="write the condition")
        python = python_text(self.parsed(text, BoolType(), element).tree, self.scope.values)
        _require_same(element, "cond", python, own("when"))
        return text

    def actions(self, elements: Iterable[Element]) -> Items | None:
        """Return what these elements do, one after the other; None where they do nothing."""
        found: list[Entries] = []
        for element in elements:
            for action in self.done_by(element):
                if found and element.get(AT_ONCE) == "true" and not {"if", "raise"} & found[-1].keys():
                    found[-1] = found[-1].merge(action)
                else:
                    found.append(action)
        return Items(found, found[0].line) if found else None

    def done_by(self, element: Element) -> Iterable[Entries]:
        if element.name == "raise":
            return [Entries({"raise": self.events.called[element.required("event")]}, element.line)]
        if element.name == "assign":
            return [self.assign(element)]
        if element.name == "if":
            return [self.branch(element)]
        if element.name == "foreach":
            return self.foreach(element)
        found = self.sent(element) if element.name in ("send", "cancel") else []
        return [Entries(action, element.line) for action in found]

    def assign(self, element: Element) -> Entries:
        name = self.settable_name(element.required("location"), element)
        text, kind = element.get(own("value")), self.settable[name]
        if text is None:
            return Entries({name: translated(assigned(element), self.names, element)}, element.line)
        python = python_value_text(self.parsed(text, kind, element), kind, self.scope.values)
        _require_same(element, "expr", python, own("value"))
        return Entries({name: text}, element.line)

    def settable_name(self, location: str, element: Element) -> str:
        """Return what a location is called in the chart, or fail where it cannot be set."""
        name = self.names.variables.get(location, "")
        if name in self.settable:
            return name
        what, hint = f"there is no <data> {location!r} to assign to", "declare it in the <datamodel>"
        if name:
            what, hint = f"{location} cannot be set", "an input comes from outside, a constant never changes"
        elif location.startswith("_") or "." in location or location in self.lists:
            hint = "what can be set is a <data> with one number, truth value or text"
        return element.fail(what, hint=hint)

    def branch(self, element: Element) -> Entries:
        heads: list[tuple[Element, list[Element]]] = [(element, [])]
        for child in element.children:
            if child.name in ("elseif", "else"):
                if heads[-1][0].name == "else":
                    child.fail(f"<{child.name}> behind <else>", hint="<else/> is the last")
                heads.append((child, []))
            else:
                heads[-1][1].append(child)
        otherwise: Items | Entries | None = None
        if heads[-1][0].name == "else":
            otherwise = self.actions(heads.pop()[1])
        for head, inside in reversed(heads[1:]):
            otherwise = self._case(head, inside, otherwise)
        return self._case(*heads[0], otherwise)

    def _case(self, head: Element, inside: list[Element], otherwise: Items | Entries | None) -> Entries:
        """Return what an <if> or <elseif> does where its condition holds, and what is done otherwise."""
        done = self.actions(inside)
        branch = {"if": self.condition(head), "do": [] if done is None else done, "else": otherwise}
        return Entries(branch, head.line)

    def foreach(self, element: Element) -> Iterator[Entries]:
        """Yield what a <foreach> over a list that is written down does, element by element."""
        array = element.required("array")
        if array not in self.lists:
            hint = "write the list in a <data>, as in [1, 2, 3], and change it nowhere"
            element.fail(f"<foreach> over {array!r} is outside the subset of SCXML", hint=hint)
        inside = [child for child in element.children if child.name != "log"]
        for number, text in enumerate(self.lists[array]):
            for key, value in (("item", text), ("index", str(number))):
                if element.get(key):
                    name = self.settable_name(element.required(key), element)
                    yield Entries({name: translated(value, self.names, element)}, element.line)
            yield from self.actions(inside) or ()

    def sent(self, element: Element) -> list[dict[str, PlainData]]:
        if element.name == "cancel":
            name = element.required("sendid")
            found = self.mail.cancel(name) if self.mail is not None else []
            if not found:
                element.fail(f"nothing is sent with the id {name!r}", hint="give a <send> this id")
            return found
        event = self.events.called[element.required("event")]
        if self.mail is None or not is_mail(element):
            return [{"raise": event}]
        return [self.mail.send(event, element.get("id") or "", ticks_of(element, self.mail.tick_s))]


def _require_same(element: Element, key: str, python: str | None, ours: str) -> None:
    """Refuse an element whose attribute `key` is not `python`, which is what our attribute `ours` says."""
    if element.get(ours) is not None and (element.get(key) or "").split() != (python or "").split():
        hint = f"{ours} would be {key}={python!r}: change both, or leave {ours} out"
        element.fail(f"{key!r} and {ours!r} of <{element.name}> say different things", hint=hint)


class _DocumentReader:
    """Turns a document into the tree of a native one.

    Attributes:
        ours: the document says of itself that it is a chart of ours: what SCXML does otherwise stays as
            we do it.
    """

    def __init__(self, root: Element) -> None:
        self.root = root
        period_s = _seconds(root, "period_s")
        self.period_s = PERIOD_S if period_s is None else period_s
        self.places = name_states(root)
        self.data: DataModel = read_data(root, self.places)
        self.events = name_events(root, self.places.names, self.data.free)
        self.mail = mail_of(root, self.events, self.data.free, self.period_s)
        declared = self.data.declared
        scope = declared.scope(tuple(self.places.names.values()))
        self.content = _Content(
            self.data.names, scope, self.events, declared.variables, self.data.lists, self.mail
        )
        self.ours = root.get(own("kind")) is not None

    def tree(self) -> Entries:
        root, junctions = self.root, self.root.all("pw:junction")
        ways = {one.required("id"): Items(self.transitions(one.all("pw:way")), one.line) for one in junctions}
        found = {
            **self.head(),
            **self.data.sections,
            "events": [*self.events.outside] or None,
            "local_events": [*self.events.inside] or None,
            "promises": Items(map(_promise, root.all("pw:promise")), root.line),
            "table": next(map(_table, root.all("pw:table")), None),
            "junctions": Entries(ways, root.line),
            **self.outermost(),
        }
        return Entries(found if self.mail is None else self.with_mail(found, self.mail), root.line)

    def head(self) -> dict[str, PlainData]:
        root, kind = self.root, self.root.get(own("kind")) or ChartKind.STATECHART.value
        is_statechart, steps = kind == ChartKind.STATECHART.value, root.get(own("steps"))
        if not is_statechart and steps == StepMode.ONE.value:  # other kinds have no word for it
            steps = None
        named = root.get("name")
        return {
            "chart": to_chart_name(named) if named else chart_name_of_file(root.path, "chart"),
            "description": root.get(own("description")),
            "source": root.get(own("source")),
            "kind": kind,
            "period_s": self.period_s,
            "steps": steps or (StepMode.COMPLETION.value if is_statechart else None),
            "priority": root.get(own("priority")) or Priority.ORDERED.value,
            "otherwise": root.get(own("otherwise")) or (None if is_statechart else Otherwise.STAY.value),
            "resources": (root.get(own("resources")) or "").split(),
        }

    def outermost(self) -> dict[str, PlainData]:
        root, outermost = self.root, self.root.all(*STATES)
        if not outermost:
            root.fail("there is no state", hint="a document has at least one <state>")
        first, initial = self.places.name(outermost[0]), self.places.targets(root, "initial")
        if outermost[0].get(own("regions")) is None:
            return {"initial": initial or first, "states": self.states(root, top=True)}
        regions = self.states(outermost[0])  # SCXML's root has no regions: ours stand in a state
        return {"initial": None if initial == first else initial, "regions": regions}

    def with_mail(self, found: dict[str, Any], mail: Mail) -> dict[str, Any]:
        document, region, inside = map(self.places.free.take_state, ("document", "mail", "mailbox"))
        line = self.root.line
        whole = Entries({key: found.pop(key, None) for key in ("initial", "states", "regions")}, line)
        added = {"locals": Entries(mail.locals, line), "initial_values": Entries(mail.empty, line)}
        joined = {key: found[key].merge(more) for key, more in added.items()}
        promises = Items([*found["promises"], mail.promise], line)
        regions = Entries({document: whole, region: mail.region(inside)}, line)
        return {**found, **joined, "promises": promises, "regions": regions}

    def states(self, element: Element, *, top: bool = False) -> Entries:
        inside = {self.places.name(child): self.state(child, top=top) for child in element.all(*STATES)}
        return Entries(inside, element.line)

    def state(self, element: Element, *, top: bool) -> Entries:
        outlet = self.content if self.ours else self.content.within(_settled(element))
        leaving = outlet.actions(_inside(element, "onexit"))
        entry = [*(outlet.actions(_inside(element, "onentry")) or ()), *self.on_the_way_in(element)]
        if element.name == "final" and top and not self.ours:  # the document ends there: all is left at once
            entry, leaving = [*entry, *(leaving or ())], None
        inside = self.states(element)
        parallel = element.name == "parallel" and inside
        return mapping_at(
            element,
            description=element.get(own("description")),
            min_s=_seconds(element, "min_s"),
            priority=element.get(own("priority")),
            otherwise=element.get(own("otherwise")),
            transitions=self.transitions(element.all("transition"), _seconds(element, "min_s") or 0.0),
            do=self.moore_values(element),
            entry=Items(entry, element.line) if entry else None,
            during=self.content.actions(_inside(element, own("during"))),
            exit=leaving,
            final=True if element.name == "final" else None,
            initial=self.initial(element),
            states=inside if inside and not parallel else None,
            regions=inside if parallel else None,
        )

    def moore_values(self, element: Element) -> Entries | None:
        """Return what the outputs of a Moore state are, as far as the state itself says so."""
        blocks = [one for one in element.all("onentry") if one.get(MOORE) is not None]
        said = [child for one in blocks for child in one.children if child.get(DEFAULT) is None]
        actions = self.content.actions(said) or ()
        outputs = {name: value for action in actions for name, value in action.items()}
        return Entries(outputs, element.line) or None

    def initial(self, element: Element) -> PlainData:
        if element.name == "parallel":
            return self.places.targets(element, own("enters"))
        if element.get("initial") is not None:
            return self.places.targets(element, "initial")
        for initial in element.all("initial"):
            return self.places.targets(_one_way(initial))
        inside = element.all(*STATES)
        return self.places.name(inside[0]) if inside else None

    def on_the_way_in(self, element: Element) -> Iterator[Entries]:
        for initial in element.all("initial"):
            if element.get("initial") is not None:
                initial.fail("both <initial> and 'initial'", hint="leave one of them out")
            actions = self.content.within({}).actions(_one_way(initial).children)
            if actions and not self.places.enters_as_a_whole(element):
                hint = "move it into the <onentry> of a state"
                what = "an <initial> that does something, of a state that is also entered otherwise,"
                initial.fail(f"{what} is outside the subset of SCXML", hint=hint)
            yield from actions or ()

    def transitions(self, elements: Iterable[Element], min_s: float = 0.0) -> Items:
        """Return transitions; one that waits only for events that never come is left out."""
        elders: list[Transition] = []
        found = (self.transition(element, elders, min_s) for element in elements)
        return Items([one for one in found if one is not None], None)

    def transition(self, element: Element, elders: list[Transition], min_s: float) -> Entries | None:
        on = self.waits_for(element)
        if on is None:
            return None
        acting = self.content if self.ours else self.content.within({})
        when = ELSE if element.get(own("else")) == "true" else self.content.guard(element)
        local, acted = _is_local(element), acting.actions(element.children)
        found = mapping_at(
            element,
            description=element.get(own("description")),
            on=[*on] or None,
            when=when,
            after_s=_seconds(element, "after_s"),
            do=acted[0] if acted is not None and len(acted) == 1 else acted,
            go=self.places.targets(element),
            then=self.transitions(element.all("pw:way")) or None,
            junction=next((one.required("junction") for one in element.all("pw:to")), None),
            local=True if local and element.get("target") else None,
        )
        self.note(element, found, elders, min_s)
        usual: dict[str, PlainData] = {} if found.keys() & {"do", "go", "then", "junction"} else {"do": {}}
        if not found.keys() & {"on", "when", "after_s", "then", "junction"}:
            usual["when"] = "true"
        return Entries({**found, **usual}, element.line)

    def note(self, element: Element, found: Entries, elders: list[Transition], min_s: float) -> None:
        """Note a guard for an `else` behind it; refuse one that says two things."""
        on, after_s, text = tuple(found.get("on", ())), found.get("after_s", 0.0), found.get("when")
        if text is None:
            when = ALWAYS
        elif text == ELSE:  # the native reader refuses one that has nothing before it
            when = else_guard(elders, on, element.where) if has_alternatives(elders, on) else ALWAYS
        else:
            when = self.content.parsed(text, BoolType(), element)
        leaves = element.get("type") != "internal" and found.keys() & {"go", "then", "junction"}
        wait_s = max(min_s if leaves else 0.0, after_s)
        python = python_guard(when, wait_s, self.content.scope.values)
        for key in ("when", "after_s", "else"):
            _require_same(element, "cond", python, own(key))
        elders.append(Transition(when, on=on, after_s=after_s))

    def waits_for(self, element: Element) -> tuple[str, ...] | None:
        """Return the events that a transition waits for, None where none of them ever comes."""
        text, known = element.get("event"), self.content.events
        if text is None or text.strip() == known.tick:
            return ()
        if not text.split():
            element.fail("<transition> with an empty 'event'", hint="name an event, or leave 'event' out")
        return known.matching(text) or None


def _seconds(element: Element, name: str) -> float | None:
    """Return a time of ours [s], which the native reader keeps within its bounds."""
    text = element.get(own(name))
    try:
        return None if text is None else float(text)
    except ValueError:
        return element.fail(
            f"{own(name)}={text!r} is no time", hint=f"a number of seconds, 0..{MAX_TIME_S:g}"
        )


def _is_local(element: Element) -> bool:
    kind = element.get("type") or "external"
    if kind not in ("internal", "external"):
        element.fail(f"a transition is not {kind!r}", hint="it is internal or external")
    return kind == "internal" or element.get(own("local")) == "true"


def _one_way(initial: Element) -> Element:
    ways = initial.all("transition")
    if len(ways) != 1 or not ways[0].get("target") or ways[0].get("event") or ways[0].get("cond"):
        hint = 'write <transition target="..."/> in it'
        initial.fail("an <initial> needs one <transition> that asks for nothing", hint=hint)
    return ways[0]


def _inside(element: Element, name: str) -> list[Element]:
    """Return what stands in all elements of that name, those that set a Moore state's outputs left out."""
    return [inner for one in element.all(name) if one.get(MOORE) is None for inner in one.children]


def _settled(element: Element) -> dict[str, bool]:
    """Return which states are known to be active while a state is entered or left: itself, none inside it."""
    inside = {one.get("id") or "": False for one in element.walk() if one.name in STATES}
    return {**inside, element.get("id") or "": True}


def _promise(element: Element) -> Entries:
    """Return a promise as native documents write it; a time without a unit is in seconds."""
    data: dict[str, PlainData] = dict(element.attributes)
    with suppress(KeyError, ValueError):
        data["within"] = float(element.attributes["within"])
    return Entries(data, element.line)


def _table(element: Element) -> Entries:
    columns = [(one, one.required("name")) for one in element.all("pw:column")]
    return mapping_at(
        element,
        state_bits=element.required("state_bits").split(),
        codes={one.required("state"): one.required("bits") for one in element.all("pw:code")},
        inputs={name: one.get("input") for one, name in columns if one.get("input")},
        outputs={name: one.get("output") for one, name in columns if one.get("output")},
    )
