"""Documents and plugins are found by name; who asks for what is not there is told what is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from posewright.documents import Catalogue, plugins
from posewright.documents.catalogue import Plugins
from posewright.errors import InputError, UnknownNameError


@pytest.fixture
def layouts(tmp_path: Path) -> Catalogue:
    for name in ("b/two", "a/one", "a/both", "b/both"):
        path = tmp_path / f"{name}.layout.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text("boxes: []\n")
    return Catalogue("layout", ".layout.yaml", lambda: (tmp_path / "a", tmp_path / "b"))


def test_what_ships_is_found_by_name_and_a_file_by_its_path(layouts: Catalogue, tmp_path: Path) -> None:
    assert layouts.names() == ("both", "one", "two")
    assert layouts.find("two") == tmp_path / "b" / "two.layout.yaml"
    assert layouts.find(tmp_path / "a" / "one.layout.yaml") == tmp_path / "a" / "one.layout.yaml"
    assert layouts.find("one.layout.yaml", base_folder=tmp_path / "a") == tmp_path / "a" / "one.layout.yaml"


def test_a_folder_may_be_the_document(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "robot.yaml").touch()
    robots = Catalogue("robot", "/robot.yaml", lambda: [tmp_path])
    assert robots.names() == ("ours",)
    assert robots.find("ours") == tmp_path / "ours" / "robot.yaml"


def test_documents_may_lie_in_folders_of_their_folder(tmp_path: Path) -> None:
    (tmp_path / "year").mkdir()
    (tmp_path / "year" / "race.rules.yaml").touch()
    contests = Catalogue("contest", ".rules.yaml", lambda: [tmp_path])
    assert contests.names() == ("year/race",)
    assert (
        contests.shipped_path("year/race")
        == contests.find("year/race")
        == tmp_path / "year" / "race.rules.yaml"
    )


def test_a_name_from_elsewhere_leads_to_no_path(layouts: Catalogue, tmp_path: Path) -> None:
    path = tmp_path / "secret.yaml"
    path.touch()
    assert layouts.find(str(path)) == path
    with pytest.raises(UnknownNameError):
        layouts.shipped_path(str(path))


def test_an_unknown_name_is_answered_with_the_nearest(layouts: Catalogue) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown layout 'oen'.*did you mean one"):
        layouts.find("oen")
    with pytest.raises(UnknownNameError, match="did you mean random"):
        layouts.find("randm", extra_names=("random",))


def test_a_name_that_two_have_is_refused(layouts: Catalogue) -> None:
    with pytest.raises(InputError, match=r"several layouts are called both.*name a file: .*a/both"):
        layouts.find("both")


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", ""])
def test_what_no_file_can_be_called_is_just_unknown(layouts: Catalogue, name: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        layouts.find(name, base_folder=tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["a/nowhere.yaml", "nowhere.yaml", "a/" + "x" * 300, "a/\0"])
def test_a_path_to_nothing_is_an_error_that_names_it(layouts: Catalogue, name: str) -> None:
    with pytest.raises(InputError, match="there is no such layout") as caught:
        layouts.find(name)
    assert not isinstance(caught.value, UnknownNameError)
    assert caught.value.where is not None


INFO = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n"


def installed(folder: Path, name: str, entries: str) -> None:
    (folder / f"{name}-1.2.dist-info").mkdir()
    (folder / f"{name}-1.2.dist-info" / "METADATA").write_text(INFO.format(name=name))
    (folder / f"{name}-1.2.dist-info" / "entry_points.txt").write_text(f"[posewright.tests]\n{entries}\n")


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugins]:
    installed(
        tmp_path,
        "ours",
        "sum = math:fsum\ngone = no_such_module:thing\nnone = math:nothing\ntwice = math:sin",
    )
    installed(tmp_path, "theirs", "twice = math:cos")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    plugins.cache_clear()
    yield plugins("posewright.tests")
    plugins.cache_clear()


def test_what_a_package_offers_is_loaded_when_it_is_asked_for(offered: Plugins) -> None:
    assert list(offered) == ["gone", "none", "sum", "twice"]
    assert offered["sum"]([1, 2]) == 3.0
    assert "absent" not in offered
    assert repr(offered) == "Plugins('posewright.tests': gone, none, sum, twice)"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "'gone' in posewright.tests, from the package ours 1.2, cannot be loaded: No module"),
        ("none", r"cannot be loaded: .*nothing.*\(its entry point is math:nothing; fix or uninstall"),
        (
            "twice",
            "offered by the package ours 1.2 and the package theirs 1.2|theirs 1.2 and the package ours",
        ),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(offered: Plugins, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        offered[name]
