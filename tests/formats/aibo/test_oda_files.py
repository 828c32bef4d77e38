"""Archives as files: taken apart without getting out of the folder, put together again to the same bytes."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posewright as pw
from posewright.errors import FormatError, LossError, OutputError, UnknownNameError
from posewright.formats import (
    FORMATS,
    MotionFile,
    WriteOptions,
    read_motion_file,
    write_motion,
    write_motion_file,
)
from posewright.formats.binary import GzipWrapping
from posewright.formats.motion_file import mark_single_page
from posewright.formats.oda import files as oda_files
from posewright.formats.oda.archive import Compression, OdaArchive, new_entry
from posewright.formats.oda.assembly import FileNames, entry_name, file_stem
from posewright.formats.oda.extraction import extract_archive
from posewright.formats.oda.files import (
    add_to_archive,
    create_archive,
    read_archive_file,
    remove_from_archive,
)
from posewright.formats.omtn.reader import read_omtn


@pytest.fixture
def mixed(aibo: Any, tmp_path: Path) -> Path:
    """An archive with something of everything, in gzip and damaged too."""
    rows = [
        ("a_sit#stand_up", aibo.whole()),
        ("a_sit#sitx1_standard", aibo.placeholder),
        ("bark", aibo.sound, b"WAVE"),
        ("h_any#any_nod", aibo.zipped(aibo.omtn())),
        ("broken", aibo.whole()[:-5]),
        ("torn", aibo.zipped(aibo.omtn())[:40]),
        ("../../up", aibo.omtn(name="up")),
        ("A_SIT#stand_up", aibo.omtn(name="again")),
        ("eyes", b"\2\0\0\0blink", b"LED\0"),
    ]
    path = tmp_path / "mixed.oda"
    path.write_bytes(aibo.oda(rows))
    return path


def test_entries_become_files_and_what_cannot_is_told(mixed: Path, aibo: Any, tmp_path: Path) -> None:
    done = extract_archive(mixed, tmp_path / "out")
    assert {file.file.name for file in done.files} == {
        "a_sit#stand_up.mtn",
        "bark.wav",
        "h_any#any_nod.mtn",
        "%2E.%2F..%2Fup.mtn",
        "A_SIT#stand_up~2.mtn",
        "eyes.led",
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        f.file.name for f in done.files
    )
    assert (tmp_path / "out/h_any#any_nod.mtn").read_bytes() == aibo.omtn()  # out of gzip
    assert (tmp_path / "out/bark.wav").read_bytes() == aibo.sound
    assert done.placeholders == ("a_sit#sitx1_standard",)
    assert len(done.failed) == 2
    assert "entry 5, 'broken': section 3 has a size of" in done.failed[0]
    assert "entry 6, 'torn': the gzip is cut off" in done.failed[1]
    assert not list(tmp_path.parent.glob("up*"))


def test_an_offset_in_an_entry_is_counted_in_the_archive(mixed: Path, tmp_path: Path, aibo: Any) -> None:
    story = extract_archive(mixed, tmp_path / "out").failed[0]
    entry = read_archive_file(mixed).entry("broken")
    size_of_section_3 = aibo.whole().index(b"\3\0\0\0", 36 + 60) + 4
    assert f"byte {(entry.offset or 0) + size_of_section_3}:" in story


def test_nothing_is_written_over_unless_told(mixed: Path, tmp_path: Path) -> None:
    extract_archive(mixed, tmp_path / "out")
    with pytest.raises(OutputError, match=r"a_sit#stand_up\.mtn and 5 more would be overwritten"):
        extract_archive(mixed, tmp_path / "out")
    extract_archive(mixed, tmp_path / "out", overwrite=True)
    with pytest.raises(OutputError, match="cannot be created"):
        extract_archive(mixed, mixed)


def test_some_entries_are_taken_by_name_or_number(mixed: Path, tmp_path: Path) -> None:
    done = extract_archive(mixed, tmp_path / "out", ["bark", "1", 1])
    assert [file.number for file in done.files] == [1, 3]
    with pytest.raises(UnknownNameError):
        extract_archive(mixed, tmp_path / "out", ["nobody"])


def test_no_more_than_an_honest_archive_holds_comes_out_of_one_at_once(tmp_path: Path) -> None:
    sound = GzipWrapping().wrap(b"RIFF\0\0\0\0WAVE" + bytes(3_900_000))
    bomb = OdaArchive().with_entries(*(new_entry(f"bark{i}", sound) for i in range(40)))
    tracemalloc.start()
    with pytest.raises(FormatError, match="its first 17 entries unpack to more than 64,000,000 bytes"):
        extract_archive(bomb, tmp_path / "out")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100_000_000
    assert not (tmp_path / "out").exists()
    assert len(extract_archive(bomb, tmp_path / "out", ["bark3", 30]).files) == 2


def test_motions_are_written_in_another_format(mixed: Path, tmp_path: Path, aibo: Any) -> None:
    done = extract_archive(mixed, tmp_path / "out", format="posewright-motion")
    names = {file.file.name for file in done.files}
    assert "a_sit#stand_up.motion.yaml" in names
    assert set(done.no_motions) == {"bark", "eyes"}
    back = read_motion_file(tmp_path / "out/a_sit#stand_up.motion.yaml").motion()
    assert FORMATS["aibo-omtn"].render(back, Path("x.mtn"), WriteOptions()).data == aibo.whole()


def test_what_a_format_cannot_hold_is_listed_before_anything_is_written(tmp_path: Path, aibo: Any) -> None:
    path = tmp_path / "a.oda"
    path.write_bytes(aibo.oda([("x", aibo.whole(attitudes=[[1, 2, 3]] * 3)), ("y", aibo.whole())]))
    with pytest.raises(LossError) as caught:
        extract_archive(path, tmp_path / "out", format="tekkotsu-pos", accept_faults=True)
    assert caught.value.losses
    assert all(loss.startswith(("x: ", "y: ")) for loss in caught.value.losses)
    assert not (tmp_path / "out").exists()
    done = extract_archive(
        path, tmp_path / "out", format="tekkotsu-pos", accept_loss=True, accept_faults=True
    )
    assert done.losses == caught.value.losses
    assert len(done.files) == 2


def test_motions_are_carried_over_to_another_robot(tmp_path: Path, aibo: Any) -> None:
    path = tmp_path / "a.oda"
    path.write_bytes(aibo.oda([("x", aibo.ers110()), ("y", aibo.placeholder)]))
    with pytest.raises(UnknownNameError, match="unknown robot 'sony_ers8'"):
        extract_archive(path, tmp_path / "out", robot="sony_ers8")
    done = extract_archive(path, tmp_path / "out", robot="sony_ers7", accept_loss=True)
    assert read_motion_file(done.files[0].file).motion().robot == "sony_ers7"
    assert any("has no such joints" in loss for loss in done.losses)


def test_whoever_waits_is_told_how_far_it_is(mixed: Path, tmp_path: Path) -> None:
    seen: list[float] = []
    extract_archive(mixed, tmp_path / "out", on_progress=lambda done, total: seen.append(done / total))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_an_archive_taken_apart_and_put_together_is_the_same(
    samples: Callable[[str], Path], tmp_path: Path
) -> None:
    source = samples("aibo_oda/sdk_ers7_MOTION7.ODA")
    done = extract_archive(source, tmp_path / "out")
    create_archive(tmp_path / "new.oda", [file.file for file in done.files])
    assert (tmp_path / "new.oda").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("compression", list(Compression))
def test_an_archive_is_made_with_gzip_where_it_is_wanted(
    compression: Compression, aibo: Any, tmp_path: Path
) -> None:
    (tmp_path / "a_sit#stand_up.mtn").write_bytes(aibo.zipped(aibo.whole()))
    (tmp_path / "bark.wav").write_bytes(aibo.sound)
    files = [tmp_path / "a_sit#stand_up.mtn", tmp_path / "bark.wav"]
    create_archive(tmp_path / "new.oda", files, compression=compression.value, accept_faults=True)
    archive = read_archive_file(tmp_path / "new.oda")
    assert archive.compression is compression
    assert [entry.type for entry in archive.entries] == ["OMTN", "WAVE"]
    data = archive.entries[0].data
    assert (gzip.decompress(data) if compression is Compression.ENTRIES else data) == aibo.whole()


def test_an_archive_that_stands_there_is_not_replaced_unless_told(
    mixed: Path, aibo: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.mtn").write_bytes(aibo.whole())
    before = mixed.read_bytes()
    with pytest.raises(OutputError, match="exists already"):
        create_archive(mixed, [tmp_path / "a.mtn"])
    assert mixed.read_bytes() == before
    create_archive(mixed, [tmp_path / "a.mtn"], overwrite=True, accept_faults=True)
    with pytest.raises(UnknownNameError, match="compression"):
        create_archive(tmp_path / "b.oda", [tmp_path / "a.mtn"], compression="zip", accept_faults=True)
    with pytest.raises(FormatError, match="an entry called 'a' already"):
        create_archive(tmp_path / "b.oda", [tmp_path / "a.mtn"] * 2, accept_faults=True)
    assert not (tmp_path / "b.oda").exists()


def test_a_motion_of_another_format_becomes_one_and_is_called_as_asked(tmp_path: Path, aibo: Any) -> None:
    (tmp_path / "x.mtn").write_bytes(aibo.omtn())
    motion = read_motion_file(tmp_path / "x.mtn").motion()
    write_motion(motion, tmp_path / "walk.motion.yaml")
    create_archive(tmp_path / "a.oda", [tmp_path / "x.mtn"], accept_faults=True)
    added = add_to_archive(
        tmp_path / "a.oda", tmp_path / "walk.motion.yaml", name="h_any#any_wave", accept_faults=True
    )
    assert (added.names, added.losses, added.remarks) == (("h_any#any_wave",), (), ())
    entry = read_archive_file(tmp_path / "a.oda").entry("h_any#any_wave")
    assert entry.data == aibo.omtn(name="h_any#any_wave")
    again = add_to_archive(tmp_path / "a.oda", tmp_path / "walk.motion.yaml", accept_faults=True)
    assert again.names == ("walk",)
    assert "the motion itself is called 'h_any#any_nod'" in again.remarks[0]


def test_an_archive_is_added_to_in_its_own_compression_and_the_rest_keeps_its_bytes(
    tmp_path: Path, aibo: Any
) -> None:
    (tmp_path / "new.mtn").write_bytes(aibo.whole(name="new"))
    rows = [("a", aibo.zipped(aibo.omtn())), ("b", aibo.placeholder)]
    path = tmp_path / "a.oda"
    for data in (aibo.oda(rows), aibo.zipped(aibo.oda(rows[1:]))):
        path.write_bytes(data)
        before = read_archive_file(path)
        add_to_archive(path, tmp_path / "new.mtn", accept_faults=True)
        after = read_archive_file(path)
        assert [entry.data for entry in after.entries[:-1]] == [entry.data for entry in before.entries]
        assert after.compression is before.compression
        assert read_omtn(after.entry("new").data).plain_bytes == aibo.whole(name="new")


def test_an_entry_is_replaced_only_where_that_is_asked_for(mixed: Path, tmp_path: Path, aibo: Any) -> None:
    (tmp_path / "bark.wav").write_bytes(aibo.sound + b"!")
    with pytest.raises(FormatError, match="an entry called 'bark' already"):
        add_to_archive(mixed, tmp_path / "bark.wav")
    before = [entry.name for entry in read_archive_file(mixed).entries]
    add_to_archive(mixed, tmp_path / "bark.wav", overwrite=True)
    after = read_archive_file(mixed)
    assert [entry.name for entry in after.entries] == before
    assert gzip.decompress(after.entry("bark").data) == aibo.sound + b"!"  # as the other entries are


def test_only_what_has_a_place_in_an_archive_goes_in(tmp_path: Path, aibo: Any) -> None:
    path = tmp_path / "a.oda"
    path.write_bytes(aibo.oda())
    (tmp_path / "x.led").write_bytes(b"\2\0\0\0blink")
    (tmp_path / "cut.mtn").write_bytes(aibo.whole()[:-1])
    with pytest.raises(FormatError, match="unknown kind"):
        add_to_archive(path, tmp_path / "x.led")
    with pytest.raises(FormatError, match="section 3"):
        add_to_archive(path, tmp_path / "cut.mtn")
    add_to_archive(path, tmp_path / "x.led", type_name="led")
    assert read_archive_file(path).entry("x").type == "LED"
    bioloid = Path(pw.robot("robotis_bioloid").folder or "") / "motions/walk_forward.motion.yaml"
    with pytest.raises(FormatError, match="an OMTN cannot move robotis_bioloid"):
        add_to_archive(path, bioloid)


def test_entries_are_taken_out_and_may_leave_their_places(mixed: Path) -> None:
    before = read_archive_file(mixed)
    after = remove_from_archive(mixed, ["bark", 1], keep_places=True)
    assert len(after.entries) == len(before.entries)
    assert [after.entries[place].data for place in (0, 2)] == [b"NotOMTN "] * 2
    assert after.entries[3] == before.entries[3]
    assert len(remove_from_archive(mixed, ["bark", 1]).entries) == len(before.entries) - 2


latin = st.text(st.characters(max_codepoint=255), max_size=60)


@settings(max_examples=120, deadline=None)
@given(latin)
def test_any_name_becomes_a_file_name_that_is_safe_and_leads_back(name: str) -> None:
    stem = file_stem(name)
    assert stem.isascii()
    assert not set(stem) & set('/\\<>:"|?*\0')
    assert (stem[0] in ".- ", stem[-1] in ". ", len(stem) > 200) == (False, False, False)
    assert entry_name(Path(f"{stem}.mtn")) == name


@pytest.mark.parametrize(
    "name", ["NUL", "con.x", "..", ".", "a/../b", "C:\\x", "x~2", "%41", "", "~", "a\r\nb"]
)
def test_names_that_are_traps_lead_back_too(name: str) -> None:
    assert entry_name(Path(f"{file_stem(name)}.mtn")) == name
    assert Path(f"{file_stem(name)}.mtn").name == f"{file_stem(name)}.mtn"


def test_names_that_are_the_same_on_some_system_are_told_apart() -> None:
    names = FileNames()
    entry_names = ("a", "A", "a", "a~2", "\xe9" * 127, "\xe9" * 126 + "e")
    given = [names.choose_name(name, ".mtn") for name in entry_names]
    assert given[:4] == ["a.mtn", "A~2.mtn", "a~3.mtn", "a%7E2.mtn"]
    assert len({name.lower() for name in given}) == len(given)


def test_an_archive_is_a_motion_file_of_pages(mixed: Path) -> None:
    file = read_motion_file(mixed)
    assert [tuple(label) for label in file.pages] == [
        (1, "a_sit#stand_up"),
        (4, "h_any#any_nod"),
        (7, "../../up"),
        (8, "A_SIT#stand_up"),
    ]
    assert file.n_pages == 9
    assert file.motion("h_any#any_nod").name == "h_any#any_nod"
    assert file.motion(7).name == "up"
    assert any("left out" in warning and "'broken'" in warning for warning in file.warnings)
    with pytest.raises(FormatError, match="page 2 is empty"):
        file.motion(2)


def test_a_page_written_over_its_archive_leaves_the_others_and_elsewhere_stands_alone(
    tmp_path: Path, aibo: Any
) -> None:
    path = tmp_path / "a.oda"
    data = aibo.oda([("x", aibo.whole()), ("b", aibo.placeholder), ("y", aibo.omtn())], gap=b"?")
    path.write_bytes(data)
    file = read_motion_file(path)
    known = FORMATS["aibo-oda"]
    whole = known.render(file.motion("y"), path, WriteOptions())
    assert whole.data == data  # the motion stands for the file
    only = known.render(mark_single_page(file.motion("y")), path, WriteOptions())
    assert only.data == aibo.oda([("y", aibo.omtn())])
    write_motion(file.motion("y"), tmp_path / "y.mtn")
    assert (tmp_path / "y.mtn").read_bytes() == aibo.omtn()


def test_an_edited_page_changes_and_no_other(tmp_path: Path, aibo: Any) -> None:
    path = tmp_path / "a.oda"
    path.write_bytes(aibo.oda([("x", aibo.whole()), ("y", aibo.omtn()), ("z", aibo.placeholder)], gap=b"?"))
    file: MotionFile = read_motion_file(path)
    write_motion_file(file, tmp_path / "same.oda")
    assert (tmp_path / "same.oda").read_bytes() == path.read_bytes()
    other = read_motion_file(path).with_motion("y", pw.read_motion(path, "x"))
    write_motion_file(other, tmp_path / "b.oda")
    after = read_archive_file(tmp_path / "b.oda")
    assert after.entry("y").data == aibo.whole()
    assert after.entry("x").data == aibo.whole()
    assert after.entry("z").data == aibo.placeholder


def test_many_who_add_at_once_lose_nothing_even_through_a_link(
    tmp_path: Path, aibo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, link = tmp_path / "real" / "A.ODA", tmp_path / "links" / "B.ODA"
    for folder in (real.parent, link.parent):
        folder.mkdir()
    real.write_bytes(aibo.oda([("first", aibo.whole())]))
    link.symlink_to(real)
    file = tmp_path / "nod.mtn"
    file.write_bytes(aibo.omtn())

    write = oda_files.write_archive_file

    def written_late(archive: OdaArchive, path: Path | str) -> None:
        time.sleep(0.005)  # so that all would have read before one has written
        write(archive, path)

    monkeypatch.setattr(oda_files, "write_archive_file", written_late)
    with ThreadPoolExecutor(10) as pool:
        done = pool.map(
            lambda number: add_to_archive(
                (real, link)[number % 2], file, name=f"entry {number}", accept_faults=True
            ),
            range(10),
        )
    assert len(list(done)) == 10
    assert link.is_symlink()
    names = {entry.name for entry in read_archive_file(real).entries}
    assert names == {"first", *(f"entry {number}" for number in range(10))}
