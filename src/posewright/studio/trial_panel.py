"""Trials: watch one live, or replay a recording."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Annotated

import numpy as np

from posewright.arenas import layout_names
from posewright.contests import contest_names
from posewright.control import Block
from posewright.controllers.behaviours import behaviour_names
from posewright.documents import Bounds, is_path
from posewright.errors import InputError, PosewrightError
from posewright.recordings import write_mcap
from posewright.runs import Progress, read_trial, replay, run_trial, trial_names
from posewright.runs.python_programs import controller_classes
from posewright.search.plan import MAX_SEED
from posewright.studio.background import IsCancelled, LatestTask, run_in_background
from posewright.studio.pages import Pages
from posewright.studio.parts import Parts
from posewright.studio.playhead import Playhead, Time
from posewright.studio.requests import action
from posewright.studio.trial_track import Track
from posewright.studio.trial_world import TrialWorld

NEWS_S = 0.25
NEWS_OVER_WORK = 4.0
"""A trial under way is shown anew no more often [s], nor before so many times the work that takes."""

RECORDING = ".mcap"

PROGRAM_SUFFIXES = (".bas", ".rm4", ".lst", ".gait.yaml")
"""Files of programs other than behaviours that may drive a robot in a trial."""
FIELD = "field"

HURRY_S = 0.5
"""A trial that fell behind its clock by more goes on from there: nothing is hurried to catch up."""

_POLL_S = 0.02


class Pace:
    """Paces a trial so that it can be watched: a clock of `drive`, and a watcher that ends the run.

    Attributes:
        speed: seconds of the trial a second.
        is_paused: whether it waits.
    """

    is_real = False

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.is_paused = False
        self._stopped = threading.Event()
        self._is_cancelled = False
        self._reached_s = 0.0  # the time of the trial that was waited for last
        self._due = 0.0  # when that was due, of the computer's clock

    def restart(self) -> None:
        """Begin a trial: its first frame is due now."""
        self._reached_s = 0.0
        self._due = 0.0

    def wait_until(self, time_s: float) -> None:
        """Wait until a time of the trial has come, as fast as it is to go now."""
        self._due = max(self._due, time.monotonic() - HURRY_S) + (time_s - self._reached_s) / self.speed
        self._reached_s = time_s
        while self.is_paused or time.monotonic() < self._due:
            if self._stopped.wait(_POLL_S):
                return
            if self.is_paused:
                self._due = time.monotonic()

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return 0: a trial that is watched is never late."""
        return 0.0

    def watch(self, block: Block) -> bool:
        """Tell whether the trial is to end; a CancelledError where it was cancelled."""
        if self._is_cancelled:
            raise CancelledError
        return self._stopped.is_set()

    def stop(self) -> None:
        """End the trial after the block that is under way."""
        self._stopped.set()

    def cancel(self) -> None:
        """End the trial there too, without a judgement."""
        self._is_cancelled = True
        self.stop()


class TrialPanel(Playhead):
    """Shows a recording, or a trial as it is recorded.

    Publishes `trial` (who takes part, and their charts), `trial_track` (everything over time), `trial_now`
    (the playhead, and what was decided last) and `trial_status` (what is under way).
    """

    name = "trial"

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.session)
        self._scene = parts.scene
        self._workspace = parts.workspace
        self._track: Track | None = None
        self._world: TrialWorld | None = None
        self._live: Pace | None = None
        self._task = LatestTask(parts.session.post)
        self._has_lasers = True
        self._follows = False
        self._publish_status()
        self._session.publish("trial_now", None)

    def changed(self, before: Pages, after: Pages) -> None:
        """Draw the trial where the 3-D view is its own, and take it out where it is not."""
        track = self._track if self._session.mode == self.name else None
        self._scene.view.set_visible(track is None)
        # a field has a floor of its own
        self._scene.floor.visible = track is None or not track.recording.header.arena
        if self._session.mode != self.name:
            if self._world is not None:
                self._scene.look_from("whole")
            self._clear()
            if self._since is not None:
                self.pause()
        elif track is not None and self._world is None:
            self._world = TrialWorld(self._scene.viser, track.recording)
            self._world.set_lasers(self._has_lasers)
            self._world.look_at_field()
            self._world.mark(track.marks)
            self._show()

    def close(self) -> None:
        """End the trial that is under way."""
        self._end_live()
        self._task.close()

    @action
    def choices(self) -> dict[str, list[str]]:
        """Return what can be run and opened: names that ship, and files of the folder."""
        files = list(self._workspace.files())

        def ending(suffix: str) -> list[str]:
            return [name for name in files if name.endswith(suffix)]

        return {
            "trials": [*_trials(), *ending(".trial.yaml")],
            "layouts": [*layout_names(), "random", *ending(".layout.yaml")],
            "behaviours": [*behaviour_names(), *ending(".behaviour.yaml"), *self._programs(files)],
            "recordings": ending(RECORDING),
        }

    @action
    def open(self, *, file: str) -> None:
        """Show a recording of the folder, by its name there."""
        path = self._workspace.path(file)
        self._end_live()
        self._session.choose(mode=self.name)

        def read(_: IsCancelled) -> Track:
            outcome = replay(path)
            return Track.of(outcome.recording, outcome)

        def show(track: Track) -> None:
            self._discard()
            self._publish(track)

        self._start_task(f"reading {file}", read, show)

    @action
    def run(
        self,
        *,
        trial: str,
        layout: str | None = None,
        behaviour: str | None = None,
        seed: Annotated[int, Bounds(0, MAX_SEED)] | None = None,
    ) -> None:
        """Run a trial and watch it; the trial's own layout, behaviour and seed where none is named."""
        trial_name = self._resolve(trial, _trials())
        layout_name = self._resolve(layout, (*layout_names(), "random")) if layout else None
        behaviour_name = self._resolve_program(behaviour) if behaviour else None
        self._require_inside(trial_name)
        self._end_live()
        self._session.choose(mode=self.name)
        self._discard()
        pace = Pace(self._speed)
        next_s = 0.0

        def work(is_cancelled: IsCancelled) -> Track:
            def show_progress(progress: Progress) -> None:
                nonlocal next_s
                began_s = time.monotonic()
                if began_s < next_s or not (recording := progress.recording()).n_rows:
                    return
                track = Track.of(recording, before=self._track)
                ended_s = time.monotonic()
                next_s = ended_s + max(NEWS_S, NEWS_OVER_WORK * (ended_s - began_s))
                self._session.post(lambda: None if is_cancelled() else self._grow(track, progress.standing))

            outcome = run_trial(
                trial_name,
                layout=layout_name,
                behaviour=behaviour_name,
                seed=seed,
                on_progress=show_progress,
                pace=pace,
                make_watcher=lambda _: pace,
            )
            return Track.of(outcome.recording, outcome, before=self._track)

        self._live = pace
        self._start_task(f"running {trial}", work, self._publish)
        self.play()

    @action
    def stop(self) -> None:
        """End the trial that is under way; what was recorded of it is judged."""
        if self._live is not None:
            self._live.stop()

    @action
    def save(self, *, name: str) -> Future[None]:
        """Write the recording into a file of the folder that is not there yet."""
        if self._track is None or self._live is not None:
            raise InputError("there is no recording to be saved", hint="run a trial to its end")
        path = self._workspace.new(name, RECORDING)
        recording = self._track.recording
        return run_in_background(lambda: write_mcap(recording, path))

    @action
    def step(self, *, rows: Annotated[int, Bounds(-1000, 1000)]) -> None:
        """Go so many rows of the recording on, or back, and stop."""
        times = self._require_track().recording.times
        self._rest()
        row = int(np.searchsorted(times, self._time_s + 1e-9, side="right")) - 1 + rows
        self.seek(time_s=float(times[min(max(row, 0), len(times) - 1)]))

    @action
    def draw(self, *, lasers: bool | None = None, follow: bool | None = None) -> None:
        """Set whether beams are drawn, and whether the camera goes with the robot."""
        self._has_lasers = self._has_lasers if lasers is None else lasers
        self._follows = self._follows if follow is None else follow
        if self._world is not None:
            self._world.set_lasers(self._has_lasers)
        self._show()

    @action
    def look(self, *, at: str, time_s: Time | None = None) -> None:
        """Turn the camera to the whole `field` or to the robot of that name; at a time, go there and stop."""
        track = self._require_track()
        if at != FIELD:
            track.recording.robot(at)
        if time_s is not None:
            self._rest()
            self.seek(time_s=time_s)
        if self._world is not None and at == FIELD:
            self._world.look_at_field()
        elif self._world is not None:
            self._world.look_at_robot(at, self._time_s)

    def _resolve(self, name: str, names: tuple[str, ...]) -> str:
        """Return a name that ships as it is, and of a file of the folder its path."""
        return name if name in names else str(self._workspace.path(name))

    def _programs(self, files: Sequence[str]) -> list[str]:
        """Return what else may drive a robot: Python controllers and old programs of the folder."""
        programs = [name for name in files if name.lower().endswith(PROGRAM_SUFFIXES)]
        for name in files:
            if name.endswith(".py"):
                classes = controller_classes(self._workspace.path(name))
                programs += [f"{name}:{class_name}" for class_name in classes]
        return programs

    def _resolve_program(self, name: str) -> str:
        """Return a program that ships as it is, and one of the folder by its path."""
        file, _, class_name = name.rpartition(":")
        if file.endswith(".py"):
            return f"{self._workspace.path(file)}:{class_name}"
        return self._resolve(name, behaviour_names())

    def _require_inside(self, trial: str) -> None:
        """Raise InputError where a trial of the folder names documents outside it."""
        document = read_trial(trial)
        for name in (document.robot, document.behaviour, document.rules, document.layout):
            if trial not in _trials() and is_path(name):
                self._workspace.path(str(Path(name).resolve()))

    def _require_track(self) -> Track:
        if self._track is None:
            raise InputError("there is no trial yet", hint="open a recording or run one")
        return self._track

    def _start_task(
        self, label: str, work: Callable[[IsCancelled], Track], then: Callable[[Track], None]
    ) -> None:
        """Do slow work beside the session, then use its result, unless another task was started since."""

        def finish(result: Track | PosewrightError) -> None:
            self._live = None
            if isinstance(result, PosewrightError):
                self.pause()
                self._session.warn(result)
            else:
                then(result)
            self._publish_status()

        self._publish_status(label)
        self._task.start(work, finish)

    def _publish_status(self, busy: str = "", standing: str = "") -> None:
        status = {"busy": busy, "standing": standing, "live": self._live is not None}
        self._session.publish("trial_status", status)

    def _grow(self, track: Track, standing: str) -> None:
        """Show a trial under way as far as it is."""
        self._publish(track)
        self._publish_status("running", standing)

    def _publish(self, track: Track) -> None:
        """Show a recording, or more of the one that is shown."""
        self._track = track
        self._session.publish("trial", track.about)
        self._session.publish("trial_track", track.timeline)
        if self._world is not None:
            self._world.use(track.recording)
            self._world.mark(track.marks)
        self.changed(self._session.document.pages, self._session.document.pages)
        self._show()

    def _discard(self) -> None:
        """Show no trial any more."""
        self._clear()
        self._track = None
        self._time_s = 0.0
        for topic in ("trial", "trial_track", "trial_now"):
            self._session.publish(topic, None)

    def _clear(self) -> None:
        if self._world is not None:
            self._world.close()
            self._world = None

    def _end_live(self) -> None:
        if self._live is not None:
            self._live.cancel()
            self._live = None
        self._rest()

    @property
    def _duration_s(self) -> float:
        return 0.0 if self._track is None else self._track.recording.duration_s

    def _is_over(self) -> bool:
        return self._live is None and super()._is_over()

    def _tick(self, now: float) -> None:
        before = self._time_s
        super()._tick(now)
        if self._follows and self._world is not None:
            self._world.follow(before, self._time_s)

    def _show(self) -> None:
        if self._live is not None:
            self._live.is_paused = self._since is None
            self._live.speed = self._speed
        if self._track is None:
            return
        if self._world is not None:
            self._world.show(self._time_s)
        view = {
            "time_s": round(self._time_s, 4),
            "duration_s": self._duration_s,
            "playing": self._since is not None,
            "speed": self._speed,
            "lasers": self._has_lasers,
            "follow": self._follows,
            "robots": self._track.now(self._time_s),
        }
        self._session.publish("trial_now", view)


def _trials() -> tuple[str, ...]:
    """Return the names of all trials that ship; a contest of an installed package is one as well."""
    return tuple(dict.fromkeys((*trial_names(), *contest_names())))
