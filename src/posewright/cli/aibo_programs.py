"""`posewright aibo run` and `aibo programs`: OPEN-R objects on a simulated dog, message by message."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import figures, runs
from posewright.cli import console, film_options, signals
from posewright.cli.film_options import FilmOptions
from posewright.cli.options import (
    AsJson,
    Record,
    add_verb,
    argument,
    option,
    require_distinct_output,
    require_recording_path,
)
from posewright.display import Styled, build_line
from posewright.documents import read_text, require_writable, write_atomically
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.runtimes import openr

if TYPE_CHECKING:
    from posewright.control import Block, Clock
    from posewright.recordings import Recording
    from posewright.runtimes.openr.programs import OpenRProgram

FELL = 1  # exit code where the robot fell
MERMAID = ".mmd"
STDIN = Path("stdin")
ENDS = frozenset({"", "quit", "exit"})
"""What a person types when there is no more to say."""

HELP = frozenset({"help", "?"})
_TYPED = "One or several with commas, @SECONDS from now; help or ? shows them; an empty line or quit ends."

ProgramName = Annotated[
    str | None, argument("PROGRAM", "A program of `posewright aibo programs`, or a CONNECT.CFG of your own.")
]
Commands = Annotated[
    str | None,
    option(
        "--commands TEXT",
        "Commands, each with the second it is sent at: 'MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5'.",
    ),
]
Script = Annotated[
    Path | None, option("--script FILE", "The same from a file, a command a line; # begins a comment.")
]
Stick = Annotated[
    Path | None, option("--stick FOLDER", "What is on this memory stick: MoNet, or its own CONNECT.CFG.")
]
Listed = Annotated[Path | None, option("--stick FOLDER", "Tell the ids of MoNet's commands on this stick.")]
Monet = Annotated[
    list[Path] | None, option("--monet FILE", "MONETCMD.CFG, MONET.CFG or ODA without a stick; repeatable.")
]
Poses = Annotated[Path | None, option("--poses FILE", "EKMotion's table of poses: an EKMoves.h.")]
Sequences = Annotated[Path | None, option("--sequences FILE", "EKMotion's special moves, of your own.")]
PlayerName = Annotated[
    str, option("--player", "How MoNet plays motions: sony, with the AIBO's own arithmetic; or exact.")
]
Objects = Annotated[
    Path | None, option("--objects FILE", "A Python file: its OObject classes are known by their names.")
]
RobotName = Annotated[str, option("--robot R", "A robot with Sony's locators on its card.")]
Body = Annotated[
    str, option("--body", "sim; random or a *.bodies.yaml: a simulated body drawn by the seed; mock.")
]
Seed = Annotated[int, option("--seed N", "Seed of what is drawn at random.")]
Pose = Annotated[str | None, option("--pose POSE", "In which the robot begins; default the program's.")]
Seconds = Annotated[
    float | None,
    option("--seconds S", "Run for so long; default until nothing has been done for 1 s, at most 600 s."),
]
RealTime = Annotated[bool, option("--real-time", "Send each frame at its time, as to a real robot.")]
ShowMessages = Annotated[bool, option("--show-messages", "Print every message and state as it comes.")]
Diagram = Annotated[
    Path | None, option("--diagram FILE", "Draw who said what to whom: .mmd (Mermaid), .svg, .png or .pdf.")
]


def add_verbs(aibo: typer.Typer) -> None:
    """Add the verbs to the group `aibo`."""
    twins = "run_openr openr_result sequence_diagram draw_sequence perform"
    add_verb(aibo, "run", run, python_names=twins)
    add_verb(aibo, "programs", list_programs, python_names="openr_programs")


def run(
    program: ProgramName = None,
    commands: Commands = None,
    script: Script = None,
    stick: Stick = None,
    monet: Monet = None,
    poses: Poses = None,
    sequences: Sequences = None,
    player: PlayerName = "sony",
    objects: Objects = None,
    robot: RobotName = "sony_ers7",
    body: Body = "sim",
    seed: Seed = 0,
    pose: Pose = None,
    seconds: Seconds = None,
    real_time: RealTime = False,
    show_messages: ShowMessages = False,
    diagram: Diagram = None,
    record: Record = None,
    video: film_options.Video = None,
    camera: film_options.Camera = None,
    as_json: AsJson = False,
) -> None:
    """Run a program of OPEN-R objects on a robot that stands on a bare floor; exit with 1 if it falls.

    Commands come from --commands or --script. Without either they are typed, a line at a time: simulated time
    stands still meanwhile, times in a line count from then, and an empty line ends. Where nobody can type,
    they are read from stdin. All that is handed in is checked before the robot moves.

    [bold]Examples[/]
      posewright aibo run move_head --commands "MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5" --show-messages
      posewright aibo run move_head
      posewright aibo run CONNECT.CFG --objects my_objects.py --diagram flow.svg
      posewright aibo run --stick /media/AIBO --commands "60@0" --record kick.mcap --video kick.mp4
    """
    with _blamed(objects, as_json):
        ready = openr.set_up_openr(
            program,
            robot=robot,
            pose=pose,
            stick=stick,
            monet=monet or (),
            poses=poses,
            sequences=sequences,
            player=player,
            objects=objects,
        )
        inputs = (script, *ready.files)
        require_recording_path(record, *inputs)
        film = FilmOptions.read(video, camera, subject=program or "monet", inputs=inputs)
        _refuse_diagram(diagram, inputs)
        ready, terminal = _commanded(ready, commands, script)
    if film is not None:
        film.require_filmable(ready.robot, body)
    printer = _MessagePrinter(everything=show_messages, apart=as_json) if show_messages or terminal else None
    with _blamed(objects, as_json), console.spinner(ready.name, quiet=as_json or printer is not None) as say:
        recording = runs.run_openr(
            ready,
            body=body,
            seed=seed,
            seconds=seconds,
            watchers=[printer or _ProgressPrinter(ready.name, say)],
            clock=_clock(terminal) if real_time else None,
            record=record,
        )
    if diagram is not None:
        _draw_diagram(recording, diagram, quiet=as_json)
    if film is not None:
        with console.spinner("filming", quiet=as_json) as say:
            film.make(recording, say)
    result = runs.openr_result(recording)
    files = {"recording": record, "diagram": diagram, "film": None if film is None else film.path}
    written = [f"{kind} -> {path}" for kind, path in files.items() if path is not None]
    console.print_result(
        result, [*openr.run_lines(result, openr.entries_of(recording)), *written], as_json=as_json
    )
    if result["fell"]:
        raise typer.Exit(FELL)


def list_programs(stick: Listed = None, as_json: AsJson = False) -> None:
    """List the OPEN-R programs that come with Posewright, their objects, and the commands they know.

    [bold]Examples[/]
      posewright aibo programs
      posewright aibo programs --stick /media/AIBO
    """
    told = openr.openr_programs(stick)
    lines = [
        line
        for one in told
        for line in (
            build_line(Styled(one["name"], "bold"), f": {one['about']}"),
            f"  objects: {', '.join(one['objects'])}",
            f"  commands: {one['commands']}",
        )
    ]
    console.print_result(told, lines, as_json=as_json)


def _refuse_diagram(diagram: Path | None, inputs: tuple[str | Path | None, ...]) -> None:
    """Say before the run that a diagram could not be written after it."""
    if diagram is None:
        return
    require_distinct_output(diagram, *inputs)
    if diagram.suffix.lower() == MERMAID:
        require_writable(diagram)
    elif diagram.suffix.lower() in figures.PICTURES:
        figures.require_picture_path(diagram)
    else:
        hint = f"end it in one of {', '.join((MERMAID, *figures.PICTURES))}"
        raise InputError("not a kind of diagram", where=Where(diagram), hint=hint)


def _commanded(
    ready: OpenRProgram, commands: str | None, script: Path | None
) -> tuple[OpenRProgram, _Terminal | None]:
    """Return a program with its commands, and who asks a person for more; say what is to be known of it."""
    for remark in ready.warnings:
        console.print_warning(remark)
    asks = ready.takes_commands and commands is None and script is None
    can_type = asks and sys.stdin is not None and sys.stdin.isatty()
    terminal = _Terminal(ready.vocabulary) if can_type else None
    text, path = _script(commands, script, from_stdin=asks and terminal is None)
    return ready.with_commands(text, path, terminal), terminal


def _script(commands: str | None, script: Path | None, *, from_stdin: bool) -> tuple[str, Path | None]:
    """Return the text of the commands, and where it stands."""
    if commands is not None and script is not None:
        raise InputError("commands, and a script besides", hint="--commands or --script")
    if script is not None:
        return read_text(script), script
    if from_stdin:
        return "" if sys.stdin is None else sys.stdin.read(), STDIN  # None: it was closed
    return commands or "", Path("--commands")


def _clock(terminal: _Terminal | None) -> Clock:
    """Return a clock of real time, which stands still while a person types."""
    from posewright.control import RealClock

    return RealClock(lambda: time.monotonic() - (terminal.waited_s if terminal else 0.0), time.sleep)


def _draw_diagram(recording: Recording, diagram: Path, *, quiet: bool) -> None:
    if diagram.suffix.lower() == MERMAID:
        write_atomically(diagram, openr.sequence_diagram(recording).encode())
        return
    with console.spinner("drawing", quiet=quiet):
        figures.save_figure(figures.draw_sequence(recording), diagram)


class _Terminal:
    """Asks a person for commands.

    Args:
        words: what may be typed.

    Attributes:
        waited_s: for so long the person has thought and typed, all in all [s].
    """

    def __init__(self, words: str) -> None:
        self.waited_s = 0.0
        self._words = words or "any word"
        self._tell()

    def __call__(self, time_s: float, error: InputError | None) -> str | None:
        """Ask for a line; None when there will be no more."""
        if error is not None:
            console.print_error(str(error).removeprefix(f"{error.where}: "))
        began = time.monotonic()
        line = _line_typed(f"{time_s:.3f} s > ")
        while line in HELP:
            self._tell()
            line = _line_typed(f"{time_s:.3f} s > ")
        self.waited_s += time.monotonic() - began
        return None if line in ENDS else line

    def _tell(self) -> None:
        console.print_to_stderr(f"commands: {self._words}")
        console.print_to_stderr(_TYPED)


def _line_typed(prompt: str) -> str:
    """Return what a person types; nothing for Ctrl-D and Ctrl-C."""
    try:
        console.print_to_stderr(prompt, end="")
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    if not line:
        console.print_to_stderr("")
    return line.strip()


class _MessagePrinter:
    """Prints what objects say as it comes: everything, or what a person who types commands needs.

    Args:
        apart: whether it goes to stderr, as stdout is a program's.
    """

    def __init__(self, *, everything: bool, apart: bool) -> None:
        self._hidden = frozenset() if everything else _PLAIN
        self._apart = apart

    def watch(self, block: Block) -> bool:
        """Print what is new; never ends a run."""
        decision = block.requests.decision
        for kind, data in () if decision is None else decision.events:
            entry = openr.log_entry_of(block.state.time_s, data)
            if kind == openr.EVENT and entry.kind not in self._hidden:
                line = openr.message_line(entry)
                console.print_to_stderr(str(line)) if self._apart else console.print_line(line)
        return False


class _ProgressPrinter:
    """Shows how far a run is."""

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        self._name, self._say = name, say

    def watch(self, block: Block) -> bool:
        """Show the robot's time; never ends a run."""
        self._say(f"{self._name}: {block.state.time_s:.1f} s")
        return False


_PLAIN = frozenset({"notify", "ready", "not ready", "waits"})
"""Kinds of entries that are shown only where every message is."""


@contextmanager
def _blamed(path: Path | None, apart: bool) -> Iterator[None]:
    """Say in which line of a person's own file something went wrong meanwhile.

    Args:
        path: of the file, if there is one.
        apart: whether what it prints goes to stderr, as stdout is a program's.

    Raises:
        FormatError: Python could not read or run the file, or it wanted to exit.
    """
    try:
        with redirect_stdout(sys.stderr) if apart else nullcontext():
            yield
    except (Exception, SystemExit) as error:
        signals.raise_again()  # what a signal raised is not the file's
        line = None if path is None else _line_in(error, path)
        if path is None or line is None:
            raise
        if isinstance(error, PosewrightError):
            error.where = error.where or Where(path, line)
            raise
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise FormatError(f"{type(error).__name__}: {what}", where=Where(path, line)) from error


def _line_in(error: BaseException, path: Path) -> int | None:
    """Return the line of a file in which an error arose; None where that was elsewhere."""
    own = path.absolute()
    if isinstance(error, SyntaxError) and error.filename is not None and Path(error.filename) == own:
        return error.lineno
    stack = traceback.extract_tb(error.__traceback__)
    frames = [one.lineno for one in stack if Path(one.filename).absolute() == own]
    return frames[-1] if frames else None
