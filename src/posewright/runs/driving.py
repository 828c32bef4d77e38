"""Drive the robots of a plant, and record every frame of it, whatever ends the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from posewright.bodies import Plant, TorquePolicy
from posewright.control import Clock, Controller, Safety, Watcher, drive
from posewright.documents import refuse_unwritable
from posewright.recordings import Header, Recorder, Recording, write_mcap


@contextmanager
def released_on_failure(plant: Plant) -> Iterator[None]:
    """Take the torque of all robots off, and let go of them, where something fails before they are driven."""
    try:
        yield
    except BaseException:
        for body in plant.bodies.values():
            body.stop(TorquePolicy.RELEASE)
            body.close()
        raise


def recorded(
    plant: Plant,
    controllers: Mapping[str, Controller],
    header: Header,
    *,
    until_s: float,
    watchers: Sequence[Watcher] = (),
    clock: Clock | None = None,
    safety: Mapping[str, Safety] | None = None,
    record: str | Path | None = None,
    on_end: TorquePolicy = TorquePolicy.RELEASE,
) -> Recording:
    """Let controllers drive the robots of a plant, as `control.drive` does; return every frame of it.

    It is written to `record`, where that is given, even if the run fails.
    """
    if record is not None:
        refuse_unwritable(Path(record))
    with released_on_failure(plant):
        recorder = Recorder(header, plant, every=1)
    watchers = [recorder, *watchers]
    try:
        how: Any = {"clock": clock, "safety": safety, "on_end": on_end}
        drive(plant, controllers, until_s=until_s, watchers=watchers, **how)
    finally:  # above all of a run that failed somebody will want to know how
        recording = recorder.recording()
        if record is not None:
            write_mcap(recording, Path(record))
    return recording
