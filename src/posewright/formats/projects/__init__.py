"""Projects of the simulators OpenHRP3 and Choreonoid: which models stand where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.formats.projects.choreonoid import read_choreonoid_project as read_choreonoid_project
    from posewright.formats.projects.openhrp import is_openhrp_project as is_openhrp_project
    from posewright.formats.projects.openhrp import read_openhrp_project as read_openhrp_project
    from posewright.formats.projects.scenery import pieces_of_project as pieces_of_project
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
