"""`yarp:NAME[@HOST:PORT]`: a robot that YARP's name server knows, as a body.

One that Posewright serves is driven in lock-step, to the last bit; any other through its control board.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import (
    BodyState,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    Part,
    TorquePolicy,
)
from posewright.control import Clock
from posewright.errors import BodyError, InputError, PosewrightError
from posewright.network.yarp.gateway import port_name
from posewright.network.yarp.moves import DIRECT, IDLE
from posewright.network.yarp.names import NameClient
from posewright.network.yarp.remote_board import RemoteBoard
from posewright.network.yarp.sensors import sensor_ports
from posewright.network.yarp.wire import YarpWire
from posewright.robots import Robot

HOST, PORT = "127.0.0.1", 10000
"""Where YARP's name server is unless somebody says otherwise."""

SILENT_S, LOST_S = 0.1, 0.5
"""A board that is silent for so long has a fault, and is lost."""


def served_at(address: str) -> YarpWire | None:
    """Return the wire to a robot that Posewright serves; None where it is somebody else's.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, where the name server is.

    Raises:
        InputError: the address cannot be read.
        BodyError: no name server answers.
    """
    name, names = read_address(address)
    return YarpWire(names, name) if names.query(f"{name}/plant:i") is not None else None


def board_at(address: str, parts: Sequence[Part], clock: Clock) -> YarpBody:
    """Return somebody else's robot at an address.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, where the name server is.
        parts: the one robot that it is.
        clock: paces its frames.

    Raises:
        InputError: the address cannot be read, or it is of several robots.
        BodyError: no name server answers, or nobody of that name does.
    """
    name, names = read_address(address)
    if len(parts) != 1:
        raise InputError(f"{address} for {len(parts)} robots", hint="a control board is of one")
    if names.query(f"{name}/rpc:i") is None:
        raise BodyError(f"nobody is called {name}/rpc:i", hint="`yarp name list` tells who is there")
    return YarpBody(names, name, parts[0], clock)


def read_address(address: str) -> tuple[str, NameClient]:
    """Return the name of a robot, and whom to ask where it is (InputError: it is no such address)."""
    name, _, server = address.removeprefix("yarp:").partition("@")
    host, _, port = server.partition(":")
    if port and not (port.isdecimal() and port.isascii() and 0 < int(port) < 1 << 16):
        raise InputError(f"{port!r} is no port of a name server", hint="yarp:/ravebot@127.0.0.1:10000")
    return port_name(name), NameClient(host or HOST, int(port or PORT))


class YarpBody:
    """A robot behind a control board, a `Body` and its own `Plant`, in real time.

    Positions are streamed, a row a frame. What the board does not tell, such as torques, is not known.
    """

    def __init__(self, names: NameClient, name: str, part: Part, clock: Clock) -> None:
        self._names, self._name, self._part, self._clock = names, name, part, clock
        self._board: RemoteBoard | None = None
        self._frames, self._silent, self._seen = 0, 0, 0
        self._free: Flags = np.zeros(len(part.robot.joints), np.bool_)

    def __repr__(self) -> str:
        return f"<YarpBody {self._name}: {self.robot.name}>"

    @property
    def robot(self) -> Robot:
        """The robot's card."""
        return self._part.robot

    @property
    def bodies(self) -> Mapping[str, YarpBody]:
        """Itself."""
        return {self._part.name: self}

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""
        return self.robot.frame_period_s

    @property
    def time_s(self) -> float:
        """The time of the frames that have passed [s]."""
        return self._frames * self.frame_period_s

    def open(self) -> None:
        """Connect, and take all joints to direct positions; errors as of `Body`."""
        if self._board is not None:
            return
        sensors = sensor_ports(self._name, self.robot, (*self.robot.sensors, *self._part.sensors))
        board = RemoteBoard(self._names, self._name, self.robot, sensors)
        try:
            board.set_modes(~self._free, DIRECT)
        except PosewrightError:
            board.close()
            raise
        self._board = board

    @property
    def _open(self) -> RemoteBoard:
        if self._board is None:
            raise BodyError(f"{self._name} is not open")
        return self._board

    def read(self) -> BodyState:
        """Return what the board and the sensors told last."""
        told = self._open.told
        velocities = told.velocities if np.isfinite(told.velocities).all() else None
        torques = np.nan_to_num(told.torques)
        return BodyState(self.time_s, told.positions, torques, velocities, self._open.readings)

    def observe(self) -> JointStates:
        """Return what the joints do now."""
        told = self._open.told
        return JointStates(np.array([self.time_s]), told.positions[np.newaxis], told.torques[np.newaxis])

    def facts(self) -> Mapping[str, Any]:
        """Return nothing: a control board does not say what its robot weighs."""
        return {}

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Stream the rows, each at its time; errors as of `Plant`."""
        if set(commands) != set(self.bodies):
            raise BodyError(f"commands for {', '.join(commands) or 'nobody'}", hint=f"for {self._part.name}")
        frames = commands[self._part.name]
        shape = len(frames), len(self.robot.joints)
        frames.check(shape[1])
        self._let_go(frames.free)
        times, positions, torques = np.empty(shape[0]), np.empty(shape), np.empty(shape)
        faults: list[Fault] = []
        for i, angles in enumerate(frames.angles):
            faults += self._send(angles)
            times[i], (positions[i], _, torques[i]) = self.time_s, self._open.told
        return {self._part.name: JointStates(times, positions, torques, faults=tuple(faults))}

    def _send(self, angles: Floats) -> list[Fault]:
        """Send one frame and wait for its end; return what was wrong with it."""
        faults = []
        self._clock.wait_until(self.time_s)
        late_s = self._clock.delay(self.time_s, self.frame_period_s)
        if late_s >= self.frame_period_s:
            faults.append(Fault(self.time_s, FaultKind.LATE, f"sent {late_s * 1e3:.0f} ms late"))
        self._open.send(angles)
        self._frames += 1
        self._clock.wait_until(self.time_s)
        return [*faults, *self._silence()]

    def _silence(self) -> list[Fault]:
        """Return a fault once the board has told nothing for a while; raise BodyError when it is lost."""
        count = self._open.count
        self._silent, self._seen = (self._silent + 1 if count == self._seen else 0), count
        silent_s = self._silent * self.frame_period_s
        if silent_s >= LOST_S:
            raise BodyError(f"{self._name} has told nothing for {silent_s:.1f} s", hint="is it still there?")
        if SILENT_S <= silent_s < SILENT_S + self.frame_period_s:
            return [Fault(self.time_s, FaultKind.SILENT, f"{self._name} tells nothing")]
        return []

    def _let_go(self, free: Flags | None) -> None:
        """Take torque from joints that are free from now on, and give it to those that are no more."""
        now = np.zeros_like(self._free) if free is None else free.copy()
        for joints, mode in ((now & ~self._free, IDLE), (self._free & ~now, DIRECT)):
            if joints.any():
                self._open.set_modes(joints, mode)
        self._free = now

    def stop(self, policy: TorquePolicy) -> None:
        """Stop where it is, or take torque away; one that does not answer is not waited for."""
        with suppress(PosewrightError):
            if policy is TorquePolicy.RELEASE:
                self._open.set_modes(np.ones_like(self._free), IDLE)
            else:
                self._open.stop()

    def close(self) -> None:
        """Let go of all ports."""
        if self._board is not None:
            self._board.close()
        self._board = None
