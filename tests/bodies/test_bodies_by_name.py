"""Bodies by name: what installed packages offer."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from posewright.bodies import MockBody, Plant, body_names, make_plant, registry
from posewright.documents import Plugins
from posewright.errors import InputError, UnknownNameError
from posewright.robots import robot

CARD = robot("robotis_bioloid")


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let packages offer these bodies."""

    def offer(**values: str) -> None:
        entries = [EntryPoint(name, value, registry.GROUP) for name, value in values.items()]
        monkeypatch.setattr(registry, "plugins", lambda group: Plugins(group, entries))

    return offer


def test_a_body_of_another_package_is_found_by_its_name(offered: Any) -> None:
    offered(mock="posewright.bodies:MockBody", sim="posewright.simulation:simulated")
    assert body_names() == ("mock", "sim")
    assert isinstance(make_plant("mock", CARD), MockBody)
    world = make_plant("sim", CARD)
    assert isinstance(world, Plant)
    assert list(world.bodies) == [CARD.name]
    assert world.bodies[CARD.name].robot is CARD


def test_an_unknown_body_is_told_with_those_there_are(offered: Any) -> None:
    offered(mock="posewright.bodies:MockBody")
    with pytest.raises(UnknownNameError, match="mok"):
        make_plant("mok", CARD)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("no.such.package:Body", "cannot be loaded"),
        ("posewright.bodies:NoSuchBody", "cannot be loaded"),
        ("posewright.bodies:NOMINAL", "is nominal|DomainParameters"),
        ("posewright.robots:repr", "cannot be loaded"),
        ("builtins:str", "no plant"),
    ],
)
def test_a_broken_one_is_told(offered: Any, value: str, said: str) -> None:
    offered(broken=value)
    with pytest.raises(InputError, match=said):
        make_plant("broken", CARD)
