"""Pushes and plates in documents of bodies: what is read, what is drawn, and what cannot be."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from posewright.bodies import (
    NOMINAL,
    ClearCircle,
    DomainParameters,
    DomainRandomization,
    Plate,
    Push,
    RandomPlates,
    RandomPushes,
    Uniform,
    domain_randomization,
    draw_domain,
    read_domain_randomization,
)
from posewright.documents import Node, read_record
from posewright.errors import InputError, PosewrightError


def read(tmp_path: Path, text: str) -> DomainRandomization:
    path = tmp_path / "mine.bodies.yaml"
    path.write_text("bodies: mine\n" + text)
    return read_domain_randomization(path)


def test_a_push_with_given_numbers_is_drawn_as_given(tmp_path: Path) -> None:
    ranges = read(
        tmp_path,
        "pushes:\n  - {impulse_n_s: 0.4, at_s: 3, from_deg: 90, duration_s: 0.2, link: left_foot}\n",
    )
    (push,) = draw_domain(ranges, 5).pushes
    assert push == Push(3.0, 0.4, math.pi / 2, 0.2, "left_foot")


def test_pushes_every_five_seconds_come_from_every_side(tmp_path: Path) -> None:
    ranges = read(tmp_path, "pushes: [{impulse_n_s: 0.5, at_s: 5, every_s: 5, until_s: 3000}]\n")
    pushes = draw_domain(ranges, 1).pushes
    assert [push.time_s for push in pushes] == pytest.approx(np.arange(5.0, 3000.1, 5.0))
    quadrants = np.bincount([int((push.from_rad + math.pi) // (math.pi / 2)) % 4 for push in pushes])
    assert quadrants == pytest.approx(np.full(4, 150.0), abs=5.0 * math.sqrt(150.0))
    assert draw_domain(ranges, 1) == draw_domain(ranges, 1) != draw_domain(ranges, 2)


def test_pushes_of_several_entries_are_in_the_order_of_time_and_do_not_change_each_other(
    tmp_path: Path,
) -> None:
    first = "  - {impulse_n_s: {low: 0.1, high: 0.9}, at_s: {low: 1, high: 9}, every_s: {low: 1, high: 3}}\n"
    second = "  - {impulse_n_s: 2, at_s: 4}\n"
    alone = draw_domain(read(tmp_path, f"pushes:\n{first}"), 3).pushes
    both = draw_domain(read(tmp_path, f"pushes:\n{first}{second}"), 3).pushes
    assert [push for push in both if push.impulse_n_s < 1.0] == list(alone)
    assert [push.time_s for push in both] == sorted(push.time_s for push in both)
    assert len(both) == len(alone) + 1


def test_plates_lie_in_their_rectangle_and_differ_by_the_seed(tmp_path: Path) -> None:
    text = "plates: {count: 200, thickness_m: {low: 0.002, high: 0.004}, x_m: [0, 2], y_m: [-0.5, 0.5]}\n"
    plates = draw_domain(read(tmp_path, text), 8).plates
    assert len(plates) == 200
    assert all(0.0 <= plate.x_m <= 2.0 and abs(plate.y_m) <= 0.5 for plate in plates)
    assert all(0.002 <= plate.thickness_m <= 0.004 and plate.edge_m == 0.04 for plate in plates)
    assert np.mean([plate.x_m for plate in plates]) == pytest.approx(1.0, abs=0.15)
    assert plates != draw_domain(read(tmp_path, text), 9).plates


def test_no_plate_reaches_into_a_clear_circle() -> None:
    domain = draw_domain(domain_randomization("plates_3mm"), 4)
    cleared = domain.without_plates_in([ClearCircle(0.5, 0.1, 0.3)])
    removed = set(domain.plates) - set(cleared.plates)
    assert all(plate.distance_m(0.5, 0.1) >= 0.3 for plate in cleared.plates)
    assert removed
    assert all(plate.distance_m(0.5, 0.1) < 0.3 for plate in removed)
    assert cleared.without_plates_in([ClearCircle(0.5, 0.1, 0.3)]) == cleared


def test_a_set_may_have_the_ranges_of_another_and_pushes_of_its_own() -> None:
    pushed = draw_domain(domain_randomization("random_push_05"), 7)
    body = draw_domain(domain_randomization("random"), 7)
    assert asdict(pushed) | {"pushes": ()} == asdict(body)
    assert {push.impulse_n_s for push in pushed.pushes} == {0.5}


def test_what_is_drawn_is_read_back_from_its_plain_data() -> None:
    ranges = DomainRandomization(
        pushes=(RandomPushes(Uniform(0.2, 0.4), at_s=Uniform(1.0, 2.0)),),
        plates=RandomPlates(3, thickness_m=Uniform(0.003, 0.003)),
    )
    domain = draw_domain(ranges, 2)
    assert read_record(Node(domain.to_dict(), None, "domain"), DomainParameters, degrees=False) == domain
    assert domain.summary()["n_plates"] == 3
    assert "1 pushes of up to 0." in str(domain)


def test_a_body_without_disturbances_has_the_plain_data_of_older_recordings() -> None:
    assert list(NOMINAL.to_dict()) == [
        "friction",
        "mass_scale",
        "stiffness_scale",
        "damping_scale",
        "armature_scale",
        "latency_frames",
        "com_shift_m",
        "slope_rad",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source: nothing\n", "add ranges, pushes or plates"),
        ("ranges: randm\n", "random"),
        ("pushes: [{impulse_n_s: 0.5}]\n", "at_s"),
        ("pushes: [{impulse_n_s: -1, at_s: 2}]\n", "impulse is -1 N s .*0 to 1000"),
        ("pushes: [{impulse_n_s: 1, at_s: {low: 3, high: 2}}]\n", "lower one first"),
        ("pushes: [{impulse_n_s: 1, at_s: 2, every_s: 0.1}]\n", "at least 0.25 s"),
        ("pushes: [{impulse_n_s: 1, at_s: 2, duration_s: 20}]\n", "duration_s"),
        ("pushes: [{impulse_n_s: 1, at_s: 2, from: left}]\n", "from_deg"),
        ("plates: {count: 10}\n", "thickness_m"),
        ("plates: {count: 5000, thickness_m: 0.003}\n", "2000"),
        ("plates: {count: 10, thickness_m: 0.3}\n", "thickness is 0.3 m .*to 0.02 m"),
        ("plates: {count: 10, thickness_m: 0.003, x_m: [2, 1]}\n", "lower one first"),
    ],
)
def test_what_cannot_be_is_an_error_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PosewrightError, match=message) as caught:
        read(tmp_path, text)
    assert "mine.bodies.yaml" in str(caught.value)


def test_a_body_has_not_too_many_plates() -> None:
    plate = Plate(1.0, 0.0, 0.0, 0.04, 0.003)
    with pytest.raises(InputError, match="2001 plates"):
        DomainParameters(plates=(plate,) * 2001)
