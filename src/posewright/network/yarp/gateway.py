"""A served robot on YARP: its control board, its sensors, and a port for who drives its time in lock-step."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack

from posewright.bodies import BodyState, JointCommands
from posewright.errors import InputError, PosewrightError
from posewright.network.served.door import Served
from posewright.network.yarp.bottle import LONGEST, Bottle
from posewright.network.yarp.control_board import FAIL, IS, ControlBoard
from posewright.network.yarp.names import NameClient, NameServer
from posewright.network.yarp.port import Port
from posewright.network.yarp.sensors import SensorPort, sensor_ports
from posewright.network.yarp.wire import ASK

NAME = "/ravebot"
"""What the source document calls its robot (UC3M 2013)."""

SLACK = 1e-6
"""A time that misses a sensor's by less of its period is that sensor's: rounding."""

SENSOR_PERIOD_S = 0.1
"""Sensors are told ten times a second: the sample time of the source document's model (UC3M 2013)."""


class YarpDoor:
    """A `served.Door`: YARP's programs, and remote_controlboard clients, see and move the robot.

    Args:
        name: what all its ports begin with.
        host: of the name server; it and all ports are on loopback, for YARP has no passwords.
        port: of the name server; 0 for any that is free where it is started here.
        start_name_server: whether to start the built-in name server there, rather than to ask one that runs.
        layout: the version of YARP whose `stateExt:o` is told, 3 or 4.

    Raises:
        InputError: a name that YARP does not know.
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
        self.name = port_name(name)
        self._host, self._port, self._starts = host, port, start_name_server
        self._layout, self._sensed = layout, -1
        self._held = ExitStack()
        self._ports: dict[str, Port] = {}
        self._sensors: list[tuple[SensorPort, Port]] = []
        self._board: ControlBoard | None = None
        self._served: Served | None = None

    @property
    def name_server_port(self) -> int:
        """Where the name server listens."""
        return self._port

    def open(self, served: Served) -> None:
        """Register all ports; errors as of `served.Door`."""
        board = self._board = ControlBoard(served, layout=self._layout)
        self._served = served
        try:
            if self._starts:
                server = NameServer(self._host, self._port)
                self._held.callback(server.close)
                self._port = server.address.port
            names = NameClient(self._host, self._port)
            self._add(Port(f"{self.name}/state:o", names))
            self._add(Port(f"{self.name}/stateExt:o", names))
            for told in sensor_ports(self.name, served.robot, served.sensors):
                self._sensors.append((told, self._add(Port(told.name, names))))
            self._add(Port(f"{self.name}/plant:i", names, on_request=self._ask, longest=LONGEST))
            self._add(Port(f"{self.name}/command:i", names, on_data=board.command))
            self._add(Port(f"{self.name}/rpc:i", names, on_request=board.answer))
        except PosewrightError:
            self.close()
            raise

    def _add(self, port: Port) -> Port:
        self._ports[port.name] = port
        return port

    def publish(self, state: BodyState, commands: JointCommands) -> None:  # noqa: ARG002 -- YARP tells no commands
        """Tell the state of a frame, and the sensors when it is time; ports queue it and wait for nobody."""
        board, ports, sensors = self._board, self._ports, self._sensors
        if board is None or not ports:
            return
        board.see(state)
        stamp = board.stamp
        ports[f"{self.name}/state:o"].write(board.state(), stamp)
        ports[f"{self.name}/stateExt:o"].write(board.state_ext(), stamp)
        now = int(state.time_s / SENSOR_PERIOD_S + SLACK)
        if now == self._sensed:
            return
        self._sensed = now
        streams = ports[f"{self.name}/command:i"]
        for sender in board.look(ports[f"{self.name}/rpc:i"].inputs, streams.inputs):
            streams.expel(sender)  # over udp nobody says that he is gone
        for told, port in sensors:
            if (bottle := told.told(state.sensors)) is not None:
                port.write(bottle, stamp)

    def facts(self) -> Mapping[str, float]:
        """Return the counters of all ports together, and what the control board refused."""
        total: dict[str, float] = {}
        for port in self._ports.values():
            for count, value in port.facts().items():
                total[count] = total.get(count, 0.0) + value
        refusals = dict(self._board.refusals) if self._board else {}
        refused = total.pop("refused", 0.0) + (self._board.refused if self._board else 0)
        why = {f"refused {kind}": float(count) for kind, count in refusals.items()}
        return {"observers": total.pop("outputs", 0.0), "refused": refused, **total, **why}

    def close(self) -> None:
        """Unregister and close all ports, and the name server where it was started here."""
        ports, self._sensors, self._ports = self._ports, [], {}
        closing = [threading.Thread(target=port.close) for port in ports.values()]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()
        self._held.close()

    def _ask(self, request: Bottle, sender: str) -> Bottle:  # noqa: ARG002 -- whoever asks, the host says who drives
        match request:
            case (word, bytes(asked)) if word == ASK and self._served is not None:
                return IS, self._served.ask(asked)
        return (FAIL,)


def port_name(name: str) -> str:
    """Return a name as YARP's ports begin with it, `/ravebot`, or raise InputError."""
    bare = name.strip("/")
    if not bare or any(sign.isspace() or not sign.isprintable() or sign in '"()[]{}' for sign in bare):
        raise InputError(f"{name!r} is no name of a port", hint="/ravebot, for example")
    return f"/{bare}"
