"""Every reader of files, messages and texts from outside, with whole ones of its kind to damage."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast
from unittest import mock

import posewright as pw
from posewright.arenas.arena import read_arena
from posewright.bodies import MockBody
from posewright.bodies.domain import read_domain_randomization
from posewright.buses.dynamixel.calibration import read_calibration
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.frames import FrameAnswers, parse_answers
from posewright.buses.robonova.protocol import BoardAnswer
from posewright.charts.formats.files import read_scxml_partially
from posewright.charts.scenarios import read_rows, read_scenario
from posewright.cli.film_options import parse_size
from posewright.codegen.generating import explain, find_changed_files, read_generated_unit
from posewright.contests import contest, contest_names
from posewright.documents import read_text
from posewright.errors import PosewrightError
from posewright.formats import read_archive_file, read_motion_file
from posewright.formats.openrave import read_openrave
from posewright.motions import Motion, check_design_rules, design_rules
from posewright.network.plant_server import PlantServer
from posewright.network.wire_messages import unpack
from posewright.network.yarp.bottle import decode, exact_reader
from posewright.network.yarp.carriers import Assembly, datagram, take_message
from posewright.network.yarp.text import from_text, to_text
from posewright.network.zenoh.ros import read_trajectory
from posewright.network.zenoh.session import parse_robot_name
from posewright.recordings import read_mcap
from posewright.robots import read_robot
from posewright.robots import robot as robot_named
from posewright.runs.batch_trials import read_seeds
from posewright.runs.tournament.contestant import Contestant
from posewright.runs.tournament.day import Day, Discipline, read_day, read_jury
from posewright.runs.tournament.day_rules import read_day_rules
from posewright.runs.trial import read_trial
from posewright.runs.tuning.reading import read_tune
from posewright.runtimes.openr.connections import read_connect_file
from posewright.runtimes.openr.ekmotion import open_moves
from posewright.runtimes.openr.script import read_script
from posewright.runtimes.openr.stick.check import check_monet
from posewright.runtimes.openr.stick.memory_stick import read_stick
from posewright.runtimes.robi.memory import read_memory_map
from posewright.runtimes.robi.postures import read_posture_table
from posewright.runtimes.robi.words import read_words
from posewright.runtimes.robobasic import open_source
from posewright.runtimes.robobasic.formatter import format_source
from posewright.runtimes.robobasic.inputs import read_inputs
from posewright.runtimes.robobasic.linter import lint
from posewright.runtimes.robobasic.load import open_program
from posewright.search import tune
from posewright.search.journal import read_journal
from posewright.studio.arena.commands import read_arena_command
from posewright.studio.arena.files import open_arena
from posewright.studio.arena.files import read_draft as read_arena_draft
from posewright.studio.arena.new_field import new_field
from posewright.studio.commands import read_command
from posewright.studio.files.drafts import read_draft
from posewright.studio.files.load import open_path
from posewright.studio.requests import read_request
from posewright.studio.timeline_panel import parse_keyframes

from .kills import prepare_stick
from .mutation import mutate_after_line, mutate_file, mutate_text_in, mutate_wire_message
from .recording_mutation import mutate_recording
from .remote_robot import Channel, drive_remote_robot, wire_answers
from .seed_files import (
    CHARTS,
    DOG,
    HOUSE,
    LAMP,
    MAN,
    ROBOTS,
    SEEDS,
    Bowl,
    Seeds,
    batch_settings,
    bottles,
    files,
    motions,
    save_archives,
    save_batch,
    save_day,
    save_drafts,
    save_field_drafts,
    save_generated,
    save_journal,
    save_meshes,
    save_models_of_projects,
    save_openr_texts,
    save_projects,
    save_recordings,
    save_robot_files,
    save_robot_parts,
    save_scenes,
    save_scxml,
    save_tables,
    saved_by,
    sealed_draft,
    sealed_journal,
    sealed_packets,
    sealed_text,
    sealed_wire_message,
    servo_answers,
    studio_requests,
    trajectories,
    wild,
    wire_requests,
)
from .studio_actions import perform_studio_actions, studio_sequences


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes:
        read: reads a path and looks at what is in it.
        seeds: gives whole files, by name.
        around: a folder that is copied beside the damaged file, which leads to others by name; or a function
            that writes such a folder.
        sealed: seals a damaged file anew, where it was sealed.
        mutate: changes the structure of a file; by default as its name or its first bytes suggest.
        is_slow: whether it proves something about a file, which takes seconds.
    """

    read: Callable[[Path], Any]
    seeds: Seeds
    around: Path | Callable[[Path], object] | None = None
    sealed: Callable[[bytes], bytes] | None = None
    mutate: Callable[[random.Random, bytes], bytes] | None = None
    is_slow: bool = False

    def laid_out(self, folder: Path) -> None:
        """Copy what lies around its files."""
        if any(folder.iterdir()):
            return
        if isinstance(self.around, Path):
            shutil.copytree(self.around, folder, dirs_exist_ok=True)
        elif self.around is not None:
            self.around(folder)

    def mutated(self, rng: random.Random, name: str, data: bytes) -> bytes:
        """Return a file with another structure."""
        return mutate_file(rng, name, data) if self.mutate is None else self.mutate(rng, data)


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
        check_design_rules(file.motion())


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


def judge_recording(path: Path) -> None:
    """Read a recording whatever its digest; look for contradictions, judge, rank and measure it."""
    with mock.patch("posewright.recordings.mcap_file._require_unchanged_content"):
        recording = read_mcap(path, trust_attached_rules=True)
        steps: tuple[Callable[[], object], ...] = (
            lambda: pw.find_inconsistencies(recording),
            lambda: pw.evaluate(recording),
            lambda: pw.replay(recording, trust_attached_rules=True).to_dict(),
            lambda: pw.rank(path).to_dict(),
            lambda: pw.judge(recording),
        )
        for step in steps:
            with suppress(PosewrightError):
                step()


def rerun_recording(path: Path) -> None:
    """Simulate a recording again, whatever its digest."""
    with mock.patch("posewright.recordings.mcap_file._require_unchanged_content"):
        str(pw.rerun(read_mcap(path, trust_attached_rules=True)))


def read_robot_answer(path: Path) -> None:
    """Drive a robot across a network, one of whose answers is in a file."""
    drive_remote_robot(Channel(int(path.name.partition("_")[0]), path.read_bytes()))


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


def read_and_write_chart(path: Path) -> None:
    """Read a chart in any form, and write it in the others."""
    chart = pw.read_chart(path)
    for name in ("copy.chart.yaml", "copy.scxml"):
        with suppress(PosewrightError):
            pw.write_chart(chart, path.with_name(name))
    for name in ("copy.chart.yaml", "copy.scxml"):
        path.with_name(name).unlink(missing_ok=True)


def check_and_draw_chart(path: Path) -> None:
    """Read a chart, prove what can be proved of it in its budget of time, run it, tabulate and draw it."""
    chart = pw.read_chart(path)
    steps: tuple[Callable[[], object], ...] = (
        lambda: pw.run_chart(chart, [{}, {}]),
        lambda: pw.tabulate_chart(chart),
        lambda: pw.draw_chart(chart, path.with_name("chart.svg")),
    )
    for step in steps:
        with suppress(PosewrightError):
            step()


def import_and_describe_robot(path: Path) -> None:
    folder = path.parent / "imported"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        imported = pw.import_robot(path, folder)
        "\n".join(map(str, imported.lines()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def import_robot_with_mesh(path: Path) -> None:
    """Import a robot of one leg, whose shape is a mesh."""
    robot_path = path.with_name("leg.urdf")
    robot_path.write_text((SEEDS / "leg.urdf").read_text().replace("MESH", path.name))
    import_and_describe_robot(robot_path)


def import_and_write_arena(path: Path) -> None:
    """Import a field, write it and read it again."""
    recognised = pw.import_arena(path)
    target = path.with_name("imported.arena.yaml")
    try:
        pw.write_arena(target, recognised.arena)
        read_arena(target)
    finally:
        target.unlink(missing_ok=True)


def look_at_day(path: Path) -> None:
    day = read_day(path.parent)
    json.dumps(day.to_dict())
    day.csv()


def open_draft(path: Path) -> None:
    """Read a draft of a motion as the studio does when it offers to go on with it."""
    (path.parent / "nod.motion.yaml").write_bytes((DOG / "motions" / "nod.motion.yaml").read_bytes())
    draft = read_draft(path)
    draft.motions_of(robot_named("sony_ers7"))
    draft.apply_to(open_path(path.parent / "nod.motion.yaml"))


def answer_robot_request(path: Path) -> None:
    """Ask a served robot, after a session was opened, and look at its answer."""
    server = PlantServer(lambda parts, _arena: MockBody(parts[0].robot), robot_named, now=lambda: 0.0)
    message = path.read_bytes()
    if not path.name.startswith("0"):
        requests = wire_requests()
        server.answer_request(requests["0_open"])
        for number in range(1, int(path.name[0])):
            server.answer_request(next(data for name, data in requests.items() if name[0] == str(number)))
    answer = cast("Mapping[str, Any]", unpack(server.answer_request(message)))
    server.close()
    if "error" in answer:
        raise PosewrightError(str(answer["error"]))


def read_yarp(path: Path) -> None:
    """Read bytes as everything that a port of YARP may be sent."""
    data = path.read_bytes()
    with suppress(PosewrightError, EOFError):
        take_message(exact_reader(io.BytesIO(data)))
    with suppress(PosewrightError, EOFError):
        Assembly().add(datagram(0, data))
    with suppress(PosewrightError):
        to_text(decode(data))
    to_text(from_text(data.decode("utf-8", "surrogateescape")))


def read_servo_bytes(path: Path) -> None:
    """Read bytes as a bus reads its servos' answers, and as servos read a controller's packets."""
    data = path.read_bytes()
    for size in (0, 2, 8):
        parse_answers(data, (1, 2, 3), size, FrameAnswers(), overdue=(2,))
    FakeBus([FakeServo(1), FakeServo(2)]).exchange(data)
    with suppress(PosewrightError):
        BoardAnswer.decode(data)


def answer_studio_request(path: Path) -> None:
    """Read a request of a studio's window, and do what it says to the motion or the field."""
    request = read_request(path.read_bytes())
    arguments = dict(request.arguments)
    command_arguments = arguments.get("arguments")
    if not isinstance(command_arguments, Mapping):
        command_arguments = {}
    if request.action == "arena.edit":
        read_arena_command(str(arguments.get("command")), command_arguments).apply(club_field())
    else:
        document = open_path(DOG / "motions" / "nod.motion.yaml").document()
        document.do(read_command(str(arguments.get("command")), command_arguments))


def read_openr_text(path: Path) -> None:
    """Read one of the texts for an AIBO's programs, by its name."""
    if path.suffix == ".cfg":
        read_connect_file(path)
    elif path.suffix == ".script":
        read_script(read_text(path), path)
    else:
        read_inputs(read_text(path), path)


def read_robi_file(path: Path) -> None:
    """Read a Robi's program or listing, and list it; or a patch, and invert it."""
    if path.suffix == ".patch":
        pw.read_robi_patch(path).inverse().text()
        return
    listing = pw.list_robi_program(pw.open_robi_program(path))
    pw.assemble_robi_program(listing)


def read_robi_table(path: Path) -> None:
    (read_memory_map if path.name.startswith("memory") else read_posture_table)(path)


def run_basic(path: Path) -> None:
    """Compile a RoboBASIC program, and read its motions and routines."""
    open_program(path)
    with suppress(PosewrightError):
        pw.basic_routines(path)
    pw.basic_motions(path)


def read_generated_folder(path: Path) -> None:
    """Read the unit in a folder, say what was changed in it, and explain a line."""
    read_generated_unit(path.parent)
    find_changed_files(path.parent)
    explain("dark -> dark", path.parent)


def read_whole_stick(path: Path) -> None:
    """Check a memory stick with a damaged file in it, and add a motion to it."""
    stick = next(parent for parent in path.parents if (parent / "nod.mtn").exists())
    memory_stick = read_stick(stick)
    for finding in check_monet(memory_stick):
        str(finding)
    pw.motions_on(memory_stick)
    target = stick / "changed"
    try:
        pw.add_to_stick(
            stick / "nod.mtn", stick, id=70, name="a_stand#stand_nod", accept_jump=True, output=target
        )
    finally:
        shutil.rmtree(target, ignore_errors=True)


TYPED_READERS: Mapping[str, Callable[[str], object]] = {
    "words": read_words,
    "seeds": read_seeds,
    "robot": parse_robot_name,
    "size": parse_size,
    "keyframes.yaml": lambda text: parse_keyframes(text, nod_motion(), robot_named("sony_ers7")),
}


def read_typed_text(path: Path) -> None:
    """Read a text that somebody types or pastes, as its name says."""
    text = path.read_bytes().decode("utf-8", "replace")
    TYPED_READERS[path.name](text)


@cache
def nod_motion() -> Motion:
    return pw.read_motion(DOG / "motions" / "nod.motion.yaml")


@cache
def small_day() -> Day:
    """Return a day with an exhibition, to which a jury gives points."""
    exhibition = Discipline(
        "exhibition", "Exhibition", 10.0, 10.0, jury=True, earned={"Ours": 0.0, "Theirs": 0.0}
    )
    contestants = (Contestant("Ours", "robotis_bioloid"), Contestant("Theirs", "robotis_bioloid"))
    return Day("mine", "Our day", 1, contestants, (exhibition,), {}, Path())


@cache
def club_field() -> Any:
    return new_field("club")


CHARTS_OURS = files(HOUSE, "robots/catalogue/*/behaviours/*.chart.yaml")
CHARTS_SHOWN = files(CHARTS, "*/*.chart.yaml")
ROWS = {"rows.csv": b"button\n0\n1\n1\n0\n"}
CALIBRATION = {
    "mine.calibration.yaml": b"calibration: mine\nrobot: robotis_bioloid\noffsets_ticks: {right_knee: -4}\n"
    b"reversed: [left_elbow]\nids: {right_hip_roll: 11, right_hip_pitch: 9}\n"
}
DESIGNDB = {
    "DESIGNDB.CFG": b"[ERS-7]\nMONET_MOTION /MS/OPEN-R/MW/DATA/P/ERS-7/MOTION7.ODA\nMONET_SOUND /MS/S.ODA\n"
}
COMMANDS = {
    "MONETCMD.CFG": b"# first\n60 2 1\nmonetagentMTN a_stand#stand_kick -1\nmonetagentSOUND bark -1\n"
}
WAYS = {"MONET.CFG": b"monetagentNEUTRAL a_nt#stand_standard 0\nmonetagentMTN a_stand#sit_standard -1\n"}
ENTRY = {
    "entry.yaml": b"entry: Ours\nclub: Robots\nrobot: robotis_bioloid\n"
    b"behaviours: {obstacle-race: obstacle_race, stairs: climb_stairs}\n"
    b"options: {stairs: {speed: '1'}}\n"
}
RM4 = {
    "wave.rm4": b'<medit><block name="wave" /></medit>\n'
    b'<mem_w size="2" adr="0x00000a04">0x0000,0x0050</mem_w>\n'
    b'<calc><mem_r size="2" adr="0x00000e5c"/><const data="472"/><sub/><eq/><jump adr="0x00000025"/></calc>\n'
    b"<return/>\n",
    "forces.patch": b"file,sha256," + b"9f86d081" * 8 + b"\n0x0028369a,00 00,02 00\n",
}


TRUTH_TABLES = {
    "bits.csv": b"q0,w,v,q0_next,s1\n0,0,X,0,0\n0,1,0,1,1\n0,1,1,1,0\n1,X,0,0,0\n1,X,1,1,1\n",
    "names.csv": b"state,u,next,lamp\noff,0,off,0\noff,1,on,1\non,0,on,1\non,1,off,0\n",
}
JURY = {"jury.yaml": b"exhibition: {Ours: 8.5, Theirs: 3}\n"}
TYPED_TEXTS = {
    "words": b"472@3.0, 1@0, 12@7.25",
    "seeds": b"1-20, 7, 30-32",
    "robot": b"lab/robi_2",
    "size": b"640x480",
    "keyframes.yaml": b"motion: copied\nrobot: sony_ers7\njoints: [neck_tilt]\n"
    b"keyframes: [{reach_s: 0.4, pose_deg: [-20]}, {reach_s: 0.4, pause_s: 1, pose_deg: [0]}]\n",
}


def rules_reader(name: str) -> Reader:
    """Return the reader of the rules of a contest."""
    seeds = files(HOUSE, f"contests/*/{name.replace('-', '_')}.rules.yaml")
    return Reader(lambda path: contest(name, read_text(path)), seeds)


READERS: dict[str, Reader] = {
    "robot": Reader(read_robot, files(ROBOTS, "*/robot.yaml"), around=ROBOTS),
    "robot import": Reader(import_and_describe_robot, saved_by(save_robot_files), around=save_robot_parts),
    "robot's mesh": Reader(import_robot_with_mesh, saved_by(save_meshes)),
    "gait": Reader(pw.read_gait, files(DOG, "gaits/*.yaml")),
    "motion": Reader(play, files(ROBOTS, "*/motions/*.yaml")),
    "layout": Reader(pw.read_layout, files(HOUSE, "arenas/layouts/*.yaml")),
    "arena": Reader(read_arena, files(HOUSE, "**/*.arena.yaml")),
    "scene": Reader(import_and_write_arena, saved_by(save_scenes)),
    "project of a simulator": Reader(
        import_and_write_arena, saved_by(save_projects), around=save_models_of_projects
    ),
    "OpenRAVE": Reader(read_openrave, saved_by(save_robot_files, "openrave/*.xml", only="arm*")),
    "trial": Reader(read_trial, files(HOUSE, "runs/catalogue/*.yaml")),
    "behaviour (Bioloid)": Reader(
        pw.read_behaviour, files(MAN, "behaviours/*.behaviour.yaml"), around=MAN, is_slow=True
    ),
    "behaviour (ERS-7)": Reader(
        pw.read_behaviour, files(DOG, "behaviours/*.behaviour.yaml"), around=DOG, is_slow=True
    ),
    **{f"rules of the {name}": rules_reader(name) for name in contest_names()},
    "design rules": Reader(
        lambda path: design_rules(path, robot_named("sony_ers7")), files(HOUSE, "motions/catalogue/*.yaml")
    ),
    "tune": Reader(read_tune, files(DOG, "tunes/*.yaml"), around=DOG),
    "bodies": Reader(read_domain_randomization, files(HOUSE, "bodies/catalogue/*.yaml")),
    "calibration": Reader(read_calibration, lambda: CALIBRATION),
    "contest day": Reader(read_day_rules, files(HOUSE, "runs/tournament/*.day.yaml")),
    "contestant": Reader(lambda path: pw.read_contestant(path.parent), lambda: ENTRY),
    "day's result": Reader(
        look_at_day,
        saved_by(save_day),
        sealed=partial(sealed_text, "day"),
        mutate=partial(mutate_text_in, "day"),
    ),
    "jury's points": Reader(lambda path: read_jury(path, small_day()), lambda: JURY),
    "chart": Reader(read_and_write_chart, lambda: {**CHARTS_OURS(), **CHARTS_SHOWN()}, around=CHARTS),
    "checked chart": Reader(check_and_draw_chart, CHARTS_SHOWN, around=CHARTS, is_slow=True),
    "scxml": Reader(read_and_write_chart, saved_by(save_scxml)),
    "scxml in part": Reader(read_scxml_partially, saved_by(save_scxml)),
    "chart table": Reader(read_and_write_chart, saved_by(save_tables)),
    "truth table": Reader(read_and_write_chart, lambda: TRUTH_TABLES),
    "scenario": Reader(try_scenario, files(LAMP, "scenarios/*.yaml")),
    "rows": Reader(
        lambda path: read_rows(pw.read_chart(LAMP / "button_lamp.chart.yaml"), path), lambda: ROWS
    ),
    "uc3m csv": Reader(play, motions(".csv", robot=MAN)),
    "roboplus": Reader(play, motions(".mtn", "robotis_mtn_text/*", robot=MAN)),
    "walk by pages": Reader(pw.read_page_gait, files(MAN, "motions/walk_forward.motion.yaml")),
    "webots": Reader(play, motions(".motion", "webots_motion/*")),
    "webots json": Reader(play, motions(".json")),
    "tekkotsu mot": Reader(play, motions(".mot", "tekkotsu/*.mot")),
    "tekkotsu pos": Reader(play, motions(".pos", "tekkotsu/*.pos")),
    "ekmoves": Reader(play, motions(".h")),
    "ekmotion": Reader(lambda path: open_moves(None, path), files(HOUSE, "runtimes/openr/ekmotion/*.yaml")),
    "omtn": Reader(play, motions(".mtn", "aibo_mtn/*")),
    "RoboBASIC": Reader(look_through, files(HOUSE, "runtimes/robobasic/programs/*.bas")),
    "RoboBASIC's motions": Reader(run_basic, files(HOUSE, "runtimes/robobasic/programs/*.bas")),
    "Robi": Reader(read_robi_file, lambda: {**RM4, **files(HOUSE, "runtimes/robi/programs/*.lst")()}),
    "Robi's tables": Reader(read_robi_table, files(HOUSE / "runtimes" / "robi", "*.yaml")),
    "oda": Reader(look_into, saved_by(save_archives, "aibo_oda/*")),
    "kinds that are not read": Reader(
        play, lambda: wild("choreonoid/*", "kondo/*", "openrave/*", "robotis_bin/*", "aibo_monet/*")
    ),
    "designdb": Reader(check_stick, lambda: {**DESIGNDB, **wild("aibo_monet/DESIGNDB.CFG")}),
    "monet commands": Reader(check_stick, lambda: {**COMMANDS, **wild("aibo_monet/*_MONETCMD.CFG")}),
    "monet ways": Reader(check_stick, lambda: {**WAYS, **wild("aibo_monet/*_MONET.CFG")}),
    "texts for programs": Reader(read_openr_text, saved_by(save_openr_texts)),
    "memory stick": Reader(read_whole_stick, saved_by(prepare_stick, only="**/*"), around=prepare_stick),
    "typed text": Reader(read_typed_text, lambda: TYPED_TEXTS),
    "journal": Reader(resume, saved_by(save_journal)),
    "sealed journal": Reader(resume, saved_by(save_journal), sealed=sealed_journal),
    "batch's entry": Reader(
        go_on,
        saved_by(save_batch, only="journal/*"),
        sealed=partial(sealed_text, "run"),
        mutate=partial(mutate_text_in, "run"),
    ),
    "generated folder": Reader(
        read_generated_folder,
        saved_by(save_generated, only="*.json"),
        around=save_generated,
    ),
    "recording": Reader(judge_recording, saved_by(save_recordings)),
    "recording that is run again": Reader(
        rerun_recording, saved_by(save_recordings), mutate=mutate_recording
    ),
    "forged recording": Reader(judge_recording, saved_by(save_recordings), mutate=mutate_recording),
    "draft of a motion": Reader(
        open_draft, saved_by(save_drafts), sealed=sealed_draft, mutate=mutate_after_line
    ),
    "draft of a field": Reader(read_arena_draft, saved_by(save_field_drafts)),
    "field in the studio": Reader(open_arena, files(HOUSE, "**/*.arena.yaml", "arenas/layouts/*.yaml")),
    "studio's request": Reader(answer_studio_request, studio_requests),
    "studio's actions": Reader(perform_studio_actions, studio_sequences, is_slow=True),
    "request to a robot": Reader(
        answer_robot_request, wire_requests, sealed=sealed_wire_message, mutate=mutate_wire_message
    ),
    "answer of a robot": Reader(
        read_robot_answer, wire_answers, sealed=sealed_wire_message, mutate=mutate_wire_message
    ),
    "YARP": Reader(read_yarp, bottles),
    "ROS trajectory": Reader(
        lambda path: read_trajectory(path.read_bytes(), robot_named("robotis_bioloid").joint_names),
        trajectories,
    ),
    "servo bus": Reader(read_servo_bytes, servo_answers, sealed=sealed_packets),
}
