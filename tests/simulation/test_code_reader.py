"""What a code reader reads: the code ahead, from its own pictures, so many times a second."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from posewright.arenas import Arena, Role, Shape
from posewright.bodies import JointCommands
from posewright.errors import InputError
from posewright.robots import CodeReader, Robot
from posewright.simulation import Film, SimulatedBody, World
from posewright.simulation.code_reader import find_text_number, read_central_code
from posewright.simulation.markers import draw_qr_code

TEXTS = ("Turn45L", "Turn180R")
EYES = CodeReader("eyes", "camera", TEXTS, width=320, height=240, pitch_deg=-10.0, rate_hz=2.0)
COLOURS = {"floor": (0.1, 0.8, 0.0), "marker": (1.0, 1.0, 1.0)}


def plate(name: str, text: str, bearing_deg: float, away_m: float = 0.5) -> Shape:
    """A code around a robot in the middle, which faces it."""
    angle = math.radians(bearing_deg)
    x, y = 1.0 + away_m * math.cos(angle), away_m * math.sin(angle)
    size = (0.004, 0.2, 0.2)
    return Shape(name, Role.MARKER, x, y, size, angle + math.pi, 0.25, text=text)


def field(*plates: Shape) -> Arena:
    return Arena("codes", (2.0, 2.0), plates, {}, COLOURS, friction=0.5)


def body(bioloid: Robot, *plates: Shape, yaw_deg: float = 0.0, visuals: bool = True) -> SimulatedBody:
    world = World(bioloid, field(*plates), sensors=[EYES], visuals=visuals)
    return SimulatedBody(world, start=(1.0, 0.0, math.radians(yaw_deg)))


def test_a_drawn_code_says_its_text() -> None:
    picture = np.repeat(draw_qr_code("Turn135R")[..., None], 3, axis=-1)
    assert read_central_code(picture) == "Turn135R"
    assert read_central_code(np.full((240, 320, 3), 255, dtype=np.uint8)) is None


def test_a_reading_is_the_number_of_the_text_and_0_for_none_of_them() -> None:
    assert [find_text_number(text, TEXTS) for text in (*TEXTS, "Turn45R", None)] == [1, 2, 0, 0]


@pytest.mark.parametrize(("yaw_deg", "number"), [(0.0, 1.0), (90.0, 2.0), (180.0, 0.0), (-90.0, 0.0)])
def test_a_robot_reads_the_code_before_it(bioloid: Robot, yaw_deg: float, number: float) -> None:
    plates = (plate("one", "Turn45L", 0.0), plate("two", "Turn180R", 90.0), plate("other", "Hello", 180.0))
    one = body(bioloid, *plates, yaw_deg=yaw_deg)
    assert one.read().sensors["eyes"] == number
    one.close()


def test_of_two_codes_the_one_nearer_to_the_middle_counts(bioloid: Robot) -> None:
    one = body(bioloid, plate("left", "Turn180R", 18.0, 0.8), plate("ahead", "Turn45L", -4.0, 0.8))
    assert one.read().sensors["eyes"] == 1.0
    one.close()


def test_it_looks_so_many_times_a_second_and_not_in_between(bioloid: Robot) -> None:
    one = body(bioloid, plate("ahead", "Turn45L", 0.0))
    stand = JointCommands(np.tile(one.command, (16, 1)))
    assert one.read().sensors["eyes"] == 1.0
    one.place_robot(1.0, 0.0, math.pi)
    seen = []
    for _ in range(5):
        one.world.advance({bioloid.name: stand})
        seen.append(one.read().sensors["eyes"])
    assert seen == [1.0, 1.0, 1.0, 0.0, 0.0]  # every 1/8 s; the second picture is taken after half a second
    one.reset()
    assert one.read().sensors["eyes"] == 1.0
    one.close()


def test_a_world_without_visuals_cannot_be_read(bioloid: Robot) -> None:
    one = body(bioloid, plate("ahead", "Turn45L", 0.0), visuals=False)
    with pytest.raises(InputError, match="made without visuals"):
        one.read()


def test_a_film_may_look_through_its_camera(bioloid: Robot) -> None:
    one = body(bioloid, plate("ahead", "Turn45L", 0.0))
    with Film(one.world, 320, 240, "eyes", quick=True) as film:
        assert read_central_code(film.now()) == "Turn45L"


def test_a_marker_touches_nothing(bioloid: Robot) -> None:
    through = plate("through", "Turn45L", 0.0, away_m=0.0)
    assert not through.is_solid
    world = World(bioloid, field(through))
    geom = world.model.geom("through")
    assert (geom.contype[0], geom.conaffinity[0]) == (0, 0)


def test_a_marker_has_a_text_and_nothing_else_has() -> None:
    marker = plate("one", "Turn45L", 0.0)
    with pytest.raises(InputError, match="one: a marker needs a text"):
        replace(marker, text="")
    with pytest.raises(InputError, match="one: a marker needs a text"):
        replace(marker, role=Role.WALL)
    with pytest.raises(InputError, match="101 characters"):
        replace(marker, text="x" * 101)


def test_a_field_with_markers_comes_back_from_a_recording() -> None:
    one = field(plate("one", "Turn45L", 0.0))
    assert Arena.from_dict(one.to_dict()).markers == one.markers
