"""A format of somebody's own package is found by its entry point, and one that is broken says whose it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from posewright.documents import plugins
from posewright.errors import PosewrightError
from posewright.formats import FORMATS, convert_motion, detect_format, read_motion, write_motion

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
WHOLE = PAGE.read_text(encoding="utf-8").partition("```python\n# nods.py\n")[2].partition("```")[0]
"""The example of the page on formats."""

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
        forget()

    yield install
    sys.modules.pop("nods_of_mine", None)
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Let the next look-up ask the installed packages again."""
    plugins.cache_clear()
    vars(FORMATS).pop("_formats", None)


def test_its_files_are_known_read_and_written(install: Install, tmp_path: Path) -> None:
    install(WHOLE)
    source, target = tmp_path / "one", tmp_path / "two.nods"
    source.write_bytes(b"NODS 0.500")
    assert detect_format(b"NODS 0.500") == "nods"
    motion = read_motion(source)
    assert motion.keyframes[0].pose.angles.tolist() == [0.5]
    assert write_motion(motion, target) == ()
    assert target.read_bytes() == b"NODS 0.500"
    assert convert_motion(source, tmp_path / "nod.motion.yaml").losses == ()
    assert read_motion(tmp_path / "nod.motion.yaml").keyframes[0].pose.angles == pytest.approx([0.5])


def test_ours_are_told_apart_as_before_and_what_nobody_knows_is_refused_with_its_title(
    install: Install, tmp_path: Path
) -> None:
    install(WHOLE.replace('starts_with(b"NODS ")', "lambda content: True"))
    assert detect_format(b"OMTN" + bytes(60)) == "aibo-omtn"
    assert detect_format(b"#POS\nLFr:rotor 0.1 1\n#END\n") == "tekkotsu-pos"
    assert detect_format(b"PK\x03\x04, a format that is kept in ZIP archives") == "nods"
    forget()
    (tmp_path / "site" / "nods_of_mine.py").write_text(WHOLE)
    sys.modules.pop("nods_of_mine")
    with pytest.raises(PosewrightError, match=r"unknown kind \(supported kinds: .*, file of nods\)"):
        detect_format(b"nothing")


@pytest.mark.parametrize(
    ("code", "target", "story"),
    [
        ("import no_such_module", "nods_of_mine:FORMAT", "cannot be loaded: No module named"),
        ("1 / 0", "nods_of_mine:FORMAT", "cannot be loaded: division by zero"),
        (WHOLE, "nods_of_mine:FORMATS", "cannot be loaded: .* has no attribute 'FORMATS'"),
        (WHOLE, "nods_of_mine:read", r"is not a MotionFormat \(its entry point is nods_of_mine:read"),
        (WHOLE.replace('"nods"', '"aibo-omtn"'), "nods_of_mine:FORMAT", "is a second format 'aibo-omtn'"),
    ],
)
def test_a_broken_one_says_which_package_and_what(
    code: str, target: str, story: str, install: Install
) -> None:
    install(code, target)
    for _ in range(2):
        with pytest.raises(PosewrightError, match=story) as refusal:
            detect_format(b"OMTN")
        assert "'nods' in posewright.formats, from the package nods-of-mine 1.0, " in str(refusal.value)


def test_importing_formats_looks_for_no_package() -> None:
    code = (
        "import sys, importlib.metadata\n"
        "importlib.metadata.entry_points = lambda **_: sys.exit('asked')\n"
        "import posewright.formats.writing, posewright.formats.reading\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 -- our own interpreter and code
    assert (done.returncode, done.stderr) == (0, "")
