"""Expressions and numbers as the scalars of a document."""

from __future__ import annotations

from posewright.charts.expression import Expression
from posewright.charts.types import Value

_WORDS = {"true": True, "false": False}


def scalar(expression: Expression) -> Value:
    """Return an expression as the scalar that reads as its text."""
    return scalar_of(str(expression))


def scalar_of(text: str) -> Value:
    """Return the number or the truth value that reads as this text, else the text."""
    if text in _WORDS:
        return _WORDS[text]
    if not text[:1].isdigit() and text[:1] != "-":  # a variable may be called nan
        return text
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if str(number) == text else text
    return text


def number_text(number: float) -> str:
    """Return a number as short as a person would write it, with no digit lost."""
    text = str(int(number)) if float(number).is_integer() else repr(float(number))
    return text if len(text) <= 18 else f"{number:.16e}"
