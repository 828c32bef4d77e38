"""SCXML documents to charts: those of other tools, as far as the subset goes, and our own without loss."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from posewright.charts.formats.flow import LinedList
from posewright.charts.formats.form_reading import read_form
from posewright.charts.formats.known import Known
from posewright.charts.formats.promise_reading import read_promises
from posewright.charts.formats.scxml.acting import Content
from posewright.charts.formats.scxml.computed import laid_out
from posewright.charts.formats.scxml.data import required
from posewright.charts.formats.scxml.declaring import Declared, declared_in, scope_for
from posewright.charts.formats.scxml.events import Events, events_in
from posewright.charts.formats.scxml.expressions import DATAMODELS
from posewright.charts.formats.scxml.mail import Mail, scope_with
from posewright.charts.formats.scxml.markup import Element, parse_markup
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.formats.scxml.numbers import seconds_in, word_in
from posewright.charts.formats.scxml.sending import mail_of
from posewright.charts.formats.scxml.state_reading import StateReader
from posewright.charts.formats.scxml.states import Places, places_in
from posewright.charts.formats.scxml.subset import STATES, require_subset
from posewright.charts.model import (
    Chart,
    Kind,
    Otherwise,
    Priority,
    Promise,
    State,
    Steps,
    TableForm,
    Target,
    chart_named,
    file_named,
    to,
)
from posewright.documents import Node
from posewright.errors import InputError, Where

SHORTEST_S = 1e-4
PERIOD_S = 0.01
"""The sample period of a document that does not say it [s]: SCXML knows of none."""


def parse_scxml(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of an SCXML document; `path` is only used in messages and for the name.

    Raises:
        FormatError: it is no SCXML, or has something that is outside the subset; says what, and the line.
        ExpressionError: a guard or a value does not parse or does not type.
        InputError: states and targets do not fit together.
    """
    root = parse_markup(text, path)
    require_subset(root)
    for key, usual in (("binding", "early"), ("version", "1.0")):
        if root.get(key) not in (None, usual):
            root.fail(f"{key}={root.get(key)!r} is outside the subset of SCXML", hint=f"there is {usual!r}")
    if (root.get("datamodel") or "null") not in DATAMODELS:
        hint = f"there is {', '.join(DATAMODELS)}"
        root.fail(f"the data model {root.get('datamodel')!r} is outside the subset of SCXML", hint=hint)
    try:
        return _Reader(laid_out(root)).chart()
    except InputError as error:  # the model knows not every line
        if error.where is None or error.where.line is None:
            error.where = Where(path, root.line)
        raise


class _Reader:
    def __init__(self, root: Element) -> None:
        self.root = root
        self.ours = root.get(own("kind")) is not None
        self.period_s = seconds_in(root, "period_s", low=SHORTEST_S, default=PERIOD_S)
        self.places: Places = places_in(root)
        self.declared: Declared = declared_in(root, self.places)
        self.events: Events = events_in(root, self.places.names, self.declared.names)
        self.mail: Mail | None = mail_of(root, self.events, self.declared.names, self.period_s)
        declarations = self.declared.declarations
        scope = scope_for(declarations, self.places.names)
        self.content = Content(
            self.declared.words,
            scope if self.mail is None else scope_with(scope, self.mail),
            self.events,
            declarations.variables,
            dict(self.declared.lists),
            self.mail,
        )

    def chart(self) -> Chart:
        """Return the chart."""
        root, declared = self.root, self.declared.declarations
        reader = StateReader(self.places, self.content, self.ours)
        states, initial, parallel = self.top(reader)
        junctions = {
            required(one, "id"): reader.transitions(one.all("pw:way")) for one in root.all("pw:junction")
        }
        chart = Chart(
            name=chart_named(named) if (named := root.get("name")) else file_named(root.path, "chart"),
            kind=word_in(root, "kind", Kind) or Kind.STATECHART,
            period_s=self.period_s,
            inputs=declared.inputs,
            outputs=declared.outputs,
            initial=initial,
            states=states,
            parallel=parallel,
            events=self.events.outside,
            local_events=self.events.inside,
            locals=declared.locals,
            constants=declared.constants,
            units=declared.units,
            functions=declared.functions,
            initial_values=self.declared.initial_values,
            junctions=junctions,
            steps=word_in(root, "steps", Steps) or Steps.COMPLETION,
            priority=word_in(root, "priority", Priority) or Priority.ORDERED,
            otherwise=word_in(root, "otherwise", Otherwise) or Otherwise.STAY,
            otherwise_said=root.get(own("otherwise")) is not None,
            promises=self.promises(),
            resources=tuple((root.get(own("resources")) or "").split()),
            form=self.form(),
            description=root.get(own("description")) or "",
            source=root.get(own("source")) or "",
            path=root.path,
        )
        return chart if self.mail is None else self.with_mail(chart, self.mail)

    def top(self, reader: StateReader) -> tuple[tuple[State, ...], tuple[Target, ...], bool]:
        """Return the outermost states, what is entered first, and whether they are regions."""
        root, outermost = self.root, self.root.all(*STATES)
        if not outermost:
            root.fail("there is no state", hint="a document has at least one <state>")
        if outermost[0].get(own("regions")) is not None:  # SCXML's root has no regions: ours stand in a state
            initial = self.places.targets(root, "initial")
            whole = to(self.places.name(outermost[0]))
            return reader.states(outermost[0]), () if initial == whole else initial, True
        first = to(self.places.name(outermost[0]))
        return reader.states(root, top=True), self.places.targets(root, "initial") or first, False

    def with_mail(self, chart: Chart, mail: Mail) -> Chart:
        """Return the chart with the region that lets out what it sends to itself."""
        document, region, inside = (
            self.places.free.take_state(name) for name in ("document", "mail", "mailbox")
        )
        if chart.parallel:
            whole = State(document, states=chart.states, initial=chart.initial, parallel=True)
        else:
            whole = State(document, states=chart.states, initial=chart.initial)
        return replace(
            chart,
            states=(whole, mail.region(region, inside, self.content.read)),
            initial=(),
            parallel=True,
            locals={**chart.locals, **mail.variables},
            initial_values={**chart.initial_values, **mail.empty},
            promises=(*chart.promises, mail.promise(self.content.read)),
        )

    def promises(self) -> tuple[Promise, ...]:
        elements = self.root.all("pw:promise")
        if not elements:
            return ()
        states = {name: Node(None) for name in self.places.names.values()}
        declared = replace(
            self.declared.declarations, events=self.events.outside, local_events=self.events.inside
        )
        known = Known(Kind.STATECHART, declared, states, (), frozenset())
        said = LinedList([(_promised(one), one.line) for one in elements])
        return read_promises({"promises": Node(said, self.root.path)}, known)

    def form(self) -> TableForm | None:
        for element in self.root.all("pw:table"):
            columns = [(one, required(one, "name")) for one in element.all("pw:column")]
            data: dict[str, Any] = {
                "state_bits": required(element, "state_bits").split(),
                "codes": {required(one, "state"): required(one, "bits") for one in element.all("pw:code")},
                "inputs": {name: one.get("input") for one, name in columns if one.get("input")},
                "outputs": {name: one.get("output") for one, name in columns if one.get("output")},
            }
            node = Node(data, element.path, "", element.line)
            return read_form(node, [*self.places.names.values()], self.declared.declarations)
        return None


def _promised(element: Element) -> dict[str, Any]:
    """Return a promise as native documents write it; a time without a unit is in seconds."""
    data: dict[str, Any] = dict(element.attributes)
    try:
        data["within"] = float(data["within"])
    except (KeyError, ValueError):
        return data
    return data
