"""A client of a control board: it sends requests over rpc, and streams commands and states."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
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

FIRST_STATE_S = 5.0
"""Longest wait for the first state of a board [s]."""

STREAM = "fast_tcp"
GET = Vocab("get")
SET = Vocab("set")
MODES = Vocab("icmd")
GROUP = Vocab("cmog")
DIRECT_GROUP = Vocab("dpog")
POSITIONS = 0
VELOCITIES = 2
TORQUES = 12
"""Indices of these quantities in a message of `stateExt:o`; whether the board knows them follows each."""

STATE_LENGTHS = frozenset({22, 24})
"""Numbers of items in a message of `stateExt:o` of YARP 3 and 4."""


class BoardState(NamedTuple):
    """The latest state of a board: positions, velocities and torques, `(n_joints,)` each [rad, rad/s, N m].

    Unknown values are NaN.
    """

    positions: Floats
    velocities: Floats
    torques: Floats


class RemoteBoard:
    """A connection to the control board `NAME`; opening it moves no joint.

    The board's axes have the names of the robot's joints, or, if none has, the numbering on the card for
    YARP.

    Args:
        name_client: client of the name server.
        name: prefix of the board's ports.
        robot: the robot whose joints the board controls.
        sensors: the sensors of the robot; those with an existing port are read.

    Raises:
        BodyError: there is no control board of that name, or it has other joints.

    Attributes:
        n_states: number of states that the board has sent.
        state: the latest state of the joints.
        readings: the readings of the sensors, by channel.
    """

    def __init__(
        self, name_client: NameClient, name: str, robot: Robot, sensors: Iterable[SensorPort]
    ) -> None:
        """Connect to the board, and wait for its first state."""
        self._name_client = name_client
        self._name = name
        self._robot = robot
        self._client_name = client_name()
        self._reader_numbers = itertools.count(1)
        self.n_states = 0
        self.readings = dict[str, Reading]()
        unknown = np.full(len(robot.joints), np.nan)
        self.state = BoardState(unknown, unknown, unknown)
        self._has_first_state = threading.Event()
        self._resources = ExitStack()
        try:
            self._connect(sensors)
        except PosewrightError:
            self.close()
            raise

    def _connect(self, sensors: Iterable[SensorPort]) -> None:
        """Connect to the board's ports and wait for the first state; raise a BodyError if none comes."""
        self._rpc = self._resources.enter_context(
            RpcClient(self._name_client, f"{self._name}/rpc:i", sender=f"{self._client_name}/rpc:o")
        )
        self._request_value("prot", prefix=("prot",))  # raises an error if this is no control board
        self.axes = self._match_axes(self._request_value("axes", prefix=("is", "axes")))
        self._stream = self._resources.enter_context(
            Port(f"{self._client_name}/command:o", self._name_client)
        )
        self._stream.connect(f"{self._name}/command:i", STREAM)
        for port in sensors:
            if self._name_client.query(port.name) is not None:
                self._read_stream(port.name, self._sensor_handler(port))
        self._read_stream(f"{self._name}/stateExt:o", self._receive_state)
        if not self._has_first_state.wait(FIRST_STATE_S):
            raise BodyError(f"{self._name} sends no state", hint=f"{self._name}/stateExt:o has to stream")

    def _read_stream(self, source: str, on_data: OnData) -> None:
        name = f"{self._client_name}/{next(self._reader_numbers)}/state:i"
        reader = Reader(self._name_client, source, on_data, name=name, carrier=STREAM)
        self._resources.enter_context(reader)

    def _request_value(self, word: str, prefix: tuple[str, ...], arguments: Bottle = ()) -> Value:
        """Return the value in the answer to `[get] [word]` with arguments.

        The answer must begin with the words of `prefix`, which the value follows, and end with `[ok]`.
        """
        answer = self._rpc.ask((GET, Vocab(word), *arguments))
        if answer[: len(prefix)] != prefix or len(answer) < len(prefix) + 2 or answer[-1] != "ok":
            raise BodyError(f"{self._name} does not answer [get] [{word}] as a control board does")
        return answer[len(prefix)]

    def _match_axes(self, count: Value) -> Axes:
        """Return the joints of the board's axes: by name, or in order if no name matches.

        Raises:
            BodyError: some names match, or none does and the board has another number of axes.
        """
        if not isinstance(count, int):
            raise BodyError(f"{self._name} has {count!r} axes")
        axis_names = [
            self._request_value("name", prefix=("is", "name"), arguments=(axis,)) for axis in range(count)
        ]
        joints = self._robot.joint_names
        if set(joints) <= set(axis_names):
            columns = (
                self._robot.index(name) if isinstance(name, str) and name in joints else None
                for name in axis_names
            )
            return Axes(self._robot, tuple(columns))
        axes_by_number = Axes.of(self._robot)
        if len(axes_by_number) == count and not set(joints) & set(axis_names):
            return axes_by_number
        message = f"{self._name} has the axes {', '.join(map(str, axis_names))}"
        raise BodyError(message, hint=f"{self._robot.name} has {', '.join(joints)}")

    def send(self, angles: Floats) -> None:
        """Stream goals of the joints, `(n_joints,)` [rad], without waiting."""
        axes = self.axes.driven
        head = DIRECT_GROUP, len(axes), tuple(axes.tolist())
        self._stream.write((head, vector(angles[self.axes.joints] * DEG_PER_RAD)))

    def set_modes(self, joints: Flags, mode: Vocab) -> None:
        """Set the mode of some joints, `(n_joints,)`; raise a BodyError if the board rejects it."""
        axes = tuple(self.axes.driven[joints[self.axes.joints]].tolist())
        if self._rpc.ask((SET, MODES, GROUP, len(axes), axes, (mode,) * len(axes))) != ("ok",):
            raise BodyError(f"{self._name} does not set its joints to the mode [{mode}]")

    def stop(self) -> None:
        """Stop all axes where they are."""
        self._rpc.ask((SET, Vocab("stos")))

    def close(self) -> None:
        """Close all ports."""
        self._resources.close()

    def _receive_state(self, bottle: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002 -- required by OnData
        """Store the state in a message of `stateExt:o`; other messages are ignored."""
        if len(bottle) not in STATE_LENGTHS or bottle[POSITIONS + 1] != "ok":
            return
        with suppress(InputError):
            self.state = BoardState(
                self._values(bottle, POSITIONS),
                self._values(bottle, VELOCITIES),
                self._values(bottle, TORQUES),
            )
            self.n_states += 1
            self._has_first_state.set()

    def _values(self, bottle: Bottle, index: int) -> Floats:
        """Return the quantity at an index of a state message by joint; NaN if the board does not know it."""
        if bottle[index + 1] != "ok":
            return np.full(len(self._robot.joints), np.nan)
        values = self.axes.radians(numbers(bottle[index], len(self.axes)))
        return (
            values * DEG_PER_RAD if index == TORQUES else values
        )  # torques are no angles: undo the conversion

    def _sensor_handler(self, port: SensorPort) -> OnData:
        """Return a function that stores the readings in each message of a sensor."""

        def store_readings(bottle: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG001 -- required by OnData
            with suppress(InputError):
                self.readings = {**self.readings, **port.readings(bottle)}

        return store_readings
