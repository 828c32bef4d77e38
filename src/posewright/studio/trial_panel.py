"""Trials: runs one live, or replays a recording."""

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
from posewright.runs import Progress, Trial, read_trial, replay, run_trial, trial_names
from posewright.runs.python_programs import controller_classes
from posewright.search.plan import MAX_SEED
from posewright.studio.background import IsCancelled, LatestTask, run_in_background
from posewright.studio.context import StudioContext
from posewright.studio.pages import Pages
from posewright.studio.playhead import Playhead, Time
from posewright.studio.requests import action
from posewright.studio.trial_track import Track
from posewright.studio.trial_world import TrialWorld

MIN_UPDATE_PERIOD_S = 0.25
"""Minimum time between two updates of a running trial [s]."""

UPDATE_PERIOD_FACTOR = 4.0
"""Minimum time between two updates, as a multiple of the time that an update takes."""

RECORDING_SUFFIX = ".mcap"

PROGRAM_SUFFIXES = (".bas", ".rm4", ".lst", ".gait.yaml")
"""Suffixes of programs, other than behaviours, that can drive a robot in a trial."""
FIELD = "field"

MAX_LAG_S = 0.5
"""Maximum lag that a trial catches up by running faster [s]."""

POLL_PERIOD_S = 0.02
"""Time between two looks at pause, speed and stop while a trial waits [s]."""

ROW_TOLERANCE_S = 1e-9
"""A playhead closer than this to a row is at that row [s]."""


class TrialPacer:
    """The clock of a trial, with speed and pause; also a watcher that can end the run.

    Attributes:
        speed: seconds of the trial per second.
        is_paused: whether the trial is paused.
    """

    is_real = False

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.is_paused = False
        self._stopped = threading.Event()
        self._is_cancelled = False
        self._reached_s = 0.0  # the trial's time that was waited for last
        self._due_s = 0.0  # the computer's time at which that was due

    def restart(self) -> None:
        """Reset for a new trial, whose first frame is due now."""
        self._reached_s = 0.0
        self._due_s = 0.0

    def wait_until(self, time_s: float) -> None:
        """Wait for a time of the trial [s], at the current speed; while it is paused, until it goes on."""
        start_s = max(self._due_s, time.monotonic() - MAX_LAG_S)
        self._due_s = start_s + (time_s - self._reached_s) / self.speed
        self._reached_s = time_s
        while self.is_paused or time.monotonic() < self._due_s:
            if self._stopped.wait(POLL_PERIOD_S):
                return
            if self.is_paused:
                self._due_s = time.monotonic()

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return 0: the trial is never late."""
        return 0.0

    def watch(self, block: Block) -> bool:
        """Return whether the trial shall end; raise CancelledError if it was cancelled."""
        if self._is_cancelled:
            raise CancelledError
        return self._stopped.is_set()

    def stop(self) -> None:
        """End the trial after the current block."""
        self._stopped.set()

    def cancel(self) -> None:
        """End the trial after the current block, without a judgement."""
        self._is_cancelled = True
        self.stop()


class TrialPanel(Playhead):
    """Shows a recording, or a running trial.

    Publishes `trial` (the robots and their charts), `trial_track` (everything over time), `trial_now` (the
    playhead and the last decisions) and `trial_status` (the running task).
    """

    name = "trial"

    def __init__(self, context: StudioContext) -> None:
        """Publish that no trial is open or running."""
        super().__init__(context.session)
        self._scene = context.scene
        self._workspace = context.workspace
        self._track: Track | None = None
        self._world: TrialWorld | None = None
        self._pacer: TrialPacer | None = None  # None if no trial runs
        self._task = LatestTask(context.session.post)
        self._shows_lasers = True
        self._follows = False
        self._publish_status()
        self._session.publish("trial_now", None)

    def update(self, before: Pages, after: Pages) -> None:
        """Show the trial in the 3-D view if its mode is active, else remove it."""
        track = self._track if self._session.mode == self.name else None
        self._scene.view.set_visible(track is None)
        # an arena has its own floor
        self._scene.floor.visible = track is None or not track.recording.header.arena
        if self._session.mode != self.name:
            if self._world is not None:
                self._scene.look_from("whole")
            self._close_world()
            if self._last_tick_s is not None:
                self.pause()
        elif track is not None and self._world is None:
            self._world = TrialWorld(self._scene.viser, track.recording)
            self._world.set_lasers(self._shows_lasers)
            self._world.look_at_field()
            self._world.set_marks(track.marks)
            self._show_at_playhead()

    def close(self) -> None:
        """End the running trial."""
        self._end_live_trial()
        self._task.close()

    @action
    def choices(self) -> dict[str, list[str]]:
        """Return what can be run and opened: names of Posewright, and files of the folder."""
        files = list(self._workspace.files())

        def files_with(suffix: str) -> list[str]:
            return [name for name in files if name.endswith(suffix)]

        return {
            "trials": [*_trials(), *files_with(".trial.yaml")],
            "layouts": [*layout_names(), "random", *files_with(".layout.yaml")],
            "behaviours": [*behaviour_names(), *files_with(".behaviour.yaml"), *self._programs(files)],
            "recordings": files_with(RECORDING_SUFFIX),
        }

    @action
    def open(self, *, file: str) -> None:
        """Show a recording of the folder."""
        path = self._workspace.path(file)
        self._end_live_trial()
        self._session.choose(mode=self.name)

        def read_recording(_: IsCancelled) -> Track:
            outcome = replay(path)
            return Track.of(outcome.recording, outcome)

        def show_recording(track: Track) -> None:
            self._discard_trial()
            self._publish_track(track)

        self._start_task(f"reading {file}", read_recording, show_recording)

    @action
    def run(
        self,
        *,
        trial: str,
        layout: str | None = None,
        behaviour: str | None = None,
        seed: Annotated[int, Bounds(0, MAX_SEED)] | None = None,
    ) -> None:
        """Run a trial and show it; layout, behaviour and seed default to those of the trial."""
        trial_name = self._resolve(trial, _trials())
        layout_name = self._resolve(layout, (*layout_names(), "random")) if layout else None
        self._require_inside(trial_name)
        self.start_run(trial_name, trial, layout=layout_name, behaviour=behaviour, seed=seed)

    def start_run(
        self,
        trial: str | Trial,
        label: str,
        *,
        layout: str | None = None,
        behaviour: str | None = None,
        seed: int | None = None,
    ) -> None:
        """Switch to the trial mode, and run a trial there; the previous one ends.

        Args:
            trial: the trial, or its name or path.
            label: how the windows call it.
            layout: name or path of a layout; None for the trial's own.
            behaviour: a program of Posewright or of the folder; None for the trial's own.
            seed: the seed of everything random; None for the trial's own.
        """
        behaviour_name = self._resolve_program(behaviour) if behaviour else None
        self._end_live_trial()
        self._session.choose(mode=self.name)
        self._discard_trial()
        pacer = TrialPacer(self._speed)

        def run_on_thread(is_cancelled: IsCancelled) -> Track:
            """Run the trial to its end, and return its track; runs in the background."""
            outcome = run_trial(
                trial,
                layout=layout,
                behaviour=behaviour_name,
                seed=seed,
                on_progress=self._make_progress_handler(is_cancelled),
                pace=pacer,
                make_watcher=lambda _: pacer,
            )
            return Track.of(outcome.recording, outcome, previous=self._track)

        self._pacer = pacer
        self._start_task(f"running {label}", run_on_thread, self._publish_track)
        self.play()

    def _make_progress_handler(self, is_cancelled: IsCancelled) -> Callable[[Progress], None]:
        """Return a function that shows the recorded part of a trial from time to time, on the trial's thread.

        Args:
            is_cancelled: returns whether another task has replaced the trial.
        """
        next_update_s = 0.0

        def show_progress(progress: Progress) -> None:
            """Show the recorded part of the trial, unless the last update is too recent."""
            nonlocal next_update_s
            start_s = time.monotonic()
            if start_s < next_update_s:
                return
            recording = progress.recording()
            if recording.n_rows == 0:
                return
            track = Track.of(recording, previous=self._track)
            end_s = time.monotonic()
            # updates take at most a share of the time, however long the recording has become
            next_update_s = end_s + max(MIN_UPDATE_PERIOD_S, UPDATE_PERIOD_FACTOR * (end_s - start_s))

            def publish_unless_cancelled() -> None:
                """Publish the track on the session's thread, unless another task has replaced the trial."""
                if not is_cancelled():
                    self._publish_progress(track, progress.standing)

            self._session.post(publish_unless_cancelled)

        return show_progress

    @action
    def stop(self) -> None:
        """End the running trial; the recorded part is judged."""
        if self._pacer is not None:
            self._pacer.stop()

    @action
    def save(self, *, name: str) -> Future[None]:
        """Write the recording to a new file in the folder."""
        if self._track is None or self._pacer is not None:
            raise InputError("there is no recording to save", hint="run a trial to its end")
        path = self._workspace.new(name, RECORDING_SUFFIX)
        recording = self._track.recording
        return run_in_background(lambda: write_mcap(recording, path))

    @action
    def step(self, *, rows: Annotated[int, Bounds(-1000, 1000)]) -> None:
        """Pause, and move the playhead by a number of rows, forward or back."""
        times = self._require_track().recording.times
        self._stop_ticking()
        present_row = int(np.searchsorted(times, self._time_s + ROW_TOLERANCE_S, side="right")) - 1
        row = min(max(present_row + rows, 0), len(times) - 1)
        self.seek(time_s=float(times[row]))

    @action
    def draw(self, *, lasers: bool | None = None, follow: bool | None = None) -> None:
        """Set whether laser beams are drawn and the camera follows the robot; None leaves a setting."""
        if lasers is not None:
            self._shows_lasers = lasers
        if follow is not None:
            self._follows = follow
        if self._world is not None:
            self._world.set_lasers(self._shows_lasers)
        self._show_at_playhead()

    @action
    def look(self, *, at: str, time_s: Time | None = None) -> None:
        """Point the camera at the `field` or at a robot; with a time, pause and move the playhead there.

        Args:
            at: `field`, or the name of a robot.
            time_s: the time to move to [s]; None to stay.
        """
        track = self._require_track()
        if at != FIELD:
            track.recording.robot(at)  # an unknown robot is an error before anything moves
        if time_s is not None:
            self._stop_ticking()
            self.seek(time_s=time_s)
        if self._world is None:
            return
        if at == FIELD:
            self._world.look_at_field()
        else:
            self._world.look_at_robot(at, self._time_s)

    def _resolve(self, name: str, catalogue_names: tuple[str, ...]) -> str:
        """Return a name of Posewright's catalogue unchanged; for a file of the folder, its path."""
        return name if name in catalogue_names else str(self._workspace.path(name))

    def _programs(self, files: Sequence[str]) -> list[str]:
        """Return programs in the folder that can drive a robot: Python controllers and vendors' programs."""
        programs = [name for name in files if name.lower().endswith(PROGRAM_SUFFIXES)]
        for name in files:
            if name.endswith(".py"):
                classes = controller_classes(self._workspace.path(name))
                programs += [f"{name}:{class_name}" for class_name in classes]
        return programs

    def _resolve_program(self, name: str) -> str:
        """Return a program of Posewright unchanged; for one of the folder, its path and class.

        Args:
            name: name of a behaviour, of a file, or `FILE.py:CLASS`.
        """
        file, _, class_name = name.rpartition(":")
        if file.endswith(".py"):
            return f"{self._workspace.path(file)}:{class_name}"
        return self._resolve(name, behaviour_names())

    def _require_inside(self, trial: str) -> None:
        """Raise InputError if a trial of the folder refers to documents outside it."""
        document = read_trial(trial)
        if trial in _trials():
            return
        for name in (document.robot, document.behaviour, document.rules, document.layout):
            if is_path(name):
                self._workspace.path(str(Path(name).resolve()))

    def _require_track(self) -> Track:
        """Return the track of the open trial; raise InputError if no trial is open."""
        if self._track is None:
            raise InputError("no trial is open", hint="open a recording or run a trial")
        return self._track

    def _start_task(
        self, label: str, work: Callable[[IsCancelled], Track], on_track: Callable[[Track], None]
    ) -> None:
        """Start a task in the background; it replaces the one that is running.

        Args:
            label: what is done, as the windows show it.
            work: the task, which returns a track.
            on_track: called with the track on the session's thread. An error is shown in the windows instead.
        """

        def finish(result: Track | PosewrightError) -> None:
            """Show the track or the error that the task ended with; runs on the session's thread."""
            self._pacer = None  # no trial is running any more
            if isinstance(result, PosewrightError):
                self.pause()
                self._session.show_error(result)
            else:
                on_track(result)
            self._publish_status()

        self._publish_status(label)
        self._task.start(work, finish)

    def _publish_status(self, running_task: str = "", score_so_far: str = "") -> None:
        """Publish the topic `trial_status`.

        Args:
            running_task: what is being done, as the windows show it; empty if nothing is.
            score_so_far: the score of a running trial as a text; empty if no trial is running.
        """
        status = {"busy": running_task, "standing": score_so_far, "live": self._pacer is not None}
        self._session.publish("trial_status", status)

    def _publish_progress(self, track: Track, score_so_far: str) -> None:
        """Show the recorded part of a running trial, and its score so far."""
        self._publish_track(track)
        self._publish_status("running", score_so_far)

    def _publish_track(self, track: Track) -> None:
        """Show a recording, or a longer one of the running trial, in the windows and the 3-D view."""
        self._track = track
        self._session.publish("trial", track.description)
        self._session.publish("trial_track", track.timeline)
        if self._world is not None:
            self._world.set_recording(track.recording)
            self._world.set_marks(track.marks)
        pages = self._session.document.pages
        self.update(pages, pages)  # only the recording has changed, not the pages of the document
        self._show_at_playhead()

    def _discard_trial(self) -> None:
        """Remove the trial from the windows and the 3-D view."""
        self._close_world()
        self._track = None
        self._time_s = 0.0
        for topic in ("trial", "trial_track", "trial_now"):
            self._session.publish(topic, None)

    def _close_world(self) -> None:
        """Remove the trial from the 3-D view."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _end_live_trial(self) -> None:
        """End the running trial, of which nothing is judged, and the ticking of the playhead."""
        if self._pacer is not None:
            self._pacer.cancel()
            self._pacer = None
        self._stop_ticking()

    @property
    def _duration_s(self) -> float:
        return 0.0 if self._track is None else self._track.recording.duration_s

    def _is_over(self) -> bool:
        return self._pacer is None and super()._is_over()

    def _tick(self, now_s: float) -> None:
        """Move the playhead to the present, and the camera with the robot if it follows it."""
        before_s = self._time_s
        super()._tick(now_s)
        if self._follows and self._world is not None:
            self._world.move_cameras_with_robot(before_s, self._time_s)

    def _show_at_playhead(self) -> None:
        """Show the trial at the present time, and publish the topic `trial_now`."""
        if self._pacer is not None:
            self._pacer.is_paused = self._last_tick_s is None
            self._pacer.speed = self._speed
        if self._track is None:
            return
        if self._world is not None:
            self._world.show(self._time_s)
        view = {
            "time_s": round(self._time_s, 4),
            "duration_s": self._duration_s,
            "playing": self._last_tick_s is not None,
            "speed": self._speed,
            "lasers": self._shows_lasers,
            "follow": self._follows,
            "robots": self._track.now(self._time_s),
        }
        self._session.publish("trial_now", view)


def _trials() -> tuple[str, ...]:
    """Return the names of all trials, including contests of installed packages."""
    return tuple(dict.fromkeys((*trial_names(), *contest_names())))
