"""Names of new files: the ending of their kind, and no name that Windows does not allow.

Source of the reserved names: Microsoft, "Naming Files, Paths, and Namespaces" (Win32).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.documents import create_folder, require_ending, require_writable, write_atomically
from posewright.errors import InputError, OutputError

RESERVED = ("CON.mtn", "aux:.mtn", "a\\b.mtn", "nul", "COM1.csv", "lpt9 .txt", "a?.png", "x|y", "x.", "x ")


@pytest.mark.parametrize("name", RESERVED)
def test_a_new_file_has_no_name_that_windows_does_not_allow(tmp_path: Path, name: str) -> None:
    for write in (require_writable, create_folder, lambda path: write_atomically(path, b"x")):
        with pytest.raises(OutputError, match=r"Windows.*\(choose another name\)"):
            write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["console.mtn", "com.csv", "aux_1.mtn", "año.mtn", ".hidden", "a b.png"])
def test_names_that_windows_allows_are_written(tmp_path: Path, name: str) -> None:
    write_atomically(tmp_path / name, b"x")
    assert (tmp_path / name).read_bytes() == b"x"


@pytest.mark.skipif("sys.platform == 'win32'")
def test_a_file_that_exists_is_written_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "walk:2.mtn"
    path.write_bytes(b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_folders_are_created_with_their_parents_and_reserved_parents_are_errors(tmp_path: Path) -> None:
    create_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(OutputError, match="aux"):
        create_folder(tmp_path / "aux" / "b")


def test_the_ending_of_a_file_says_what_it_contains() -> None:
    require_ending(Path("Walk.MOTION.YAML"), (".motion.yaml", ".mtn"), "a motion file")
    wrong_ending = r"'\.mnt' is not the ending of a motion file \(end the name in \.yaml or \.mtn\)"
    with pytest.raises(InputError, match=wrong_ending):
        require_ending(Path("walk.mnt"), (".yaml", ".mtn"), "a motion file")
    with pytest.raises(
        InputError, match=r"the name of a recording needs an ending \(end the name in \.mcap\)"
    ):
        require_ending(Path("walk"), (".mcap",), "a recording")
