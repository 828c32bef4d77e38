"""A file is told by its content, and what is not read is refused by name."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError
from posewright.formats import FORMATS, detect_format, read_motion, read_motion_file
from posewright.formats.reading import list_file_kinds
from posewright.formats.registry import is_read

TITLES = {kind.name: kind.title for kind in list_file_kinds()}

Save = Callable[..., Path]


def page_dump(pages: int) -> bytes:
    """Pages as a controller holds them: some steps, some rubbish, the unused ones all ones."""
    used = bytes(20) + b"\x03" + bytes(491)
    rubbish = bytes(20) + b"\x91" + bytes(491)
    return used * (pages // 2) + rubbish * 3 + b"\xff" * 512 * (pages - pages // 2 - 3)


FILES: dict[str, bytes] = {
    "aibo-omtn": b"OMTN" + bytes(60),
    "aibo-omtn-gzip": gzip.compress(b"OMTN" + bytes(60)),
    "aibo-placeholder": b"NotOMTN ",
    "aibo-oda": b"ODAR" + bytes(60),
    "aibo-oda-gzip": gzip.compress(b"ODAR" + bytes(60)),
    "aibo-monet": b"#####\r\n60 1 0\r\nmonetagentMTN a_Kick -1\r\n",
    "robotis-pages": page_dump(128),
    "rplus-mtnx": b'\xef\xbb\xbf<?xml version="1.0"?>\n<Root name="R+Motion" version="2.0.0"></Root>',
    "live2d-mtn": b"# Live2D Animator Motion Data\n$fps=30\n",
    "aibo-encrypted": bytes(range(256))[::-1] * 40,
    "ekmoves-h": b"// poses\nconst double KICK_01[] = { 0 };\n",
    "tekkotsu-mot": b"#MSq\nradians\n#END\n",
    "tekkotsu-pos": b"#POS\nLFr:rotor 0.1 1\n#END\n",
    "cmpack-mot": (2).to_bytes(4, "little") + bytes(2 * 336),
    "webots-motion": b"#WEBOTS_MOTION,V1.0,ShoulderR\n00:00:000,Pose1,0\n",
    "choreonoid-pseq": b"# Body pose sequence\n\ntype: PoseSeq\n",
    "choreonoid-seq": b"type: CompositeSeq\ncontent: BodyMotion\n",
    "kondo-hth4": b'<?xml version="1.0"?>\r\n<!-- a -->\r\n<ArrayOfAnyType></ArrayOfAnyType>',
    "robobasic": b"' standing\nSPEED 5\nMOVE G6A,100, 76, 145,  93, 100, 100\nWAIT\n",
    "robi-rm4": b'<mem_w size="2" adr="0x0a00">0x0000</mem_w>',
    "openrave-xml": b'<Robot name="a"><KinBody/></Robot>',
    "mjcf": b"<mujoco model='a'/>",
    "urdf": b"<robot name='a'><link name='b'/></robot>",
    "posewright-chart": b"# a machine\nchart: race\nkind: mealy\n",
    "posewright-behaviour": b"behaviour: race\nrobot: robotis_bioloid\n",
    "posewright-trial": b"trial: race\nrobot: robotis_bioloid\n",
    "posewright-gait": b"# a walk\ngait: trot\nrobot: sony_ers7\nphases: trot\n",
    "posewright-tune": b"tune: trot\nrobot: sony_ers7\ngait: trot\nbodies: {nominal: true}\n",
    "posewright-bodies": b"bodies: random\nranges: {}\n",
    "posewright-robot": b"robot: robotis_bioloid\nmaker: ROBOTIS\nservos: {}\n",
    "utf-16": "motion=\nversion=1.01\n".encode("utf-16"),
    "csv-semicolons": b"thesis_id;initial_deg;step1_deg;velocity_rad_s\r\n1;49,51;58,89;1,31\r\n",
    "bvh": b"HIERARCHY\r\nROOT Hips\r\n{\r\n",
    "nao-xar": b'<?xml version="1.0"?><ChoregrapheProject xar_version="3"></ChoregrapheProject>',
    "opencat-skill": b"const int8_t balance[] PROGMEM = {\n1, 0, 0, 1,\n0, 0\n};\n",
    "openhrp-project": b'<grxui><mode name="Simulation"/></grxui>',
    "choreonoid-project": b'items:\n  id: 0\n  name: "Root"\n  plugin: Base\n  class: RootItem\n',
    "xacro": b'<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property/></robot>',
    "mcap": b"\x89MCAP0\r\n" + bytes(30),
    "gzip": gzip.compress(b"anything"),
    "zip": b"PK\x03\x04" + bytes(30),
    "pdf": b"%PDF-1.4\n",
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(30),
    "xml": b"<?xml version='1.0'?><svg/>",
    "posewright-arena": b"arena: club\nsize_m: [2.0, 1.0]\n",
    "posewright-layout": b"layout: mine\nboxes: []\n",
    "posewright-calibration": b"calibration: ours\nrobot: robotis_bioloid\n",
    "scxml": b'<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0"/>',
    "scene": b"#VRML V2.0 utf8\nShape {}\n",
    "web-page": b"<!DOCTYPE html>\n<html></html>",
    "git-lfs-pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n",
    "sound": b"RIFF" + bytes(4) + b"WAVEfmt ",
}


@pytest.mark.parametrize(("kind", "data"), FILES.items(), ids=list(FILES))
def test_every_foreign_kind_is_known_and_refused_by_its_name_where_it_is_not_read(
    kind: str, data: bytes, saved: Save
) -> None:
    name = "walk.oda" if kind == "aibo-encrypted" else "walk.mtn"
    assert detect_format(data, Path(name)) == kind
    if is_read(kind):
        return  # its own tests read it
    with pytest.raises(FormatError) as refusal:
        read_motion_file(saved(data, name))
    assert TITLES[kind] in str(refusal.value)
    assert name in str(refusal.value)


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [("utf-16", "save it in UTF-8"), ("csv-semicolons", "commas and decimal points")],
)
def test_a_near_miss_is_told_with_what_to_do(kind: str, remedy: str, saved: Save) -> None:
    with pytest.raises(FormatError) as refusal:
        read_motion_file(saved(FILES[kind], "walk.mtn"))
    assert remedy in (refusal.value.hint or "")


@pytest.mark.parametrize(
    "data",
    [
        b"# Blender v2.79\nmtllib a.mtl\no Cube\nv 1.0 -1.0 -1.0\n",
        b"solid part\n  facet normal 0 0 1\n",
        b'<?xml version="1.0"?>\n<COLLADA version="1.4.1"></COLLADA>',
        b"glTF" + bytes(8),
        b"ply\nformat ascii 1.0\n",
    ],
)
def test_scenes_and_meshes_are_known(data: bytes) -> None:
    assert detect_format(data) == "scene"


def test_a_behaviour_is_no_chart_although_it_names_one() -> None:
    assert detect_format(b"chart: race.chart.yaml\nbehaviour: race\n") == "posewright-behaviour"


def test_every_kind_is_tried_here() -> None:
    assert {*FILES, "posewright-motion", "roboplus-mtn", "uc3m-csv"} == set(TITLES)


def test_the_extension_tells_nothing(mtn: Any, saved: Save) -> None:
    assert read_motion_file(saved(mtn.build(), "walk.yaml")).format == "roboplus-mtn"
    assert read_motion_file(saved(mtn.build(), "walk")).format == "roboplus-mtn"


@pytest.mark.parametrize("stripped", ["\ufefftype=motion\n", "type=motion\n", "\ufeff\ntype=motion\r\n"])
def test_a_roboplus_file_is_known_with_and_without_its_mark(stripped: str) -> None:
    assert detect_format(stripped.encode()) == "roboplus-mtn"


def test_page_dumps_are_told_from_random_bytes() -> None:
    assert detect_format(page_dump(256)) == "robotis-pages"
    with pytest.raises(FormatError, match="binary file of unknown kind"):
        detect_format(b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(2048)))
    with pytest.raises(FormatError):
        detect_format(bytes(65536))


@given(st.binary(max_size=600))
def test_any_bytes_are_of_a_kind_or_refused(data: bytes) -> None:
    with contextlib.suppress(FormatError):
        assert detect_format(data) in TITLES


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aibo_mtn/a_walk__walk_sox_fwd.mtn", "aibo-omtn"),
        ("aibo_mtn/MALFORMED_KnownGoodERS7.mtn", "aibo-omtn"),
        ("aibo_mtn/mind2_NotOMTN_placeholder.bin", "aibo-placeholder"),
        ("aibo_oda/sdk_ers7_MOTION7.ODA", "aibo-oda"),
        ("aibo_monet/ERS7_MONETCMD.CFG", "aibo-monet"),
        ("choreonoid/PoseSeq_motion_GR001_SampleMotion1.pseq", "choreonoid-pseq"),
        ("kondo/robotlearn_HLO016RC_Safty_Walk(Forward)Wireless.xml", "kondo-hth4"),
        ("openrave/rdiankov_twodof.robot.xml", "openrave-xml"),
        ("robotis_bin/cm5_robot-dash-ok.mtn", "robotis-pages"),
        ("robotis_bin/op3_motion_4095.bin", "robotis-pages"),
        ("robotis_mtnx/Motion_XL_Nina_NC.mtnx", "rplus-mtnx"),
        ("tekkotsu/BINARY_cmpack02-littleendian_dance.mot", "cmpack-mot"),
        ("tekkotsu/aibo_k_dive.mot", "tekkotsu-mot"),
        ("tekkotsu/aibo_situp.pos", "tekkotsu-pos"),
        ("webots_motion/HandWave.motion", "webots-motion"),
    ],
)
def test_real_files_are_told_apart(name: str, kind: str, samples: Callable[[str], Path]) -> None:
    path = samples(name)
    assert detect_format(path.read_bytes(), path) == kind
    if kind not in FORMATS:
        with pytest.raises(FormatError, match=r"not supported yet|not a motion"):
            read_motion_file(path)


def test_a_huge_file_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.mtn"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    tracemalloc.start()
    with pytest.raises(FormatError, match="100,000,000 bytes and was not read"):
        read_motion_file(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000


@pytest.mark.parametrize(
    ("make", "story"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.mkdir(), "directory"),
        (lambda _: None, "No such file"),
        (os.mkfifo, "not a regular file"),
        (lambda path: path.symlink_to(path), "symbolic link"),
    ],
    ids=["empty", "directory", "missing", "pipe", "link to itself"],
)
def test_what_is_no_file_is_one_clear_line(
    make: Callable[[Path], object], story: str, tmp_path: Path
) -> None:
    path = tmp_path / "walk.mtn"
    make(path)
    with pytest.raises(FormatError, match=story) as refusal:
        read_motion(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_name_no_file_can_have_is_refused() -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        read_motion("walk\0.mtn")


def test_a_file_one_may_not_read_is_refused(mtn: Any, saved: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = saved(mtn.build())
    monkeypatch.setattr(Path, "open", deny)
    with pytest.raises(FormatError, match="Permission denied"):
        read_motion(path)
