"""Verbs that write, killed at random moments: what they leave must be the old or the new, and nothing else.

`make fuzz` kills each verb ten times: `POSEWRIGHT_KILLS=100 pytest tests/house/test_kills.py`.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.days import SHORT_DAY

import posewright as pw
from posewright.arenas import read_arena
from posewright.cli import main
from posewright.errors import PosewrightError
from posewright.figures.film_file import _count_pictures as pictures_in
from posewright.formats.oda.archive import OdaArchive
from posewright.search import read_journal
from posewright.studio.arena.commands import read_arena_command
from posewright.studio.arena.files import open_arena, save_arena
from posewright.studio.commands import read_command
from posewright.studio.files.load import open_path
from posewright.studio.files.saving import save

HOUSE = Path(pw.__file__).parent
DOG = HOUSE / "robots" / "catalogue" / "sony_ers7"
NOD, BOW = DOG / "motions" / "nod.motion.yaml", DOG / "motions" / "play_bow.motion.yaml"
MADE = Path(__file__).parents[1] / "runs" / "made.gait.yaml"
TUNE = """\
tune: quick
robot: sony_ers7
gait: made.gait.yaml
parameters: {ground_speed_m_s: [0.25, 0.4], travel_gain.forward: [0.7, 1.8]}
walks:
  - {forward_m_s: 0.1, seconds: 0.4, settle_s: 0.1}
score: {following: 1, fall: 2}
search: {generations: 2, population: 4}
"""
N_SAVES = 20
"""Saves of one visit to the studio, each with another content."""

ODA, LIST = "OPEN-R/MW/DATA/P/ERS-7/MOTION7.ODA", "OPEN-R/MW/CONF/ERS-7/MONETCMD.CFG"
WARM = (
    "cli.app",
    "cli.motion",
    "cli.aibo",
    "cli.run",
    "cli.tune",
    "cli.contest",
    "runs",
    "figures",
    "runtimes.openr.stick",
)
WARM_LIBRARIES = ("mujoco", "scipy.optimize", "cma", "imageio_ffmpeg", "numpy")

Files = Mapping[str, bytes]


def files(folder: Path) -> Files:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass(frozen=True)
class Verb:
    """A verb of the command line that writes.

    Attributes:
        words: what is typed, in a folder.
        again: what is typed when it was killed; default the same.
        prepare: puts the old files there.
        is_whole: whether a file that is neither the old nor the new one is whole too, as a run's recording is
            of a run that was ended.
        is_repeatable: whether it gives the same bytes each time.
        act: what is done in the folder in place of typing `words`.
    """

    words: tuple[str, ...]
    prepare: Callable[[Path], object]
    again: tuple[str, ...] = ()
    is_whole: Callable[[Path], bool] = lambda _: False
    is_repeatable: bool = True
    act: Callable[[], None] | None = None


def put(*names: tuple[str, bytes]) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        for name, data in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    return prepare


def prepare_convert(folder: Path) -> None:
    pw.convert_motion(NOD, folder / "new.mtn", accept_loss=True, options=pw.WriteOptions(straighten=True))


def prepare_archive(folder: Path) -> None:
    pw.convert_motion(BOW, folder / "bow.mtn", accept_loss=True, options=pw.WriteOptions(straighten=True))
    pw.convert_motion(NOD, folder / "nod.mtn", accept_loss=True, options=pw.WriteOptions(straighten=True))
    archive = OdaArchive().with_entry("a_stand#stand_bow", (folder / "bow.mtn").read_bytes())
    put(("old.oda", archive.render()))(folder)


def prepare_stick(folder: Path) -> None:
    prepare_archive(folder)
    designdb = f"[ERS-7]\nMONET_MOTION /MS/{ODA}\nMONET_SOUND /MS/OPEN-R/SOUND.ODA\n"
    put(
        (ODA, (folder / "old.oda").read_bytes()),
        (LIST, b"60 1 0\nmonetagentMTN a_stand#stand_bow -1\n"),
        ("OPEN-R/MW/CONF/DESIGNDB.CFG", designdb.encode()),
        ("OPEN-R/MW/CONF/ERS-7/MONET.CFG", b"monetagentNEUTRAL a_nt#stand_standard 0\n"),
        ("OPEN-R/SOUND.ODA", OdaArchive().with_entry("bark", b"RIFF\x04\0\0\0WAVE").render()),
    )(folder)


def prepare_tune(folder: Path) -> None:
    put(("quick.tune.yaml", TUNE.encode()), (MADE.name, MADE.read_bytes()))(folder)


def is_journal(path: Path) -> bool:
    return path.suffix == ".jsonl" and (b"\n" not in path.read_bytes() or bool(read_journal(path)))


def is_recording(path: Path) -> bool:
    return path.suffix == ".mcap" and len(pw.read_recording(path).times) > 0


def is_film(path: Path) -> bool:
    return path.suffix == ".mp4" and pictures_in(path) > 0


def is_batch(path: Path) -> bool:
    return path.suffix in (".json", ".csv", ".html") or is_recording(path)


def prepare_day(folder: Path) -> None:
    entry = "entry: {name}\nrobot: robotis_bioloid\nbehaviours: {{passivity-test: passivity_test}}\n"
    put(
        ("passive.day.yaml", SHORT_DAY.encode()),
        *((f"entries/{name}/entry.yaml", entry.format(name=name).encode()) for name in ("ours", "theirs")),
    )(folder)


def prepare_studio(folder: Path) -> None:
    field = Path(pw.__file__).parent / "arenas" / "ceabot_obstacles.arena.yaml"
    put((NOD.name, NOD.read_bytes()), ("club.arena.yaml", field.read_bytes()))(folder)


def save_in_the_studio() -> None:
    """Change a motion and a field in the working folder, and save them after every change."""
    opened = open_path(Path(NOD.name))
    document, target = opened.document(), opened.target
    field = open_arena(Path("club.arena.yaml"))
    field_target = field.target
    for number in range(N_SAVES):
        reach_s = 0.3 + 0.01 * number
        document.do(read_command("retime_keyframe", {"page": 1, "keyframe": 0, "reach_s": reach_s}))
        saved = save(document.pages, target, overwrite=False, accept_loss=False, accept_faults=False)[0]
        assert saved is not None, "the file was changed by somebody else"
        target = saved
        coloured = read_arena_command("set_colour", {"name": "wall", "colour": [255, 255, number]})
        saved_field = save_arena(coloured.apply(field.arena), field_target, overwrite=False)[0]
        assert saved_field is not None, "the field was changed by somebody else"
        field_target = saved_field


def is_motion_or_field(path: Path) -> bool:
    if path.name == NOD.name:
        return len(pw.read_motion(path).keyframes) > 0
    return path.name == "club.arena.yaml" and len(read_arena(path).shapes) > 0


def words(text: str, **places: Path) -> tuple[str, ...]:
    return tuple(word.format(**places) for word in text.split())


VERBS: dict[str, Verb] = {
    "convert": Verb(
        words("motion convert {bow} new.mtn --straighten --accept-loss", bow=BOW), prepare_convert
    ),
    "aibo archive add": Verb(
        ("aibo", "archive", "add", "old.oda", "nod.mtn", "--name", "a_stand#stand_nod"), prepare_archive
    ),
    "aibo add": Verb(
        (
            "aibo",
            "add",
            "nod.mtn",
            "--id",
            "70",
            "--name",
            "a_stand#stand_nod",
            "--stick",
            ".",
            "--accept-jump",
        ),
        prepare_stick,
    ),
    "run --record": Verb(
        words("run passivity-test --record run.mcap"), put(("run.mcap", b"old")), is_whole=is_recording
    ),
    "aibo run --record": Verb(
        words("aibo run move_head --commands MOVE_MP --record run.mcap"),
        put(("run.mcap", b"old")),
        is_whole=is_recording,
    ),
    "film": Verb(
        words("motion film {nod} -o nod.mp4 --size 64x48 --speed 10 --no-physics", nod=NOD),
        put(("nod.mp4", b"old")),
        is_whole=is_film,
        is_repeatable=False,
    ),
    "tune": Verb(
        words("tune quick.tune.yaml --workers 1"),
        prepare_tune,
        again=words("tune quick.tune.yaml --workers 1 --resume"),
        is_whole=is_journal,
    ),
    "contest run": Verb(
        words("contest run entries --out day --rules passive.day.yaml --films 0 --workers 1"),
        prepare_day,
        is_whole=is_batch,
    ),
    "studio": Verb(("save",), prepare_studio, is_whole=is_motion_or_field, act=save_in_the_studio),
    "batch": Verb(
        words("run passivity-test --seeds 1-2 --workers 1 --out tests"), lambda _: None, is_whole=is_batch
    ),
}


def type_in(folder: Path, typed: tuple[str, ...], begun: Any, act: Callable[[], None] | None) -> None:
    """Be the command line in a folder, or act there; say when the work begins."""
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.argv = ["posewright", *typed]
    begun.set()
    (act or main)()


@dataclass
class Shell:
    """Types verbs, each in a process of its own that has all modules loaded, and kills them.

    Attributes:
        told: how many were killed, by signal, and how many were done before.
    """

    context: Any = field(default_factory=lambda: multiprocessing.get_context("forkserver"))
    told: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        warm = [*(f"posewright.{name}" for name in WARM), *WARM_LIBRARIES, __name__]
        self.context.set_forkserver_preload(warm)

    def type(
        self,
        folder: Path,
        typed: tuple[str, ...],
        kill: tuple[signal.Signals, float] | None = None,
        act: Callable[[], None] | None = None,
    ) -> float:
        """Type a verb in a folder, or act there, kill it after so long [s], and return how long it took."""
        begun = self.context.Event()
        process = self.context.Process(target=type_in, args=(folder, typed, begun, act))
        process.start()
        assert begun.wait(120.0)
        began = time.monotonic()
        if kill is not None:
            process.join(kill[1])
            if process.is_alive():
                os.kill(process.pid, kill[0])
        process.join(60.0)
        assert process.exitcode is not None, "it neither ended nor died"
        if kill is None:
            assert process.exitcode == 0, (typed, process.exitcode)
        else:
            is_killed = process.exitcode in (-kill[0], 128 + kill[0])
            assert is_killed or process.exitcode == 0, (typed, process.exitcode)
            self.told[kill[0].name if is_killed else "done before"] += 1
        return time.monotonic() - began


def is_same(verb: Verb, path: Path, data: bytes) -> bool:
    return (
        verb.is_whole(path) if not verb.is_repeatable and path.suffix == ".mp4" else path.read_bytes() == data
    )


def hurt(verb: Verb, place: Path, before: Files, after: Files) -> list[str]:
    """Return the files that are neither the old nor the new ones, nor whole."""
    found = []
    for name, data in files(place).items():
        if "unfinished" in name or data in (before.get(name), after.get(name)):
            continue
        try:
            is_whole = verb.is_whole(place / name)
        except PosewrightError:
            is_whole = False
        if not is_whole:
            found.append(f"{name} is broken")
    return found + [f"{name} is lost" for name in before.keys() - files(place).keys()]


def is_other(verb: Verb, place: Path, after: Files) -> list[str]:
    """Return the files that are not as they are when nothing is killed."""
    return [
        name
        for name, data in after.items()
        if not (place / name).exists() or not is_same(verb, place / name, data)
    ]


def knock(verb: Verb, folder: Path, times: int, rng: random.Random, shell: Shell) -> list[str]:
    """Kill a verb so many times, each time in a folder made anew, and return what was wrong."""
    whole, old = folder / "whole", folder / "old"
    for each in (whole, old):
        each.mkdir()
        verb.prepare(each)
    usual_s = shell.type(whole, verb.words, act=verb.act)
    before, after, wrong = files(old), files(whole), []
    for number in range(times):
        place = folder / f"kill_{number}"
        shutil.copytree(old, place)
        by = rng.choice((signal.SIGKILL, signal.SIGTERM))
        delay = rng.uniform(0.0, 1.1 * usual_s)
        shell.type(place, verb.words, (by, delay), act=verb.act)
        told = f"kill {number} by {by.name} after {delay:.3f} of {usual_s:.3f} s"
        wrong += [f"{told}: {one}" for one in hurt(verb, place, before, after)]
        try:
            is_begun = files(place).keys() != before.keys()
            shell.type(place, verb.again if verb.again and is_begun else verb.words, act=verb.act)
        except AssertionError:
            if files(place).keys() != after.keys() or any(is_other(verb, place, after)):
                wrong.append(f"{told}: the next run failed")
        now = files(place)
        wrong += [f"{told}: left {name}" for name in now.keys() - after.keys()]
        wrong += [f"{told}: afterwards {name} is otherwise" for name in is_other(verb, place, after)]
        shutil.rmtree(place)
    return wrong
