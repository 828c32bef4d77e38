"""A trace read back is the trace that was written, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError, OutputError
from posewright.recordings import Event, Header, Recording, mcap_bytes, read_mcap, write_mcap
from posewright.recordings.digest import ROW_ARRAYS

MakeTrace = Callable[..., Recording]

any_float = st.floats(allow_nan=True, allow_infinity=True)
plain_value = st.booleans() | st.integers(-(2**63), 2**63) | any_float | st.text(max_size=8)
mapping = st.dictionaries(st.text(max_size=6), plain_value, max_size=4)


def round_trip(trace: Recording, folder: Path) -> Recording:
    write_mcap(trace, folder / "trace.mcap")
    return read_mcap(folder / "trace.mcap")


def assert_same(one: Recording, other: Recording) -> None:
    for name in (*ROW_ARRAYS, "tick_times"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
        assert getattr(one, name).shape == getattr(other, name).shape, name
    for name in ("chart_states", "playing"):
        assert getattr(one, name) == getattr(other, name)
    assert list(one.sensors) == list(other.sensors)
    for name, values in one.sensors.items():
        assert values.tobytes() == other.sensors[name].tobytes()
    assert one.header == other.header
    assert one.digest() == other.digest()


sizes = st.fixed_dictionaries(
    {
        "rows": st.integers(0, 40),
        "ticks": st.integers(0, 9),
        "joints": st.integers(0, 20),
        "feet": st.integers(0, 4),
        "boxes": st.integers(0, 6),
    }
)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), size=sizes)
def test_any_trace_comes_back(
    make_trace: MakeTrace, tmp_path_factory: pytest.TempPathFactory, seed: int, size: dict[str, int]
) -> None:
    trace = make_trace(seed, **size)
    assert_same(trace, round_trip(trace, tmp_path_factory.mktemp("any")))


@settings(max_examples=40, deadline=None)
@given(mappings=st.tuples(mapping, mapping, mapping), numbers=st.tuples(any_float, any_float, any_float))
def test_any_value_comes_back(
    make_trace: MakeTrace,
    tmp_path_factory: pytest.TempPathFactory,
    mappings: tuple[dict[str, Any], ...],
    numbers: tuple[float, ...],
) -> None:
    (inputs, outputs, data), (position, reading, time) = mappings, numbers
    trace = replace(
        make_trace(rows=1, ticks=1, joints=2, boxes=1),
        base=np.full((1, 7), position),
        footprints=np.full((1, 2, 4, 3), position),
        joint_commands=np.array([[position, -0.0]]),
        chart_inputs=(inputs,),
        chart_outputs=(outputs,),
        tick_times=np.array([time]),
        sensors={"laser": np.array([[reading]]), "imu.orientation": np.array([[reading, 0.0, -0.0]])},
        events=(Event(time, "made up", data),),
    )
    back = round_trip(trace, tmp_path_factory.mktemp("values"))
    assert_same(trace, back)
    assert repr(back.chart_inputs) == repr(trace.chart_inputs)
    assert repr(back.events) == repr(trace.events)


def test_a_nan_with_a_message_in_its_bits_is_a_nan(make_trace: MakeTrace, tmp_path: Path) -> None:
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    trace = replace(make_trace(ticks=2), tick_times=odd)
    assert_same(trace, round_trip(trace, tmp_path))


def test_rows_stay_in_their_order_even_where_time_goes_back(make_trace: MakeTrace, tmp_path: Path) -> None:
    trace = make_trace(rows=30)
    shuffled = replace(trace, times=np.random.default_rng(1).permutation(trace.times))
    assert_same(shuffled, round_trip(shuffled, tmp_path))


def test_the_texts_travel_along(make_trace: MakeTrace, tmp_path: Path) -> None:
    trace = make_trace()
    assert dict(round_trip(trace, tmp_path).header.documents) == dict(trace.header.documents)


def test_the_same_trace_gives_the_same_bytes(make_trace: MakeTrace) -> None:
    assert mcap_bytes(make_trace(3)) == mcap_bytes(make_trace(3))


def test_a_field_nobody_measured_is_no_obstacle(make_trace: MakeTrace, tmp_path: Path) -> None:
    trace = make_trace()
    bare = replace(trace, header=replace(trace.header, arena={}, sensors={}))
    assert_same(bare, round_trip(bare, tmp_path))


def test_writing_where_one_cannot_is_told_and_leaves_nothing(make_trace: MakeTrace, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        write_mcap(make_trace(), tmp_path / "absent" / "trace.mcap")
    assert not list(tmp_path.iterdir())


def test_arrays_that_do_not_fit_the_header_are_refused(make_trace: MakeTrace) -> None:
    trace = make_trace()
    with pytest.raises(InputError, match=r"joint_efforts has the shape \(12, 3\)"):
        replace(trace, joint_efforts=np.zeros((12, 3)))
    with pytest.raises(InputError, match="chart_states"):
        replace(trace, chart_states=("one",))


def test_a_trace_cannot_be_changed(make_trace: MakeTrace) -> None:
    with pytest.raises(ValueError, match="read-only"):
        make_trace().base[0, 0] = 1.0


def test_a_trace_answers_what_a_judge_asks(make_trace: MakeTrace) -> None:
    trace = make_trace(rows=64, ticks=3)
    assert trace.n_rows == 64
    assert trace.duration_s == 2.0
    assert trace.knows_world
    assert trace.joint("joint_3") == 3
    assert [event.kind for event in trace.events_of("touch", "jam")] == ["touch"]


@pytest.mark.parametrize(
    "damage",
    [
        {"robot": 3},
        {"boxes": [[1]]},
        {"joints": 4},
        {"extras": []},
        {"sensors": {"a": 1}},
        {"sensors": {"a": {"base_pose": [1.0]}}},
    ],
)
def test_a_damaged_header_is_refused(make_trace: MakeTrace, damage: dict[str, Any]) -> None:
    data = make_trace().header.to_plain()
    with pytest.raises(InputError, match="header"):
        Header.from_plain({**data, **damage}, {})


def test_a_write_that_fails_leaves_the_older_recording(
    make_trace: MakeTrace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.mcap"
    write_mcap(make_trace(1), path)

    def full(_unfinished: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        write_mcap(make_trace(2), path)
    assert list(tmp_path.iterdir()) == [path]
    assert read_mcap(path).digest() == make_trace(1).digest()


def test_a_whole_race_is_written_in_a_fraction_of_a_second(make_trace: MakeTrace, tmp_path: Path) -> None:
    race = make_trace(rows=3200, ticks=1000)
    began = process_time()
    write_mcap(race, tmp_path / "race.mcap")
    assert process_time() - began < 0.5  # 0.08 s alone on one core; room for a busy machine
