"""A lazy package lists what it offers once, for type checkers and for the import on first use."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import posewright

SOURCE = """\
from typing import TYPE_CHECKING
from posewright.lazy import lazy

if TYPE_CHECKING:
    from math import cos as cos
    from math import floor, sin
    from math import (
        tau as tau,
    )

    sine = sin
    down = floor
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
    from math import tan as tan
"""


def test_a_name_is_loaded_when_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lazily").mkdir()
    (tmp_path / "lazily" / "__init__.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    lazily = importlib.import_module("lazily")
    assert lazily.__all__ == ["cos", "down", "sine", "tau"]
    assert "sine" not in vars(lazily)
    assert (lazily.sine(0.0), lazily.cos(0.0), lazily.down(1.5)) == (0.0, 1.0, 1)
    assert "sine" in vars(lazily)
    assert {"cos", "sine", "down"} <= set(dir(lazily))
    with pytest.raises(AttributeError, match="module 'lazily' has no attribute 'sin'"):
        lazily.sin  # noqa: B018 -- the question is what asking does
    del sys.modules["lazily"]


def test_a_name_is_found_before_the_module_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "roomy"
    folder.mkdir()
    (folder / "drive.py").write_text("class Block: pass\ndef drive(): return 'driven'\n")
    (folder / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\nfrom posewright.lazy import lazy\nif TYPE_CHECKING:\n"
        "    from roomy.drive import Block as Block\n    from roomy.drive import drive as drive\n"
        "else:\n    __getattr__, __dir__, __all__ = lazy(__name__)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    roomy = importlib.import_module("roomy")
    assert roomy.Block.__name__ == "Block"
    assert roomy.drive() == "driven"
    for name in ("roomy", "roomy.drive"):
        del sys.modules[name]


ROOT = Path(posewright.__file__).parent.parent
LAZY = [path.parent for path in ROOT.rglob("__init__.py") if "= lazy(__name__)" in path.read_text()]


@pytest.mark.parametrize("folder", LAZY, ids=lambda folder: folder.name)
def test_every_name_that_a_lazy_package_offers_is_there(folder: Path) -> None:
    package = importlib.import_module(".".join(folder.relative_to(ROOT).parts))
    assert len(package.__all__) == len(set(package.__all__)) > 0
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = package.no_such_name


def test_a_misspelt_name_is_suggested() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'run_trail'; did you mean run_trial\?"):
        getattr(posewright, "run_trail")  # noqa: B009 -- mypy knows that there is no such name
