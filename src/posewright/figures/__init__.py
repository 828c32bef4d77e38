"""Figures: every picture and every film."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.figures.film import film_trial as film_trial
    from posewright.figures.film import stage_of as stage_of
    from posewright.figures.gait.drawing import draw_gait as draw_gait
    from posewright.figures.gait.parameter import draw_parameter as draw_parameter
    from posewright.figures.motion.film import film_motion as film_motion
    from posewright.figures.motion.picture import draw_motion as draw_motion
    from posewright.figures.picture import draw_trial as draw_trial
    from posewright.figures.search.picture import draw_tuning as draw_tuning
    from posewright.figures.walking.picture import draw_gait_trial as draw_gait_trial
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
