"""Output rules: from the chart's outputs to the motion that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posewright.charts import Expression, Value


@dataclass(frozen=True)
class OutputRule:
    """What to play where a condition holds.

    Attributes:
        when: a condition over the chart's outputs; None always holds.
        play: name of a motion; None stands still.
    """

    when: Expression | None
    play: str | None


def choose(rules: Sequence[OutputRule], outputs: Mapping[str, Value]) -> str | None:
    """Return what the first rule that holds plays; None, to stand still, where none holds."""
    for rule in rules:
        if rule.when is None or rule.when.evaluate(outputs):
            return rule.play
    return None
