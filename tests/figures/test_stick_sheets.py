"""The contact sheet of a memory stick, and its motions as a list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import posewright as pw
from posewright.cli import app
from posewright.errors import InputError
from posewright.figures import count_stick_pages

MOTIONS = Path(pw.robot("sony_ers7").folder or "") / "motions"


def words(figure: object) -> str:
    texts = [one.get_text() for axes in figure.axes for one in axes.texts]  # type: ignore[attr-defined]
    return "\n".join([one.get_text() for one in figure.texts] + texts)  # type: ignore[attr-defined]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Lay down an archive of three motions, one with a command and one damaged, and the list of commands."""
    archive, commands = tmp_path / "MOTION7.ODA", tmp_path / "MONETCMD.CFG"
    made = []
    for name in ("play_bow", "nod", "kick_right"):
        options = pw.WriteOptions(straighten=True)
        pw.convert_motion(MOTIONS / f"{name}.motion.yaml", tmp_path / f"{name}.mtn", options=options)
        made.append(tmp_path / f"{name}.mtn")
    pw.create_archive(archive, made[:2])
    commands.write_bytes(b"##### mine\n")
    pw.add_to_stick(made[2], (archive, commands), id=60, name="a_stand#stand_kick")
    held = pw.read_archive(archive)
    pw.write_archive(held.with_data(1, held.entries[1].data[:200]), archive)
    return archive, commands


def test_motions_are_told_with_length_postures_and_what_plays_them(files: tuple[Path, Path]) -> None:
    bow, nod, kick = pw.motions_on(pw.read_stick(*files))
    assert (kick.name, kick.postures, kick.ids) == ("a_stand#stand_kick", "stand to stand", (60,))
    assert kick.data()["duration_s"] == pytest.approx(kick.motion.duration)
    assert bow.ids == ()
    assert nod.data()["fault"]
    assert nod.data()["duration_s"] is None


def test_the_sheet_shows_every_motion_and_says_what_is_wrong_with_a_damaged_one(
    files: tuple[Path, Path],
) -> None:
    stick = pw.read_stick(*files)
    figure = pw.draw_stick(stick)
    said = words(figure)
    bow, nod, kick = pw.motions_on(stick)
    for one in (bow.name, nod.name, "a_stand#stand_kick", "MoNetExecute(60)", "no command", "3 motions"):
        assert one in said
    assert str(nod.data()["fault"]).split()[0] in said
    robots = [len(axes.collections) for axes in figure.axes]
    assert robots == [3, 0, 3]
    assert f"{kick.motion.duration:.2f} s, stand to stand" in said


def test_many_motions_take_several_pages(tmp_path: Path) -> None:
    pw.convert_motion(
        MOTIONS / "nod.motion.yaml", tmp_path / "nod.mtn", options=pw.WriteOptions(straighten=True)
    )
    archive = tmp_path / "MOTION7.ODA"
    pw.create_archive(archive, [tmp_path / "nod.mtn"])
    entry = pw.read_archive(archive).entries[0]
    held = pw.read_archive(archive)
    for number in range(24):
        held = held.with_entry(f"nod{number}", entry.data)
    pw.write_archive(held, archive)
    stick = pw.read_stick(archive)
    assert count_stick_pages(stick) == 2
    assert len(pw.draw_stick(stick, page=2).axes) == 1
    assert "page 2 of 2" in words(pw.draw_stick(stick, page=2))
    with pytest.raises(InputError, match="no page 3"):
        pw.draw_stick(stick, page=3)
    assert app.run(["aibo", "show", str(archive), "-o", str(tmp_path / "sheet.png")]) == 0
    assert (tmp_path / "sheet.png").is_file()
    assert (tmp_path / "sheet-2.png").is_file()


def test_the_verb_lists_them_as_words_and_as_json(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["aibo", "show", *map(str, files)]) == 0
    said = capsys.readouterr().out
    assert "a_stand#stand_kick" in said
    assert "id 60" in said
    assert "damaged" in said
    assert "3 motions" in said
    assert app.run(["aibo", "show", *map(str, files), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["motions"]
    assert [one["ids"] for one in told] == [[], [], [60]]
    assert app.run(["aibo", "show", str(files[0]), "-o", "sheet.bmp"]) == 2


def test_a_file_of_the_stick_that_cannot_be_read_is_named(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files[0].write_bytes(bytes(range(256)) * 8)
    assert app.run(["aibo", "show", *map(str, files)]) == 1
    told = capsys.readouterr()
    assert "MOTION7.ODA: " in told.err.replace("\n", "")
    assert "no motions" in told.out
