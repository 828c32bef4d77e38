"""A format of somebody's own package is found by its entry point, and one that is broken says whose it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from posewright.errors import PosewrightError
from posewright.formats import FORMATS, convert_motion, detect_format, read_motion, write_motion

WHOLE = """
from posewright.formats import FileKind, MotionFile, MotionFormat, PageLabel, Quantum, Rendering, begins
from posewright.motions import Keyframe, Motion, Pose


def read(data, path, robot):
    angle = float(data.split()[1])
    keyframe = Keyframe(Pose(("head_pan",), [angle]), 0.5)
    motion = Motion("nod", "sony_ers7", ("head_pan",), (keyframe,))
    return MotionFile("nods", path, (motion,), (PageLabel(1, "nod"),))


def render(motion, path, options):
    return Rendering(f"NODS {motion.keyframes[-1].pose.angles[0]:g}".encode())


KIND = FileKind("nods", "a file of nods", begins(b"NODS "))
FORMAT = MotionFormat(KIND, (".nods",), read, render, Quantum())
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Give a function that installs a package whose entry point names a format."""

    def install(code: str, target: str = "nods_of_mine:FORMAT") -> None:
        site = tmp_path / "site"
        facts = site / "nods_of_mine-1.0.dist-info"
        facts.mkdir(parents=True)
        (site / "nods_of_mine.py").write_text(code)
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: nods-of-mine\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text(f"[posewright.formats]\nnods = {target}\n")
        monkeypatch.syspath_prepend(str(site))
        vars(FORMATS).pop("_known", None)

    yield install
    sys.modules.pop("nods_of_mine", None)
    vars(FORMATS).pop("_known", None)


def test_its_files_are_known_read_and_written(install: Install, tmp_path: Path) -> None:
    install(WHOLE)
    source, target = tmp_path / "one", tmp_path / "two.nods"
    source.write_bytes(b"NODS 0.5")
    assert detect_format(b"NODS 0.5") == "nods"
    motion = read_motion(source)
    assert motion.keyframes[0].pose.angles.tolist() == [0.5]
    assert write_motion(motion, target) == ()
    assert target.read_bytes() == b"NODS 0.5"
    assert convert_motion(source, tmp_path / "nod.motion.yaml").losses == ()
    assert read_motion(tmp_path / "nod.motion.yaml").keyframes[0].pose.angles == pytest.approx([0.5])


def test_ours_are_told_apart_as_before_and_what_nobody_knows_is_refused_with_its_title(
    install: Install, tmp_path: Path
) -> None:
    install(WHOLE.replace('begins(b"NODS ")', "lambda content: True"))
    assert detect_format(b"OMTN" + bytes(60)) == "aibo-omtn"
    assert detect_format(b"#POS\nLFr:rotor 0.1 1\n#END\n") == "tekkotsu-pos"
    assert detect_format(b"PK\x03\x04, a format that is kept in ZIP archives") == "nods"
    vars(FORMATS).pop("_known")
    (tmp_path / "site" / "nods_of_mine.py").write_text(WHOLE)
    sys.modules.pop("nods_of_mine")
    with pytest.raises(PosewrightError, match=r"unknown kind \(supported kinds: .*, file of nods\)"):
        detect_format(b"nothing")


@pytest.mark.parametrize(
    ("code", "target", "story"),
    [
        ("import no_such_module", "nods_of_mine:FORMAT", "ModuleNotFoundError: No module named"),
        ("1 / 0", "nods_of_mine:FORMAT", "ZeroDivisionError: division by zero"),
        (WHOLE, "nods_of_mine:FORMATS", "AttributeError: .* has no attribute 'FORMATS'"),
        (WHOLE, "nods_of_mine:read", "nods_of_mine:read is no MotionFormat"),
        (WHOLE.replace('"nods"', '"aibo-omtn"'), "nods_of_mine:FORMAT", "is a format 'aibo-omtn' already"),
    ],
)
def test_a_broken_one_says_which_package_and_what(
    code: str, target: str, story: str, install: Install
) -> None:
    install(code, target)
    for _ in range(2):
        with pytest.raises(PosewrightError, match=story) as refusal:
            detect_format(b"OMTN")
        assert "package 'nods-of-mine' offers a motion format 'nods'" in str(refusal.value)


def test_importing_formats_looks_for_no_package() -> None:
    code = (
        "import sys, importlib.metadata\n"
        "importlib.metadata.entry_points = lambda **_: sys.exit('asked')\n"
        "import posewright.formats.writing, posewright.formats.detect\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 -- our own interpreter and code
    assert (done.returncode, done.stderr) == (0, "")
