"""What goes over a servo bus, cut into packets of Dynamixel's protocol 1.0."""

from __future__ import annotations

from posewright.codegen.behaviour.packets import HEADER

_BEFORE_LENGTH, _AROUND = 3, 4


def packets_in(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the packets that are complete, damaged or not, and the bytes of one that has only begun."""
    found: list[bytes] = []
    while (begin := data.find(HEADER)) >= 0:
        data = data[begin:]
        end = data[_BEFORE_LENGTH] + _AROUND if len(data) > _BEFORE_LENGTH else len(data) + 1
        if end > len(data):
            return found, data
        found.append(data[:end])
        data = data[end:]
    return found, data[-1:] if data.endswith(HEADER[:1]) else b""
