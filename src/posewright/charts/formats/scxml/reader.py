"""The reader of SCXML: a subset of other tools' documents, and those of `writer` without loss.

A document is converted to the tree of a native document, with line numbers, which the native reader reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from posewright.charts.expression import Expression, Literal, Scope, SourceText, parse_expression
from posewright.charts.formats.document_fields import MAX_TIME_S
from posewright.charts.formats.native_nodes import LineList, LineMapping
from posewright.charts.formats.native_reader import chart_of_document
from posewright.charts.formats.scxml.datamodel import DataModel, assigned_text, read_data
from posewright.charts.formats.scxml.expressions import (
    DATAMODELS,
    NamesInChart,
    python_guard,
    python_text,
    python_value_text,
    translate_expression,
)
from posewright.charts.formats.scxml.foreign_markup import attach_foreign_markup
from posewright.charts.formats.scxml.names import DocumentEvents, name_events, name_states
from posewright.charts.formats.scxml.send_queue import (
    SendQueue,
    build_send_queue,
    delay_ticks,
    expand_computed_attributes,
    is_sent_to_event_queue,
)
from posewright.charts.formats.scxml.vocabulary import (
    AT_ONCE_ATTRIBUTE,
    DEFAULT_ATTRIBUTE,
    JUNCTION_TARGET_ELEMENT,
    MOORE_ATTRIBUTE,
    SEGMENT_ELEMENT,
    STATES,
    build_mapping,
    extension_name,
    read_elements,
)
from posewright.charts.model import (
    ALWAYS,
    ELSE,
    Chart,
    ChartKind,
    DocumentMarkup,
    IgnoredTransition,
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
"""The sample period of a document that does not state one [s]; SCXML has none."""


def parse_scxml(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of an SCXML document; `path` is used for messages and for the name.

    Raises:
        FormatError: it is not SCXML, or is outside the subset; the message has the line.
        ExpressionError: a guard or a value does not parse or type check.
        InputError: states and targets do not fit together.
    """
    root = read_elements(text, path)
    return chart_from_root(root, path)


def chart_from_root(root: Element, path: Path | None = None) -> Chart:
    """Read a chart from the root of a document, all of whose elements and attributes are in the subset.

    Args:
        root: the <scxml> element.
        path: the file of the document, for messages and for the name.

    Raises:
        FormatError: an attribute has an unsupported value, or parts of the document do not fit together.
        ExpressionError: a guard or a value does not parse or type check.
        InputError: states and targets do not fit together.
    """
    for key, supported in (("binding", "early"), ("version", "1.0")):
        if root.get(key) not in (None, supported):
            message = f"{key}={root.get(key)!r} is not in the supported subset of SCXML"
            root.fail(message, hint=f"use {supported!r}")
    if (root.get("datamodel") or "null") not in DATAMODELS:
        hint = f"use one of {', '.join(DATAMODELS)}"
        root.fail(
            f"the data model {root.get('datamodel')!r} is not in the supported subset of SCXML", hint=hint
        )
    root = expand_computed_attributes(root)
    reader = _ScxmlReader(root)
    chart = chart_of_document(Node(reader.read_document(), path, trail="", line=root.line))
    element_of_state = {
        reader.state_names.name_of(element): element
        for element in root.walk()
        if element.name in STATES and element.get(extension_name("regions")) is None
    }
    transition_elements = {
        name: [child for child in element.all("transition") if reader.read_triggers(child) is not None]
        for name, element in element_of_state.items()
    }
    ignored_transitions = tuple(
        IgnoredTransition(child.line, child.get("event") or "")
        for element in element_of_state.values()
        for child in element.all("transition")
        if reader.read_triggers(child) is None
    )
    chart = attach_foreign_markup(chart, root, element_of_state, transition_elements)
    if not ignored_transitions:
        return chart
    markup = chart.document_markup or DocumentMarkup()
    return replace(chart, document_markup=replace(markup, ignored_transitions=ignored_transitions))


class _Case(NamedTuple):
    """An <if>, <elseif> or <else>, and the elements of its branch."""

    condition: Element
    content: list[Element]


@dataclass(frozen=True)
class _ContentReader:
    """Reads executable content and guards of one document, at one place in it, as parts of a native document.

    Attributes:
        names: what the names of the document mean in the chart, and the states that `In` may test at this
            place.
        scope: the names that expressions of the chart may use.
        events: the names of events in the chart.
        variable_types: the types of outputs and locals, which can be set.
        lists: the texts of the lists that a <foreach> may iterate over.
        send_queue: the queue of sent events; None if the document sends nothing.
    """

    names: NamesInChart
    scope: Scope
    events: DocumentEvents
    variable_types: Mapping[str, Type]
    lists: Mapping[str, tuple[str, ...]]
    send_queue: SendQueue | None

    def with_known_states(self, known_states: dict[str, bool]) -> _ContentReader:
        """Return the reader for a place where `In` may test only states that are known to be active or not.

        Args:
            known_states: whether each of these states is active at that place, by id.
        """
        names = replace(self.names, known_states=known_states, may_test_other_states=False)
        return replace(self, names=names)

    def read_guard(self, element: Element) -> str | None:
        """Return the condition of a transition or an <if> in the notation of charts; None if it has none.

        It is the extension attribute `pw:when` if there is one, else the translation of `cond`. As in SCXML a
        number in `cond` is true if it is not zero.
        """
        extension_text = element.get(extension_name("when"))
        if extension_text is not None or element.get("cond") is None:
            return extension_text
        text = translate_expression(element.required("cond"), self.names, element)
        condition = self.parse_text(text, value_type=None, element=element)
        is_number = isinstance(condition.type, Numeric)
        if is_number and not isinstance(condition.tree, Literal):  # the literals 0 and 1 are valid conditions
            return f"({text}) != 0" if " " in text else f"{text} != 0"
        return text

    def parse_text(self, text: str, value_type: Type | None, element: Element) -> Expression:
        """Parse and type check an expression in the notation of charts.

        Args:
            text: the expression.
            value_type: the type that its value must have; None for any.
            element: the element at which errors point.
        """
        return parse_expression(SourceText(text, element.where), self.scope, value_type)

    def read_condition(self, element: Element) -> str:
        """Return the condition of an <if> or <elseif> in the notation of charts.

        Raises:
            FormatError: it has no condition, or its `cond` and its `pw:when` contradict each other.
        """
        text = self.read_guard(element)
        if text is None:
            element.fail(f"<{element.name}> without 'cond'", hint="write the condition")
        implied_cond = python_text(self.parse_text(text, BoolType(), element).tree, self.scope.enum_of_value)
        _require_agreement(element, "cond", implied_cond, extension_key=extension_name("when"))
        return text

    def read_actions(self, elements: Iterable[Element]) -> LineList | None:
        """Return the actions of these elements in sequence; None if there are none.

        An <assign> marked as simultaneous is merged into the assignment before it, as one mapping.
        """
        actions: list[LineMapping] = []
        for element in elements:
            is_simultaneous = element.get(AT_ONCE_ATTRIBUTE) == "true"
            for action in self.read_element_actions(element):
                follows_assignment = bool(actions) and not {"if", "raise"} & actions[-1].keys()
                if is_simultaneous and follows_assignment:
                    actions[-1] = actions[-1].merged_with(action)
                else:
                    actions.append(action)
        return LineList(actions, actions[0].line) if actions else None

    def read_element_actions(self, element: Element) -> Iterable[LineMapping]:
        """Return the actions of an element as in a native document; none for <log> and ignored elements."""
        if element.name == "raise":
            return [
                LineMapping({"raise": self.events.name_by_event[element.required("event")]}, element.line)
            ]
        if element.name == "assign":
            return [self.read_assignment(element)]
        if element.name == "if":
            return [self.read_branch(element)]
        if element.name == "foreach":
            return self.unroll_foreach(element)
        actions = self.read_send(element) if element.name in ("send", "cancel") else []
        return [LineMapping(action, element.line) for action in actions]

    def read_assignment(self, element: Element) -> LineMapping:
        """Return the action of an <assign>: the variable and its value in the notation of charts.

        The value is the extension attribute `pw:value` if there is one, else the translation of `expr`.

        Raises:
            FormatError: the variable cannot be set, or `expr` and `pw:value` contradict each other.
        """
        name = self.require_settable_name(element.required("location"), element)
        extension_text = element.get(extension_name("value"))
        variable_type = self.variable_types[name]
        if extension_text is None:
            text = translate_expression(assigned_text(element), self.names, element)
            return LineMapping({name: text}, element.line)
        value = self.parse_text(extension_text, variable_type, element)
        implied_expr = python_value_text(value, variable_type, self.scope.enum_of_value)
        _require_agreement(element, "expr", implied_expr, extension_key=extension_name("value"))
        return LineMapping({name: extension_text}, element.line)

    def require_settable_name(self, location: str, element: Element) -> str:
        """Return the name in the chart of an output or local, or raise a FormatError if it is neither.

        Args:
            location: the variable that an <assign> or <foreach> names.
            element: that element.
        """
        name = self.names.variable_by_data_id.get(location, "")
        if name in self.variable_types:
            return name
        if name:
            hint = "only outputs and locals can be set, not inputs or constants"
            element.fail(f"{location} cannot be set", hint=hint)
        hint = "declare it in the <datamodel>"
        if location.startswith("_") or "." in location or location in self.lists:
            hint = "only a <data> with one number, truth value or text can be set"
        return element.fail(f"there is no <data> {location!r} to assign to", hint=hint)

    def read_branch(self, element: Element) -> LineMapping:
        """Return the action of an <if>: `{if: ..., do: ..., else: ...}`, each <elseif> inside an `else`."""
        cases = [_Case(element, content=[])]
        for child in element.children:
            if child.name not in ("elseif", "else"):
                cases[-1].content.append(child)
                continue
            if cases[-1].condition.name == "else":
                child.fail(f"<{child.name}> comes after <else>", hint="<else/> must be last")
            cases.append(_Case(child, content=[]))
        otherwise: LineList | LineMapping | None = None
        if cases[-1].condition.name == "else":
            otherwise = self.read_actions(cases.pop().content)
        first_case, *elseif_cases = cases
        # from the last <elseif> to the first, as each is inside the `else` of the one before it
        for case in reversed(elseif_cases):
            otherwise = self._build_branch(case, otherwise)
        return self._build_branch(first_case, otherwise)

    def _build_branch(self, case: _Case, otherwise: LineList | LineMapping | None) -> LineMapping:
        """Return the action `{if: ..., do: ..., else: ...}` of one case.

        Args:
            case: the condition and the elements of the branch.
            otherwise: the actions of the `else`; None for none.
        """
        actions = self.read_actions(case.content)
        branch = {
            "if": self.read_condition(case.condition),
            "do": [] if actions is None else actions,
            "else": otherwise,
        }
        return LineMapping(branch, case.condition.line)

    def unroll_foreach(self, element: Element) -> Iterator[LineMapping]:
        """Yield the actions of a <foreach> over a constant list, unrolled.

        For each element of the list, they set the variables that hold the element and its index, then run
        what is inside.
        """
        array = element.required("array")
        if array not in self.lists:
            hint = "write the list in a <data>, as in [1, 2, 3], and change it nowhere"
            element.fail(f"<foreach> over {array!r} is not in the supported subset of SCXML", hint=hint)
        content = [child for child in element.children if child.name != "log"]
        for index, item_text in enumerate(self.lists[array]):
            for variable, text in ((element.get("item"), item_text), (element.get("index"), str(index))):
                if variable:
                    name = self.require_settable_name(variable, element)
                    yield LineMapping({name: translate_expression(text, self.names, element)}, element.line)
            yield from self.read_actions(content) or ()

    def read_send(self, element: Element) -> list[dict[str, PlainData]]:
        """Return the actions of a <send> or <cancel>: changes of the queue of sent events, or a `raise`.

        An event that is sent to the internal queue is raised at once.
        """
        if element.name == "cancel":
            send_id = element.required("sendid")
            actions = self.send_queue.build_cancel_actions(send_id) if self.send_queue is not None else []
            if not actions:
                element.fail(f"nothing is sent with the id {send_id!r}", hint="give a <send> this id")
            return actions
        event = self.events.name_by_event[element.required("event")]
        if self.send_queue is None or not is_sent_to_event_queue(element):
            return [{"raise": event}]
        delay = delay_ticks(element, self.send_queue.tick_s)
        return [self.send_queue.build_send_action(event, element.get("id") or "", delay)]


def _require_agreement(element: Element, key: str, implied_text: str | None, extension_key: str) -> None:
    """Raise a FormatError unless an attribute has the text that an extension attribute implies for it.

    Args:
        element: the element; without the extension attribute nothing is checked.
        key: the attribute of SCXML.
        implied_text: the text that the extension attribute implies for it, in Python; None for none.
        extension_key: the extension attribute.
    """
    if element.get(extension_key) is None:
        return
    if (element.get(key) or "").split() != (implied_text or "").split():
        hint = f"{extension_key} means {key}={implied_text!r}: change both, or leave {extension_key} out"
        element.fail(f"{key!r} and {extension_key!r} of <{element.name}> contradict each other", hint=hint)


class _ScxmlReader:
    """Converts a document to the tree of a native document.

    Attributes:
        root: the document.
        period_s: the sample period [s].
        state_names: the names of states in the chart.
        data: the variables, constants, functions and lists of the document.
        events: the names of events in the chart.
        send_queue: the queue of sent events; None if the document sends nothing.
        content_reader: reads actions and guards, at a place where `In` may test any state.
        is_posewright_document: `writer` wrote the document, so it keeps the semantics of charts.
    """

    def __init__(self, root: Element) -> None:
        """Read the names of states, data and events, which the rest of the document uses."""
        self.root = root
        period_s = _read_seconds(root, "period_s")
        self.period_s = PERIOD_S if period_s is None else period_s
        self.state_names = name_states(root)
        self.data: DataModel = read_data(root, self.state_names)
        self.events = name_events(root, self.state_names.name_by_id, self.data.free_names)
        self.send_queue = build_send_queue(root, self.events, self.data.free_names, tick_s=self.period_s)
        declared = self.data.declared
        scope = declared.scope(tuple(self.state_names.name_by_id.values()))
        self.content_reader = _ContentReader(
            self.data.names,
            scope,
            self.events,
            variable_types=declared.variables,
            lists=self.data.lists,
            send_queue=self.send_queue,
        )
        # only our writer states the kind of the chart
        self.is_posewright_document = root.get(extension_name("kind")) is not None

    def read_document(self) -> LineMapping:
        """Return the plain data of the equivalent native document."""
        root = self.root
        junctions = {
            junction.required("id"): LineList(
                self.read_transitions(junction.all(SEGMENT_ELEMENT)), junction.line
            )
            for junction in root.all("pw:junction")
        }
        document = {
            **self.read_chart_fields(),
            **self.data.sections,
            "events": [*self.events.external_names] or None,
            "local_events": [*self.events.internal_names] or None,
            "promises": LineList(map(_read_promise, root.all("pw:promise")), root.line),
            "table": next(map(_read_table, root.all("pw:table")), None),
            "junctions": LineMapping(junctions, root.line),
            **self.read_outermost_states(),
        }
        if self.send_queue is not None:
            document = self.add_send_queue(document, self.send_queue)
        return LineMapping(document, root.line)

    def read_chart_fields(self) -> dict[str, PlainData]:
        """Return the plain data of the chart's own fields: name, kind, period, defaults.

        What the document does not state is as in SCXML: the chart runs to completion, tries transitions in
        the order of the document, and stays in a state where none is enabled.
        """

        def extension(name: str) -> str | None:
            """Return the text of an extension attribute of the root; None if it is missing."""
            return self.root.get(extension_name(name))

        document_name = self.root.get("name")
        file_name = chart_name_of_file(self.root.path, "chart")
        name = to_chart_name(document_name) if document_name else file_name
        kind = extension("kind") or ChartKind.STATECHART.value
        steps = extension("steps")
        otherwise = extension("otherwise")
        if kind == ChartKind.STATECHART.value:
            steps = steps or StepMode.COMPLETION.value  # it is the default of a statechart to stay
        else:
            otherwise = otherwise or Otherwise.STAY.value
            # a native document of another kind has no key `steps`, as ONE is its only mode
            if steps == StepMode.ONE.value:
                steps = None
        return {
            "chart": name,
            "description": extension("description"),
            "source": extension("source"),
            "kind": kind,
            "period_s": self.period_s,
            "steps": steps,
            "priority": extension("priority") or Priority.ORDERED.value,
            "otherwise": otherwise,
            "resources": (extension("resources") or "").split(),
        }

    def read_outermost_states(self) -> dict[str, PlainData]:
        """Return the fields `initial` and `states` of the chart, or `initial` and `regions`.

        If the document states no initial state, it is the first one.
        """
        root = self.root
        outermost_states = root.all(*STATES)
        if not outermost_states:
            root.fail("there is no state", hint="a document has at least one <state>")
        first_state = outermost_states[0]
        first_name = self.state_names.name_of(first_state)
        initial = self.state_names.read_targets(root, "initial")
        if first_state.get(extension_name("regions")) is None:
            return {"initial": initial or first_name, "states": self.read_states(root, is_outermost=True)}
        # SCXML's root cannot have regions, so the writer puts them into a state
        regions = self.read_states(first_state)
        return {"initial": None if initial == first_name else initial, "regions": regions}

    def add_send_queue(self, document: dict[str, Any], send_queue: SendQueue) -> dict[str, Any]:
        """Return a chart document in which a new region beside its states holds the queue of sent events.

        The states are moved into a region of their own, and the locals, initial values and promise of the
        queue are added.
        """
        free_names = self.state_names.free_names
        region_of_states = free_names.take_state_name("document")
        region_of_queue = free_names.take_state_name("mail")
        queue_state = free_names.take_state_name("mailbox")
        line = self.root.line
        states = LineMapping({key: document.pop(key, None) for key in ("initial", "states", "regions")}, line)
        queue = send_queue.build_region(queue_state)
        queue_locals = LineMapping(send_queue.local_types, line)
        queue_initial_values = LineMapping(send_queue.initial_values, line)
        return {
            **document,
            "locals": document["locals"].merged_with(queue_locals),
            "initial_values": document["initial_values"].merged_with(queue_initial_values),
            "promises": LineList([*document["promises"], send_queue.promise], line),
            "regions": LineMapping({region_of_states: states, region_of_queue: queue}, line),
        }

    def read_states(self, element: Element, *, is_outermost: bool = False) -> LineMapping:
        """Return the plain data of the states directly inside an element, by their names in the chart."""
        inside = {
            self.state_names.name_of(child): self.read_state(child, is_outermost=is_outermost)
            for child in element.all(*STATES)
        }
        return LineMapping(inside, element.line)

    def read_state(self, element: Element, *, is_outermost: bool) -> LineMapping:
        """Return the plain data of a state and the states inside it.

        Args:
            element: the state.
            is_outermost: it is directly inside the document, which ends if it is final.
        """
        # in other tools' documents, In() has a known result while states are entered and left, or is an error
        content_reader = self.content_reader
        if not self.is_posewright_document:
            content_reader = content_reader.with_known_states(_known_active_states(element))
        exit_actions = content_reader.read_actions(_children_of_blocks(element, "onexit"))
        entry_actions = [
            *(content_reader.read_actions(_children_of_blocks(element, "onentry")) or ()),
            *self.read_initial_actions(element),
        ]
        if element.name == "final" and is_outermost and not self.is_posewright_document:
            # the document ends in this state, so its exit actions follow its entry actions
            entry_actions = [*entry_actions, *(exit_actions or ())]
            exit_actions = None
        inner_states = self.read_states(element)
        has_regions = element.name == "parallel" and inner_states
        return build_mapping(
            element,
            description=element.get(extension_name("description")),
            min_s=_read_seconds(element, "min_s"),
            priority=element.get(extension_name("priority")),
            otherwise=element.get(extension_name("otherwise")),
            transitions=self.read_transitions(
                element.all("transition"), _read_seconds(element, "min_s") or 0.0
            ),
            do=self.read_moore_values(element),
            entry=LineList(entry_actions, element.line) if entry_actions else None,
            during=self.content_reader.read_actions(_children_of_blocks(element, extension_name("during"))),
            exit=exit_actions,
            final=True if element.name == "final" else None,
            initial=self.read_initial_states(element),
            states=inner_states if inner_states and not has_regions else None,
            regions=inner_states if has_regions else None,
        )

    def read_moore_values(self, element: Element) -> LineMapping | None:
        """Return the outputs that a Moore state sets itself; None if there are none."""
        blocks = [block for block in element.all("onentry") if block.get(MOORE_ATTRIBUTE) is not None]
        assignments = [
            child for block in blocks for child in block.children if child.get(DEFAULT_ATTRIBUTE) is None
        ]
        actions = self.content_reader.read_actions(assignments) or ()
        outputs = {name: value for action in actions for name, value in action.items()}
        return LineMapping(outputs, element.line) or None

    def read_initial_states(self, element: Element) -> PlainData:
        """Return the initial states inside a state, as a native document writes them.

        They are the attribute `initial` or the target of the <initial>, else the first state inside. None for
        a state without states inside, and for a <parallel> that does not name initial states of its regions.
        """
        if element.name == "parallel":
            return self.state_names.read_targets(element, extension_name("enters"))
        if element.get("initial") is not None:
            return self.state_names.read_targets(element, "initial")
        for initial in element.all("initial"):
            return self.state_names.read_targets(_initial_transition(initial))
        children = element.all(*STATES)
        return self.state_names.name_of(children[0]) if children else None

    def read_initial_actions(self, element: Element) -> Iterator[LineMapping]:
        """Yield the actions in the <initial> of a state, which run when the state is entered.

        Raises:
            FormatError: the states inside may be entered otherwise, so the actions are no entry actions.
        """
        for initial in element.all("initial"):
            if element.get("initial") is not None:
                initial.fail("both <initial> and 'initial'", hint="leave one of them out")
            content_reader = self.content_reader.with_known_states({})
            actions = content_reader.read_actions(_initial_transition(initial).children)
            if actions and not self.state_names.is_entered_only_by_initial(element):
                context = "<initial> with actions, in a state with other entries,"
                message = f"{context} is not in the supported subset of SCXML"
                initial.fail(message, hint="move them into the <onentry> of a state")
            yield from actions or ()

    def read_transitions(self, elements: Iterable[Element], min_s: float = 0.0) -> LineList:
        """Return the transitions of a state or junction, without those whose events never occur.

        Args:
            elements: the transitions.
            min_s: minimum time in the state [s].
        """
        earlier_transitions: list[Transition] = []  # read_transition appends to it
        transitions = [self.read_transition(element, earlier_transitions, min_s) for element in elements]
        return LineList([transition for transition in transitions if transition is not None], line=None)

    def read_transition(
        self, element: Element, earlier_transitions: list[Transition], min_s: float
    ) -> LineMapping | None:
        """Return the plain data of a transition, None if its events never occur.

        Args:
            element: the transition.
            earlier_transitions: those before it, with guards and triggers only, of which an `else` needs the
                guards; this one is appended.
            min_s: minimum time in the state [s].
        """
        triggers = self.read_triggers(element)
        if triggers is None:
            return None
        action_reader = self.content_reader
        if not self.is_posewright_document:
            action_reader = action_reader.with_known_states({})
        guard = (
            ELSE if element.get(extension_name("else")) == "true" else self.content_reader.read_guard(element)
        )
        is_local = _is_local(element)
        actions = action_reader.read_actions(element.children)
        transition = build_mapping(
            element,
            description=element.get(extension_name("description")),
            on=[*triggers] or None,
            when=guard,
            after_s=_read_seconds(element, "after_s"),
            do=actions[0] if actions is not None and len(actions) == 1 else actions,
            go=self.state_names.read_targets(element),
            then=self.read_transitions(element.all(SEGMENT_ELEMENT)) or None,
            junction=next(
                (target.required("junction") for target in element.all(JUNCTION_TARGET_ELEMENT)), None
            ),
            local=True if is_local and element.get("target") else None,
        )
        self.append_checked_transition(element, transition, earlier_transitions, min_s)
        # a transition of a native document must state an effect and a cause
        defaults: dict[str, PlainData] = {}
        if not transition.keys() & {"do", "go", "then", "junction"}:
            defaults["do"] = {}
        if not transition.keys() & {"on", "when", "after_s", "then", "junction"}:
            defaults["when"] = "true"
        return LineMapping({**transition, **defaults}, element.line)

    def append_checked_transition(
        self, element: Element, transition: LineMapping, earlier_transitions: list[Transition], min_s: float
    ) -> None:
        """Append a transition to the earlier ones, once its attributes are found to agree.

        A guard is the condition of a transition; that of an `else` is that no earlier transition is enabled.
        Guard and minimum time are stated twice in a document: as Python text in SCXML's own attribute `cond`,
        and in the extension attributes `when`, `after_s` and `else`. `cond` must be what those imply.

        Args:
            element: the transition in the document.
            transition: its plain data.
            earlier_transitions: those before it, with guards and triggers only; this one is appended.
            min_s: minimum time in the state, for which transitions that leave it wait [s].

        Raises:
            FormatError: `cond` and the extension attributes contradict each other.
        """
        triggers = tuple(transition.get("on", ()))
        after_s = transition.get("after_s", 0.0)
        guard_text = transition.get("when")
        guard = ALWAYS
        if guard_text == ELSE:
            # an `else` without any transition before it is an error, which the reader of our charts reports
            if has_alternatives(earlier_transitions, triggers):
                guard = else_guard(earlier_transitions, triggers, element.where)
        elif guard_text is not None:
            guard = self.content_reader.parse_text(guard_text, BoolType(), element)
        has_destination = bool(transition.keys() & {"go", "then", "junction"})
        leaves_state = has_destination and element.get("type") != "internal"
        wait_s = max(min_s if leaves_state else 0.0, after_s)
        implied_cond = python_guard(guard, wait_s, self.content_reader.scope.enum_of_value)
        for key in ("when", "after_s", "else"):
            _require_agreement(element, "cond", implied_cond, extension_key=extension_name(key))
        earlier_transitions.append(Transition(guard, on=triggers, after_s=after_s))

    def read_triggers(self, element: Element) -> tuple[str, ...] | None:
        """Return the events that trigger a transition, by their names in the chart.

        It is empty for a transition that is tried in every tick, and None if none of its events ever occurs.
        """
        descriptors = element.get("event")
        if descriptors is None or descriptors.strip() == self.events.tick_event:
            return ()
        if not descriptors.split():
            element.fail("<transition> with an empty 'event'", hint="name an event, or leave 'event' out")
        return self.events.names_matching(descriptors) or None


def _read_seconds(element: Element, name: str) -> float | None:
    """Return the time in an extension attribute [s]; None if it is missing.

    The native reader checks the range.
    """
    text = element.get(extension_name(name))
    try:
        return None if text is None else float(text)
    except ValueError:
        return element.fail(
            f"{extension_name(name)}={text!r} is not a time", hint=f"a number of seconds, 0..{MAX_TIME_S:g}"
        )


def _is_local(element: Element) -> bool:
    """Return whether a transition to a state inside its source does not leave the source."""
    kind = element.get("type") or "external"
    if kind not in ("internal", "external"):
        element.fail(f"{kind!r} is not a type of transition", hint="use internal or external")
    return kind == "internal" or element.get(extension_name("local")) == "true"


def _initial_transition(initial: Element) -> Element:
    """Return the only transition of an <initial>; raise a FormatError if it is not one with just a target."""
    transitions = initial.all("transition")
    is_valid = len(transitions) == 1 and transitions[0].get("target")
    if not is_valid or transitions[0].get("event") or transitions[0].get("cond"):
        message = "an <initial> needs exactly one <transition>, without event and condition"
        initial.fail(message, hint='write <transition target="..."/> in it')
    return transitions[0]


def _children_of_blocks(element: Element, name: str) -> list[Element]:
    """Return the content of all child elements of a name, except blocks that set a Moore state's outputs."""
    return [
        child for block in element.all(name) if block.get(MOORE_ATTRIBUTE) is None for child in block.children
    ]


def _known_active_states(element: Element) -> dict[str, bool]:
    """Return which states are known to be active while a state is entered or left, by id.

    The state itself is active, those inside it are not; of others nothing is known.
    """
    states = [state for state in element.walk() if state.name in STATES]
    is_active = {state.get("id") or "": False for state in states}
    is_active[element.get("id") or ""] = True
    return is_active


def _read_promise(element: Element) -> LineMapping:
    """Return a promise as in a native document; a time without a unit is in seconds."""
    data: dict[str, PlainData] = dict(element.attributes)
    with suppress(KeyError, ValueError):
        data["within"] = float(element.attributes["within"])  # "2 s" stays a text
    return LineMapping(data, element.line)


def _read_table(element: Element) -> LineMapping:
    """Return the columns of a truth table as in a native document."""
    columns = [(column, column.required("name")) for column in element.all("pw:column")]
    return build_mapping(
        element,
        state_bits=element.required("state_bits").split(),
        codes={code.required("state"): code.required("bits") for code in element.all("pw:code")},
        inputs={name: column.get("input") for column, name in columns if column.get("input")},
        outputs={name: column.get("output") for column, name in columns if column.get("output")},
    )
