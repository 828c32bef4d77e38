"""Memory sticks: files that belong together are found, and mismatches are reported."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.work import Calls

from posewright.errors import FormatError
from posewright.formats import label_of
from posewright.runtimes.openr.stick.check import check_monet
from posewright.runtimes.openr.stick.memory_stick import find_on_stick, find_stick, read_stick

CONF, DATA = "OPEN-R/MW/CONF", "OPEN-R/MW/DATA/P/ERS-7"
DESIGNDB = f"""[ERS-7]
MONET_MOTION  /MS/{DATA}/MOTION7.ODA
MONET_SOUND   /MS/{DATA}/SOUND7.ODA
""".encode()
WAYS = b"""monetagentNEUTRAL a_nt#sleep_standard 0
monetagentMTN a_sleep#stand_standard -1
monetagentMTN a_stand#sleep_standard -1
"""
COMMANDS = b"""2 1 0
monetagentMTN a_stand#stand_null -1
60 2 1
monetagentMTN a_stand#stand_kick -1
monetagentSOUND bark -1
"""
PLACEHOLDER = b"NotOMTN "
WAVE = b"RIFF\x04\0\0\0WAVE"

Build = Callable[..., Path]


def string(text: str) -> bytes:
    return bytes([len(text)]) + text.encode("latin-1")


def section(number: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", number, 8 + len(body)) + body


def omtn(name: str, design: str = "DRX-1000", joints: int = 20) -> bytes:
    """Return a motion of two keyframes, written from the layout."""
    head = b"OMTN" + struct.pack("<IIIHHHHI", 0, 24, 4, 1, 2, 2, 16, 0)
    names = section(1, string(name) + string("us") + string(design))
    columns = section(2, struct.pack("<H", joints) + b"".join(string(f"joint {n}") for n in range(joints)))
    frames = struct.pack(f"<I{2 * (3 + joints) + 1}i", 0, *[0] * (2 * (3 + joints) + 1))
    return head + names + columns + struct.pack("<II", 3, 8 + len(frames)) + frames


def oda(entries: Mapping[str, bytes]) -> bytes:
    """Return an archive, written from the layout."""
    offset = 64 + 144 * len(entries)
    rows = b""
    for name, data in entries.items():
        kind = b"WAVE" if data.startswith(b"RIFF") else b"OMTN"
        rows += struct.pack("<4s128sIII", kind, name.encode("latin-1"), offset, len(data), 0)
        offset += len(data)
    return b"ODAR" + struct.pack("<HHII48x", 0, 3, len(entries), 144) + rows + b"".join(entries.values())


def motions(**renamed: str) -> dict[str, bytes]:
    names = ("a_sleep#stand_standard", "a_stand#sleep_standard", "a_stand#stand_kick")
    return {name: omtn(renamed.get(name, name)) for name in names}


@pytest.fixture
def build_stick(tmp_path: Path) -> Build:
    """Give a function that lays out a memory stick; a file that is None is left out."""

    def build(**other: bytes | None) -> Path:
        files: dict[str, bytes | None] = {
            f"{CONF}/DESIGNDB.CFG": other.get("designdb", DESIGNDB),
            f"{CONF}/ERS-7/MONETCMD.CFG": other.get("commands", COMMANDS),
            f"{CONF}/ERS-7/MONET.CFG": other.get("ways", WAYS),
            f"{DATA}/MOTION7.ODA": other.get("motions", oda(motions())),
            f"{DATA}/SOUND7.ODA": other.get("sounds", oda({"bark": WAVE})),
        }
        for name, data in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if data is not None:
                path.write_bytes(data)
        return tmp_path

    return build


def summarize(*where: Path | str) -> list[tuple[str, str, str, int | None]]:
    findings = check_monet(*where)
    return [
        (finding.level.value, finding.rule, finding.path.name if finding.path else "", finding.line)
        for finding in findings
    ]


@pytest.mark.parametrize("below", ["", "OPEN-R", CONF, f"{CONF}/ERS-7"])
def test_nothing_is_found_on_a_good_stick_wherever_the_search_begins(build_stick: Build, below: str) -> None:
    root = build_stick()
    assert check_monet(root / below) == ()
    (setup,) = read_stick(root / below).setups
    assert setup.models == ("ERS-7",)
    assert setup.motions is not None
    assert setup.sounds is not None
    assert [label.name for label in setup.motions.motions.values()] == list(motions())


def test_the_case_of_file_names_means_nothing(build_stick: Build) -> None:
    root = build_stick()
    for path in sorted(root.rglob("*"), reverse=True):
        path.rename(path.with_name(path.name.lower()))
    assert check_monet(root) == ()
    assert read_stick(root).root == root


@pytest.mark.parametrize("packed", [False, True])
def test_gzip_around_an_archive_or_its_entries_changes_nothing(build_stick: Build, packed: bool) -> None:
    data = oda({name: gzip.compress(entry) for name, entry in motions().items()}) if packed else None
    assert check_monet(build_stick(motions=data or gzip.compress(oda(motions())))) == ()


def test_single_files_are_told_by_what_they_hold(build_stick: Build, tmp_path: Path) -> None:
    root = build_stick()
    names = {
        "a.txt": f"{CONF}/ERS-7/MONETCMD.CFG",
        "b": f"{CONF}/ERS-7/MONET.CFG",
        "c.bin": f"{DATA}/MOTION7.ODA",
    }
    loose = tmp_path / "loose"
    loose.mkdir()
    for name, place in names.items():
        (loose / name).write_bytes((root / place).read_bytes())
    assert summarize(*(loose / name for name in names)) == [("note", "file", "a.txt", None)]
    assert summarize(loose / "b") == [("note", "file", "b", None)]


def test_sonys_own_stick_is_good_but_for_the_archives_that_are_not_there(
    samples: Callable[[str], Path], tmp_path: Path
) -> None:
    places = {
        "aibo_monet/DESIGNDB.CFG": "DESIGNDB.CFG",
        "aibo_monet/ERS7_MONETCMD.CFG": "ERS-7/MONETCMD.CFG",
        "aibo_monet/ERS7_MONET.CFG": "ERS-7/MONET.CFG",
        "aibo_oda/sdk_ers7_MOTION7.ODA": "../DATA/P/ERS-7/MOTION7.ODA",
    }
    for name, place in places.items():
        path = tmp_path / CONF / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(samples(name).read_bytes())
    findings = summarize(tmp_path)
    assert [finding for finding in findings if finding[0] != "note"] == [
        ("error", "path", "DESIGNDB.CFG", 11)
    ]
    # the archives of the ERS-210 and ERS-220, of four lines
    notes_of_paths = [finding for finding in findings if finding[:2] == ("note", "path")]
    assert notes_of_paths == [("note", "path", "DESIGNDB.CFG", 2)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (b"monetagentMTN a_stand#stand_kik -1", ("error", "motion", 1)),
        (b"monetagentMTN a_stand#stand_kick 2", None),
        (b"monetagentMTN a_stand#stand_kick 3", ("error", "index", 1)),
        (b"monetagentMTN a_stand#stand_kick 0", ("warning", "posture", 1)),
        (b"monetagentSOUND meow -1", ("error", "sound", 1)),
        (b"monetagentSOUND bark 0", None),
        (b"monetagentSOUND bark 1", ("error", "index", 1)),
        (b"monetagentMTNWALK a_stand#stand_kick -1", None),
    ],
)
def test_every_line_is_looked_up(
    build_stick: Build, lines: bytes, expected: tuple[str, str, int] | None
) -> None:
    findings = [
        finding
        for finding in summarize(build_stick(commands=b"60 1 0\n" + lines + b"\n"))
        if finding[0] != "note"
    ]
    assert findings == (
        [] if expected is None else [(expected[0], expected[1], "MONETCMD.CFG", expected[2] + 1)]
    )


def test_a_near_name_is_proposed_and_where_an_entry_is_only_called_so(build_stick: Build) -> None:
    (typo,) = check_monet(build_stick(commands=COMMANDS.replace(b"_kick", b"_kik")))[:1]
    assert typo.hint.startswith("did you mean a_stand#stand_kick")
    root = build_stick(motions=oda(motions(**{"a_stand#stand_kick": "a_stand#stand_other"})))
    (differs,) = [finding for finding in check_monet(root) if finding.rule == "motion"]
    assert "a_stand#stand_other" in differs.hint
    assert "write 2" in differs.hint


@pytest.mark.parametrize("entry", [PLACEHOLDER, WAVE, b"", omtn("a_stand#stand_kick")[:-1]])
def test_an_entry_that_cannot_be_played_is_found(build_stick: Build, entry: bytes) -> None:
    root = build_stick(
        motions=oda({**motions(), "a_stand#stand_kick": entry}),
        commands=COMMANDS.replace(b"_kick -1", b"_kick 2"),
    )
    assert ("error", "kind", "MONETCMD.CFG", 4) in summarize(root)


def test_a_motion_of_a_part_of_the_body_is_refused_by_the_robot(build_stick: Build) -> None:
    head = {"a_stand#stand_kick": omtn("a_stand#stand_kick", "DRX-1000_Head", 3)}
    assert summarize(build_stick(motions=oda({**motions(), **head}))) == [
        ("warning", "design", "MONETCMD.CFG", 4)
    ]


def test_two_lines_that_the_robot_cannot_tell_apart_are_found(build_stick: Build) -> None:
    commands = b"60 2 0\nmonetagentSOUND bark -1\nmonetagentSOUND bark 0\n"
    assert ("error", "count", "MONETCMD.CFG", 3) in summarize(build_stick(commands=commands))


def test_names_that_do_not_agree_are_found(build_stick: Build) -> None:
    entries = {**motions(), "a_sit#sit_kick": omtn("a_stand#stand_kick"), "x": omtn("a_stand#stand_new")}
    assert summarize(build_stick(motions=oda(entries))) == [
        ("warning", "name", "MOTION7.ODA", None),
        ("warning", "posture", "MOTION7.ODA", None),
        ("note", "unused", "MOTION7.ODA", None),
    ]


def test_archives_that_are_not_on_the_stick_are_found(build_stick: Build) -> None:
    root = build_stick(
        motions=None, designdb=DESIGNDB + b"[ERS-210]\nMONET_MOTION /MS/OPEN-R/X.ODA\nPLAIN /etc/passwd\n"
    )
    assert [finding for finding in summarize(root) if finding[2] == "DESIGNDB.CFG"] == [
        ("error", "path", "DESIGNDB.CFG", 2),
        ("note", "path", "DESIGNDB.CFG", 5),
        ("warning", "path", "DESIGNDB.CFG", 6),
    ]


def test_files_that_are_missing_are_found(build_stick: Build) -> None:
    assert ("warning", "file", "ERS-7", None) in summarize(build_stick(ways=None))


def test_models_that_share_files_are_told_together(build_stick: Build, tmp_path: Path) -> None:
    shared = "".join(f"[{model}]\nMONET_MOTION /MS/{DATA}/MOTION7.ODA\n" for model in ("ERS-210", "ERS-220"))
    build_stick(designdb=shared.encode(), ways=None)
    (tmp_path / CONF / "ERS-7").rename(tmp_path / CONF / "ERS-200")
    (setup,) = read_stick(tmp_path).setups
    assert setup.models == ("ERS-210", "ERS-220")
    (design,) = [finding for finding in check_monet(tmp_path) if finding.rule == "design"]
    assert design.models == ("ERS-210", "ERS-220")


def test_several_models_are_looked_up_each_in_its_own_archive(build_stick: Build, tmp_path: Path) -> None:
    root = build_stick(designdb=DESIGNDB + b"[ERS-210]\nMONET_MOTION /MS/OPEN-R/OTHER.ODA\n")
    (root / "OPEN-R/OTHER.ODA").write_bytes(oda({"x": omtn("a_stand#stand_kick", "DRX-900")}))
    other = tmp_path / CONF / "ERS-200"
    other.mkdir()
    (other / "monetcmd.cfg").write_bytes(COMMANDS.replace(b"2 1\n", b"1 0\n", 1))
    (other / "monet.cfg").write_bytes(WAYS)
    setups = {setup.models: setup for setup in read_stick(root).setups}
    assert set(setups) == {("ERS-7",), ("ERS-210",)}
    assert {
        finding.path.parent.name for finding in check_monet(root) if finding.rule == "motion" and finding.path
    } == {"ERS-200"}


def test_an_older_layout_has_its_files_beside_the_list_of_archives(
    build_stick: Build, tmp_path: Path
) -> None:
    root = build_stick()
    for name in ("MONETCMD.CFG", "MONET.CFG"):
        (tmp_path / CONF / "ERS-7" / name).rename(tmp_path / CONF / name)
    (tmp_path / CONF / "POSTURE.CFG").write_text("")
    (setup,) = read_stick(root).setups
    assert setup.models == ("ERS-7",)
    assert setup.is_older_monet
    assert check_monet(root) == ()


def test_the_stick_of_sold_software_is_refused_with_the_reason(build_stick: Build) -> None:
    root = build_stick(designdb=bytes(range(7, 255)) * 2, commands=None, ways=None)
    (sold, nothing) = sorted(check_monet(root), key=lambda finding: finding.level.value)
    assert "encrypted" in sold.message
    assert nothing.level.value == "note"


def test_damaged_files_are_findings_and_no_faults(build_stick: Build) -> None:
    root = build_stick(motions=oda(motions())[:-5], commands=b"\0\1\2\3" * 20)
    assert {finding[:3] for finding in summarize(root) if finding[0] == "error"} == {
        ("error", "file", "MOTION7.ODA"),
        ("error", "file", "MONETCMD.CFG"),
    }


@pytest.mark.parametrize("size", [0, 1, 40, 63, 64, 200, 1000])
def test_an_archive_cut_off_anywhere_is_a_finding(build_stick: Build, size: int) -> None:
    assert ("error", "file", "MOTION7.ODA", None) in summarize(build_stick(motions=oda(motions())[:size]))


def test_where_there_is_nothing_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no DESIGNDB\.CFG"):
        check_monet(tmp_path)
    with pytest.raises(FormatError, match="no such file"):
        check_monet(tmp_path / "nowhere")
    with pytest.raises(FormatError, match="not a memory stick"):
        find_stick(tmp_path)


def test_a_stick_is_found_in_around_and_below_a_folder(build_stick: Build, tmp_path: Path) -> None:
    root = build_stick()
    assert find_stick(root) == find_stick(root / "OPEN-R") == find_stick(root / CONF) == root
    backup = tmp_path / "backup"
    backup.mkdir()
    (root / "OPEN-R").rename(backup / "MS").rename(tmp_path / "OPEN-R")
    (backup / "MS").mkdir()
    (tmp_path / "OPEN-R").rename(backup / "MS" / "OPEN-R")
    assert find_stick(backup) == backup / "MS"


@pytest.mark.parametrize(
    "named", [".", "OPEN-R", "OPEN-R/..", "OPEN-R/MW/../../OPEN-R/MW/CONF", "OPEN-R/MW/CONF/ERS-7"]
)
def test_a_stick_may_be_named_from_where_one_is(
    build_stick: Build, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(build_stick())
    assert check_monet(named) == ()
    monkeypatch.chdir(Path(CONF) / "ERS-7")
    assert check_monet("../../../..") == check_monet(".") == check_monet("..") == ()


@pytest.mark.parametrize(
    "path",
    ["/MS/../secret", "/MS/OPEN-R/../../secret", "secret", "/secret", "/MS", "", "/MS/OPEN-R", "/ms/nothing"],
)
def test_no_path_leads_off_the_stick_or_to_a_folder(build_stick: Build, path: str) -> None:
    root = build_stick() / "OPEN-R"
    (root.parent / "secret").write_text("")
    assert find_on_stick(root.parent, path) is None


def test_the_name_inside_a_motion_is_read_from_its_beginning() -> None:
    data = omtn("a_stand#stand_kick")
    assert label_of(data) == label_of(gzip.compress(data)) == ("a_stand#stand_kick", "DRX-1000")
    for size in range(len(data)):
        label_of(data[:size])
    assert label_of(PLACEHOLDER) is None


def test_a_large_archive_is_checked_with_work_in_step_with_its_size(build_stick: Build) -> None:
    many = {f"e{number}": omtn(f"a_sit#sit_{number}") for number in range(2150)}
    root = build_stick(motions=oda({**motions(), **many}))
    with Calls() as calls:
        (unused,) = check_monet(root)
    assert calls.count < 400 * len(many)
    assert unused.message.startswith("2150 of 2153 motions")
    assert len(unused.message) < 300


def test_a_file_full_of_faults_is_checked_with_work_in_step_with_its_size(build_stick: Build) -> None:
    lines = b"".join(b"monetagentMTN a_%d -1\n" % number for number in range(10_000))
    root = build_stick(
        motions=oda({f"e{number}": omtn(f"a_{number}_x") for number in range(2150)}), commands=lines
    )
    with Calls() as calls:
        findings = check_monet(root)
    assert calls.count < 600 * 12_150
    assert len(findings) < 1000
    assert any("are not listed" in finding.message for finding in findings)


flips = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=6)


@given(which=st.integers(0, 4), changes=flips, cut=st.integers(0, 4000))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_damaged_ends_in_findings(
    which: int, changes: list[tuple[int, int]], cut: int, build_stick: Build
) -> None:
    root = build_stick()
    path = sorted(path for path in root.rglob("*") if path.is_file())[which]
    data = bytearray(path.read_bytes())
    for at, byte in changes:
        data[at % len(data)] = byte
    path.write_bytes(data[: max(1, cut)])
    for finding in check_monet(root):
        assert finding.message
        assert "\n" not in str(finding)
