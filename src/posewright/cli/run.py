"""`posewright run`: runs a trial or a contest and judges it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import control, figures, runs
from posewright.bodies import StartPosture, TorquePolicy
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
from posewright.cli.judge import format_speed, show_outcome
from posewright.cli.motion_play import OnEnd, Start
from posewright.cli.options import (
    AcceptFaults,
    AsJson,
    Plot,
    add_command,
    argument,
    option,
    report_faults,
    require_output_file,
    require_recording_path,
)
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.bodies import Plant
    from posewright.control import Block
    from posewright.runs import Progress


TrialName = Annotated[str, argument("TRIAL", "Name of a trial or a contest, or a *.trial.yaml file.")]
ArenaFile = Annotated[
    str | None, option("--arena FILE", "Field of your own, a *.arena.yaml, in place of the contest's.")
]
LayoutName = Annotated[
    str | None, option("--layout NAME", "Layout of the boxes: a name, a *.layout.yaml file, or 'random'.")
]
Seed = Annotated[
    int | None,
    option("--seed N", "Seed of all random draws: a random layout, a random body, random inputs of a chart."),
]
BehaviourName = Annotated[
    str | None,
    option(
        "--behaviour PROGRAM",
        "Program of the robot: a behaviour, race.bas, a CONNECT.CFG, robi:NAME, a gait, or mine.py:MyClass.",
    ),
]
RobotName = Annotated[
    str | None, option("--robot R", "Robot that runs the program: its name, or the path of its card.")
]
ProgramOptions = Annotated[
    list[str] | None,
    option("--set NAME=VALUE", "Option of the program, such as words=472@3 for a Robi's. Repeat for more."),
]
StreamsName = Annotated[
    str,
    option(
        "--streams NAME", "How random numbers derive from the seed: 2026-12, or 2026-11 as in older versions."
    ),
]
VendorFile = Annotated[
    Path | None,
    option(
        "--motions FILE",
        "Your copy of the vendor's motion file (RoboPlus .mtn). Default: the tables of Posewright.",
    ),
]
Body = Annotated[
    str,
    option(
        "--body BODY",
        "sim; random: simulated, with parameters drawn by the seed; push_05, plates_3mm, slope: pushed, or "
        "on another floor; a *.bodies.yaml to draw from; mock; dynamixel:PORT; zenoh:NAME; yarp:NAME; or a "
        "body of an installed package.",
    ),
]
ControllerName = Annotated[
    str,
    option(
        "--controller NAME",
        "Where the behaviour runs: python, arduino-uno or cm900 (emulated), serial:PORT; or mine.py:MyClass.",
    ),
]
StatesPlot = Annotated[
    Path | None,
    option(
        "--states-plot FILE",
        "Draw the states of the board and of the interpreter to this file (png, svg or pdf).",
    ),
]
RealTime = Annotated[bool, option("--real-time", "Run in real time, as a real robot does.")]
Record = Annotated[Path | None, option("--record FILE", "Write a recording (MCAP), which opens in Foxglove.")]
Cameras = Annotated[
    list[str] | None,
    option("--cameras NAME", "Record the pictures of this camera of the robot, as JPEG. Repeat for more."),
]
View = Annotated[bool, option("--view", "Show the run in a live window, in real time.")]
GetUp = Annotated[
    float | None,
    option(
        "--get-up S",
        "Let a fallen robot get up by itself: put it back only after so many seconds. Changes the rules.",
        min=0.0,
    ),
]
Legal = Annotated[bool, option("--legal", "Stop with an error if the layout breaks the contest's rules.")]


SIMULATED_BODY = "sim"
PYTHON_CONTROLLER = "python"
BATCH_FOLDER = Path("out/{trial}-{digest}")
"""Default folder of a batch of trials."""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(
        app, "run", run, python_equivalents="run_trial run_many draw_outcome draw_board film_recording"
    )


def run(
    trial: TrialName = "obstacle-race",
    arena: ArenaFile = None,
    layout: LayoutName = None,
    seed: Seed = None,
    behaviour: BehaviourName = None,
    robot: RobotName = None,
    settings: ProgramOptions = None,
    motions: VendorFile = None,
    body: Body = SIMULATED_BODY,
    controller: ControllerName = PYTHON_CONTROLLER,
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
    get_up: GetUp = None,
    start: Start = StartPosture.STANDING,
    streams: StreamsName = "2026-12",
    on_end: OnEnd = TorquePolicy.RELEASE,
    accept_faults: AcceptFaults = False,
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
                arena=arena,
                layout=layout,
                behaviour=behaviour,
                robot=robot,
                options=parse_program_options(settings),
                motions=motions,
                body=body,
                controller=controller,
                legal=legal,
                get_up_s=get_up,
                start_posture=start.value,
                streams=streams,
                folder=batch.folder or BATCH_FOLDER,
                recordings=batch.recordings,
                workers=batch.workers_for(n_runs),
                on_run=on_run,
            )
        print_batch(result, as_json=as_json, replay_command=_replay_command(result))
        return
    batch.require_defaults()
    inputs = (trial, arena, layout, behaviour, motions)
    film = FilmOptions.read(video, camera, speed, size, subject=trial, inputs=inputs)
    if controller == PYTHON_CONTROLLER and states_plot is not None:
        require_unset({"--states-plot": states_plot}, "without a board, which --controller chooses")
    require_recording_path(record, *inputs)
    for picture in (plot, states_plot):
        require_output_file(picture, "a picture", figures.PICTURES, *inputs)
    with (
        report_faults("nothing has moved"),
        console.spinner(f"{trial}: setting up", quiet=as_json) as show_status,
    ):
        outcome = runs.run_trial(
            trial,
            arena=arena,
            layout=layout,
            seed=seed,
            behaviour=behaviour,
            robot=robot,
            options=parse_program_options(settings),
            motions=motions,
            body=body,
            controller=controller,
            legal=legal,
            get_up_s=get_up,
            start_posture=start.value,
            streams=streams,
            to_film=film is not None,
            camera=camera,
            record=record,
            cameras=cameras or (),
            on_progress=_progress_printer(show_status),
            make_watcher=_LiveWindow if view else None,
            pace=control.RealClock(time.monotonic, time.sleep) if real_time else None,
            clock=time.perf_counter,
            on_end=on_end,
            accept_faults=accept_faults,
        )
        if plot is not None:
            show_status("drawing the picture")
            figures.save_figure(runs.draw_outcome(outcome), plot)
        if states_plot is not None:
            show_status("drawing the picture")
            figures.save_figure(runs.draw_board(outcome), states_plot)
        if film is not None:
            film.make(outcome.recording, show_status)
    show_outcome(outcome, as_json=as_json)


def parse_program_options(settings: Sequence[str] | None) -> dict[str, str]:
    """Return the values of texts such as `words=472@3` by name.

    Raises:
        InputError: a text has no name or no `=`, or two have the same name.
    """
    options = {}
    for text in settings or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set {text} is not of the form NAME=VALUE", hint="write it like words=472@3")
        if name.strip() in options:
            raise InputError(f"--set {name.strip()} is there twice", hint="one value for each option")
        options[name.strip()] = value
    return options


def _replay_command(batch: runs.Batch) -> str:
    """Return the command that replays the worst run of a batch; empty if it has no recording."""
    recording = None if batch.worst is None else batch.recording(batch.worst)
    if recording is None:
        return ""
    return shlex.join(["posewright", "replay", str(recording), "--plot", "worst.png"])


def _progress_printer(show_status: Callable[[str], None]) -> Callable[[Progress], None]:
    """Return a function that shows the progress of a run: time, speed, state and standing."""
    started_s = time.perf_counter()

    def on_progress(progress: Progress) -> None:
        speed = progress.time_s / max(time.perf_counter() - started_s, 1e-3)
        time_text = f"{progress.time_s:6.1f} s ({format_speed(speed):>3} x real time)"
        show_status(f"{time_text}  {progress.state:<15} {progress.standing}")

    return on_progress


class _LiveWindow:
    """A watcher that shows a simulated world in a window, no faster than real time."""

    def __init__(self, plant: Plant) -> None:
        from posewright.simulation import LiveView, World

        if not isinstance(plant, World):
            raise InputError("--view shows only simulated bodies", hint="leave --view out, or use --body sim")
        self._view = LiveView(plant)
        self._start_s: float | None = None

    def watch(self, block: Block) -> bool:
        """Show a block; return whether the window was closed, which ends the run."""
        now_s = time.perf_counter()
        if self._start_s is None:  # when the simulation's time was 0
            self._start_s = now_s - block.state.time_s
        delay_s = float(block.states.times[-1]) - (now_s - self._start_s)
        if delay_s > 0.0:
            time.sleep(delay_s)
        self._view.sync()
        return not self._view.is_open
