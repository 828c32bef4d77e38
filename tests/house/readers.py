"""Every reader of files, and whole files of its kind to damage: those that ship, and real ones."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import posewright as pw
from posewright.arenas.arena import read_arena
from posewright.bodies.domain import read_domain_randomization
from posewright.charts.scenarios import read_rows, read_scenario
from posewright.contests import contest
from posewright.documents import read_text
from posewright.errors import PosewrightError
from posewright.formats import WriteOptions, read_archive_file, read_motion_file
from posewright.formats.openrave import read_openrave
from posewright.motions import check_motion, design_rules
from posewright.recordings import read_mcap, write_mcap
from posewright.robots import read_robot
from posewright.robots import robot as robot_named
from posewright.runs.trial import read_trial
from posewright.runs.tuning.reading import read_tune
from posewright.runtimes.openr.ekmotion import open_moves
from posewright.runtimes.openr.stick.check import check_monet
from posewright.runtimes.openr.stick.memory_stick import read_stick
from posewright.runtimes.robobasic import open_source
from posewright.runtimes.robobasic.formatter import format_source
from posewright.runtimes.robobasic.linter import lint
from posewright.search import Dimension, Evaluation, tune
from posewright.search.journal import read_journal

HOUSE = Path(pw.__file__).parent
ROBOTS = HOUSE / "robots" / "catalogue"
DOG, MAN = ROBOTS / "sony_ers7", ROBOTS / "robotis_bioloid"
CHARTS = Path(__file__).parents[2] / "examples" / "charts"
SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
LAMP = CHARTS / "button_lamp"
STRAIGHT = WriteOptions(straighten=True)
LARGEST = 160_000
"""Larger files [bytes] are no seeds: with them a minute brings little."""


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes:
        read: reads a path and looks at what is in it.
        seeds: gives whole files, by name.
        around: a folder that is copied beside the damaged file, which leads to others by name.
        sealed: seals a damaged text anew, where it was sealed.
    """

    read: Callable[[Path], Any]
    seeds: Callable[[], Mapping[str, bytes]]
    around: Path | None = None
    sealed: Callable[[bytes], bytes] | None = None

    def laid_out(self, folder: Path) -> None:
        """Copy what lies around its files."""
        if self.around is not None and not any(folder.iterdir()):
            shutil.copytree(self.around, folder, dirs_exist_ok=True)


def files(root: Path, *patterns: str) -> Callable[[], Mapping[str, bytes]]:
    """Return a function that reads the files below a folder, by their names there."""

    @cache
    def read() -> Mapping[str, bytes]:
        found = sorted(path for pattern in patterns for path in root.glob(pattern))
        return {str(path.relative_to(root)): path.read_bytes() for path in found if size_fits(path)}

    return read


def size_fits(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= LARGEST


def wild(*patterns: str) -> Mapping[str, bytes]:
    return {Path(name).name: data for name, data in files(SAMPLES, *patterns)().items()}


def made(
    save: Callable[[Path], object], *patterns: str, only: str = "*"
) -> Callable[[], Mapping[str, bytes]]:
    """Return a function that gives what `save` puts into a folder, and real files where they are."""

    @cache
    def read() -> Mapping[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            save(Path(folder))
            return {**files(Path(folder), only)(), **wild(*patterns)}

    return read


def motions(suffix: str, *patterns: str, robot: Path = DOG) -> Callable[[], Mapping[str, bytes]]:
    """Return a function that gives the motions that ship in another format, and real files of it."""

    def save(folder: Path) -> None:
        for path in sorted((robot / "motions").glob("*.yaml")):
            target = folder / (path.name.partition(".")[0] + suffix)
            with suppress(PosewrightError):  # a posture is one pose: most motions do not fit
                pw.convert_motion(path, target, accept_loss=True, options=STRAIGHT)

    return made(save, *patterns)


def write_scene(path: Path) -> None:
    boxes = [f"DEF b{n} Transform {{ translation {n} 0 1 children USE box }}" for n in range(1, 5)]
    first = "DEF box Shape { geometry Box { size 0.5 1 2 } }"
    path.write_text("\n".join(["#VRML V2.0 utf8", first, *boxes]))


def save_archives(folder: Path) -> None:
    nod = DOG / "motions" / "nod.motion.yaml"
    pw.convert_motion(nod, folder / "a_sit#sit_nod.mtn", accept_loss=True, options=STRAIGHT)
    for compression in ("none", "entries", "file"):
        target = folder / f"{compression}.oda"
        pw.create_archive(target, [folder / "a_sit#sit_nod.mtn"], compression=compression)
    (folder / "a_sit#sit_nod.mtn").unlink()


def save_scxml(folder: Path) -> None:
    for path in CHARTS.glob("*/*.chart.yaml"):
        with suppress(PosewrightError):  # what SCXML cannot say is refused
            pw.write_chart(pw.read_chart(path), folder / f"{path.name.partition('.')[0]}.scxml")


def save_tables(folder: Path) -> None:
    for path in (*MAN.glob("behaviours/*.chart.yaml"), *CHARTS.glob("*/*.chart.yaml")):
        with suppress(PosewrightError):
            pw.write_chart(pw.read_chart(path), folder / f"{path.name.partition('.')[0]}.csv")


def save_recordings(folder: Path) -> None:
    aibo = robot_named("sony_ers7")
    walk = pw.walk_gait(
        pw.read_gait("trot"), aibo, command=pw.VelocityCommand(0.1), seconds=0.05, settle_s=0.01
    )
    write_mcap(walk.recording, folder / "walk.mcap")


class Bowl:
    """A small search."""

    dimensions = (Dimension("length_m", 0.0, 0.1, 0.08), Dimension("phase", -3.0, 3.0, 1.0))
    fingerprint = "bowl"

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        return Evaluation(sum(values.values()), {"tilt": 0.1, "fell": False})


def save_journal(folder: Path) -> None:
    tune(Bowl(), generations=2, journal=folder / "bowl.jsonl")


def sealed_journal(damaged: bytes) -> bytes:
    """Seal what is still JSON among a journal's lines anew, as a forger would."""
    lines, check = [], ""
    for number, line in enumerate(damaged.splitlines()):
        name = "check" if number else "hash"
        try:
            body = json.loads(line)
            body.pop(name, None)
            told = json.dumps(body)
        except (ValueError, AttributeError, RecursionError):
            lines.append(line)
            continue
        check = hashlib.sha256(f"{check}{told}".encode()).hexdigest()[:16]
        lines.append(f'{told[:-1]}, "{name}": "{check}"}}'.encode())
    return b"\n".join(lines) + b"\n"


def save_batch(folder: Path) -> None:
    pw.run_many("passivity-test", seeds=[1], folder=folder, recordings=False)


def sealed_entry(damaged: bytes) -> bytes:
    """Seal what is still an entry of a batch's journal anew."""
    try:
        told = str(json.loads(damaged)["run"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return damaged
    sealed = {"run": told, "check": hashlib.sha256(told.encode(errors="replace")).hexdigest()}
    return json.dumps(sealed).encode()


@cache
def batch_settings() -> bytes:
    """Return what a batch of `save_batch` says of its settings."""
    with tempfile.TemporaryDirectory() as folder:
        save_batch(Path(folder))
        return (Path(folder) / "batch.json").read_bytes()


def go_on(path: Path) -> None:
    """Take up the batch that an entry of a journal belongs to."""
    (path.parents[1] / "batch.json").write_bytes(batch_settings())
    batch = pw.run_many("passivity-test", seeds=[1], folder=path.parents[1], recordings=False)
    json.dumps([batch.to_dict(), batch.csv()])


def play(path: Path) -> None:
    """Read a motion file, every motion in it, and check the first."""
    file = read_motion_file(path)
    for motion in file.motions:
        motion.at(motion.duration / 2.0)
    if file.motions:
        check_motion(file.motion())


def look_through(path: Path) -> None:
    """Check a program, and lay it out."""
    source = open_source(path)
    lint(source, robot_named("hitec_robonova1"))
    format_source(source)


def look_into(path: Path) -> None:
    """Read an archive, and the motions in it."""
    for entry in read_archive_file(path).entries:
        entry.data  # noqa: B018 -- it is unpacked when it is asked for
    play(path)


def watch(path: Path) -> None:
    """Read a recording, judge and measure it."""
    seen = read_mcap(path, trust_attached_rules=True)
    pw.evaluate(seen)
    pw.replay(seen, trust_attached_rules=True)


def resume(path: Path) -> None:
    """Read a journal and go on with it."""
    read_journal(path)
    tune(Bowl(), generations=2, journal=path)


def try_scenario(path: Path) -> None:
    """Read a scenario and run it."""
    chart = pw.read_chart(LAMP / "button_lamp.chart.yaml")
    pw.run_scenarios(chart, [read_scenario(path, chart)])


def check_stick(path: Path) -> None:
    """Read one of a memory stick's files and check it."""
    for finding in check_monet(read_stick(path)):
        str(finding)


CHARTS_OURS = files(HOUSE, "robots/catalogue/*/behaviours/*.chart.yaml")
CHARTS_SHOWN = files(CHARTS, "*/*.chart.yaml")
ROWS = {"rows.csv": b"button\n0\n1\n1\n0\n"}
DESIGNDB = {
    "DESIGNDB.CFG": b"[ERS-7]\nMONET_MOTION /MS/OPEN-R/MW/DATA/P/ERS-7/MOTION7.ODA\nMONET_SOUND /MS/S.ODA\n"
}
COMMANDS = {
    "MONETCMD.CFG": b"# first\n60 2 1\nmonetagentMTN a_stand#stand_kick -1\nmonetagentSOUND bark -1\n"
}
WAYS = {"MONET.CFG": b"monetagentNEUTRAL a_nt#stand_standard 0\nmonetagentMTN a_stand#sit_standard -1\n"}

READERS: dict[str, Reader] = {
    "robot": Reader(read_robot, files(ROBOTS, "*/robot.yaml"), around=ROBOTS),
    "gait": Reader(pw.read_gait, files(DOG, "gaits/*.yaml")),
    "motion": Reader(play, files(ROBOTS, "*/motions/*.yaml")),
    "layout": Reader(pw.read_layout, files(HOUSE, "arenas/layouts/*.yaml")),
    "arena": Reader(read_arena, files(HOUSE, "**/*.arena.yaml")),
    "VRML scene": Reader(pw.import_arena, made(lambda folder: write_scene(folder / "field.wrl"))),
    "OpenRAVE": Reader(read_openrave, files(SAMPLES, "openrave/*.xml")),
    "trial": Reader(read_trial, files(HOUSE, "runs/catalogue/*.yaml")),
    "behaviour (Bioloid)": Reader(pw.read_behaviour, files(MAN, "behaviours/*.behaviour.yaml"), around=MAN),
    "behaviour (ERS-7)": Reader(pw.read_behaviour, files(DOG, "behaviours/*.behaviour.yaml"), around=DOG),
    "race's rules": Reader(
        lambda path: contest("obstacle-race", read_text(path)),
        files(HOUSE, "contests/obstacle_race/*.rules.yaml"),
    ),
    "passivity rules": Reader(
        lambda path: contest("passivity-test", read_text(path)),
        files(HOUSE, "contests/passivity_test/*.rules.yaml"),
    ),
    "stairs' rules": Reader(
        lambda path: contest("stairs", read_text(path)), files(HOUSE, "contests/stairs/*.rules.yaml")
    ),
    "sumo rules": Reader(
        lambda path: contest("sumo", read_text(path)), files(HOUSE, "contests/sumo/*.rules.yaml")
    ),
    "design rules": Reader(
        lambda path: design_rules(path, robot_named("sony_ers7")), files(HOUSE, "motions/catalogue/*.yaml")
    ),
    "tune": Reader(read_tune, files(DOG, "tunes/*.yaml"), around=DOG),
    "bodies": Reader(read_domain_randomization, files(HOUSE, "bodies/catalogue/*.yaml")),
    "chart": Reader(pw.read_chart, lambda: {**CHARTS_OURS(), **CHARTS_SHOWN()}, around=CHARTS),
    "scxml": Reader(pw.read_chart, made(save_scxml)),
    "chart table": Reader(pw.read_chart, made(save_tables)),
    "scenario": Reader(try_scenario, files(LAMP, "scenarios/*.yaml")),
    "rows": Reader(
        lambda path: read_rows(pw.read_chart(LAMP / "button_lamp.chart.yaml"), path), lambda: ROWS
    ),
    "uc3m csv": Reader(play, motions(".csv", robot=MAN)),
    "roboplus": Reader(play, motions(".mtn", "robotis_mtn_text/*", robot=MAN)),
    "webots": Reader(play, motions(".motion", "webots_motion/*")),
    "webots json": Reader(play, motions(".json")),
    "tekkotsu mot": Reader(play, motions(".mot", "tekkotsu/*.mot")),
    "tekkotsu pos": Reader(play, motions(".pos", "tekkotsu/*.pos")),
    "ekmoves": Reader(play, motions(".h")),
    "ekmotion": Reader(lambda path: open_moves(None, path), files(HOUSE, "runtimes/openr/ekmotion/*.yaml")),
    "omtn": Reader(play, motions(".mtn", "aibo_mtn/*")),
    "RoboBASIC": Reader(look_through, files(HOUSE, "runtimes/robobasic/programs/*.bas")),
    "oda": Reader(look_into, made(save_archives, "aibo_oda/*")),
    "kinds that are not read": Reader(
        play, lambda: wild("choreonoid/*", "kondo/*", "openrave/*", "robotis_bin/*", "aibo_monet/*")
    ),
    "designdb": Reader(check_stick, lambda: {**DESIGNDB, **wild("aibo_monet/DESIGNDB.CFG")}),
    "monet commands": Reader(check_stick, lambda: {**COMMANDS, **wild("aibo_monet/*_MONETCMD.CFG")}),
    "monet ways": Reader(check_stick, lambda: {**WAYS, **wild("aibo_monet/*_MONET.CFG")}),
    "journal": Reader(resume, made(save_journal)),
    "sealed journal": Reader(resume, made(save_journal), sealed=sealed_journal),
    "batch's entry": Reader(go_on, made(save_batch, only="journal/*"), sealed=sealed_entry),
    "recording": Reader(watch, made(save_recordings)),
}
