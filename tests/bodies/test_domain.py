"""Randomised bodies: what is drawn, and what may be."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import (
    NOMINAL,
    DomainParameters,
    DomainRandomization,
    Normal,
    Uniform,
    domain_randomization,
    domain_randomization_names,
    draw_domain,
)
from posewright.errors import DocumentError, InputError, UnknownNameError

SEEDS = st.integers(0, 2**63 - 1)
SHIPPED = domain_randomization()


def values(variation: DomainParameters) -> dict[str, tuple[float, ...]]:
    """Return the numbers of each field."""
    return {
        name: value if isinstance(value, tuple) else (value,) for name, value in asdict(variation).items()
    }


@given(seed=SEEDS)
def test_every_number_is_within_its_range(seed: int) -> None:
    numbers = values(draw_domain(SHIPPED, seed))
    for name, distribution in SHIPPED.distributions.items():
        low, high = distribution.bounds
        assert all(low <= number <= high for number in numbers[name]), name
    assert isinstance(draw_domain(SHIPPED, seed).latency_frames, int)


@given(seed=SEEDS)
def test_the_same_seed_gives_the_same_body(seed: int) -> None:
    assert draw_domain(SHIPPED, seed) == draw_domain(SHIPPED, seed)


def test_another_process_draws_the_same_body() -> None:
    program = (
        "import json; from dataclasses import asdict; from posewright.bodies import *;"
        "print(json.dumps(asdict(draw_domain(domain_randomization(), 7))))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603  # our own program
    assert json.loads(told.stdout) == json.loads(json.dumps(asdict(draw_domain(SHIPPED, 7))))


def test_seeds_that_were_used_once_keep_their_bodies() -> None:
    body = draw_domain(SHIPPED, 7)
    assert body.latency_frames == 4
    assert body.friction == pytest.approx(0.9000763732837336, rel=1e-12)
    assert body.slope_rad == pytest.approx((-0.010915328679597396, 0.04229125933508888), rel=1e-12)


def test_different_seeds_give_different_bodies() -> None:
    assert len({draw_domain(SHIPPED, seed) for seed in range(100)}) == 100


@pytest.mark.parametrize("name", sorted(SHIPPED.distributions))
def test_a_field_that_is_left_out_is_nominal_and_changes_no_other(name: str) -> None:
    whole, part = draw_domain(SHIPPED, 3), draw_domain(replace(SHIPPED, **{name: None}), 3)
    assert part == replace(whole, **{name: getattr(NOMINAL, name)})


def test_many_draws_are_spread_as_the_ranges_say() -> None:
    bodies = [values(draw_domain(SHIPPED, seed)) for seed in range(800)]
    for name, distribution in SHIPPED.distributions.items():
        numbers = np.array([body[name] for body in bodies]).ravel()
        if isinstance(distribution, Normal):
            assert numbers.mean() == pytest.approx(
                distribution.mean, abs=4 * distribution.deviation / math.sqrt(len(numbers))
            )
            assert numbers.std() == pytest.approx(distribution.deviation, rel=0.1)
        else:
            low, high = distribution.bounds
            assert numbers.mean() == pytest.approx((low + high) / 2, abs=0.05 * (high - low))
            assert numbers.min() < low + 0.03 * (high - low) + 1e-9
            assert numbers.max() > high - 0.03 * (high - low) - 1e-9


def test_every_whole_latency_is_as_likely_as_any_other() -> None:
    ranges = DomainRandomization(latency_frames=Uniform(4, 8))
    drawn = [draw_domain(ranges, seed).latency_frames for seed in range(4000)]
    counts = np.bincount(drawn, minlength=10)
    assert counts[4:9].sum() == 4000
    assert counts[4:9] == pytest.approx(np.full(5, 800.0), abs=5.0 * math.sqrt(800.0))


@given(low=st.floats(0.0, 100.0), width=st.floats(0.0, 10.0), seed=SEEDS)
def test_a_whole_number_is_within_the_rounded_range(low: float, width: float, seed: int) -> None:
    one = Uniform(low, low + width).draw_integer(np.random.default_rng(seed))
    assert round(low) <= one <= round(low + width)


def test_the_axes_of_a_shift_are_drawn_apart() -> None:
    shifts = np.array([draw_domain(SHIPPED, seed).com_shift_m for seed in range(500)])
    assert np.abs(np.corrcoef(shifts.T) - np.eye(3)).max() < 0.2


def test_ranges_of_one_number_give_that_number() -> None:
    ranges = DomainRandomization(friction=Uniform(0.7, 0.7), mass_scale=Normal(1.1, 0.0))
    assert draw_domain(ranges, 1) == DomainParameters(friction=0.7, mass_scale=1.1)
    assert draw_domain(DomainRandomization(), 1).is_nominal


def test_what_ships_is_what_the_trials_had() -> None:
    assert {"random", "push_05", "plates_3mm", "slope"} <= set(domain_randomization_names())
    assert SHIPPED.stiffness_scale == Uniform(0.7, 1.4)
    assert SHIPPED.latency_frames == Uniform(4, 8)
    assert SHIPPED.slope_rad == Normal(0.0, math.radians(1.0))
    with pytest.raises(UnknownNameError, match="rando"):
        domain_randomization("rando")


@pytest.mark.parametrize(
    "wrong",
    [
        {"friction": -0.1},
        {"friction": math.nan},
        {"mass_scale": 0.0},
        {"stiffness_scale": math.inf},
        {"damping_scale": -1.0},
        {"armature_scale": math.nan},
        {"latency_frames": -1},
        {"latency_frames": 1.5},
        {"latency_frames": 10**6},
        {"com_shift_m": (0.0, 0.0)},
        {"com_shift_m": (0.0, 0.0, 2.0)},
        {"slope_rad": (0.0, 1.0)},
        {"slope_rad": (math.nan, 0.0)},
    ],
)
def test_a_body_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=name):
        DomainParameters(**wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_ranges_that_reach_too_far_are_refused() -> None:
    with pytest.raises(InputError, match="mass_scale"):
        DomainRandomization(mass_scale=Normal(1.0, 0.5))
    with pytest.raises(InputError, match="slope_rad"):
        DomainRandomization(slope_rad=Uniform(0.0, 1.0))
    with pytest.raises(InputError, match="from 2 to 1"):
        Uniform(2, 1)
    with pytest.raises(InputError, match="deviation"):
        Normal(0.0, -1.0)
    with pytest.raises(InputError, match="negative"):
        draw_domain(SHIPPED, -1)


def written(tmp_path: Path, ranges: str) -> Path:
    """Return a document with these ranges."""
    path = tmp_path / "mine.bodies.yaml"
    path.write_text(f"bodies: mine\nranges:\n{ranges}", encoding="utf-8")
    return path


def test_a_document_of_ones_own_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "  slope_deg: {low: -2, high: 2, source: my table}\n")
    short = path.rename(path.with_suffix(".yml"))
    assert domain_randomization(str(short)) == domain_randomization(short)
    path = short.rename(path)
    assert domain_randomization(path) == DomainRandomization(
        slope_rad=Uniform(-math.radians(2), math.radians(2))
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("  weight: {low: 1, high: 2, source: x}\n", "weight"),
        ("  friction: {low: 1, high: 2}\n", "source"),
        ("  friction: {low: 2, high: 1, source: x}\n", "friction"),
        ("  friction: {low: 1, sd: 1, source: x}\n", "mean"),
        ("  friction: {mean: 0.1, sd: 1, source: x}\n", "friction"),
        ("  friction: {low: .nan, high: 1, source: x}\n", "friction"),
        ("  mass_scale: {mean: 1, sd: -1, source: x}\n", "mass_scale"),
    ],
)
def test_a_wrong_document_says_where(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"bodies.yaml:3.*{said}") as raised:
        domain_randomization(written(tmp_path, line))
    assert isinstance(raised.value, DocumentError | UnknownNameError)


def test_a_variation_says_what_it_changes() -> None:
    assert str(NOMINAL) == "nominal"
    assert str(DomainParameters(friction=0.5, slope_rad=(0.0, 0.1))) == "friction 0.5, slope_rad 0 0.1"
