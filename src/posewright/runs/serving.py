"""Serve a robot to others, simulated or real: who commands it, who observes it, who drives its time."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.arenas import Arena
from posewright.bodies import Part, Place, Plant, TorquePolicy
from posewright.control import Block, Watcher
from posewright.documents import refuse_unwritable
from posewright.errors import InputError
from posewright.figures import card_document
from posewright.network.served.commander import Watchdog
from posewright.network.served.door import Door
from posewright.network.served.host import Host, Standing
from posewright.recordings import Header, Recorder, RobotHeader, write_mcap
from posewright.robots import Camera, Robot, SensorSpec, ships
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.streams import Streams
from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.network.zenoh.door import ZenohDoor

RECORD_EVERY = 4
"""A recording of a robot that is served keeps every fourth frame: it may go on for hours."""

REPORT_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Service:
    """How a robot was served.

    Attributes:
        standing: in the end.
        signal: what ended it, as a shell counts it: 130 for Ctrl-C, 143 for SIGTERM; 0 where its time was up.
    """

    standing: Standing
    signal: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        return asdict(self.standing) | {"signal": self.signal}


def serve(
    robot: Robot,
    doors: Mapping[str, Door],
    *,
    now: Callable[[], float],
    sleep: Callable[[float], None],
    body: str = SIMULATION,
    pose: str = "stand",
    arena: Arena | None = None,
    start: Place = (0.0, 0.0, 0.0),
    sensors: Sequence[SensorSpec] = (),
    seed: int = 0,
    watchdog: Watchdog | None = None,
    seconds: float = math.inf,
    on_end: TorquePolicy = TorquePolicy.RELEASE,
    record: str | Path | None = None,
    on_progress: Callable[[Standing], None] | None = None,
) -> Service:
    """Serve a robot in real time, until its time is up, or Ctrl-C or SIGTERM ends it.

    Args:
        robot: its card.
        doors: by which others come in, by name.
        now: a clock that only runs forward [s].
        sleep: waits for so long [s].
        body: as for `run_trial`.
        pose: in which a simulated robot begins.
        arena: the field it is in; default a bare floor.
        start: where in it the robot begins.
        sensors: that it has besides those of its card.
        seed: of everything drawn by chance.
        watchdog: what happens when nothing is heard of the commander any more.
        seconds: how long it is served at most, above 0.
        on_end: what the servos do in the end.
        record: where to write a recording as MCAP in the end, whatever ends it but `kill -9`; what clients do
            in their own time is theirs to record.
        on_progress: is called twice a second.

    Raises:
        InputError: something that was handed in is wrong, or a door would let strangers in.
        OutputError: the recording cannot be written there.
        BodyError: the robot does not answer, or a door cannot listen.
    """
    if not seconds > 0.0:  # a NaN is not
        raise InputError(f"to serve for {seconds:g} s", hint="above 0; until Ctrl-C if nothing is said")
    choice = choose_plant(body)
    streams = Streams(seed)
    part = Part(
        robot.name,
        robot,
        robot.pose(pose),
        start,
        tuple(sensors),
        streams.noise(robot.name, 0),
        choice.domain(streams.body),
    )
    plant = choice.make([part], arena)
    with _recorded(plant, part, arena, record) as recorders, _filmed(plant, part, doors) as films:
        host = Host(
            plant,
            None if plant.is_real else choice.make,
            doors,
            sensors=(*robot.sensors, *sensors),
            watchdog=watchdog,
            now=now,
            sleep=sleep,
            watchers=(*recorders, *films),
            on_end=on_end,
            on_look=None if on_progress is None else _Reporting(now, on_progress),
        )
        return Service(signal=_run(host, seconds), standing=host.standing())


def _run(host: Host, seconds: float) -> int:
    """Let a host run; return what ended it."""
    try:
        host.run(seconds)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


@contextmanager
def _recorded(
    plant: Plant, part: Part, arena: Arena | None, record: str | Path | None
) -> Iterator[Sequence[Watcher]]:
    """Write what happens meanwhile to a file, if there is to be one."""
    if record is None:
        yield ()
        return
    refuse_unwritable(Path(record))
    recorder = _recorder(plant, part, arena)
    try:
        yield (recorder,)
    finally:
        write_mcap(recorder.recording(), Path(record))


def _recorder(plant: Plant, part: Part, arena: Arena | None) -> Recorder:
    robot = part.robot
    header = Header(
        {name: RobotHeader.of(one, "served") for name, one in plant.bodies.items()},
        seed=part.seed,
        version=__version__,
        arena={} if arena is None else arena.to_dict(),
        documents={} if ships(robot) else {card_document(robot.name): robot.text},
    )
    return Recorder(header, plant, every=RECORD_EVERY)


@contextmanager
def _filmed(plant: Plant, part: Part, doors: Mapping[str, Door]) -> Iterator[Sequence[Watcher]]:
    """Have cameras ready meanwhile, for doors that show their pictures."""
    from posewright.network.zenoh.door import ZenohDoor

    showing = [door for door in doors.values() if isinstance(door, ZenohDoor) and door.pictures]
    if not showing:
        yield ()
        return
    from posewright.simulation import Film, World

    if not isinstance(plant, World):
        raise InputError("pictures of a robot that is not simulated", hint="leave --cameras out")
    with ExitStack() as films:
        cameras = [one for one in (*part.robot.sensors, *part.sensors) if isinstance(one, Camera)]
        ready = {
            one.name: films.enter_context(Film(plant, one.width, one.height, one.name, quick=True))
            for one in cameras
        }
        yield [_Pictures(door, lambda name: ready[name].now()) for door in showing]


class _Pictures:
    """Shows cameras' pictures to those who watch them, drawn between two frames: the next comes late."""

    def __init__(self, door: ZenohDoor, draw: Callable[[str], Any]) -> None:
        self._door, self._draw = door, draw

    def watch(self, block: Block) -> bool:
        time_s = float(block.states.times[-1])
        for camera in self._door.wanted(time_s):
            self._door.show(camera, time_s, self._draw(camera))
        return False


class _Reporting:
    """Tells how it stands, every so often."""

    def __init__(self, now: Callable[[], float], tell: Callable[[Standing], None]) -> None:
        self._now, self._tell, self._next_s = now, tell, now()

    def __call__(self, host: Host) -> None:
        if self._now() >= self._next_s:
            self._next_s = self._now() + REPORT_EVERY_S
            self._tell(host.standing())
