"""Gains of a servo's controller, as OPEN-R sets them."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.documents import Node

MAX_GAIN = 0xFFFF
"""OPEN-R hands gains and shifts over as 16-bit words (OPENR::SetJointGain)."""

TERMS = ("p", "i", "d")


@dataclass(frozen=True)
class PidGains:
    """One setting of a controller: its three gains, each scaled by a power of two.

    Attributes:
        name: what the maker calls the setting, `standard`.
        p: proportional gain.
        i: integral gain.
        d: derivative gain.
        shifts: of the three gains, in that order; a shift of 16 leaves a gain as it is, one less halves it.
    """

    name: str
    p: int
    i: int
    d: int
    shifts: tuple[int, int, int]

    @property
    def scaled(self) -> tuple[float, float, float]:
        """The three gains as they act, shifts applied."""
        p, i, d = (
            gain * 2.0 ** (shift - 16)
            for gain, shift in zip((self.p, self.i, self.d), self.shifts, strict=True)
        )
        return p, i, d


def parse_gains(node: Node) -> tuple[PidGains, ...]:
    """Read `{shifts: {p: 0x0E, i: 0x02, d: 0x0F}, standard: {p: 0x1C, i: 0x08, d: 0x01}, ...}`.

    Raises:
        DocumentError: a gain is missing or is no 16-bit number.
    """
    fields = node.fields(required=("shifts",))
    shifts = _terms(fields.pop("shifts"), 16)
    return tuple(
        PidGains(name, *_terms(entry, MAX_GAIN), shifts) for name, entry in fields.items() if name != "source"
    )


def _terms(node: Node, high: int) -> tuple[int, int, int]:
    fields = node.fields(required=TERMS, optional=())
    p, i, d = (fields[term].integer(low=0, high=high) for term in TERMS)
    return p, i, d
