"""How the truth table that a chart was taken from writes it: the document's `table`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from posewright.charts.model import Declarations, TableForm
from posewright.charts.types import Type
from posewright.documents import Node


def read_form(node: Node, states: Collection[str], declared: Declarations) -> TableForm:
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
