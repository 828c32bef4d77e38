"""`yarp:NAME[@HOST:PORT]`: a robot that YARP's name server knows, as a body.

One that Posewright serves is driven in lock-step, to the last bit; any other through its control board.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Flags, Floats
from posewright.bodies import (
    BodyState,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    Part,
    Plant,
    Reading,
    TorquePolicy,
)
from posewright.control import Clock
from posewright.errors import BodyError, InputError, PosewrightError
from posewright.links.yarp.axes import Axes, numbers, usual_numbering, vector
from posewright.links.yarp.bottle import Bottle, Value, Vocab
from posewright.links.yarp.clients import Reader, RpcClient
from posewright.links.yarp.gateway import ASK, port_name
from posewright.links.yarp.moves import DIRECT, IDLE
from posewright.links.yarp.names import NameClient
from posewright.links.yarp.port import Envelope, Port
from posewright.links.yarp.sensors import SensorPort, sensor_ports
from posewright.robots import Robot
from posewright.units import DEG_PER_RAD, RAD_PER_DEG

HOST, PORT = "127.0.0.1", 10000
"""Where YARP's name server is unless somebody says otherwise."""

FIRST_S = 5.0
"""A board that has told nothing for so long after it was asked is not there."""

SILENT_S, LOST_S = 0.1, 0.5
"""A board that is silent for so long has a fault, and is lost."""

STREAM = "fast_tcp"
_GET, _SET = Vocab("get"), Vocab("set")
_clients = itertools.count(1)


def make_yarp(address: str, parts: Sequence[Part], arena: Arena | None, clock: Clock) -> Plant:
    """Return the plant at `yarp:NAME[@HOST:PORT]`.

    Args:
        clock: paces the frames of a robot that Posewright does not serve.

    Raises:
        InputError: the address cannot be read, or it is another robot, or several.
        BodyError: no name server answers, or nobody of that name does.
    """
    name, names = read_address(address)
    if names.query(f"{name}/plant:i") is not None:
        from posewright.links.served.remote_plant import RemotePlant

        return RemotePlant(YarpWire(names, name), parts, arena)
    if len(parts) != 1:
        raise InputError(f"{address} for {len(parts)} robots", hint="a control board is of one")
    return YarpBody(names, name, parts[0], clock)


def read_address(address: str) -> tuple[str, NameClient]:
    """Return the name of a robot, and whom to ask where it is (InputError: it is no such address)."""
    name, _, server = address.removeprefix("yarp:").partition("@")
    host, _, port = server.partition(":")
    if port and not (port.isdecimal() and 0 < int(port) < 1 << 16):
        raise InputError(f"{port!r} is no port of a name server", hint="yarp:/ravebot@127.0.0.1:10000")
    return port_name(name), NameClient(host or HOST, int(port or PORT))


class YarpWire:
    """A `served.Wire` to the port `NAME/plant:i` of a robot that Posewright serves."""

    def __init__(self, names: NameClient, name: str) -> None:
        self._rpc = RpcClient(names, f"{name}/plant:i", sender=_own_name("plant:o"))

    def ask(self, request: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request; errors as of `served.Wire`."""
        match self._rpc.ask((ASK, request), timeout_s):
            case ("is", bytes(answer)):
                return answer
            case ("fail", str(why)):
                raise BodyError(why)
        raise BodyError("the answer is none", hint="posewright serve ROBOT --yarp, of the same version")

    def close(self) -> None:
        """Let go of the port."""
        self._rpc.close()


class YarpBody:
    """A robot behind a control board, a `Body` and its own `Plant`, in real time.

    Its joints are those of the board's axes that are called as they are, or, where none is, as the numbering of
    the card by which YARP's users know the robot. Positions are streamed one row a frame.
    """

    def __init__(self, names: NameClient, name: str, part: Part, clock: Clock) -> None:
        self._names, self._name, self._clock = names, name, clock
        self._key, self._robot, self._period_s = part.name, part.robot, part.robot.frame_period_s
        self._sensors = sensor_ports(name, part.robot, (*part.robot.sensors, *part.sensors))
        self._told = _Told(len(part.robot.joints))
        self._readings: dict[str, Reading] = {}
        self._held = ExitStack()
        self._frames, self._silent, self._seen = 0, 0, 0
        self._free: Flags = np.zeros(len(part.robot.joints), np.bool_)
        if names.query(f"{name}/rpc:i") is None:
            raise BodyError(
                f"nobody is called {name}", hint=f"yarp name list tells who is; {name}/rpc:i is not"
            )

    def __repr__(self) -> str:
        return f"<YarpBody {self._name}: {self._robot.name}>"

    @property
    def robot(self) -> Robot:
        """The robot's card."""
        return self._robot

    @property
    def bodies(self) -> Mapping[str, YarpBody]:
        """Itself."""
        return {self._key: self}

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""
        return self._period_s

    @property
    def time_s(self) -> float:
        """The frames that have passed, as a time [s]."""
        return self._frames * self._period_s

    def open(self) -> None:
        """Shake hands, let the board stream, and take all joints to direct positions; errors: BodyError."""
        if hasattr(self, "_rpc"):
            return
        try:
            self._open()
        except PosewrightError:
            self.close()
            raise

    def _open(self) -> None:
        self._rpc = RpcClient(self._names, f"{self._name}/rpc:i", sender=_own_name("rpc:o"))
        self._held.callback(self._rpc.close)
        self._axes = self._matched(self._ask("axes", int))
        self._told.axes = self._axes
        self._commands = Port(_own_name("command:o"), self._names)
        self._held.callback(self._commands.close)
        self._commands.connect(f"{self._name}/command:i", STREAM)
        self._read(f"{self._name}/stateExt:o", self._told.take)
        for told in self._sensors:
            if self._names.query(told.name) is not None:
                self._read(told.name, lambda bottle, _envelope, _sender, told=told: self._sense(told, bottle))
        if not self._told.first.wait(FIRST_S):
            raise BodyError(f"{self._name} tells nothing", hint=f"yarp read ... {self._name}/stateExt:o")
        self._set_modes(np.ones(len(self._robot.joints), np.bool_), DIRECT)

    def _read(self, source: str, take: Any) -> None:
        reader = Reader(self._names, source, take, name=_own_name("in:i"), carrier=STREAM)
        self._held.callback(reader.close)

    def _matched(self, count: int) -> Axes:
        """Return which joint each axis is, or raise BodyError: a joint has none."""
        called = [self._ask("name", str, axis) for axis in range(count)]
        joints = self._robot.joint_names
        if set(joints) <= set(called):
            by_name = (self._robot.index(name) if name in joints else None for name in called)
            return Axes(self._robot, tuple(by_name))
        numbered = Axes.of(self._robot, usual_numbering(self._robot))
        if len(numbered) == count and not set(joints) & set(called):
            return numbered
        raise BodyError(
            f"{self._name} has the axes {', '.join(called)}",
            hint=f"{self._robot.name} has {', '.join(joints)}",
        )

    def _ask(self, word: str, kind: type[Any], *of: Value) -> Any:
        """Return the first value of an answer to `[get] [word] ...`."""
        match self._rpc.ask((_GET, Vocab(word), *of)):
            case ("is", str(), value, *_, "ok") if isinstance(value, kind):
                return value
            case answer:
                raise BodyError(f"{self._name} answers {answer!r} to [get] [{word}]")

    def read(self) -> BodyState:
        """Return what the board told last."""
        positions, velocities, efforts = self._told.now()
        sensors = dict(self._readings)
        return BodyState(self.time_s, positions, np.nan_to_num(efforts), velocities, sensors)

    def observe(self) -> JointStates:
        """Return what the joints do now."""
        positions, _, efforts = self._told.now()
        return JointStates(np.array([self.time_s]), positions[np.newaxis], efforts[np.newaxis])

    def facts(self) -> Mapping[str, Any]:
        """Return nothing: a control board does not say what its robot weighs."""
        return {}

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Stream the rows, each at its time; errors as of `Plant`."""
        if set(commands) != {self._key}:
            raise BodyError(f"commands for {', '.join(commands) or 'nobody'}", hint=f"for {self._key}")
        frames = commands[self._key]
        frames.check(len(self._robot.joints))
        self._let_go(frames.free if frames.free is not None else np.zeros_like(self._free))
        rows, faults = [], []
        for angles in frames.angles:
            faults += self._send(angles)
            rows.append(self.observe())
        times = np.array([row.times[0] for row in rows])
        positions = np.array([row.positions[0] for row in rows]).reshape(len(rows), -1)
        efforts = np.array([row.efforts[0] for row in rows]).reshape(len(rows), -1)
        shape = (len(rows), len(self._robot.joints))
        return {
            self._key: JointStates(
                times, positions.reshape(shape), efforts.reshape(shape), faults=tuple(faults)
            )
        }

    def _send(self, angles: Floats) -> list[Fault]:
        """Send one frame and wait for its end; return what was wrong with it."""
        faults = []
        self._clock.wait_until(self.time_s)
        late_s = self._clock.delay(self.time_s, self._period_s)
        if late_s >= self._period_s:
            faults.append(Fault(self.time_s, FaultKind.LATE, f"sent {late_s * 1e3:.0f} ms late"))
        axes = self._axes.driven
        head: Bottle = (Vocab("dpog"), len(axes), tuple(axes.tolist()))
        self._commands.write((head, vector(angles[self._axes.joints] * DEG_PER_RAD)))
        self._frames += 1
        self._clock.wait_until(self.time_s)
        return [*faults, *self._silence()]

    def _silence(self) -> list[Fault]:
        """Return a fault when the board has told nothing for a while; raise BodyError when it is lost."""
        self._silent = self._silent + 1 if self._told.count == self._seen else 0
        self._seen = self._told.count
        silent_s = self._silent * self._period_s
        if silent_s >= LOST_S:
            raise BodyError(f"{self._name} has told nothing for {silent_s:.1f} s", hint="is it still there?")
        if SILENT_S <= silent_s < SILENT_S + self._period_s:
            return [Fault(self.time_s, FaultKind.SILENT, f"{self._name} tells nothing")]
        return []

    def _let_go(self, free: Flags) -> None:
        """Take torque from joints that are free from now on, and give it to those that are no more."""
        for joints, mode in ((free & ~self._free, IDLE), (self._free & ~free, DIRECT)):
            if joints.any():
                self._set_modes(joints, mode)
        self._free = free.copy()

    def _set_modes(self, joints: Flags, mode: Vocab) -> None:
        chosen = tuple(axis for axis in self._axes.driven.tolist() if joints[self._axes.columns[axis]])
        group: Bottle = (Vocab("cmog"), len(chosen), chosen, (mode,) * len(chosen))
        if self._rpc.ask((_SET, Vocab("icmd"), *group)) != ("ok",):
            raise BodyError(f"{self._name} does not take its joints to the mode [{mode}]")

    def _sense(self, told: SensorPort, bottle: Bottle) -> None:
        with suppress(InputError):
            self._readings.update(told.readings(bottle))

    def stop(self, policy: TorquePolicy) -> None:
        """Stop where it is, or take torque away; nobody hears of a board that does not answer."""
        if not hasattr(self, "_axes"):
            return
        with suppress(PosewrightError):
            if policy is TorquePolicy.RELEASE:
                self._set_modes(np.ones(len(self._robot.joints), np.bool_), IDLE)
            else:
                self._rpc.ask((_SET, Vocab("stos")))

    def close(self) -> None:
        """Let go of all ports."""
        self._held.close()


class _Told:
    """What the board told last; written on the port's thread, read on the loop's."""

    def __init__(self, n_joints: int) -> None:
        self.axes: Axes | None = None
        self.first = threading.Event()
        self.count = 0
        nothing = np.full(n_joints, np.nan)
        self._now = nothing, nothing, nothing

    def now(self) -> tuple[Floats, Floats, Floats]:
        """Return positions, velocities and efforts, `(n_joints,)` each [rad, rad/s, N m]."""
        return self._now

    def take(self, bottle: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002 -- a port's
        """Take a message of `stateExt:o`; one that is none is not taken."""
        if self.axes is None or len(bottle) not in {22, 24}:
            return
        with suppress(InputError):
            positions, velocities, torques = (self._values(bottle, pair) for pair in (0, 2, 12))
            if np.isfinite(positions).all():
                self._now = positions, velocities, torques * DEG_PER_RAD
                self.count += 1
                self.first.set()

    def _values(self, bottle: Bottle, place: int) -> Floats:
        """Return the joints' values of one pair, NaN where the board does not know them."""
        assert self.axes is not None
        if bottle[place + 1] != "ok":
            return np.full(len(self.axes.robot.joints), np.nan)
        return self.axes.radians(numbers(bottle[place], len(self.axes)))


def _own_name(what: str) -> str:
    """Return a name for a port of ours that nobody else has."""
    return f"/posewright/{os.getpid()}/{next(_clients)}/{what}"
