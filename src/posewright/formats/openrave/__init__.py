"""OpenRAVE's XML: environments, bodies and robots, with what they include from their own folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.formats.openrave.bodies import AttachedSensor as AttachedSensor
    from posewright.formats.openrave.bodies import Environment as Environment
    from posewright.formats.openrave.bodies import Geometry as Geometry
    from posewright.formats.openrave.bodies import GeometryKind as GeometryKind
    from posewright.formats.openrave.bodies import JointKind as JointKind
    from posewright.formats.openrave.bodies import KinBody as KinBody
    from posewright.formats.openrave.bodies import Mass as Mass
    from posewright.formats.openrave.bodies import RaveJoint as RaveJoint
    from posewright.formats.openrave.bodies import RaveLink as RaveLink
    from posewright.formats.openrave.reader import is_openrave as is_openrave
    from posewright.formats.openrave.reader import read_openrave as read_openrave
    from posewright.formats.openrave.robots import read_openrave_robot as read_openrave_robot
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
