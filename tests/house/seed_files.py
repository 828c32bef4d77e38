"""Whole files of every kind, to be damaged: those that ship, those made here, and real ones."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

import posewright as pw
from posewright.bodies import BodySpec, JointCommands
from posewright.buses.dynamixel.fake.device import status_packet
from posewright.documents.plain import to_plain
from posewright.errors import PosewrightError
from posewright.formats import WriteOptions
from posewright.network import wire_records
from posewright.network.wire_messages import pack
from posewright.network.yarp.bottle import Vocab, encode
from posewright.network.yarp.carriers import Envelope, Message
from posewright.recordings import write_mcap
from posewright.robots import robot as robot_named
from posewright.search import Dimension, Evaluation, tune
from posewright.studio.files.drafts import DRAFT_HEADER

Files = Mapping[str, bytes]
Seeds = Callable[[], Files]

HOUSE = Path(pw.__file__).parent
ROBOTS = HOUSE / "robots" / "catalogue"
DOG, MAN, ROBI = ROBOTS / "sony_ers7", ROBOTS / "robotis_bioloid", ROBOTS / "deagostini_robi2"
TESTS = Path(__file__).parents[1]
CHARTS = TESTS.parent / "examples" / "charts"
SAMPLES = TESTS.parents[1] / "shared" / "samples"
LAMP = CHARTS / "button_lamp"
SEEDS = Path(__file__).parent / "seeds"
STRAIGHT = WriteOptions(straighten=True)
LARGEST = 160_000
"""Larger files [bytes] are no seeds: with them a minute brings little."""


def files(root: Path, *patterns: str) -> Seeds:
    """Return a function that reads the files below a folder, by their names there."""

    @cache
    def read() -> Files:
        paths = sorted(path for pattern in patterns for path in root.glob(pattern))
        return {str(path.relative_to(root)): path.read_bytes() for path in paths if size_fits(path)}

    return read


def size_fits(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= LARGEST


def wild(*patterns: str) -> Files:
    return {Path(name).name: data for name, data in files(SAMPLES, *patterns)().items()}


def saved_by(save: Callable[[Path], object], *patterns: str, only: str = "*") -> Seeds:
    """Return a function that gives what `save` puts into a folder, and real files where they are."""

    @cache
    def read() -> Files:
        with tempfile.TemporaryDirectory() as folder:
            save(Path(folder))
            paths = [path for path in sorted(Path(folder).glob(only)) if path.is_file()]
            own = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
            return {**own, **wild(*patterns)}

    return read


def motions(suffix: str, *patterns: str, robot: Path = DOG) -> Seeds:
    """Return a function that gives the motions that ship in another format, and real files of it."""

    def save(folder: Path) -> None:
        for path in sorted((robot / "motions").glob("*.yaml")):
            target = folder / (path.name.partition(".")[0] + suffix)
            with suppress(PosewrightError):  # a posture is one pose: most motions do not fit
                pw.convert_motion(path, target, accept_loss=True, options=STRAIGHT)

    return saved_by(save, *patterns)


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
    rules = (HOUSE / "contests/obstacle_race/obstacle_race.rules.yaml").read_text(encoding="utf-8")
    (folder / "mini.rules.yaml").write_text(rules.replace("time_limit_s: 300", "time_limit_s: 0.1"))
    (folder / "mini.trial.yaml").write_text(
        "trial: mini-race\nrobot: robotis_bioloid\nbehaviour: obstacle_race\n"
        "arena: {kind: ceabot_obstacles, layout: example_1}\n"
        "contest: {name: obstacle-race, rules: mini.rules.yaml}\n"
    )
    race = pw.run_trial(folder / "mini.trial.yaml").recording
    write_mcap(race, folder / "race.mcap")
    for document in folder.glob("mini.*"):
        document.unlink()


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
            text = json.dumps(body)
        except (ValueError, AttributeError, TypeError, RecursionError):
            lines.append(line)
            continue
        check = hashlib.sha256(f"{check}{text}".encode()).hexdigest()[:16]
        lines.append(f'{text[:-1]}, "{name}": "{check}"}}'.encode())
    return b"\n".join(lines) + b"\n"


def save_batch(folder: Path) -> None:
    pw.run_many("passivity-test", seeds=[1], folder=folder, recordings=False)


@cache
def batch_settings() -> bytes:
    """Return what a batch of `save_batch` says of its settings."""
    with tempfile.TemporaryDirectory() as folder:
        save_batch(Path(folder))
        return (Path(folder) / "batch.json").read_bytes()


def sealed_text(key: str, data: bytes) -> bytes:
    """Return a file that holds a text and its digest, with the digest that fits, where it is one still."""
    try:
        text = str(json.loads(data)[key])
    except (ValueError, TypeError, LookupError, RecursionError):
        return data
    check = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
    return json.dumps({key: text, "check": check}).encode()


def save_scenes(folder: Path) -> None:
    """Write a field with walls, a floor and boxes in every format of scenes."""
    (folder / "field.wrl").write_bytes((SEEDS / "field.wrl").read_bytes())
    parts = {
        "floor": ((1.25, 0.0, -0.05), (2.5, 2.0, 0.1)),
        "wall_start": ((-0.01, 0.0, 0.25), (0.02, 2.0, 0.5)),
        "wall_goal": ((2.51, 0.0, 0.25), (0.02, 2.0, 0.5)),
        "wall_left": ((1.25, 1.01, 0.25), (2.54, 0.02, 0.5)),
        "wall_right": ((1.25, -1.01, 0.25), (2.54, 0.02, 0.5)),
        "box": ((1.0, 0.4, 0.25), (0.2, 0.2, 0.5)),
    }
    scene = trimesh.Scene()
    for name, (middle, size) in parts.items():
        mesh = trimesh.creation.box(size)
        mesh.apply_translation(middle)
        scene.add_geometry(mesh, node_name=name, geom_name=name)
    for suffix in ("glb", "obj", "stl", "dae"):
        exported = scene.to_geometry() if suffix == "dae" else scene
        data = exported.export(file_type=suffix)
        (folder / f"field.{suffix}").write_bytes(data.encode() if isinstance(data, str) else data)
    with zipfile.ZipFile(folder / "field.zae", "w") as archive:
        archive.write(folder / "field.dae", "field.dae")


def save_meshes(folder: Path) -> None:
    mesh = trimesh.creation.box((0.1, 0.05, 0.2))
    for suffix in ("stl", "obj", "ply", "dae", "glb"):
        data = mesh.export(file_type=suffix)
        (folder / f"foot.{suffix}").write_bytes(data.encode() if isinstance(data, str) else data)
    (folder / "foot.wrl").write_text("#VRML V2.0 utf8\nShape { geometry Box { size 0.1 0.05 0.2 } }\n")


def save_robot_files(folder: Path) -> None:
    names = ("small.urdf.xacro", "small.xml", "arm.robot.xml")
    for path in (TESTS / "runs" / "small_humanoid.urdf", *(SEEDS / name for name in names)):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "parts.urdf.xacro").write_text(
        """<robot name="parts" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="side" default="left"/>
  <xacro:include filename="$(dirname)/legs.xacro" ns="legs"/>
  <xacro:include filename="gone.xacro" optional="true"/>
  <xacro:property name="limits" value="${xacro.load_yaml('limits.yaml')}"/>
  <xacro:property name="shape"><geometry><box size="${limits.size[0]} 0.1 0.1"/></geometry></xacro:property>
  <xacro:macro name="body" params="name size:=^|0.1 **inside"><link name="${name}">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><xacro:insert_block name="inside"/></collision></link></xacro:macro>
  <xacro:body name="base"><all><xacro:insert_block name="shape"/></all></xacro:body>
  <xacro:call macro="body" name="${'_'.join(['$(arg side)', 'leg'])}">
    <all><xacro:insert_block name="shape"/></all></xacro:call>
  <joint name="hip" type="revolute"><parent link="base"/><child link="left_leg"/>
    <limit lower="${-limits['hip'] * legs.sign}" upper="$(eval 1 + 1)" effort="2" velocity="6"/></joint>
</robot>
"""
    )


def save_robot_parts(folder: Path) -> None:
    """Write the files that the robot `parts` names."""
    head = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    (folder / "legs.xacro").write_text(f'{head}<xacro:property name="sign" value="1"/></robot>')
    (folder / "limits.yaml").write_text("hip: 1.5\nsize: [0.2, 0.1]\n")


def save_projects(folder: Path) -> None:
    """Write a project of OpenHRP3 and one of Choreonoid, with a floor, a crate and a robot."""
    item = (
        '<item class="com.generalrobotix.ui.item.GrxModelItem" name="{0}" url="$(PROJECT_DIR)/{0}.wrl">'
        '<property name="isRobot" value="false"/><property name="WAIST.translation" value="{1}"/>'
        '<property name="WAIST.rotation" value="0 0 1 0.5"/><property name="A.angle" value="0"/></item>'
    )
    pair = (
        '<item class="com.generalrobotix.ui.item.GrxCollisionPairItem" name="CP">'
        '<property name="slidingFriction" value="0.5"/></item>'
    )
    items = item.format("floor", "0 0 -0.1") + item.format("crate", "1 0.5 0.2") + pair
    (folder / "project.xml").write_text(f'<grxui><mode name="Simulation">{items}</mode></grxui>')
    body = """    - name: {0}
      class: BodyItem
      data:
        modelFile: "${{SHARE}}/{0}.wrl"
        rootPosition: [ {1} ]
        rootAttitude: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
"""
    bodies = body.format("floor", "0, 0, -0.1") + body.format("crate", "1, 0.5, 0.2")
    (folder / "project.cnoid").write_text(f"items:\n  class: RootItem\n  plugin: Base\n  children:\n{bodies}")


def save_models_of_projects(folder: Path) -> None:
    """Write the models that the projects name."""
    text = """#VRML V2.0 utf8
PROTO Joint [ exposedField MFNode children []  exposedField SFVec3f translation 0 0 0
  exposedField SFRotation rotation 0 0 1 0  exposedField SFString jointType "" ]
{{ Transform {{ children IS children translation IS translation rotation IS rotation }} }}
PROTO Segment [ exposedField MFNode children []  exposedField SFFloat mass 0 ]
{{ Group {{ children IS children }} }}
DEF WAIST Joint {{ jointType "{0}"
  children [ Segment {{ mass 1 children [ Shape {{ geometry Box {{ size {1} }} }} ] }} ] }}
"""
    (folder / "floor.wrl").write_text(text.format("fixed", "4 3 0.2"))
    (folder / "crate.wrl").write_text(text.format("free", "0.2 0.2 0.4"))


def save_day(folder: Path) -> None:
    """Write the result of a day in which nobody has run yet, with all that a result may hold."""
    run = {
        "name": "Ours",
        "figures": {"points": 3.5, "passed": True},
        "ranking": [3.5],
        "digest": "ab",
        "error": "",
    }
    discipline = {
        "contest": "passivity-test",
        "title": "Passivity test",
        "share": 10.0,
        "most": 10.0,
        "jury": False,
        "runs": {"passivity-test": [run]},
        "places": {"Ours": 1},
        "earned": {"Ours": 10.0},
        "tables": {"Runs": [["entry", "points"], ["Ours", "3.5"]]},
        "remarks": ["nobody fell"],
    }
    contestant = {
        "name": "Ours",
        "robot": "robotis_bioloid",
        "behaviours": {"passivity-test": "passivity_test"},
        "club": "Robots",
        "options": {},
    }
    day = {
        "name": "mine",
        "title": "Our day",
        "seed": 1,
        "contestants": [contestant],
        "disciplines": [discipline],
        "inspections": {"Ours": ""},
    }
    (folder / "day.json").write_bytes(sealed_text("day", json.dumps({"day": json.dumps(day)}).encode()))


def save_generated(folder: Path) -> None:
    pw.generate(LAMP / "button_lamp.chart.yaml", folder)


def save_openr_texts(folder: Path) -> None:
    for path in (HOUSE / "runtimes/openr/connect").glob("*.cfg"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "head.script").write_text("MOVE_MP@0, head: STOP @ 2.5\n# later\nMOVE_MP@3\n")
    (folder / "board.inputs").write_text("REMOCON=3@2.0, AD5=20@3.0, AD(5)=sensor@4.0\nERX=65@5  # a byte\n")


def save_field_drafts(folder: Path) -> None:
    path = HOUSE / "arenas" / "ceabot_obstacles.arena.yaml"
    (folder / "draft").write_bytes(b"# unsaved edits of club.arena.yaml\n" + path.read_bytes())


def save_drafts(folder: Path) -> None:
    """Write a draft of a motion, as the studio would."""
    motion = (DOG / "motions" / "nod.motion.yaml").read_bytes()
    content = {
        "file": "nod.motion.yaml",
        "robot": "sony_ers7",
        "digest": hashlib.sha256(motion).hexdigest(),
        "data": base64.b64encode(motion).decode(),
        "labels": [[1, "nod"]],
        "motions": {"1": [1, to_plain(NOD_DOCUMENT)]},
    }
    (folder / "nod.draft").write_bytes(sealed_draft(b"\n" + json.dumps(content).encode()))


NOD_DOCUMENT: dict[str, Any] = {
    "motion": "nod",
    "robot": "sony_ers7",
    "joints": ["neck_tilt"],
    "keyframes": [
        {"reach_s": 0.4, "pose_deg": [-20]},
        {"reach_s": 0.4, "pose_deg": [0]},
    ],
}


def sealed_draft(damaged: bytes) -> bytes:
    body = damaged.partition(b"\n")[2]
    return DRAFT_HEADER + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def sealed_wire_message(damaged: bytes) -> bytes:
    """Return a message to a served robot with the checksum that fits."""
    return damaged[:4] + struct.pack("<I", zlib.crc32(damaged[8:])) + damaged[8:]


def wire_requests() -> Files:
    """Return requests to a served robot: to open a session, and to read, move, place and stop the robot."""
    bioloid = robot_named("robotis_bioloid")
    part = BodySpec("red", bioloid, bioloid.pose("stand"), start=(0.0, 0.0, 0.0))
    commands = wire_records.encode_commands(JointCommands(bioloid.pose("stand")[np.newaxis]))
    requests: dict[str, dict[str, object]] = {
        "open": {"who": "friend", "parts": [wire_records.encode_part(part)], "arena": None},
        "engage": {"body": "red"},
        "read": {},
        "advance": {"commands": {"red": commands}},
        "place": {"body": "red", "x_m": 0.5, "y_m": 0.0, "yaw_rad": 0.0},
        "stop": {"body": "red", "policy": "hold"},
    }
    return {
        f"{number}_{action}": pack({"ask": action, "session": "s", "number": number, **arguments})
        for number, (action, arguments) in enumerate(requests.items())
    }


def bottles() -> Files:
    bottle = (Vocab("set"), Vocab("poss"), (1, 2.5, "knee", b"\0\1", ((),)), {"a": 3}, 2**40, (1.0, 2.0, 3.0))
    message = Message("d", bottle, Envelope(3, 12.5))
    return {
        "bottle": encode(bottle),
        "message": message.encode(),
        "administration": Message("a", (Vocab("list"), Vocab("out"))).encode(),
        "text": b'[set] [poss] (1 2.5 knee {0 1} (())) "a \\"b\\"" 1099511627776 (1.0 2.0 3.0)\n',
    }


def trajectories() -> Files:
    """Return `trajectory_msgs/JointTrajectory` in CDR for the first two joints of a Bioloid."""
    names = robot_named("robotis_bioloid").joint_names[:2]
    body = struct.pack("<iI", 0, 0) + _cdr_text("me")
    body += _aligned(body, struct.pack("<I", len(names)))
    for name in names:
        body += _aligned(body, _cdr_text(name))
    body += _aligned(body, struct.pack("<I", 2))
    for time_s in (0, 1):
        body += _aligned(body, struct.pack("<I", 2))
        body += _aligned(body, struct.pack("<2d", 0.1 * time_s, -0.1), 8)
        body += struct.pack("<3I", 0, 0, 0) + struct.pack("<iI", time_s, 5000)
    return {"trajectory": b"\0\1\0\0" + body}


def _cdr_text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return struct.pack("<I", len(data)) + data


def _aligned(before: bytes, data: bytes, width: int = 4) -> bytes:
    return b"\0" * (-len(before) % width) + data


def servo_answers() -> Files:
    answers = [status_packet(servo, 0, struct.pack("<3H", 512, 0, 1024) + b"\x7a\x25") for servo in (1, 2, 3)]
    return {"answers": b"".join(answers), "one": answers[0]}


def sealed_packets(damaged: bytes) -> bytes:
    """Return bytes in which every packet of the Dynamixel protocol has the checksum that fits."""
    sealed = bytearray(damaged)
    start = sealed.find(b"\xff\xff")
    while start >= 0 and start + 4 <= len(sealed):
        end = start + 3 + sealed[start + 3]
        if start + 4 < end < len(sealed):
            sealed[end] = ~sum(sealed[start + 2 : end]) & 0xFF
        start = sealed.find(b"\xff\xff", max(start + 2, end))
    return bytes(sealed)


def studio_requests() -> Files:
    """Return requests of a studio's window, one for each command of motions and of fields."""
    arguments: dict[str, Any] = {
        "set_angles": {"page": 1, "keyframe": 0, "angles_deg": {"neck_tilt": -10.0}, "symmetric": True},
        "set_lights": {"page": 1, "keyframe": 0, "lights": {}},
        "retime_keyframe": {"page": 1, "keyframe": 0, "reach_s": 0.5, "pause_s": 0.1, "easing": "linear"},
        "set_motion": {"page": 1, "name": "bow", "repeat": 2, "next": "", "speed": 1.5},
        "set_joints": {"page": 1, "joints": ["neck_tilt"], "left": "held"},
    }
    field: dict[str, Any] = {
        "add_shape": {"role": "wall", "x": 1.0, "y": 0.0, "size_m": [0.2, 0.4, 0.1]},
        "add_box": {"x": 1.0, "y": 0.25, "yaw_deg": 30},
        "move_parts": {"parts": ["box:1"], "x_m": 0.1, "y_m": -0.05},
        "turn_parts": {"parts": ["box:1"], "angle_deg": 90},
        "set_field": {"size_m": [2.5, 2.0]},
        "set_colour": {"name": "wall", "colour": [1, 1, 1]},
    }
    requests = [
        {"id": 1, "do": "session.edit", "with": {"command": name, "arguments": values, "gesture": "drag"}}
        for name, values in arguments.items()
    ]
    requests += [
        {"id": 2, "do": "arena.edit", "with": {"command": name, "arguments": values}}
        for name, values in field.items()
    ]
    requests += [
        {"id": 3, "do": "session.look", "with": {"keyframe": 0, "selected": [0, 1]}},
        {"id": 4, "do": "session.choose", "with": {"mode": "gait"}},
    ]
    return {f"request_{number}": json.dumps(request).encode() for number, request in enumerate(requests)}
