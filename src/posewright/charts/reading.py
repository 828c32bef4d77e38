"""Native charts, `*.chart.yaml`: read with the line of everything that is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TypeVar

from posewright.charts.chart import Chart, Kind, Otherwise, Priority, State, Transition
from posewright.charts.datatypes import BoolType, Type, Value
from posewright.charts.declarations import Declarations, read_declarations, refuse_twin
from posewright.charts.expression import Expression, Scope, Source, constant, parse_expression
from posewright.charts.table_form import TableForm
from posewright.documents import Node, parse_document
from posewright.errors import UnknownNameError, Where

REQUIRED = ("chart", "kind", "period_s", "outputs", "initial", "states")
OPTIONAL = (
    "description",
    "source",
    "inputs",
    "constants",
    "initial_outputs",
    "priority",
    "otherwise",
    "table",
)
STATE_KEYS = ("description", "do", "min_s", "priority", "otherwise", "transitions")
TRANSITION_KEYS = ("when", "do", "go", "after_s")
SHORTEST_S, LONGEST_S = 1e-4, 86_400.0
"""Bounds of every time in a chart [s]: a tick is no shorter, a wait no longer."""

_STATE_NAME = re.compile(r"[A-Za-z0-9_]{1,80}")
_ALWAYS = constant(True, "true")

Word = TypeVar("Word", bound=Enum)


def parse_chart(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of its document; `path` is only used in messages.

    Raises:
        DocumentError: the document, or an entry in it, is not what it should be.
        ExpressionError: a guard or an action does not parse or does not type.
        UnknownNameError: a state, a key or a type that does not exist.
    """
    return _Reader(parse_document(text, path)).chart()


class _Reader:
    """Reads one document; what was declared first is in scope of what follows."""

    def __init__(self, root: Node) -> None:
        self.root = root
        root.fields(optional=(*REQUIRED, *OPTIONAL))  # a misspelt key is worth more than a missing one
        self.fields = root.fields(required=REQUIRED)
        self.kind = Kind(self.fields["kind"].choice("kind of chart", [kind.value for kind in Kind]))
        self.declared: Declarations = read_declarations(root, self.fields)
        self.scope = self.declared.scope
        self.names = self.state_names()

    def chart(self) -> Chart:
        fields = self.fields
        return Chart(
            name=fields["chart"].text(),
            kind=self.kind,
            period_s=fields["period_s"].number(low=SHORTEST_S, high=LONGEST_S),
            inputs=self.declared.inputs,
            outputs=self.declared.outputs,
            initial=fields["initial"].choice("state", self.names),
            states=tuple(self.state(name, node) for name, node in fields["states"].fields().items()),
            constants=self.declared.constants,
            initial_outputs=self.initial_outputs(),
            priority=_choice(fields, "priority", Priority) or Priority.EXCLUSIVE,
            otherwise=_choice(fields, "otherwise", Otherwise) or Otherwise.REFUSE,
            form=_form(fields["table"], self.names, self.declared) if "table" in fields else None,
            description=_text(fields, "description"),
            source=_text(fields, "source"),
            path=self.root.path,
        )

    def state_names(self) -> list[str]:
        nodes = self.fields["states"].fields()
        if not nodes:
            self.fields["states"].fail("there is no state", hint="a chart has at least one")
        seen: dict[str, str] = {}
        for name, node in nodes.items():
            if not _STATE_NAME.fullmatch(name):
                node.fail(f"{name[:80]!r} is no name for a state", hint="use letters a-z, digits and _")
            refuse_twin(name, seen, node)
        return list(nodes)

    def initial_outputs(self) -> dict[str, Value]:
        actions = self.actions(self.fields, "initial_outputs", self.declared.fixed_scope)
        return {name: self.declared.outputs[name].fit(value.constant) for name, value in actions.items()}

    def state(self, name: str, node: Node) -> State:
        if isinstance(node.value, list) or node.value is None:
            return State(name, self.transitions(node), line=node.line)
        fields = node.fields(optional=STATE_KEYS)
        if "do" in fields and self.kind is Kind.MEALY:
            fields["do"].fail(
                "a Mealy state sets no outputs", hint="set them on transitions, or say kind: moore"
            )
        return State(
            name,
            self.transitions(fields["transitions"]) if "transitions" in fields else (),
            do=self.actions(fields, "do", self.declared.fixed_scope),
            min_s=_seconds(fields, "min_s"),
            priority=_choice(fields, "priority", Priority),
            otherwise=_choice(fields, "otherwise", Otherwise),
            description=_text(fields, "description"),
            line=node.line,
        )

    def transitions(self, node: Node) -> tuple[Transition, ...]:
        return () if node.value is None else tuple(self.transition(item) for item in node.items())

    def transition(self, node: Node) -> Transition:
        fields = node.fields(optional=TRANSITION_KEYS)
        if "when" not in fields and "after_s" not in fields:
            node.fail("'when' is missing", hint="write the guard, as in `when: front and not left`")
        if "go" not in fields and "do" not in fields:
            node.fail("neither 'go' nor 'do': it changes nothing", hint="write the state to go to")
        if "do" in fields and self.kind is Kind.MOORE:
            fields["do"].fail(
                "a Moore transition sets no outputs", hint="set them in the state, or say kind: mealy"
            )
        return Transition(
            when=_expression(node, "when", self.scope, BoolType()) if "when" in fields else _ALWAYS,
            do=self.actions(fields, "do", self.scope),
            go=fields["go"].choice("state", self.names) if "go" in fields else None,
            after_s=_seconds(fields, "after_s"),
            line=node.line,
        )

    def actions(self, fields: Mapping[str, Node], key: str, scope: Scope) -> dict[str, Expression]:
        """Read a mapping from outputs to the expressions they are set to."""
        outputs, found = self.declared.outputs, {}
        for name, node in (fields[key].fields() if key in fields else {}).items():
            if name not in outputs:
                raise UnknownNameError.among("output", name, outputs, where=node.where)
            found[name] = _expression(fields[key], name, scope, outputs[name])
        return found


def _expression(parent: Node, key: str, scope: Scope, wanted: Type) -> Expression:
    node = parent.fields()[key]
    if not isinstance(node.value, str | int | float):
        node.fail("expected an expression, such as `front and not left`")
    return parse_expression(Source(_written(node.value), _place(parent, key, node)), scope, wanted)


def _written(value: object) -> str:
    """Return a YAML scalar as the text of an expression."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else str(value)


def _place(parent: Node, key: str, node: Node) -> Where:
    """Return where an expression's first character stands; no column where the text is folded."""
    position = (getattr(getattr(parent.value, "lc", None), "data", None) or {}).get(key)
    if position is None:
        return node.where
    line, column = position[2] + 1, position[3] + 1
    style = type(node.value).__name__
    if style in ("LiteralScalarString", "FoldedScalarString"):
        return Where(node.path, line)
    return Where(
        node.path, line, column + (style in ("SingleQuotedScalarString", "DoubleQuotedScalarString"))
    )


def _choice(fields: Mapping[str, Node], key: str, kind: type[Word]) -> Word | None:
    return kind(fields[key].choice(key, [member.value for member in kind])) if key in fields else None


def _text(fields: Mapping[str, Node], key: str) -> str:
    return fields[key].text().strip() if key in fields else ""


def _seconds(fields: Mapping[str, Node], key: str) -> float:
    return fields[key].number(low=0.0, high=LONGEST_S) if key in fields else 0.0


def _form(node: Node, states: list[str], declared: Declarations) -> TableForm:
    """Read how the source's truth table writes the chart."""
    fields = node.fields(required=("state_bits", "codes", "inputs"), optional=("outputs",))
    bits = tuple(bit.text() for bit in fields["state_bits"].items())
    nodes = fields["codes"].fields(required=states, optional=())
    codes = {name: _code(code, len(bits)) for name, code in nodes.items()}
    if len(set(codes.values())) < len(codes):
        fields["codes"].fail("two states have the same code", hint="every state has its own")
    outputs = {name: name for name in declared.outputs}
    if "outputs" in fields:
        outputs = _columns(fields["outputs"], declared.outputs, "output")
    return TableForm(_columns(fields["inputs"], declared.inputs, "input"), outputs, bits, codes)


def _columns(node: Node, known: Mapping[str, Type], kind: str) -> dict[str, str]:
    found = {column: name.choice(kind, list(known)) for column, name in node.fields().items()}
    for name in known:
        if list(found.values()).count(name) != 1:
            node.fail(f"the {kind} {name!r} needs just one column", hint=f"write it as `column: {name}`")
    return found


def _code(node: Node, length: int) -> str:
    code = node.text()
    if len(code) != length or set(code) - {"0", "1"}:
        node.fail(f"{code!r} is no code of {length} bits", hint='write it in quotes, as in "01"')
    return code
