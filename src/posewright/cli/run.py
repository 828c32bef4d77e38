"""`posewright run`: a trial in simulation, judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posewright import figures
from posewright.bodies import TorquePolicy
from posewright.cli import console, film_options
from posewright.cli.batch import KeepRecordings, Out, Seeds, Workers, refuse_of_one, run_seeds
from posewright.cli.judge import give_outcome
from posewright.cli.motion_play import OnEnd
from posewright.cli.options import AsJson, Plot, add_command, argument, option, refuse_overwriting
from posewright.control import RealClock
from posewright.documents import refuse_unwritable
from posewright.errors import InputError, Where

if TYPE_CHECKING:
    from posewright.bodies import Plant
    from posewright.control import Block
    from posewright.runs import Outcome, Progress


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
RobotName = Annotated[
    str | None, option("--robot", "Who runs that behaviour: a robot's name, or its card; default its own.")
]
ProgramOptions = Annotated[
    list[str] | None,
    option(
        "--set NAME=VALUE", "Say something to the behaviour, such as words=472@3 to a Robi's; repeatable."
    ),
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
Plots = tuple[Path | None, Path | None]
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


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "run", run, twins="run_trial run_many draw_outcome draw_board film_recording")


def run(
    trial: TrialName = "obstacle-race",
    layout: LayoutName = None,
    seed: Seed = None,
    behaviour: BehaviourName = None,
    robot: RobotName = None,
    sets: ProgramOptions = None,
    motions: VendorFile = None,
    body: Body = "sim",
    controller: OnController = "python",
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
    from posewright.runs import run_trial

    what: dict[str, Any] = {"layout": layout, "behaviour": behaviour, "motions": motions, "legal": legal}
    what |= {"body": body, "robot": robot, "options": program_options(sets), "streams": streams}
    what["controller"] = controller
    board = controller if controller != "python" else None
    if seeds is not None:
        only_one = {"--seed": seed, "--record": record, "--video": video, "--plot": plot, "--camera": camera}
        only_one |= {"--view": view or None, "--real-time": real_time or None, "--size": size}
        only_one |= {"--cameras": bool(cameras) or None, "--states-plot": states_plot}
        how: dict[str, Any] = {"out": out, "workers": workers, "recordings": keep, "as_json": as_json}
        run_seeds(trial, seeds, only_one=only_one, **how, **what)
        return
    refuse_of_one({"--out": out, "--workers": workers, "--no-recordings": not keep or None}, "for --seeds")
    film_options.refuse_unused_camera(camera, video)
    video, pixels = video and film_options.film_path(video, trial), film_options.size_of(size)
    refuse_of_one({} if board else {"--states-plot": states_plot}, "for --controller of a board")
    _refuse_outputs(record, video, plot, states_plot, inputs=(trial, layout, behaviour, motions))
    if video is not None:
        figures.refuse_film(video, speed, pixels)
    what |= {"to_film": video is not None, "camera": camera, "record": record}
    pace, live = RealClock(time.monotonic, time.sleep) if real_time else None, _Live if view else None
    what |= {"cameras": cameras or (), "on_end": on_end, "pace": pace, "seed": seed, "make_watcher": live}
    with console.working(f"{trial}: setting up", quiet=as_json) as say:
        outcome = run_trial(trial, clock=time.perf_counter, on_progress=_teller(say), **what)
        _show(outcome, (plot, states_plot), video, {"camera": camera, "speed": speed, "size": pixels}, say)
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


def _show(
    outcome: Outcome, plots: Plots, video: Path | None, how: dict[str, Any], say: Callable[[str], None]
) -> None:
    """Draw what came of it, and film it as asked, where that is asked for."""
    from posewright.figures import film_recording, save_figure
    from posewright.runs import draw_board, draw_outcome

    for plot, draw in zip(plots, (draw_outcome, draw_board), strict=True):
        if plot is not None:
            say("drawing the picture")
            save_figure(draw(outcome), plot)
    if video is not None:
        film_recording(outcome.recording, video, **how, on_progress=film_options.filming(say))


def _teller(say: Callable[[str], None]) -> Callable[[Progress], None]:
    began = time.perf_counter()

    def tell(progress: Progress) -> None:
        speed = progress.time_s / max(time.perf_counter() - began, 1e-3)
        say(f"{progress.time_s:6.1f} s ({speed:3.0f} x real time)  {progress.state:<15} {progress.standing}")

    return tell


def _refuse_outputs(
    record: Path | None, video: Path | None, *plots: Path | None, inputs: tuple[str | Path | None, ...]
) -> None:
    from posewright.figures import FILMS, PICTURES

    for path, endings in ((record, (".mcap",)), (video, FILMS), *((plot, PICTURES) for plot in plots)):
        _refuse_unwritable(path, endings)
        refuse_overwriting(path, *inputs)


def _refuse_unwritable(path: Path | None, suffixes: Collection[str]) -> None:
    """Say before a long run, not after it, that a file could not be written."""
    if path is None:
        return
    refuse_unwritable(path)
    if path.suffix.lower() not in suffixes:
        what = "the file's ending does not fit"
        raise InputError(what, where=Where(path), hint=f"one of {', '.join(suffixes)}")


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
