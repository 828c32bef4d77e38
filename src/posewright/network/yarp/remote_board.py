"""A control board of somebody else's robot, as its client: asked over rpc, commanded and read by streams."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import Reading
from posewright.errors import BodyError, InputError, PosewrightError
from posewright.network.yarp.axes import Axes, numbers, vector
from posewright.network.yarp.bottle import Bottle, Value, Vocab
from posewright.network.yarp.clients import Reader, RpcClient, client_name
from posewright.network.yarp.names import NameClient
from posewright.network.yarp.port import Envelope, OnData, Port
from posewright.network.yarp.sensors import SensorPort
from posewright.robots import Robot
from posewright.units import DEG_PER_RAD

FIRST_S = 5.0
"""A board that has told nothing so long after it was asked to is not there."""

STREAM = "fast_tcp"
GET, SET, MODES, GROUP, DIRECT_GROUP = map(Vocab, ("get", "set", "icmd", "cmog", "dpog"))
POSITIONS = 0
VELOCITIES = 2
TORQUES = 12
"""Where they stand in a message of `stateExt:o`."""


class Told(NamedTuple):
    """What a board told last: positions, velocities and torques, `(n_joints,)` each [rad, rad/s, N m].

    What it does not know is NaN.
    """

    positions: Floats
    velocities: Floats
    torques: Floats


class RemoteBoard:
    """A connection to the control board `NAME`, made and shaken hands on; its joints are not touched yet.

    The board's axes are known by the names of the robot's joints, or, where none is, by the numbering of the
    card that YARP's users of the robot know.

    Args:
        sensors: of the robot; those whose ports are there are read.

    Raises:
        BodyError: nobody of that name answers as a control board does, or it has not the robot's joints.

    Attributes:
        count: how many times the board has told its state.
        told: the latest.
        readings: of the sensors, by channel.
    """

    def __init__(self, names: NameClient, name: str, robot: Robot, sensors: Iterable[SensorPort]) -> None:
        self._names = names
        self._name = name
        self._robot = robot
        self._own = client_name()
        self._readers = itertools.count(1)
        self.count = 0
        self.readings = dict[str, Reading]()
        nothing = np.full(len(robot.joints), np.nan)
        self.told = Told(nothing, nothing, nothing)
        self._first = threading.Event()
        self._held = ExitStack()
        try:
            self._connect(sensors)
        except PosewrightError:
            self.close()
            raise

    def _connect(self, sensors: Iterable[SensorPort]) -> None:
        self._rpc = self._held.enter_context(
            RpcClient(self._names, f"{self._name}/rpc:i", sender=f"{self._own}/rpc:o")
        )
        self._ask("prot", "prot")
        self.axes = self._matched(self._ask("axes", "is", "axes"))
        self._stream = self._held.enter_context(Port(f"{self._own}/command:o", self._names))
        self._stream.connect(f"{self._name}/command:i", STREAM)
        for port in sensors:
            if self._names.query(port.name) is not None:
                self._read(port.name, self._sense(port))
        self._read(f"{self._name}/stateExt:o", self._take)
        if not self._first.wait(FIRST_S):
            raise BodyError(f"{self._name} tells nothing", hint=f"{self._name}/stateExt:o is to stream")

    def _read(self, source: str, take: OnData) -> None:
        reader = Reader(
            self._names, source, take, name=f"{self._own}/{next(self._readers)}/state:i", carrier=STREAM
        )
        self._held.enter_context(reader)

    def _ask(self, word: str, *before: str, of: Bottle = ()) -> Value:
        """Return the value in the answer to `[get] [word]`, which stands behind other words."""
        answer = self._rpc.ask((GET, Vocab(word), *of))
        if answer[: len(before)] != before or len(answer) < len(before) + 2 or answer[-1] != "ok":
            raise BodyError(f"{self._name} does not answer [get] [{word}] as a control board does")
        return answer[len(before)]

    def _matched(self, count: Value) -> Axes:
        if not isinstance(count, int):
            raise BodyError(f"{self._name} has {count!r} axes")
        axis_names = [self._ask("name", "is", "name", of=(axis,)) for axis in range(count)]
        joints = self._robot.joint_names
        if set(joints) <= set(axis_names):
            columns = (
                self._robot.index(name) if isinstance(name, str) and name in joints else None
                for name in axis_names
            )
            return Axes(self._robot, tuple(columns))
        numbered = Axes.of(self._robot)
        if len(numbered) == count and not set(joints) & set(axis_names):
            return numbered
        what = f"{self._name} has the axes {', '.join(map(str, axis_names))}"
        raise BodyError(what, hint=f"{self._robot.name} has {', '.join(joints)}")

    def send(self, angles: Floats) -> None:
        """Stream where the joints are to be, `(n_joints,)` [rad]; waits for nobody."""
        axes = self.axes.driven
        head = DIRECT_GROUP, len(axes), tuple(axes.tolist())
        self._stream.write((head, vector(angles[self.axes.joints] * DEG_PER_RAD)))

    def set_modes(self, joints: Flags, mode: Vocab) -> None:
        """Take some joints, `(n_joints,)`, to a mode, or raise BodyError: the board does not."""
        axes = tuple(self.axes.driven[joints[self.axes.joints]].tolist())
        if self._rpc.ask((SET, MODES, GROUP, len(axes), axes, (mode,) * len(axes))) != ("ok",):
            raise BodyError(f"{self._name} does not take its joints to the mode [{mode}]")

    def stop(self) -> None:
        """Stop all axes where they are."""
        self._rpc.ask((SET, Vocab("stos")))

    def close(self) -> None:
        """Let go of all ports."""
        self._held.close()

    def _take(self, bottle: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002 -- a port's
        """Take a message of `stateExt:o`; one that is none is not taken."""
        if len(bottle) not in {22, 24} or bottle[POSITIONS + 1] != "ok":
            return
        with suppress(InputError):
            self.told = Told(*(self._values(bottle, place) for place in (POSITIONS, VELOCITIES, TORQUES)))
            self.count += 1
            self._first.set()

    def _values(self, bottle: Bottle, place: int) -> Floats:
        """Return what the joints have of one pair; NaN where the board does not know."""
        if bottle[place + 1] != "ok":
            return np.full(len(self._robot.joints), np.nan)
        values = self.axes.radians(numbers(bottle[place], len(self.axes)))
        return values * DEG_PER_RAD if place == TORQUES else values

    def _sense(self, port: SensorPort) -> OnData:
        def sense(bottle: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG001 -- a port's
            with suppress(InputError):
                found: Mapping[str, Reading] = port.readings(bottle)
                self.readings = {**self.readings, **found}

        return sense
