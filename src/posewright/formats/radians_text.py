"""Radians as text files have them: six decimals, and no more of them than an angle needs."""

from __future__ import annotations

DECIMALS = 6
QUANTUM_RAD = 10.0**-DECIMALS
"""What an angle is rounded to [rad]."""


def number(value: float) -> str:
    """Return an angle as it is written: with as many decimals as it needs, six at most."""
    text = repr(round(value, DECIMALS))
    if "e" in text:  # 1e-06
        text = f"{value:.{DECIMALS}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
