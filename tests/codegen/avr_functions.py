"""Functions of C on a simulated ATmega328P: operands lie in its flash, results come from its serial line."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .c_functions import STRICT, source_of

_FIRMWARE = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <string.h>

static void send(char sign)
{
    while ((UCSR0A & (1 << UDRE0)) == 0) {
    }
    UDR0 = (uint8_t)sign;
}

static void show(const void *value, uint8_t size)
{
    const uint8_t *bytes = value;

    send('=');
    while (size-- != 0) {
        send("0123456789abcdef"[bytes[size] >> 4]);
        send("0123456789abcdef"[bytes[size] & 15]);
    }
    send('\\n');
}

int main(void)
{
    uint16_t i;

    UBRR0 = 0;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << TXEN0;
    for (i = 0; i < COUNT; i++) {
        operand a;
        operand b;
        memcpy_P(&a, &operands[2 * i], sizeof a);
        memcpy_P(&b, &operands[2 * i + 1], sizeof b);
        SHOWN
    }
    while ((UCSR0A & (1 << UDRE0)) == 0) {
    }
    cli();
    sleep_mode();
    return 0;
}
"""


def run_on_avr(
    tools: tuple[str, str], folder: Path, formulas: Mapping[str, str], a: NDArray[Any], b: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return what formulas of a and b give, as bits.

    Args:
        tools: the paths of avr-gcc and simavr.
        folder: for what is built.
        formulas: the type of C that each gives, by what is written in C.
        a: 1000 operands or so, int32, float32, or uint64 for the bits of soft doubles.
        b: as many.
    """
    unsigned = f"u{a.itemsize}"
    kind = {"i4": "int32_t", "f4": "float", "u8": "uint64_t"}[a.dtype.str[1:]]
    numbers = np.column_stack([a, b]).view(unsigned).ravel()
    values = ", ".join(f"0x{one:x}{'UL' if a.itemsize == 4 else 'ULL'}" for one in numbers.tolist())
    text = source_of(word for one in formulas for word in re.findall(r"\bpw_\w+", one))
    text += f"#include <avr/pgmspace.h>\ntypedef {kind} operand;\n#define COUNT {len(a)}\n"
    text += f"static const uint{8 * a.itemsize}_t operands[] PROGMEM = {{{values}}};\n"
    shown = "".join(f"{{ {gives} y = {one}; show(&y, sizeof y); }}\n" for one, gives in formulas.items())
    source, image = folder / "firmware.c", folder / "firmware.elf"
    source.write_text(text + _FIRMWARE.replace("SHOWN", shown), encoding="utf-8")
    build = [tools[0], *STRICT, "-mmcu=atmega328p", "-Os", str(source), "-o", str(image), "-lm"]
    subprocess.run(build, check=True)
    simulate = [tools[1], "-m", "atmega328p", "-f", "16000000", str(image)]
    ran = subprocess.run(simulate, check=True, capture_output=True, text=True, timeout=60)
    lines = [int(one, 16) for one in re.findall(r"=([0-9a-f]+)", ran.stdout + ran.stderr)]
    if len(lines) != len(a) * len(formulas):
        raise ValueError(f"{len(lines)} results came back: {ran.stdout[-300:]} {ran.stderr[-300:]}")
    width = {"bool": "u1", "uint64_t": "u8", "pw_f64": "u8"}
    return {
        one: np.array(lines[place :: len(formulas)], width.get(gives, "u4"))
        for place, (one, gives) in enumerate(formulas.items())
    }
