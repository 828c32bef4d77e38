"""`serve`: makes a simulated or real robot available to other programs."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.arenas import Arena
from posewright.bodies import BodySpec, ClearCircle, PlanarPose, Plant, TorquePolicy
from posewright.control import Block, Watcher
from posewright.documents import require_writable
from posewright.documents.plain import PlainData
from posewright.errors import InputError
from posewright.network.commander import Watchdog
from posewright.network.host import Host, ServiceStatus
from posewright.network.transport import Transport
from posewright.recordings import Header, Recorder, RobotHeader, card_document, write_mcap
from posewright.robots import Camera, Robot, SensorSpec, is_shipped
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.streams import Streams
from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.network.zenoh.transport import ZenohTransport
    from posewright.simulation import Film

RECORD_EVERY = 4
"""A recording keeps only every fourth frame, as a service may run for hours."""

REPORT_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """The end of a service.

    Attributes:
        status: the status at the end.
        signal: exit code for the signal that ended it: 130 for Ctrl-C, 143 for SIGTERM; 0 if its time was up.
    """

    status: ServiceStatus
    signal: int = 0

    def to_dict(self) -> dict[str, PlainData]:
        """Return plain data, fit for JSON."""
        return asdict(self.status) | {"signal": self.signal}


def serve(
    robot: Robot,
    transports: Mapping[str, Transport],
    *,
    now: Callable[[], float],
    sleep: Callable[[float], None],
    body: str = SIMULATION,
    pose: str = "stand",
    arena: Arena | None = None,
    start: PlanarPose = (0.0, 0.0, 0.0),
    sensors: Sequence[SensorSpec] = (),
    seed: int = 0,
    watchdog: Watchdog | None = None,
    seconds: float = math.inf,
    on_end: TorquePolicy = TorquePolicy.RELEASE,
    record: str | Path | None = None,
    on_progress: Callable[[ServiceStatus], None] | None = None,
) -> ServiceReport:
    """Serve a robot in real time, until its time is up or Ctrl-C or SIGTERM ends the service.

    Args:
        robot: its card.
        transports: the transports by which clients reach it, by name.
        now: a monotonic clock [s].
        sleep: waits for some time [s].
        body: as for `run_trial`.
        pose: start pose of a simulated robot.
        arena: the field; by default a bare floor.
        start: where the robot starts.
        sensors: additional sensors besides those of its card.
        seed: the seed of everything random.
        watchdog: what happens when the commanding client falls silent.
        seconds: longest duration, above 0.
        on_end: what the servos do at the end.
        record: where a recording is written as MCAP at the end, except after `kill -9`; it does not contain
            the plants that clients run in their own time.
        on_progress: called twice a second.

    Raises:
        InputError: an argument is wrong, or a transport would be open to everybody.
        OutputError: the recording cannot be written.
        BodyError: the robot does not answer, or a transport cannot listen.
    """
    if not seconds > 0.0:  # also rejects NaN
        raise InputError(
            f"the duration is {seconds:g} s", hint="above 0; without a duration it runs until Ctrl-C"
        )
    choice = choose_plant(body)
    streams = Streams(seed)
    body_spec = BodySpec(
        robot.name,
        robot,
        start_pose=robot.pose(pose),
        start=start,
        sensors=tuple(sensors),
        seed=streams.noise(robot.name, 0),
        domain=choice.domain(streams.body).without_plates_in([ClearCircle.around_start(*start[:2])]),
    )
    if record is not None:
        require_writable(Path(record))
    plant = choice.make([body_spec], arena)
    watchers = list[Watcher]()
    with ExitStack() as on_exit:
        if record is not None:
            recorder = _make_recorder(plant, body_spec, arena)
            on_exit.callback(lambda: write_mcap(recorder.recording(), Path(record)))
            watchers.append(recorder)
        watchers += on_exit.enter_context(_camera_streams(plant, body_spec, transports))
        host = Host(
            plant,
            None if plant.is_real else choice.make,
            transports,
            sensors=(*robot.sensors, *sensors),
            watchdog=watchdog,
            now=now,
            sleep=sleep,
            watchers=watchers,
            on_end=on_end,
            on_tick=None if on_progress is None else _ProgressReporter(now, on_progress),
        )
        ending_signal = 0
        try:
            host.run(seconds)
        except KeyboardInterrupt:
            ending_signal = 128 + signal.SIGINT
        except SystemExit as end:
            ending_signal = end.code if isinstance(end.code, int) else 1
        return ServiceReport(host.status(), ending_signal)


def _make_recorder(plant: Plant, body_spec: BodySpec, arena: Arena | None) -> Recorder:
    """Return a recorder of the served robot."""
    robot = body_spec.robot
    header = Header(
        {name: RobotHeader.of(body, "served") for name, body in plant.bodies.items()},
        seed=body_spec.seed,
        version=__version__,
        arena={} if arena is None else arena.to_dict(),
        documents={} if is_shipped(robot) else {card_document(robot.name): robot.text},
    )
    return Recorder(header, plant, every=RECORD_EVERY)


@contextmanager
def _camera_streams(
    plant: Plant, body_spec: BodySpec, transports: Mapping[str, Transport]
) -> Iterator[Sequence[Watcher]]:
    """Yield watchers that send the pictures of cameras, one for each transport that sends pictures.

    Raises:
        InputError: a transport is to send pictures, but the robot is not simulated.
    """
    from posewright.network.zenoh.transport import ZenohTransport

    picture_transports = [
        transport
        for transport in transports.values()
        if isinstance(transport, ZenohTransport) and transport.sends_pictures
    ]
    if not picture_transports:
        yield ()
        return
    from posewright.simulation import Film, World

    if not isinstance(plant, World):
        raise InputError("only a simulated robot can send pictures", hint="leave --cameras out")
    with ExitStack() as on_exit:
        film_by_camera: dict[str, Film] = {}
        for sensor in (*body_spec.robot.sensors, *body_spec.sensors):
            if isinstance(sensor, Camera):
                # quick: hard shadows in a fifth of the time, because rendering delays the robot's next frame
                film = Film(plant, sensor.width, sensor.height, camera=sensor.name, quick=True)
                film_by_camera[sensor.name] = on_exit.enter_context(film)
        yield [_CameraStream(transport, film_by_camera) for transport in picture_transports]


class _CameraStream:
    """A watcher that renders and sends pictures that are due; this delays the next frame."""

    def __init__(self, transport: ZenohTransport, film_by_camera: Mapping[str, Film]) -> None:
        self._transport = transport
        self._film_by_camera = film_by_camera

    def watch(self, block: Block) -> bool:
        """Send the pictures that are due; never end the service."""
        time_s = float(block.states.times[-1])
        for camera in self._transport.cameras_due(time_s):
            self._transport.show(camera, time_s, self._film_by_camera[camera].now())
        return False


class _ProgressReporter:
    """Reports the status of a host every `REPORT_EVERY_S`."""

    def __init__(self, now: Callable[[], float], report: Callable[[ServiceStatus], None]) -> None:
        self._now = now
        self._report = report
        self._next_s = now()

    def __call__(self, host: Host) -> None:
        if self._now() >= self._next_s:
            self._next_s = self._now() + REPORT_EVERY_S
            self._report(host.status())
