"""Every figure is saved by one function: three kinds, whole or not at all, the same bytes again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from posewright.errors import InputError, MissingExtraError, OutputError
from posewright.figures import draw_arena, draw_robot, require_picture_path, save_figure
from posewright.figures.style import styled

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".PDF": b"%PDF"}


@styled("drawing a line")
def line() -> Figure:
    figure = Figure(figsize=(2.0, 1.0), dpi=70)
    figure.subplots().plot([0, 1], [1, 0], label="down")
    figure.axes[0].legend()
    figure.set_label("a line that falls")
    return figure


@pytest.mark.parametrize("ending", MAGIC)
def test_a_picture_is_of_the_kind_its_name_says_and_the_same_again(tmp_path: Path, ending: str) -> None:
    for name in ("one", "two"):
        save_figure(line(), tmp_path / f"{name}{ending}")
    drawn = (tmp_path / f"one{ending}").read_bytes()
    assert drawn.startswith(MAGIC[ending])
    assert drawn == (tmp_path / f"two{ending}").read_bytes()


def test_a_figures_own_size_and_label_are_saved(tmp_path: Path) -> None:
    save_figure(line(), tmp_path / "line.png")
    with Image.open(tmp_path / "line.png") as picture:
        assert picture.size == (140, 70)
        assert picture.info["Description"] == "a line that falls"
    save_figure(line(), tmp_path / "line.svg")
    assert "a line that falls" in (tmp_path / "line.svg").read_text("utf-8")


def test_words_in_an_svg_are_words(tmp_path: Path) -> None:
    save_figure(line(), tmp_path / "line.svg")
    assert ">down</text>" in (tmp_path / "line.svg").read_text("utf-8")


@pytest.mark.parametrize("draw", [lambda: draw_arena("sumo"), lambda: draw_robot("sony_ers7")])
def test_text_has_the_font_and_the_size_of_the_users_rcparams(draw: Callable[[], Figure]) -> None:
    designed_sizes_pt = [text.get_fontsize() for text in draw().findobj(Text) if text.get_text()]
    with rc_context({"font.family": "serif", "font.size": 6.0}):
        texts = [text for text in draw().findobj(Text) if text.get_text()]
    assert {tuple(text.get_fontfamily()) for text in texts} == {("serif",)}
    # pictures are designed for ordinary text of 8 pt
    sizes_pt = [text.get_fontsize() for text in texts]
    assert sizes_pt == pytest.approx([0.75 * size_pt for size_pt in designed_sizes_pt])


def test_text_that_a_user_has_written_into_a_figure_keeps_its_size() -> None:
    with rc_context({"font.size": 6.0}):
        figure = Figure()
        text = figure.text(0.1, 0.1, "mine", fontsize=11.0)
        draw_arena("sumo", figure=figure)
    assert text.get_fontsize() == 11.0


def test_colours_and_lines_of_a_persons_own_style_do_not_enter(tmp_path: Path) -> None:
    save_figure(line(), tmp_path / "plain.png")
    with rc_context({"figure.facecolor": "black", "lines.linewidth": 9.0}):
        save_figure(line(), tmp_path / "styled.png")
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "styled.png").read_bytes()


def test_a_figure_shown_elsewhere_keeps_its_look(tmp_path: Path) -> None:
    elsewhere = line()
    elsewhere.savefig(tmp_path / "elsewhere.png", metadata={"Software": None, "Description": "x"})
    ours = line()
    ours.set_label("x")
    save_figure(ours, tmp_path / "ours.png")
    assert (tmp_path / "elsewhere.png").read_bytes() == (tmp_path / "ours.png").read_bytes()


@pytest.mark.parametrize("name", ["line.jpg", "line", "line.png.txt", "line.gif"])
def test_another_ending_is_refused_and_nothing_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"(ending of a picture|of a picture needs).*\.png, \.svg or \.pdf"):
        save_figure(line(), tmp_path / name)
    with pytest.raises(InputError, match="of a picture"):
        require_picture_path(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_told_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        require_picture_path(tmp_path / "nowhere" / "line.png")
    with pytest.raises(OutputError):
        save_figure(line(), tmp_path / "nowhere" / "line.png")


def test_a_picture_that_cannot_be_drawn_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "line.png").write_bytes(b"old")
    monkeypatch.setattr(Figure, "draw", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save_figure(line(), tmp_path / "line.png")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("line.png", b"old")]


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="plot"):
        require_picture_path(tmp_path / "line.png")


def test_a_backend_that_does_not_exist_is_our_error() -> None:
    program = (
        "from posewright.figures import require_picture_path; from posewright.errors import InputError;"
        "from pathlib import Path\n"
        "try: require_picture_path(Path('line.png'))\n"
        "except InputError as error: print(error)"
    )
    environment = {"MPLBACKEND": "nosuch", "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)  # noqa: S603, PLW1510
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "" or "nosuch" in ran.stdout
