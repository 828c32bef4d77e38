"""A served robot on YARP: its control board, its sensors, and a port for a client that controls its time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack

from posewright.bodies import BodyState, JointCommands
from posewright.errors import InputError, PosewrightError
from posewright.network.transport import RobotService
from posewright.network.yarp.bottle import MAX_BYTES, Bottle, Vocab
from posewright.network.yarp.control_board import FAIL, IS, ControlBoard
from posewright.network.yarp.names import NameClient, NameServer
from posewright.network.yarp.port import Port
from posewright.network.yarp.sensors import SensorPort, sensor_ports

REQUEST = Vocab("ask")
"""`[ask] {blob}` is answered with `[is] {blob}`."""

NAME = "/ravebot"
"""The name of the robot in its source document (UC3M 2013)."""

PERIOD_TOLERANCE = 1e-6
"""Tolerance for rounding errors of times, as a fraction of a sensor's period."""

SENSOR_PERIOD_S = 0.1
"""Time between two messages of a sensor [s]: the sample time in the robot's source document (UC3M 2013)."""


class YarpTransport:
    """A `Transport` for YARP's programs, including clients of remote_controlboard.

    Args:
        name: the prefix of all ports.
        host: host of the name server; like all ports it is on loopback, because YARP has no passwords.
        port: port of the name server; 0 for any free one if it is started here.
        start_name_server: whether to start the built-in name server instead of using an existing one.
        layout: the major version of YARP for messages of `stateExt:o`, 3 or 4.

    Raises:
        InputError: the name is invalid.
    """

    def __init__(
        self,
        name: str = NAME,
        *,
        host: str = "127.0.0.1",
        port: int = 10000,
        start_name_server: bool = False,
        layout: int = 3,
    ) -> None:
        """Store the arguments; `open` opens the ports."""
        self.name = port_name(name)
        self._host = host
        self._port = port
        self._starts_name_server = start_name_server
        self._layout = layout
        self._last_sensor_period = -1  # number of the period in which sensors were sent last; none yet
        self._cleanup = ExitStack()
        self._ports: dict[str, Port] = {}
        self._sensors: list[tuple[SensorPort, Port]] = []
        self._board: ControlBoard | None = None
        self._service: RobotService | None = None

    @property
    def name_server_port(self) -> int:
        """The port of the name server."""
        return self._port

    def open(self, service: RobotService) -> None:
        """Open and register all ports.

        Raises:
            BodyError: no name server answers, or one cannot listen.
            InputError: the name of a port is invalid or in use.
        """
        board = self._board = ControlBoard(service, layout=self._layout)
        self._service = service
        try:
            if self._starts_name_server:
                server = NameServer(self._host, self._port)
                self._cleanup.callback(server.close)
                self._port = server.address.port
            name_client = NameClient(self._host, self._port)
            self._add_port(Port(f"{self.name}/state:o", name_client))
            self._add_port(Port(f"{self.name}/stateExt:o", name_client))
            for sensor_port in sensor_ports(self.name, service.robot, service.sensors):
                self._sensors.append((sensor_port, self._add_port(Port(sensor_port.name, name_client))))
            self._add_port(
                Port(
                    f"{self.name}/plant:i", name_client, on_request=self._answer, max_message_bytes=MAX_BYTES
                )
            )
            self._add_port(Port(f"{self.name}/command:i", name_client, on_data=board.command))
            self._add_port(Port(f"{self.name}/rpc:i", name_client, on_request=board.answer))
        except PosewrightError:
            self.close()
            raise

    def _add_port(self, port: Port) -> Port:
        self._ports[port.name] = port
        return port

    def publish(self, state: BodyState, commands: JointCommands) -> None:  # noqa: ARG002 -- YARP has no stream of commands
        """Send the state of a frame, and the sensors that are due; the ports queue them without waiting."""
        board = self._board
        ports = self._ports
        sensors = self._sensors
        if board is None or not ports:
            return
        board.update(state)
        stamp = board.stamp
        ports[f"{self.name}/state:o"].write(board.state(), stamp)
        ports[f"{self.name}/stateExt:o"].write(board.state_ext(), stamp)
        sensor_period = int(state.time_s / SENSOR_PERIOD_S + PERIOD_TOLERANCE)
        if sensor_period == self._last_sensor_period:
            return
        self._last_sensor_period = sensor_period
        command_port = ports[f"{self.name}/command:i"]
        rpc_senders = ports[f"{self.name}/rpc:i"].inputs
        for sender in board.check_connections(rpc_senders, command_port.inputs):
            command_port.expel(sender)  # a stream over udp does not end by itself
        for sensor_port, port in sensors:
            bottle = sensor_port.encode(state.sensors)
            if bottle is not None:
                port.write(bottle, stamp)

    def facts(self) -> Mapping[str, float]:
        """Return the sums of the ports' counters, and the control board's counts of rejected messages."""
        total: dict[str, float] = {}
        for port in self._ports.values():
            for counter, count in port.facts().items():
                total[counter] = total.get(counter, 0.0) + count
        rejection_counts = dict(self._board.rejection_counts) if self._board else {}
        refused = total.pop("refused", 0.0) + (self._board.refused if self._board else 0)
        refused_by_reason = {
            f"refused ({reason})": float(count) for reason, count in rejection_counts.items()
        }
        return {"observers": total.pop("outputs", 0.0), "refused": refused, **total, **refused_by_reason}

    def close(self) -> None:
        """Unregister and close all ports, and the name server if it was started here."""
        threads = [threading.Thread(target=port.close) for port in self._ports.values()]
        self._sensors = []
        self._ports = {}
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._cleanup.close()

    def _answer(self, request: Bottle, sender: str) -> Bottle:  # noqa: ARG002 -- the request names its client
        match request:
            case (word, bytes(message)) if word == REQUEST and self._service is not None:
                return IS, self._service.answer_request(message)
        return (FAIL,)


def port_name(name: str) -> str:
    """Return a name with one leading slash, such as `/ravebot`; raise InputError if it is invalid."""
    bare = name.strip("/")
    if not bare or any(sign.isspace() or not sign.isprintable() or sign in '"()[]{}' for sign in bare):
        raise InputError(f"{name!r} is not a name of a port", hint="write one such as /ravebot")
    return f"/{bare}"
