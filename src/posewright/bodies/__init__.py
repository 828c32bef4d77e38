"""Bodies: robots that can be driven, behind one small interface, and how a body differs from its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.bodies.body import Body as Body
    from posewright.bodies.body import Plant as Plant
    from posewright.bodies.body import Supervisor as Supervisor
    from posewright.bodies.body import TorquePolicy as TorquePolicy
    from posewright.bodies.body import count_command_frames as count_command_frames
    from posewright.bodies.clock import Clock as Clock
    from posewright.bodies.clock import RealClock as RealClock
    from posewright.bodies.clock import SimulatedClock as SimulatedClock
    from posewright.bodies.distributions import Distribution as Distribution
    from posewright.bodies.distributions import Normal as Normal
    from posewright.bodies.distributions import Uniform as Uniform
    from posewright.bodies.disturbances import ClearCircle as ClearCircle
    from posewright.bodies.disturbances import Plate as Plate
    from posewright.bodies.disturbances import Push as Push
    from posewright.bodies.disturbances import RandomPlates as RandomPlates
    from posewright.bodies.disturbances import RandomPushes as RandomPushes
    from posewright.bodies.domain import NOMINAL as NOMINAL
    from posewright.bodies.domain import DomainParameters as DomainParameters
    from posewright.bodies.domain import DomainRandomization as DomainRandomization
    from posewright.bodies.domain import domain_randomization as domain_randomization
    from posewright.bodies.domain import domain_randomization_names as domain_randomization_names
    from posewright.bodies.domain import draw_domain as draw_domain
    from posewright.bodies.domain import read_domain_randomization as read_domain_randomization
    from posewright.bodies.joints import BodyState as BodyState
    from posewright.bodies.joints import Contacts as Contacts
    from posewright.bodies.joints import Decision as Decision
    from posewright.bodies.joints import Fault as Fault
    from posewright.bodies.joints import FaultKind as FaultKind
    from posewright.bodies.joints import GroundTruth as GroundTruth
    from posewright.bodies.joints import JointCommands as JointCommands
    from posewright.bodies.joints import JointStates as JointStates
    from posewright.bodies.joints import Reading as Reading
    from posewright.bodies.mock import MockBody as MockBody
    from posewright.bodies.mock import Placement as Placement
    from posewright.bodies.mock import quiet_readings as quiet_readings
    from posewright.bodies.posture import POSTURE as POSTURE
    from posewright.bodies.posture import StartPosture as StartPosture
    from posewright.bodies.posture import read_posture as read_posture
    from posewright.bodies.single import SingleBodyPlant as SingleBodyPlant
    from posewright.bodies.spec import BodySpec as BodySpec
    from posewright.bodies.spec import PlanarPose as PlanarPose
    from posewright.bodies.spec import require_single_body as require_single_body
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
