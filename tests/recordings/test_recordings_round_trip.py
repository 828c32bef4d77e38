"""A recording read back is the recording that was written, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work import Calls

from posewright.bodies import Contacts
from posewright.errors import InputError, OutputError, UnknownNameError
from posewright.recordings import Decisions, Event, Header, Recording, mcap_bytes, read_mcap, write_mcap
from posewright.recordings.recording import CONTACT_ARRAY_NAMES, ROBOT_ARRAY_NAMES

Make = Callable[..., Recording]

any_float = st.floats(allow_nan=True, allow_infinity=True)
plain_value = st.booleans() | st.integers(-(2**63), 2**63) | any_float | st.text(max_size=8)
mapping = st.dictionaries(st.text(max_size=6), plain_value, max_size=4)


def round_trip(recording: Recording, folder: Path) -> Recording:
    write_mcap(recording, folder / "run.mcap")
    return read_mcap(folder / "run.mcap")


def same_array(first: Any, second: Any, name: str) -> None:
    assert (first is None) == (second is None), name
    if first is not None:
        assert (first.dtype, first.shape, first.tobytes()) == (
            second.dtype,
            second.shape,
            second.tobytes(),
        ), name


def assert_same(first: Recording, second: Recording) -> None:
    for name in ("times", "boxes"):
        same_array(getattr(first, name), getattr(second, name), name)
    assert list(first.robots) == list(second.robots)
    for robot, record in first.robots.items():
        back = second.robots[robot]
        for name in ROBOT_ARRAY_NAMES:
            same_array(getattr(record, name), getattr(back, name), name)
        assert (record.contacts is None) == (back.contacts is None)
        if record.contacts is not None and back.contacts is not None:
            assert record.contacts.names == back.contacts.names
            for name in CONTACT_ARRAY_NAMES:
                same_array(getattr(record.contacts, name), getattr(back.contacts, name), name)
        for name in ("states", "playing"):
            assert getattr(record.decisions, name) == getattr(back.decisions, name)
        same_array(record.decisions.times, back.decisions.times, "decisions")
        assert list(record.decisions.sensors) == list(back.decisions.sensors)
        for name, values in record.decisions.sensors.items():
            same_array(values, back.decisions.sensors[name], name)
    assert first.header == second.header
    assert first.digest() == second.digest()


sizes = st.fixed_dictionaries(
    {
        "rows": st.integers(0, 40),
        "decisions": st.integers(0, 9),
        "joints": st.integers(0, 20),
        "feet": st.integers(0, 4),
        "boxes": st.integers(0, 6),
        "robots": st.integers(1, 3),
        "full": st.booleans(),
    }
)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), size=sizes)
def test_any_recording_comes_back(
    make_recording: Make, tmp_path_factory: pytest.TempPathFactory, seed: int, size: dict[str, Any]
) -> None:
    recording = make_recording(seed, **size)
    assert_same(recording, round_trip(recording, tmp_path_factory.mktemp("any")))


@settings(max_examples=40, deadline=None)
@given(
    mappings=st.tuples(mapping, mapping, mapping),
    numbers=st.tuples(any_float, any_float, any_float, st.floats(allow_nan=False, allow_infinity=False)),
    channels=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=4, unique=True),
)
def test_any_value_comes_back(  # noqa: PLR0917 -- fixtures and what hypothesis draws
    make_recording: Make,
    changed: Make,
    tmp_path_factory: pytest.TempPathFactory,
    mappings: tuple[dict[str, Any], ...],
    numbers: tuple[float, ...],
    channels: list[str],
) -> None:
    (inputs, outputs, data), (position, reading, time, at) = mappings, numbers
    few = make_recording(rows=1, decisions=1, joints=2, boxes=1)
    decisions = Decisions(
        times=np.array([time]),
        states=("state",),
        inputs=(inputs,),
        outputs=(outputs,),
        playing=(None,),
        sensors={name: np.array([[reading, 0.0, -0.0]]) for name in ("laser", "imu.orientation", *channels)},
    )
    recording = changed(
        few,
        base=np.full((1, 7), position),
        footprints=np.full((1, 2, 4, 3), position),
        commands=np.array([[position, -0.0]]),
        positions=np.array([[position, -0.0]]),
        requests=np.array([[position, np.nan]]),
        start_base=np.full(7, position),
        decisions=decisions,
        events=(Event(at, "made up", data),),
    )
    back = round_trip(recording, tmp_path_factory.mktemp("values"))
    assert_same(recording, back)
    assert repr(back.robot().decisions.inputs) == repr(recording.robot().decisions.inputs)
    assert repr(back.events) == repr(recording.events)


def test_a_nan_with_a_message_in_its_bits_is_a_nan(
    make_recording: Make, changed: Make, tmp_path: Path
) -> None:
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    recording = make_recording(decisions=2)
    recording = changed(recording, decisions=replace(recording.robot().decisions, times=odd))
    assert_same(recording, round_trip(recording, tmp_path))


def test_rows_stay_in_their_order_even_where_time_goes_back(make_recording: Make, tmp_path: Path) -> None:
    recording = make_recording(rows=30)
    shuffled = replace(recording, times=np.random.default_rng(1).permutation(recording.times))
    assert_same(shuffled, round_trip(shuffled, tmp_path))


def test_the_texts_travel_along(make_recording: Make, tmp_path: Path) -> None:
    recording = make_recording()
    assert dict(round_trip(recording, tmp_path).header.documents) == dict(recording.header.documents)


def test_the_same_recording_gives_the_same_bytes(make_recording: Make) -> None:
    assert mcap_bytes(make_recording(3)) == mcap_bytes(make_recording(3))


def test_a_recording_without_field_sensors_and_links_is_one_too(make_recording: Make, tmp_path: Path) -> None:
    recording = make_recording()
    own = replace(recording.robot().header, sensors={}, links=())
    header = replace(recording.header, arena={}, robots={"robot_0": own})
    bare = replace(recording, header=header, robots={"robot_0": replace(recording.robot(), header=own)})
    assert_same(bare, round_trip(bare, tmp_path))


def test_writing_where_one_cannot_is_told_and_leaves_nothing(make_recording: Make, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        write_mcap(make_recording(), tmp_path / "absent" / "run.mcap")
    assert not list(tmp_path.iterdir())


def test_arrays_that_do_not_fit_the_header_are_refused(make_recording: Make, changed: Make) -> None:
    recording = make_recording()
    with pytest.raises(InputError, match=r"efforts has the shape \(12, 3\)"):
        changed(recording, efforts=np.zeros((12, 3)))
    with pytest.raises(InputError, match="states"):
        replace(recording.robot().decisions, states=("one",))
    with pytest.raises(InputError, match="rows of robot_0"):
        replace(recording, times=np.zeros(3), boxes=np.zeros((3, 6, 7)))


@pytest.mark.parametrize("change", [{"frames": 12}, {"frames": -1}, {"pairs": 3}])
def test_contacts_between_nothing_are_refused(
    make_recording: Make, changed: Make, change: dict[str, int]
) -> None:
    recording = make_recording()
    contacts = recording.robot().contacts
    assert contacts is not None
    (name, wrong), values = (
        next(iter(change.items())),
        {e.name: getattr(contacts, e.name) for e in fields(Contacts)},
    )
    with pytest.raises(InputError, match="contacts have the"):
        changed(recording, contacts=Contacts(**{**values, name: np.full_like(values[name], wrong)}))


def test_a_recording_cannot_be_changed(make_recording: Make) -> None:
    with pytest.raises(ValueError, match="read-only"):
        make_recording().robot().base[0, 0] = 1.0


def test_a_recording_answers_what_a_judge_asks(make_recording: Make) -> None:
    recording = make_recording(rows=64, decisions=3, robots=2)
    assert recording.n_rows == 64
    assert recording.duration_s == 2.0
    assert recording.robot("robot_1").knows_place
    assert recording.robot().header.joint("joint_3") == 3
    assert [event.kind for event in recording.events_of("touch", "jam")] == ["touch"]
    with pytest.raises(UnknownNameError, match="robot_9"):
        recording.robot("robot_9")


def test_a_notebook_sees_who_did_what(make_recording: Make) -> None:
    recording = make_recording(rows=64, decisions=3, robots=2)
    assert repr(recording) == "<Recording of robot_0, robot_1: 2.00 s, 64 rows>"
    html = recording._repr_html_()
    assert html.count("<tr>") == 3
    assert "2.00 s · 1 start · 1 touch" in html
    assert "<td>behaviour obstacle_race</td><td>64</td><td>3</td>" in html


def test_a_robots_name_must_fit_into_a_topic(make_recording: Make) -> None:
    (robot_header,) = make_recording().header.robots.values()
    for name in ("", "a/b"):
        with pytest.raises(InputError, match="cannot be called"):
            Header({name: robot_header})


def test_a_lone_surrogate_is_no_name(make_recording: Make) -> None:
    recording = make_recording(joints=1)
    own = replace(recording.robot().header, joints=("\ud800",))
    header = replace(recording.header, robots={"robot_0": own})
    odd = replace(recording, header=header, robots={"robot_0": replace(recording.robot(), header=own)})
    with pytest.raises(InputError, match="surrogate"):
        mcap_bytes(odd)


@pytest.mark.parametrize(
    "damage",
    [
        {"robots": 3},
        {"robots": {}},
        {"robots": {"a": 3}},
        {"robots": {"a": {}}},
        {"boxes": [[1]]},
        {"boxes": [[1, 2, float("inf")]]},
        {"contest": ["a"]},
        {"extras": []},
        {"seed": 1.5},
        {"rate_hz": float("nan")},
    ],
)
def test_a_damaged_header_is_refused(make_recording: Make, damage: dict[str, Any]) -> None:
    data = make_recording().header.to_plain()
    with pytest.raises(InputError, match="header"):
        Header.from_plain({**data, **damage}, {})


@pytest.mark.parametrize(
    "damage",
    [
        {"robot": 3},
        {"joints": 4},
        {"joints": ["a", "a"]},
        {"joints": ["\ud800"]},
        {"sensors": {"a": 1}},
        {"sensors": []},
        {"sensors": {"a": {"base_pose": [1.0]}}},
        {"sensors": {"a": {"start_deg": "left"}}},
        {"links": {}},
        {"links": [{}]},
        {"links": [1]},
        {"facts": None},
    ],
)
def test_a_damaged_robot_in_a_header_is_refused(make_recording: Make, damage: dict[str, Any]) -> None:
    data = make_recording().header.to_plain()
    data["robots"]["robot_0"] |= damage
    with pytest.raises(InputError, match="header"):
        Header.from_plain(data, {})


@pytest.mark.parametrize(
    "damage",
    [{"parent": "nobody"}, {"axis": None}, {"position": [1]}, {"shapes": [{"kind": "box"}]}, {"name": 3}],
)
def test_a_damaged_link_in_a_header_is_refused(make_recording: Make, damage: dict[str, Any]) -> None:
    data = make_recording().header.to_plain()
    data["robots"]["robot_0"]["links"][-1] |= damage
    with pytest.raises(InputError, match="header"):
        Header.from_plain(data, {})


def test_a_write_that_fails_leaves_the_older_recording(
    make_recording: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.mcap"
    write_mcap(make_recording(1), path)

    def full(_unfinished: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        write_mcap(make_recording(2), path)
    assert list(tmp_path.iterdir()) == [path]
    assert read_mcap(path).digest() == make_recording(1).digest()


def test_a_race_is_written_with_work_in_step_with_its_length(make_recording: Make, tmp_path: Path) -> None:
    rows, decisions = 3200, 1000
    race = make_recording(rows=rows, decisions=decisions, full=False)
    with Calls() as calls:
        write_mcap(race, tmp_path / "race.mcap")
    assert calls.count < 50 * (rows + decisions)
