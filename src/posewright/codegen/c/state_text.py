"""A header with the text of each state, for logs and displays; it costs nothing unless it is used."""

from __future__ import annotations

from posewright.codegen.c.chart import ChartGenerator
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import SourceFile


def state_text_header(generator: ChartGenerator) -> SourceFile:
    """Return `<prefix>_states.h`, a function from the number of a state to its name in the chart."""
    names = generator.names
    writer = CWriter()
    guard = f"{names.constant}_STATES_H"
    writer.write([f"#ifndef {guard}", f"#define {guard}", "", f'#include "{names.prefix}.h"', ""])
    writer.line(comment("Returns the name of a state in the chart; an empty text for any other number."))
    with writer.function(f"static inline const char *{names.prefix}_state_text(unsigned state)"):
        with writer.block("switch (state)"):
            for node in generator.state_code.named_nodes:
                writer.line(f"case {names.states[node.index]}:")
                writer.line(f"    return {_string_literal(node.name)};")
            writer.write(["default:", '    return "";'])
    writer.line(f"#endif /* {guard} */")
    return writer.file(f"{names.prefix}_states.h")


def _string_literal(text: str) -> str:
    """Return a string literal of C; characters other than those of ASCII are written as bytes of UTF-8."""
    literal = ""
    for byte in text.encode("utf-8"):
        character = chr(byte)
        is_plain = character.isalnum() or character in " _-+.,:;()[]<>=!#/"
        # octal, with three digits, since no digit after it can belong to it
        literal += character if byte < 128 and is_plain else f"\\{byte:03o}"
    return f'"{literal}"'
