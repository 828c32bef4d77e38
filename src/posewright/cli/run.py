"""`posewright run`: a trial in simulation, judged."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import control, figures, runs
from posewright.bodies import TorquePolicy
from posewright.cli import console, film_options
from posewright.cli.batch import (
    BatchOptions,
    KeepRecordings,
    Out,
    Seeds,
    Workers,
    follow_runs,
    print_batch,
    require_unset,
)
from posewright.cli.film_options import FilmOptions
from posewright.cli.judge import give_outcome
from posewright.cli.motion_play import OnEnd
from posewright.cli.options import AsJson, Plot, add_command, argument, option, require_distinct_output
from posewright.documents import require_writable
from posewright.errors import InputError, Where

if TYPE_CHECKING:
    from posewright.bodies import Plant
    from posewright.control import Block
    from posewright.runs import Progress


TrialName = Annotated[str, argument("TRIAL", "A trial's or a contest's name, or a *.trial.yaml file.")]
LayoutName = Annotated[
    str | None, option("--layout", "Where the boxes stand: a name, a *.layout.yaml file, or 'random'.")
]
Seed = Annotated[
    int | None,
    option("--seed", "Seed of what is drawn at random: where boxes stand, random inputs of a chart."),
]
BehaviourName = Annotated[
    str | None,
    option(
        "--behaviour",
        "What drives the robot: a behaviour, race.bas, a CONNECT.CFG, robi:NAME, trot, or mine.py:Mine.",
    ),
]
RobotName = Annotated[str | None, option("--robot", "Who runs that behaviour: a robot's name, or its card.")]
ProgramOptions = Annotated[
    list[str] | None,
    option("--set NAME=VALUE", "Say something to the behaviour: words=472@3 to a Robi's; repeatable."),
]
StreamsName = Annotated[
    str, option("--streams", "How random numbers follow from the seed; 2026-11 as in older versions.")
]
VendorFile = Annotated[
    Path | None,
    option(
        "--motions", "A vendor's motion file on your disk (RoboPlus .mtn) to walk on, not the shipped tables."
    ),
]
Body = Annotated[
    str,
    option(
        "--body",
        "sim; random: a simulated body drawn by the seed; a *.bodies.yaml; mock; dynamixel:PORT; "
        "zenoh:NAME; yarp:NAME; an installed package's.",
    ),
]
OnController = Annotated[
    str,
    option(
        "--controller",
        "Where it runs: python, arduino-uno, cm900 (emulated), serial:PORT; or mine.py:Mine in its place.",
    ),
]
StatesPlot = Annotated[
    Path | None, option("--states-plot", "Draw the states of the board and of the interpreter.")
]
RealTime = Annotated[bool, option("--real-time", "Send each frame at its time, as to a real robot.")]
Record = Annotated[Path | None, option("--record", "Write the recording (MCAP; opens in Foxglove).")]
Cameras = Annotated[
    list[str] | None,
    option(
        "--cameras NAME", "Put what this camera of the robot saw into the recording, as JPEG; repeatable."
    ),
]
View = Annotated[bool, option("--view", "Show it in a live window, at real time.")]
Legal = Annotated[bool, option("--legal", "Refuse a layout that breaks the contest's rules.")]


SIMULATION = "sim"
PYTHON = "python"
TRIALS_FOLDER = Path("out/{trial}-{digest}")
"""Where a batch of trials is kept, unless a person says where."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "run", run, python_names="run_trial run_many draw_outcome draw_board film_recording")


def run(
    trial: TrialName = "obstacle-race",
    layout: LayoutName = None,
    seed: Seed = None,
    behaviour: BehaviourName = None,
    robot: RobotName = None,
    sets: ProgramOptions = None,
    motions: VendorFile = None,
    body: Body = SIMULATION,
    controller: OnController = PYTHON,
    real_time: RealTime = False,
    record: Record = None,
    cameras: Cameras = None,
    video: film_options.Video = None,
    plot: Plot = None,
    states_plot: StatesPlot = None,
    camera: film_options.Camera = None,
    speed: film_options.Speed = 1.0,
    size: film_options.Size = None,
    view: View = False,
    legal: Legal = False,
    streams: StreamsName = "2026-12",
    on_end: OnEnd = TorquePolicy.RELEASE,
    seeds: Seeds = None,
    workers: Workers = None,
    out: Out = None,
    keep: KeepRecordings = True,
    as_json: AsJson = False,
) -> None:
    """Run a trial or a contest: robot, behaviour, field, referee, judge.

    [bold]Examples[/]
      posewright run obstacle-race
      posewright run obstacle-race --layout random --seed 7 --plot race.png
      posewright run obstacle-race --behaviour my.behaviour.yaml --controller arduino-uno --json
      posewright run obstacle-race --seeds 1-20 --layout random --body random
    """
    batch = BatchOptions(out, workers, keep)
    board = None if controller == PYTHON else controller
    if seeds is not None:
        require_unset(
            {
                "--seed": seed,
                "--record": record,
                "--video": video,
                "--plot": plot,
                "--camera": camera,
                "--view": view or None,
                "--real-time": real_time or None,
                "--size": size,
                "--cameras": bool(cameras) or None,
                "--states-plot": states_plot,
            },
            "with --seeds",
        )
        n_runs = len(runs.read_seeds(seeds))
        with follow_runs(n_runs, "seed", quiet=as_json) as on_run:
            result = runs.run_many(
                trial,
                seeds=seeds,
                layout=layout,
                behaviour=behaviour,
                robot=robot,
                options=program_options(sets),
                motions=motions,
                body=body,
                controller=controller,
                legal=legal,
                streams=streams,
                folder=batch.folder or TRIALS_FOLDER,
                recordings=batch.recordings,
                workers=batch.workers_for(n_runs),
                on_run=on_run,
            )
        print_batch(result, as_json=as_json, replay_command=_replay_of_worst(result))
        return
    batch.require_defaults()
    inputs = (trial, layout, behaviour, motions)
    film = FilmOptions.read(video, camera, speed, size, subject=trial, inputs=inputs)
    if board is None and states_plot is not None:
        require_unset({"--states-plot": states_plot}, "without --controller and a board")
    _refuse_outputs(record, plot, states_plot, inputs=inputs)
    with console.spinner(f"{trial}: setting up", quiet=as_json) as say:
        outcome = runs.run_trial(
            trial,
            layout=layout,
            seed=seed,
            behaviour=behaviour,
            robot=robot,
            options=program_options(sets),
            motions=motions,
            body=body,
            controller=controller,
            legal=legal,
            streams=streams,
            to_film=film is not None,
            camera=camera,
            record=record,
            cameras=cameras or (),
            on_progress=_teller(say),
            make_watcher=_Live if view else None,
            pace=control.RealClock(time.monotonic, time.sleep) if real_time else None,
            clock=time.perf_counter,
            on_end=on_end,
        )
        if plot is not None:
            say("drawing the picture")
            figures.save_figure(runs.draw_outcome(outcome), plot)
        if states_plot is not None:
            say("drawing the picture")
            figures.save_figure(runs.draw_board(outcome), states_plot)
        if film is not None:
            film.make(outcome.recording, say)
    give_outcome(outcome, as_json=as_json)


def program_options(sets: Sequence[str] | None) -> dict[str, str]:
    """Return what is said to a program, by name, of texts such as `words=472@3`.

    Raises:
        InputError: one of them has no `=`.
    """
    options = {}
    for text in sets or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set {text}", hint="NAME=VALUE, such as words=472@3")
        options[name.strip()] = value
    return options


def _replay_of_worst(batch: runs.Batch) -> str:
    """Return the command that shows the worst run once more; empty where there is no recording of it."""
    recording = batch.worst and batch.recording(batch.worst)
    return shlex.join(["posewright", "replay", str(recording), "--plot", "worst.png"]) if recording else ""


def _teller(say: Callable[[str], None]) -> Callable[[Progress], None]:
    started_s = time.perf_counter()

    def tell(progress: Progress) -> None:
        speed = progress.time_s / max(time.perf_counter() - started_s, 1e-3)
        say(f"{progress.time_s:6.1f} s ({speed:3.0f} x real time)  {progress.state:<15} {progress.standing}")

    return tell


def _refuse_outputs(
    record: Path | None,
    plot: Path | None,
    states_plot: Path | None,
    *,
    inputs: tuple[str | Path | None, ...],
) -> None:
    for path, endings in ((record, (".mcap",)), (plot, figures.PICTURES), (states_plot, figures.PICTURES)):
        _refuse_unwritable(path, endings)
        require_distinct_output(path, *inputs)


def _refuse_unwritable(path: Path | None, suffixes: Collection[str]) -> None:
    """Say before a long run, not after it, that a file could not be written."""
    if path is None:
        return
    require_writable(path)
    if path.suffix.lower() not in suffixes:
        raise InputError(
            "the file's ending does not fit", where=Where(path), hint=f"one of {', '.join(suffixes)}"
        )


class _Live:
    """Shows a world while it is simulated, no faster than real time."""

    def __init__(self, plant: Plant) -> None:
        from posewright.simulation import LiveView, World

        if not isinstance(plant, World):
            raise InputError("there is no world to look into", hint="--view shows a simulation")
        self._view = LiveView(plant)
        self._began: float | None = None

    def watch(self, block: Block) -> bool:
        """Show a block; return whether the person closed the window."""
        now = time.perf_counter()
        if self._began is None:
            self._began = now - block.state.time_s
        ahead_s = float(block.states.times[-1]) - (now - self._began)
        if ahead_s > 0.0:
            time.sleep(ahead_s)
        self._view.sync()
        return not self._view.is_open
