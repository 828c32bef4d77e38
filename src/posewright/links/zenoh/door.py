"""A robot's door to a Zenoh network: questions answered, topics published, trajectories taken."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.bodies import BodyState, JointCommands
from posewright.links.served.door import Served
from posewright.links.zenoh.session import SessionConfig


class ZenohDoor:
    """A `served.door.Door`."""

    def __init__(self, config: SessionConfig, name: str) -> None:
        self._config = config
        self._name = name

    def open(self, served: Served) -> None:
        """Begin to listen."""
        raise NotImplementedError

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Tell all observers of a frame, and wait for none."""
        raise NotImplementedError

    def facts(self) -> Mapping[str, float]:
        """Return its counters."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of everybody."""
        raise NotImplementedError
