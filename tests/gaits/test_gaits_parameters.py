"""The parameters of a walk: all of the document's, each explained, each refused outside its range."""

from __future__ import annotations

import copy
import math
import pickle
import re
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from posewright.errors import InputError, UnknownNameError
from posewright.gaits import (
    EXPLANATIONS,
    FEET,
    ForeHind,
    GaitParameters,
    ParameterKind,
    QuadrupedGait,
    TravelGain,
    explanation,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    read_gait,
    timing_of,
)

OF_THE_DOCUMENT = {
    "ground speed",
    "ascent time",
    "number of horizontal points",
    "front height",
    "rear height",
    "central height",
    "shape factor",
    "ascent factor",
    "turn multiplier",
    "air/ground factor",
    "equilibrium point",
    "maximum turn",
    "maximum displacement",
}

TROT: QuadrupedGait = read_gait("trot")
PARAMETERS: GaitParameters = TROT.parameters
FLAT = tuple(PARAMETERS.flat)
FRAME_S = 0.008


def test_every_parameter_of_the_document_is_there_and_none_besides() -> None:
    assert {told.title for told in EXPLANATIONS.values()} == OF_THE_DOCUMENT
    assert [entry.name for entry in fields(GaitParameters)] == list(EXPLANATIONS)


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_every_parameter_is_explained_in_one_sentence_with_unit_and_range(name: str) -> None:
    told = explanation(name)
    assert told.sentence[0].isupper()
    assert told.sentence.endswith(".")
    assert ". " not in told.sentence
    assert told.low < told.high
    suffixes = {"m": "_m", "m/s": "_m_s", "rad": "_rad", "rad/m": "_rad_m"}
    assert name.endswith(suffixes.get(told.unit, ""))
    assert (told.unit in suffixes) == name.endswith(tuple(suffixes.values()))


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("side", ["low", "high"])
def test_a_value_beyond_its_range_is_refused_with_the_range(name: str, side: str) -> None:
    told = explanation(name)
    bound = told.low if side == "low" else told.high
    out = bound + (-1 if side == "low" else 1) * (1.0 if told.is_whole else 1e-6)
    with pytest.raises(InputError) as refused:
        PARAMETERS.with_values({name: out})
    assert str(refused.value) == f"{name} is {out:g} (the range is {told.low:g} to {told.high:g}{unit(name)})"
    assert PARAMETERS.with_values({name: bound}).flat[name] == bound


def unit(name: str) -> str:
    return f" {explanation(name).unit}" if explanation(name).unit else ""


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True])
def test_what_is_no_number_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError):
        PARAMETERS.with_values({name: value})


@pytest.mark.parametrize("name", [name for name in FLAT if explanation(name).is_whole])
def test_half_a_point_and_half_a_pair_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="a whole number"):
        PARAMETERS.with_values({name: 2.5})
    assert isinstance(getattr(PARAMETERS.with_values({name: 3.0}), name), int)


@pytest.mark.parametrize(
    "name", ["speed", "front_height_m.front", "equilibrium_m.fore", "equilibrium_m.fore.u", ""]
)
def test_an_unknown_name_is_refused_with_those_near(name: str) -> None:
    with pytest.raises(UnknownNameError, match="gait parameter"):
        PARAMETERS.with_values({name: 0.1})


def test_one_name_may_stand_for_several_values() -> None:
    both = PARAMETERS.with_values({"rear_height_m": 0.03})
    assert both.rear_height_m == ForeHind(0.03, 0.03)
    apart = both.with_values({"equilibrium_m.fore.y": 0.08, "equilibrium_m.hind.z": -0.1})
    assert apart.equilibrium_m["left_front"][1] == 0.08
    assert apart.equilibrium_m["right_front"][1] == -0.08
    assert apart.equilibrium_m["left_rear"][2] == apart.equilibrium_m["right_rear"][2] == -0.1
    assert PARAMETERS.rear_height_m != both.rear_height_m


def test_the_parameters_are_told_flat_and_come_back() -> None:
    assert GaitParameters.from_flat(PARAMETERS.flat) == PARAMETERS
    assert hash(GaitParameters.from_flat(PARAMETERS.flat)) == hash(PARAMETERS)
    assert PARAMETERS.with_values({}) == PARAMETERS
    for name in FLAT:
        assert explanation(name) is EXPLANATIONS[name.partition(".")[0]]


def test_points_that_are_none_are_refused() -> None:
    good = dict(PARAMETERS.equilibrium_m)
    for bad in ({}, {**good, "tail": (0.0, 0.0, 0.0)}, {**good, "left_front": (0.1, 0.1)}):
        with pytest.raises(InputError):
            with_points(bad)
    with pytest.raises(InputError, match="finite"):
        with_points({**good, "left_front": (0.1, math.nan, 0.1)})


def with_points(points: dict[str, tuple[float, ...]]) -> GaitParameters:
    values = {entry.name: getattr(PARAMETERS, entry.name) for entry in fields(PARAMETERS)}
    return GaitParameters(**{**values, "equilibrium_m": points})


@pytest.mark.parametrize("name", ["forward", "left", "turn"])
@pytest.mark.parametrize("value", [0.19, 3.1, math.nan, -1.0])
def test_a_travel_gain_beyond_its_range_is_refused_with_the_range(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"travel_gain\.{name} is .*the range is 0\.2 to 3"):
        TravelGain(**{name: value})
    with pytest.raises(InputError, match=rf"travel_gain\.{name} is "):
        TROT.with_values({f"travel_gain.{name}": value})


def test_a_gait_is_changed_by_name_gains_and_all() -> None:
    other = TROT.with_values({"travel_gain.left": 1.5, "shape_factor": 0.25})
    assert other.travel_gain == TravelGain(TROT.travel_gain.forward, 1.5, TROT.travel_gain.turn)
    assert other.parameters.shape_factor == 0.25
    assert other.name == TROT.name
    with pytest.raises(UnknownNameError, match="travel_gain"):
        TROT.with_values({"travel_gain.up": 1.0})


@given(
    st.floats(0.05, 1.0), st.floats(0.01, 0.3), st.floats(0.05, 4.0), st.sampled_from([0.002, 0.004, 0.008])
)
def test_the_times_of_a_cycle_follow_from_the_parameters(
    speed: float, displacement: float, air_ground: float, frame_s: float
) -> None:
    try:
        parameters = PARAMETERS.with_values(
            {
                "ground_speed_m_s": speed,
                "maximum_displacement_m": displacement,
                "air_ground_factor": air_ground,
                "ascent_pairs": 1,
            }
        )
        timing = timing_of(parameters, frame_s)
    except InputError as refused:
        assert "ascent_pairs is 1" in str(refused)  # noqa: PT017 -- most are accepted
        assert displacement / speed * air_ground < 4.0 * frame_s + frame_s
        return
    assert timing.period_s == timing.n_frames * frame_s
    assert timing.ground_s + timing.air_s == pytest.approx(timing.period_s, rel=1e-12)
    assert timing.air_s / timing.ground_s == pytest.approx(air_ground, rel=1e-9)
    assert timing.air_share == pytest.approx(air_ground / (1.0 + air_ground), rel=1e-9)
    assert timing.ascent_s == 2 * frame_s
    wanted_s = displacement / speed * (1.0 + air_ground)
    assert abs(timing.period_s - wanted_s) <= 0.5 * frame_s + 1e-12 or timing.n_frames == 4
    assert greatest_speed_m_s(parameters, timing) * timing.ground_s == pytest.approx(displacement)
    assert greatest_turn_rad_s(parameters, timing) * timing.ground_s == pytest.approx(
        parameters.maximum_turn_rad
    )


def test_a_foot_that_cannot_be_up_and_down_in_time_is_refused_with_what_would_do() -> None:
    timing = timing_of(PARAMETERS, FRAME_S)
    most = int(timing.air_s / (4.0 * FRAME_S))
    assert timing_of(PARAMETERS.with_values({"ascent_pairs": most}), FRAME_S).ascent_s == most * 2.0 * FRAME_S
    with pytest.raises(InputError, match=f"ascent_pairs is {most + 1}.*at most {most}, or a longer cycle"):
        timing_of(PARAMETERS.with_values({"ascent_pairs": most + 1}), FRAME_S)


@pytest.mark.parametrize("air_s", [0.1272, 0.12796, 0.1279999])
def test_a_time_in_the_air_that_is_too_short_is_never_told_as_long_enough(air_s: float) -> None:
    factor = air_s / (0.256 - air_s)
    parameters = PARAMETERS.with_values(
        {
            "air_ground_factor": factor,
            "maximum_displacement_m": 0.03,
            "ground_speed_m_s": 0.03 / (0.256 - air_s),
            "ascent_pairs": 4,
        }
    )
    with pytest.raises(InputError) as told:
        timing_of(parameters, 0.008)
    up_and_down, in_the_air = (float(text) for text in re.findall(r"([\d.]+) s\b", told.value.message))
    assert in_the_air < up_and_down == 0.128


@given(
    st.integers(1, 6),
    st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0]),
    st.floats(0.05, 1.0),
    st.sampled_from([0.002, 0.004, 0.008]),
)
@example(5, 0.5, 0.25, 0.008)
def test_a_foot_may_go_up_and_down_for_as_long_as_it_is_in_the_air(
    pairs: int, air_ground: float, speed: float, frame_s: float
) -> None:
    ground_s = 4.0 * pairs * frame_s / air_ground
    assume(0.01 <= speed * ground_s <= 0.3)
    parameters = PARAMETERS.with_values(
        {
            "maximum_displacement_m": speed * ground_s,
            "ground_speed_m_s": speed,
            "air_ground_factor": air_ground,
            "ascent_pairs": pairs,
        }
    )
    timing = timing_of(parameters, frame_s)
    assert timing.ascent_s == pytest.approx(2.0 * pairs * frame_s, rel=1e-9)
    assert timing.ascent_s <= timing.air_s / 2.0
    with pytest.raises(InputError, match=f"at most {pairs},"):
        timing_of(parameters.with_values({"ascent_pairs": pairs + 1}), frame_s)


def test_each_kind_of_value_is_known_to_its_explanation() -> None:
    kinds = {name: told.kind for name, told in EXPLANATIONS.items()}
    assert [name for name, kind in kinds.items() if kind is ParameterKind.POINTS] == ["equilibrium_m"]
    assert {name for name, kind in kinds.items() if kind is ParameterKind.FORE_HIND} == {
        "front_height_m",
        "central_height_m",
        "rear_height_m",
    }
    assert len(FLAT) == 9 + 3 * 2 + len(FEET) * 3
    assert np.isfinite(list(PARAMETERS.flat.values())).all()


def test_a_gait_travels_to_another_process_and_may_be_copied() -> None:
    for there in (pickle.loads(pickle.dumps(TROT)), copy.deepcopy(TROT)):  # noqa: S301 -- our own bytes
        assert there.parameters == TROT.parameters
        assert there.phases == TROT.phases
        assert there.travel_gain == TROT.travel_gain
        with pytest.raises(TypeError):
            there.parameters.equilibrium_m["left_front"] = (0.0, 0.0, 0.0)
        with pytest.raises(TypeError):
            there.phases.offsets["left_front"] = 0.5
