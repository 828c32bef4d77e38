"""A robot behind a YARP control board of another program, as a plant and a body."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import (
    BodySpec,
    BodyState,
    Clock,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    SingleBodyPlant,
    TorquePolicy,
)
from posewright.errors import BodyError, PosewrightError
from posewright.network.yarp.moves import DIRECT, IDLE
from posewright.network.yarp.names import NameClient
from posewright.network.yarp.remote_board import RemoteBoard
from posewright.network.yarp.sensors import sensor_ports

SILENT_S = 0.1
"""Silence of a board after which a fault is reported [s]."""

LOST_S = 0.5
"""Silence of a board after which it is considered lost [s]."""


class YarpBody(SingleBodyPlant):
    """A robot behind a control board, a `Body` and its own `Plant`.

    Positions are streamed, one row per frame. Quantities that the board does not send, such as torques, are
    unknown.

    Args:
        name_client: client of the name server.
        port: prefix of the robot's ports.
        part: the robot.
        clock: paces its frames.
    """

    def __init__(self, name_client: NameClient, port: str, part: BodySpec, clock: Clock) -> None:
        """Store the arguments; `open` connects."""
        super().__init__(part.robot, part.name, clock)
        self._name_client = name_client
        self._port = port
        self._sensors = part.sensors
        self._board: RemoteBoard | None = None  # while it is open
        self._silent_frames = 0  # since the board's last message
        self._last_message_count = 0  # of the board's messages, at the last frame
        self._free: Flags = np.zeros(len(part.robot.joints), np.bool_)  # joints whose torque is off
        self._sent_positions: Floats = np.zeros(len(part.robot.joints))  # the positions sent last [rad]

    def open(self) -> None:
        """Connect to the board, and set all joints that are not free to direct position control.

        Raises:
            BodyError: a port of the board is missing, or it rejects the mode.
        """
        if self._board is not None:
            return
        sensors = sensor_ports(self._port, self.robot, (*self.robot.sensors, *self._sensors))
        board = RemoteBoard(self._name_client, self._port, self.robot, sensors)
        try:
            board.set_modes(~self._free, DIRECT)
        except PosewrightError:
            board.close()
            raise
        self._board = board
        self._sent_positions = np.nan_to_num(board.state.positions)

    @property
    def _open_board(self) -> RemoteBoard:
        if self._board is None:
            raise BodyError(f"{self._port} is not open", hint="call open() first")
        return self._board

    def read(self) -> BodyState:
        """Return the latest state of the board and the sensors."""
        state = self._open_board.state
        velocities = state.velocities if np.isfinite(state.velocities).all() else None
        torques = np.nan_to_num(state.torques)
        return BodyState(
            self.time_s,
            state.positions,
            efforts=torques,
            velocities=velocities,
            sensors=self._open_board.readings,
        )

    def observe(self) -> JointStates:
        """Return one row: the latest state of the joints."""
        state = self._open_board.state
        return JointStates(np.array([self.time_s]), state.positions[np.newaxis], state.torques[np.newaxis])

    def play(self, rows: JointCommands) -> JointStates:
        """Stream rows of commands; return the states that the board sent meanwhile.

        Raises:
            BodyError: the body is not open, or the board has sent nothing for too long.
        """
        self._set_free(rows.free)
        times = np.empty(len(rows))
        positions = np.empty(rows.angles.shape)
        torques = np.empty(rows.angles.shape)
        faults: list[Fault] = []
        for i, angles in enumerate(rows.angles):
            self._sent_positions = np.where(np.isfinite(angles), angles, self._sent_positions)
            self._open_board.send(self._sent_positions)
            self.n_frames_played += 1
            faults += self._check_silence()
            state = self._open_board.state
            times[i] = self.time_s
            positions[i] = state.positions
            torques[i] = state.torques
        return JointStates(times, positions, torques, faults=tuple(faults))

    def _check_silence(self) -> list[Fault]:
        """Return a fault when the board has sent nothing for a while; raise a BodyError when it is lost."""
        count = self._open_board.n_states
        self._silent_frames = self._silent_frames + 1 if count == self._last_message_count else 0
        self._last_message_count = count
        silent_s = self._silent_frames * self.frame_period_s
        if silent_s >= LOST_S:
            message = f"{self._port} has sent nothing for {silent_s:.1f} s"
            raise BodyError(message, hint="check that its program runs")
        if SILENT_S <= silent_s < SILENT_S + self.frame_period_s:  # once
            return [Fault(self.time_s, FaultKind.SILENT, f"{self._port} tells nothing")]
        return []

    def _set_free(self, free: Flags | None) -> None:
        """Switch the torque of joints off and on where that changes."""
        is_free = np.zeros_like(self._free) if free is None else free.copy()
        for joints, mode in ((is_free & ~self._free, IDLE), (self._free & ~is_free, DIRECT)):
            if joints.any():
                self._open_board.set_modes(joints, mode)
        self._free = is_free

    def stop(self, policy: TorquePolicy) -> None:
        """Stop the joints, or switch their torque off; a board that does not answer is ignored."""
        with suppress(PosewrightError):
            if policy is TorquePolicy.RELEASE:
                self._open_board.set_modes(np.ones_like(self._free), IDLE)
            else:
                self._open_board.stop()

    def close(self) -> None:
        """Close all ports."""
        if self._board is not None:
            self._board.close()
        self._board = None
