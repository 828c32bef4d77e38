"""Trials: watch one live, or replay a recording."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from posewright.arenas import layout_names
from posewright.contests import contest_names
from posewright.controllers.behaviours import behaviour_names
from posewright.documents import Bounds, is_path
from posewright.errors import InputError, PosewrightError
from posewright.recordings import write_mcap
from posewright.runs import Progress, read_trial, replay, run_trial, trial_names
from posewright.search.plan import MAX_SEED
from posewright.studio.latest import IsStale, Latest, beside
from posewright.studio.pages import Pages
from posewright.studio.playhead import Playhead, Time
from posewright.studio.requests import action
from posewright.studio.trial_pace import Pace
from posewright.studio.trial_track import Track
from posewright.studio.trial_world import TrialWorld

if TYPE_CHECKING:
    from posewright.studio.opening import Parts

NEWS_S, NEWS_OVER_WORK = 0.25, 4.0
"""A trial under way is told of no more often [s], nor before so many times the work that takes."""

RECORDING, FIELD = ".mcap", "field"


class TrialPanel(Playhead):
    """Shows a recording, or a trial as it is recorded.

    Publishes `trial` (who takes part, and their charts), `trial_track` (everything over time), `trial_now`
    (the playhead, and what was decided last) and `trial_status` (what is under way).
    """

    name = "trial"

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.session)
        self._stage, self._workspace = parts.stage, parts.workspace
        self._track: Track | None = None
        self._world: TrialWorld | None = None
        self._live: Pace | None = None
        self._work = Latest(parts.session.post)
        self._has_lasers, self._follows = True, False
        self._say()
        self._session.publish("trial_now", None)

    def changed(self, before: Pages, after: Pages) -> None:
        """Draw the trial where the 3-D view is its own, and take it out where it is not."""
        track = self._track if self._session.mode == self.name else None
        self._stage.view.set_visible(track is None)
        # a field has a floor of its own
        self._stage.floor.visible = track is None or not track.recording.header.arena
        if self._session.mode != self.name:
            if self._world is not None:
                self._stage.look_from("whole")
            self._clear()
            if self._since is not None:
                self.pause()
        elif track is not None and self._world is None:
            self._world = TrialWorld(self._stage.viser, track.recording)
            self._world.set_lasers(self._has_lasers)
            self._world.look_at_field()
            self._world.mark(track.marks)
            self._show()

    def close(self) -> None:
        """End the trial that is under way."""
        self._end_live()
        self._work.close()

    @action
    def choices(self) -> dict[str, list[str]]:
        """Return what can be run and opened: names that ship, and files of the folder."""
        files = list(self._workspace.files())

        def ending(suffix: str) -> list[str]:
            return [name for name in files if name.endswith(suffix)]

        return {
            "trials": [*_trials(), *ending(".trial.yaml")],
            "layouts": [*layout_names(), "random", *ending(".layout.yaml")],
            "behaviours": [*behaviour_names(), *ending(".behaviour.yaml")],
            "recordings": ending(RECORDING),
        }

    @action
    def open(self, *, file: str) -> None:
        """Show a recording of the folder, by its name there."""
        path = self._workspace.path(file)
        self._end_live()
        self._session.choose(mode=self.name)

        def read(_: IsStale) -> Track:
            outcome = replay(path)
            return Track.of(outcome.recording, outcome)

        def show(track: Track) -> None:
            self._drop()
            self._publish(track)

        self._aside(f"reading {file}", read, show)

    @action
    def run(
        self,
        *,
        trial: str,
        layout: str | None = None,
        behaviour: str | None = None,
        seed: Annotated[int, Bounds(0, MAX_SEED)] | None = None,
    ) -> None:
        """Run a trial and watch it; what is not said is the trial's own."""
        asked: dict[str, Any] = {
            "trial": self._found(trial, _trials()),
            "layout": layout and self._found(layout, (*layout_names(), "random")),
            "behaviour": behaviour and self._found(behaviour, behaviour_names()),
            "seed": seed,
        }
        self._refuse_outside(asked["trial"])
        self._end_live()
        self._session.choose(mode=self.name)
        self._drop()
        pace, next_s = Pace(self._speed), 0.0

        def work(is_stale: IsStale) -> Track:
            def progress(made: Progress) -> None:
                nonlocal next_s
                begun_s = time.monotonic()
                if begun_s < next_s or not (recording := made.recording()).n_rows:
                    return
                track = Track.of(recording, before=self._track)
                done_s = time.monotonic()
                next_s = done_s + max(NEWS_S, NEWS_OVER_WORK * (done_s - begun_s))
                self._session.post(lambda: None if is_stale() else self._grow(track, made.standing))

            how: dict[str, Any] = {"on_progress": progress, "pace": pace, "make_watcher": lambda _: pace}
            came = run_trial(**asked, **how)
            return Track.of(came.recording, came, before=self._track)

        self._live = pace
        self._aside(f"running {trial}", work, self._publish)
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
        return beside(lambda: write_mcap(recording, path))

    @action
    def step(self, *, rows: Annotated[int, Bounds(-1000, 1000)]) -> None:
        """Go so many rows of the recording on, or back, and stop."""
        times = self._shown().recording.times
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
        track = self._shown()
        if at != FIELD:
            track.recording.robot(at)
        if time_s is not None:
            self._rest()
            self.seek(time_s=time_s)
        if self._world is not None and at == FIELD:
            self._world.look_at_field()
        elif self._world is not None:
            self._world.look_at_robot(at, self._time_s)

    def _found(self, name: str, names: tuple[str, ...]) -> str:
        """Return a name that ships as it is, and the path of a file of the folder."""
        return name if name in names else str(self._workspace.path(name))

    def _refuse_outside(self, trial: str) -> None:
        """Refuse a trial of the folder that names documents outside it; those that ship go by names."""
        named = read_trial(trial)
        for name in (named.robot, named.behaviour, named.rules, named.layout):
            if trial not in _trials() and is_path(name):
                self._workspace.path(str(Path(name).resolve()))

    def _shown(self) -> Track:
        if self._track is None:
            raise InputError("there is no trial yet", hint="open a recording or run one")
        return self._track

    def _aside(self, what: str, work: Callable[[IsStale], Track], then: Callable[[Track], None]) -> None:
        """Do slow work beside the session, then what comes of it, unless something else was begun."""

        def finish(made: Track | PosewrightError) -> None:
            self._live = None
            if isinstance(made, PosewrightError):
                self.pause()
                self._session.warn(made)
            else:
                then(made)
            self._say()

        self._say(what)
        self._work.ask(work, finish)

    def _say(self, busy: str = "", standing: str = "") -> None:
        status = {"busy": busy, "standing": standing, "live": self._live is not None}
        self._session.publish("trial_status", status)

    def _grow(self, track: Track, standing: str) -> None:
        """Show a trial under way as far as it is."""
        self._publish(track)
        self._say("running", standing)

    def _publish(self, track: Track) -> None:
        """Show a recording, or more of the one that is shown."""
        self._track = track
        self._session.publish("trial", track.about)
        self._session.publish("trial_track", track.told)
        if self._world is not None:
            self._world.use(track.recording)
            self._world.mark(track.marks)
        self.changed(self._session.document.pages, self._session.document.pages)
        self._show()

    def _drop(self) -> None:
        self._clear()
        self._track, self._time_s = None, 0.0
        for topic in ("trial", "trial_track", "trial_now"):
            self._session.publish(topic, None)

    def _clear(self) -> None:
        if self._world is not None:
            self._world.close()
            self._world = None

    def _end_live(self) -> None:
        if self._live is not None:
            self._live.drop()
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
            self._live.is_paused, self._live.speed = self._since is None, self._speed
        if self._track is None:
            return
        if self._world is not None:
            self._world.show(self._time_s)
        self._session.publish("trial_now", {
            "time_s": round(self._time_s, 4),
            "duration_s": self._duration_s,
            "playing": self._since is not None,
            "speed": self._speed,
            "lasers": self._has_lasers,
            "follow": self._follows,
            "robots": self._track.now(self._time_s),
        })  # fmt: skip


def _trials() -> tuple[str, ...]:
    """Return the names of all trials that ship; a contest of an installed package is one as well."""
    return tuple(dict.fromkeys((*trial_names(), *contest_names())))
