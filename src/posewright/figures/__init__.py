"""Figures and films.

A `draw_*` function returns a matplotlib `Figure`, which a notebook shows; `save_figure` writes it as PNG, SVG
or PDF. The first argument is the object to draw, the second a robot or its name (default: that of the gait or
motion); all others are keywords. `figure=` takes a figure or a `SubFigure` to draw into, and `draw_recording`
takes `ax=` for the paths alone; a film strip is always a page of its own. A film is written while it is
rendered. All raise `MissingExtraError` if matplotlib, or the encoder of films, is not installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.figures.benchmark import draw_walk_report as draw_walk_report
    from posewright.figures.camera_images import camera_topics as camera_topics
    from posewright.figures.camera_images import require_cameras as require_cameras
    from posewright.figures.contact_sheet import count_stick_pages as count_stick_pages
    from posewright.figures.contact_sheet import draw_motion_summary as draw_motion_summary
    from posewright.figures.contact_sheet import draw_stick as draw_stick
    from posewright.figures.field import draw_arena as draw_arena
    from posewright.figures.film import film_motion as film_motion
    from posewright.figures.film import film_recording as film_recording
    from posewright.figures.film import require_camera as require_camera
    from posewright.figures.film import require_film_options as require_film_options
    from posewright.figures.film_file import FILMS as FILMS
    from posewright.figures.film_file import require_film_path as require_film_path
    from posewright.figures.gait.page import draw_gait as draw_gait
    from posewright.figures.gait.parameter import draw_parameter as draw_parameter
    from posewright.figures.motion.page import draw_motion as draw_motion
    from posewright.figures.parity import draw_parity as draw_parity
    from posewright.figures.playback import recorded_world as recorded_world
    from posewright.figures.recording import draw_recording as draw_recording
    from posewright.figures.robot import draw_robot as draw_robot
    from posewright.figures.saving import PICTURES as PICTURES
    from posewright.figures.saving import require_picture_path as require_picture_path
    from posewright.figures.saving import save_figure as save_figure
    from posewright.figures.sequence_diagram import draw_sequence as draw_sequence
    from posewright.figures.stress import draw_stress as draw_stress
    from posewright.figures.strip import draw_strip as draw_strip
    from posewright.figures.strip import require_picture_count as require_picture_count
    from posewright.figures.tuning import draw_tuning as draw_tuning
    from posewright.figures.walk import draw_walk as draw_walk
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
