"""`posewright aibo run` and `aibo programs`: OPEN-R objects on a simulated AIBO."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import figures, runs
from posewright.cli import console, film_options
from posewright.cli.film_options import FilmOptions
from posewright.cli.options import (
    EXIT_FAILURE,
    AsJson,
    Record,
    add_verb,
    argument,
    option,
    require_output_file,
    require_recording_path,
)
from posewright.display import DisplayItem, Styled, build_line
from posewright.documents import read_text, write_atomically
from posewright.errors import InputError
from posewright.runtimes import openr

if TYPE_CHECKING:
    from posewright.control import Block, Clock
    from posewright.recordings import Recording
    from posewright.runtimes.openr.programs import OpenRProgram

MERMAID = ".mmd"
"""Suffix of Mermaid diagrams."""

STDIN = Path("stdin")
"""Stands for stdin in messages about commands."""

QUIT_WORDS = frozenset({"", "quit", "exit"})
"""What a user types to end the commands."""

HELP_WORDS = frozenset({"help", "?"})

_HELP = (
    "Type one command, or several separated by commas; @SECONDS delays one. "
    "help or ? lists the commands; an empty line or quit ends."
)

ProgramName = Annotated[
    str | None, argument("PROGRAM", "A program of `posewright aibo programs`, or a CONNECT.CFG of your own.")
]
Commands = Annotated[
    str | None,
    option(
        "--commands TEXT",
        "Commands, each with its time in seconds: 'MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5'.",
    ),
]
Script = Annotated[
    Path | None, option("--script FILE", "Read the commands from a file, one per line; # starts a comment.")
]
Stick = Annotated[
    Path | None,
    option("--stick FOLDER", "Run the program of this memory stick: MoNet, or its own CONNECT.CFG."),
]
ListedStick = Annotated[
    Path | None, option("--stick FOLDER", "List the ids of MoNet's commands on this memory stick.")
]
Monet = Annotated[
    list[Path] | None,
    option("--monet FILE", "A MONETCMD.CFG, MONET.CFG or ODA archive, instead of --stick; repeatable."),
]
Poses = Annotated[Path | None, option("--poses FILE", "The poses of EKMotion: an EKMoves.h.")]
Sequences = Annotated[Path | None, option("--sequences FILE", "Your own special moves for EKMotion.")]
PlayerName = Annotated[
    str,
    option("--player NAME", "How MoNet plays motions: sony, with the AIBO's integer arithmetic, or exact."),
]
Objects = Annotated[
    Path | None,
    option("--objects FILE", "A Python file with OObject classes, which CONNECT.CFG refers to by name."),
]
RobotName = Annotated[str, option("--robot R", "The robot; its card must name Sony's locators.")]
Body = Annotated[
    str, option("--body BODY", "sim, mock, or a simulated body drawn by the seed: random or a *.bodies.yaml.")
]
Seed = Annotated[int, option("--seed N", "Seed of all random numbers.")]
Pose = Annotated[
    str | None, option("--pose POSE", "The pose in which the robot starts; default the program's.")
]
Seconds = Annotated[
    float | None,
    option(
        "--seconds S",
        "Stop after S seconds; default when nothing happens for 1 s, at the latest after 600 s.",
    ),
]
RealTime = Annotated[bool, option("--real-time", "Run at the speed of a real robot.")]
ShowMessages = Annotated[bool, option("--show-messages", "Print every message and state as it occurs.")]
Diagram = Annotated[
    Path | None,
    option("--diagram FILE", "Draw the messages between the objects: .mmd (Mermaid), .svg, .png or .pdf."),
]


def add_verbs(aibo: typer.Typer) -> None:
    """Add the verbs to the group `aibo`."""
    add_verb(
        aibo, "run", run, python_equivalents="run_openr openr_result sequence_diagram draw_sequence perform"
    )
    add_verb(aibo, "programs", list_programs, python_equivalents="openr_programs")


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
    """Run a program of OPEN-R objects on a robot on an empty floor; exit with 1 if it falls.

    Commands come from --commands or --script. Without these options you type them, one line at a time:
    simulated time stands still while you type, times count from the moment you press Enter, and an empty line
    ends the input. If stdin is not a terminal, all commands are read from it. Commands and files are checked
    before the robot moves.

    [bold]Examples[/]
      posewright aibo run move_head --commands "MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5" --show-messages
      posewright aibo run move_head
      posewright aibo run CONNECT.CFG --objects my_objects.py --diagram flow.svg
      posewright aibo run --stick /media/AIBO --commands "60@0" --record kick.mcap --video kick.mp4
    """
    setup = openr.set_up_openr(
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
    inputs = (script, *setup.files)
    require_recording_path(record, *inputs)
    film = FilmOptions.read(video, camera, subject=program or "monet", inputs=inputs)
    _require_diagram_path(diagram, inputs)
    openr_program, prompt = _add_commands(setup, commands, script)
    if film is not None:
        film.require_filmable(openr_program.robot, body)
    printer: _MessagePrinter | None = None
    if show_messages or prompt is not None:
        printer = _MessagePrinter(show_all=show_messages, to_stderr=as_json)
    with console.spinner(openr_program.name, quiet=as_json or printer is not None) as set_spinner_text:
        recording = runs.run_openr(
            openr_program,
            body=body,
            seed=seed,
            seconds=seconds,
            watchers=[printer or _ProgressPrinter(openr_program.name, set_spinner_text)],
            clock=_real_time_clock(prompt) if real_time else None,
            record=record,
        )
    if diagram is not None:
        _draw_diagram(recording, diagram, quiet=as_json)
    if film is not None:
        with console.spinner("filming", quiet=as_json) as set_spinner_text:
            film.make(recording, set_spinner_text)
    result = runs.openr_result(recording)
    output_paths = {"recording": record, "diagram": diagram, "film": None if film is None else film.path}
    lines = list(openr.format_run_report(result, openr.entries_of(recording)))
    lines += [f"{kind} -> {path}" for kind, path in output_paths.items() if path is not None]
    console.print_result(result, lines, as_json=as_json)
    if result["fell"]:
        raise typer.Exit(EXIT_FAILURE)


def list_programs(stick: ListedStick = None, as_json: AsJson = False) -> None:
    """List the OPEN-R programs that come with Posewright, with their objects and commands.

    [bold]Examples[/]
      posewright aibo programs
      posewright aibo programs --stick /media/AIBO
    """
    programs = openr.openr_programs(stick)
    lines: list[DisplayItem] = []
    for program in programs:
        lines.append(build_line(Styled(program["name"], "bold"), f": {program['about']}"))
        lines.append(f"  objects: {', '.join(program['objects'])}")
        lines.append(f"  commands: {program['commands']}")
    console.print_result(programs, lines, as_json=as_json)


def _require_diagram_path(diagram: Path | None, inputs: tuple[str | Path | None, ...]) -> None:
    """Raise unless a diagram can be written at the path, so that a long run does not fail at its end.

    Raises:
        InputError: the suffix is not that of a diagram or picture.
        OutputError: the file cannot be written, or is one of the `inputs`.
    """
    require_output_file(diagram, "a diagram", (MERMAID, *figures.PICTURES), *inputs)
    if diagram is not None and diagram.suffix.lower() != MERMAID:
        figures.require_picture_path(diagram)


def _add_commands(
    program: OpenRProgram, commands: str | None, script: Path | None
) -> tuple[OpenRProgram, _CommandPrompt | None]:
    """Return a program with its commands, and the prompt that asks for more if a user types them.

    Prints the warnings of the program. Without `commands` and `script`, a program that takes commands gets
    them from the prompt, or from stdin if that is not a terminal.

    Raises:
        InputError: both `commands` and `script` are set.
    """
    for warning in program.warnings:
        console.print_warning(warning)
    if commands is not None and script is not None:
        raise InputError("--commands and --script exclude each other", hint="use one of them")
    if script is not None:
        return program.with_commands(read_text(script), script, prompt=None), None
    if commands is not None or not program.takes_commands:
        return program.with_commands(commands or "", Path("--commands"), prompt=None), None
    if sys.stdin is None:  # it was closed
        return program.with_commands("", STDIN, prompt=None), None
    if not sys.stdin.isatty():
        return program.with_commands(sys.stdin.read(), STDIN, prompt=None), None
    prompt = _CommandPrompt(program.vocabulary)
    return program.with_commands("", Path("--commands"), prompt), prompt


def _real_time_clock(prompt: _CommandPrompt | None) -> Clock:
    """Return a clock of real time that stands still while a user types."""
    from posewright.control import RealClock

    def read_s() -> float:
        typing_s = 0.0 if prompt is None else prompt.typing_s
        return time.monotonic() - typing_s

    return RealClock(read_s, time.sleep)


def _draw_diagram(recording: Recording, diagram: Path, *, quiet: bool) -> None:
    """Write the messages between objects as Mermaid text or as a picture, by the suffix of the path."""
    if diagram.suffix.lower() == MERMAID:
        write_atomically(diagram, openr.sequence_diagram(recording).encode())
        return
    with console.spinner("drawing", quiet=quiet):
        figures.save_figure(figures.draw_sequence(recording), diagram)


class _CommandPrompt:
    """Asks a user for commands, on stderr and stdin.

    Args:
        vocabulary: describes the commands of the program; empty if it accepts any word.

    Attributes:
        typing_s: the total time the user took to type [s].
    """

    def __init__(self, vocabulary: str) -> None:
        self.typing_s = 0.0
        self._vocabulary = vocabulary or "any word"
        self._print_help()

    def __call__(self, time_s: float, error: InputError | None) -> str | None:
        """Return the next line that the user types, or None if the user ends the input.

        Args:
            time_s: the robot's time [s], shown in the prompt.
            error: what was wrong with the previous line.
        """
        if error is not None:
            console.print_error(str(error).removeprefix(f"{error.where}: "))
        start_s = time.monotonic()
        line = _read_line(f"{time_s:.3f} s > ")
        while line in HELP_WORDS:
            self._print_help()
            line = _read_line(f"{time_s:.3f} s > ")
        self.typing_s += time.monotonic() - start_s
        return None if line in QUIT_WORDS else line

    def _print_help(self) -> None:
        console.print_to_stderr(f"commands: {self._vocabulary}")
        console.print_to_stderr(_HELP)


def _read_line(prompt: str) -> str:
    """Return the line that the user types, without surrounding spaces; empty for Ctrl-D and Ctrl-C."""
    try:
        console.print_to_stderr(prompt, end="")
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    if not line:
        console.print_to_stderr("")
    return line.strip()


class _MessagePrinter:
    """A watcher of a run that prints the messages between objects as they occur.

    Args:
        show_all: print messages of every kind, not only those that a user who types commands needs.
        to_stderr: print to stderr, because stdout is reserved for JSON.
    """

    def __init__(self, *, show_all: bool, to_stderr: bool) -> None:
        self._hidden_kinds = frozenset() if show_all else _DETAIL_KINDS
        self._to_stderr = to_stderr

    def watch(self, block: Block) -> bool:
        """Print the messages in a block of a run; return False, as this never ends the run.

        They are among the events of the controller's decision, each with its data as in a log.
        """
        decision = block.requests.decision
        if decision is None:
            return False
        for event_name, data in decision.events:
            entry = openr.log_entry_of(block.state.time_s, data)
            if event_name != openr.EVENT or entry.kind in self._hidden_kinds:
                continue
            line = openr.message_line(entry)
            if self._to_stderr:
                console.print_to_stderr(str(line))
            else:
                console.print_line(line)
        return False


class _ProgressPrinter:
    """A watcher of a run that shows the robot's time in a spinner."""

    def __init__(self, name: str, set_spinner_text: Callable[[str], None]) -> None:
        self._name = name
        self._set_spinner_text = set_spinner_text

    def watch(self, block: Block) -> bool:
        """Show the robot's time; never ends a run."""
        self._set_spinner_text(f"{self._name}: {block.state.time_s:.1f} s")
        return False


_DETAIL_KINDS = frozenset({"notify", "ready", "not ready", "waits"})
"""Kinds of log entries that only `--show-messages` prints."""
