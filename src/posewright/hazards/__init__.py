"""Hazards: what could harm a robot that plays a motion, found before the motion reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.hazards.faults import check_motion as check_motion
    from posewright.hazards.faults import find_faults as find_faults
    from posewright.hazards.faults import find_faults_of_several as find_faults_of_several
    from posewright.hazards.faults import require_no_faults as require_no_faults
    from posewright.hazards.self_collision import find_self_collisions as find_self_collisions
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
