"""Robots of other packages: found by an entry point, when a name is asked for and not before."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from posewright.errors import InputError, UnknownNameError
from posewright.gaits import gait_names, read_gait
from posewright.robots import catalogue, is_shipped, robot, robot_folder, robot_names

Offer = Callable[..., Path]


def forget() -> None:
    for cached in ("robot_names", "robot_folder", "_packages", "_folder_with_card"):
        getattr(catalogue, cached).cache_clear()


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Offer a robot as an installed package would; its folder is returned, with the card of an ERS-7."""

    def offered(name: str, package: str = "kennel_of_mine.rex", card: str = "rex") -> Path:
        folder = tmp_path / "kennel_of_mine" / "rex"
        (folder / "gaits").mkdir(parents=True)
        (folder.parent / "__init__.py").touch()
        (folder / "__init__.py").write_text("raise RuntimeError('nobody runs this')\n")
        ers7 = robot_folder("sony_ers7")
        text = (ers7 / "robot.yaml").read_text().replace("robot: sony_ers7", f"robot: {card}")
        (folder / "robot.yaml").write_text(text)
        (folder / "model.xml").write_text("<mujoco/>")
        gait = (ers7 / "gaits/trot.gait.yaml").read_text().replace("robot: sony_ers7", f"robot: {card}")
        (folder / "gaits/bound.gait.yaml").write_text(gait.replace("gait: trot", "gait: bound"))
        monkeypatch.syspath_prepend(str(tmp_path))
        entry = EntryPoint(name, package, catalogue.ENTRY_POINT_GROUP)
        monkeypatch.setattr(catalogue, "entry_points", lambda group: [entry] if group == entry.group else [])
        forget()
        return folder

    yield offered
    forget()
    for module in ("kennel_of_mine", "kennel_of_mine.rex"):
        sys.modules.pop(module, None)


def test_a_robot_of_another_package_has_a_name_a_card_and_gaits(offer: Offer) -> None:
    folder = offer("rex")
    assert "rex" in robot_names()
    assert robot("rex").folder == folder
    assert robot("rex") is robot("rex")
    assert not is_shipped(robot("rex"))
    assert gait_names("rex") == gait_names(robot("rex")) == ("bound",)
    assert read_gait("bound").robot == "rex"


def test_a_package_that_is_not_there_or_holds_no_card_is_told(offer: Offer) -> None:
    offer("rex", package="no_such_kennel.rex")
    assert "rex" not in robot_names()  # else every list of robots, gaits and behaviours would fail
    with pytest.raises(InputError, match=r"no_such_kennel\.rex of the robot .* has no robot\.yaml"):
        robot("rex")


def test_a_card_of_another_name_than_its_entry_point_is_refused(offer: Offer) -> None:
    offer("fido")
    with pytest.raises(InputError, match="card of the robot fido has the name rex"):
        robot("fido")


def test_a_robot_that_ships_keeps_its_name(offer: Offer) -> None:
    offer("sony_ers7")
    assert is_shipped(robot("sony_ers7"))


def test_an_unknown_name_is_told_with_those_there_are(offer: Offer) -> None:
    offer("rex")
    with pytest.raises(UnknownNameError, match="did you mean rex"):
        robot("rexx")
