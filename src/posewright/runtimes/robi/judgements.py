"""How a rule judges postures: of given angles, or of the poses in which a Robi idles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from posewright.runtimes.robi.postures import judge, postures

JUDGED_BY = (3, 4, 9)
"""IDs that the rules look at: right hip pitch, right knee, left knee."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of one pose.

    Attributes:
        pose: what it is called.
        angles_deg: by ID, with the words' own signs.
        right: what would be right; empty where nobody knows.
    """

    pose: str
    rule: str
    angles_deg: Mapping[int, float]
    judged: str
    right: str = ""

    @property
    def contradicts(self) -> bool:
        """Whether the rule calls a pose something else than its document does."""
        return bool(self.right) and self.judged != self.right

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "contradicts": self.contradicts}


def judge_postures(
    angles_deg: Mapping[int, float] | None = None, rule: str | None = None
) -> tuple[Judgement, ...]:
    """Return what a rule says of given angles, by ID [deg]; default of the four poses in which a Robi idles.

    Raises:
        UnknownNameError: there is no such rule.
    """
    known = postures()
    called, _ = rule or known.default_rule, known.rule(rule)
    if angles_deg is not None:
        return (Judgement("given", called, dict(angles_deg), judge(angles_deg, rule).word),)
    found = []
    for name, idle in known.idle.items():
        at = {number: float(known.degrees(idle.pose)[number]) for number in JUDGED_BY}
        found.append(Judgement(name, called, at, judge(at, rule).word, idle.judged.word))
    return tuple(found)
