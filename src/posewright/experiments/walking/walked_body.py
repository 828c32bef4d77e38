"""One body of many, and what a gait made of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from posewright.bodies import DomainParameters
from posewright.evaluation.walking.report import GaitReport, plain


@dataclass(frozen=True, eq=False)
class WalkedBody:
    """One body of many, and what the gait made of it.

    Attributes:
        seed: the body was drawn with.
        variation: how it differs from the robot's model.
        report: every figure; None where the simulation failed.
        simulated_s: how long it walked, settling included; before a failure, to the end of the last block
            (`stage.BLOCK_FRAMES`) [s].
        held_joints: that were welded in the gait's pose, as they carry next to nothing.
        failure: why the simulation failed on it; None where it did not.
    """

    seed: int
    variation: DomainParameters
    report: GaitReport | None
    simulated_s: float
    held_joints: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def falls(self) -> int:
        """How often it fell; a body that the simulation fails on has fallen: nobody saw it walk on."""
        return 1 if self.report is None else self.report.falls

    @property
    def is_upright(self) -> bool:
        """Whether it never fell, and was seen to the end."""
        return self.falls == 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON; every figure is None where the simulation failed."""
        figures = dict.fromkeys(_FIGURES) if self.report is None else self.report.to_dict()
        return {
            "seed": self.seed,
            "failure": self.failure,
            **figures,
            "falls": self.falls,
            "variation": plain(asdict(self.variation)),
            "simulated_s": plain(self.simulated_s),
        }


_FIGURES = tuple(one.name for one in fields(GaitReport))
