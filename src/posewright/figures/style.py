"""The style of all pictures: matplotlib settings, colours, legends, and axes placed in inches."""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from posewright.charts.machine import STATE_SEPARATOR
from posewright.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    from posewright.arenas import Colour
    from posewright.arrays import Floats

    Canvas = Figure | SubFigure

_P = ParamSpec("_P")

FONT_SIZE_PT = 8.0
"""Size of ordinary text, from which the sizes of titles and labels in all pictures were chosen."""

_TYPOGRAPHY = ("font.", "mathtext.", "text.", "axes.unicode_minus", "axes.formatter.", "pdf.", "svg.fonttype")
"""Beginnings of the names of rcParams that pictures take from the user."""

INK = "#22303a"
"""Colour of text and robots."""

GREY = "#5b6770"
"""Colour of less important things."""

FAINT = "#d9dde1"
"""Colour of background lines."""

WRONG = "#c0392b"
"""Colour of faults."""

# Okabe and Ito's colours, which colour-blind readers can tell apart, then further ones.
COLOURS = (
    *("#0072b2", "#e69f00", "#cc79a7", "#009e73", "#d55e00"),
    *("#56b4e9", "#6a3d9a", "#8c564b", "#444444", "#f0e442"),
)


ROLE_COLOURS = {"red": "#c0282d", "blue": "#0072b2"}
"""Colours of robots that a contest names after colours."""

SERIES = ("#332288", "#882255", "#999933", "#661100", "#88ccee", "#777777")
"""Paul Tol's colours for curves beside states: none is in `COLOURS`."""

OTHER_STATES = "other states"
OTHER_COLOUR = "#c3c9ce"
"""Name and colour of the rare states together."""

_MAX_STATES = 8
"""Greatest number of states with a name and colour of their own."""


def channels_of(hex_colour: str) -> Colour:
    """Return red, green and blue, 0..1, of a colour such as `#0072b2`."""
    red, green, blue = (int(hex_colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return red, green, blue


def pale(colour: Colour) -> Colour:
    """Return a colour as ground, on which paths are seen: a fifth of it on white."""
    red, green, blue = (1.0 - 0.2 * (1.0 - channel) for channel in colour)
    return red, green, blue


def displayed_states(states: Sequence[str]) -> list[str]:
    """Return the states of a controller as a picture names them, few enough to tell them apart.

    For a chart with regions, these are the states of the region with the most different ones. Rare states
    become `OTHER_STATES`.

    Args:
        states: one for each time; those of regions are joined by `STATE_SEPARATOR`.
    """
    names_at_times = [state.split(STATE_SEPARATOR) for state in states]
    n_regions = max(map(len, names_at_times), default=1)
    rows: list[list[str]] = []  # by time, the state of each region
    for state, names in zip(states, names_at_times, strict=True):
        # a state without regions stands for the state in each of them
        rows.append(names if len(names) == n_regions else [state] * n_regions)
    regions = [list(column) for column in zip(*rows, strict=True)] or [[]]

    def region_rank(region: list[str]) -> tuple[int, int]:
        """Return the number of different states, and for equal numbers prefer fewer changes."""
        n_changes = sum(before != after for before, after in pairwise(region))
        return len(set(region)), -n_changes

    region = max(regions, key=region_rank)
    frequent = {name for name, _ in Counter(filter(None, region)).most_common(_MAX_STATES)}
    frequent.add("")  # no state at all
    return [name if name in frequent else OTHER_STATES for name in region]


def colours_of(names: Iterable[str], all_names: Iterable[str] = ()) -> dict[str, str]:
    """Return a colour for each name; a set of names gets the same colours in any order.

    A name in `ROLE_COLOURS` has that colour.

    Args:
        names: the names that are drawn.
        all_names: that may occur in pictures of this kind, as all states of a chart, so that a name has the
            same colour in all of them; default those that are drawn.
    """
    unique_names = list(dict.fromkeys(names))
    reserved_colours = [ROLE_COLOURS[name] for name in unique_names if name in ROLE_COLOURS]
    free_colours = [colour for colour in COLOURS if colour not in reserved_colours]
    plain_names = set(unique_names) - ROLE_COLOURS.keys()
    preferred_colours = dict(
        zip(sorted({*plain_names, *all_names} - ROLE_COLOURS.keys()), cycle(free_colours))
    )
    colours = dict(ROLE_COLOURS)
    for name in sorted(plain_names):
        # of more names than colours, two that are drawn may prefer the same one
        candidates = (preferred_colours[name], *free_colours)
        unused = (colour for colour in candidates if colour not in colours.values())
        colours[name] = next(unused, preferred_colours[name])
    return {name: OTHER_COLOUR if name == OTHER_STATES else colours[name] for name in unique_names}


@contextmanager
def picture_style(activity: str) -> Iterator[float]:
    """Apply the style of all pictures within the block.

    Of the user's rcParams only those of typography count; colours, lines and pages are those of this package,
    since they have a meaning in each picture.

    Args:
        activity: what needs matplotlib, for the error message.

    Yields:
        How much larger than designed the user wants texts: the user's `font.size` by `FONT_SIZE_PT`, or 1 if
        the user has not changed it.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: MPLBACKEND is invalid.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError.for_extra(activity, "plot") from error
    except ValueError as error:  # MPLBACKEND names nothing
        raise InputError(f"matplotlib does not start: {error}", hint="unset MPLBACKEND") from error
    typography = _changed_typography()  # of the user's rcParams
    font_size_pt = float(mpl.rcParams["font.size"]) if "font.size" in typography else FONT_SIZE_PT
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # in a name of a file: a frame stands for it
        mpl.rcdefaults()
        # text stays text in SVG, so that it can be searched; the same picture gives the same bytes
        mpl.rc("svg", fonttype="none", hashsalt="posewright")
        mpl.rcParams.update(typography)
        mpl.rc("font", size=FONT_SIZE_PT)
        mpl.rc("axes", titlesize=9.0)
        yield font_size_pt / FONT_SIZE_PT


def _changed_typography() -> dict[Any, Any]:  # matplotlib's types list every key and none of the values
    """Return the user's rcParams about text that differ from matplotlib's."""
    import matplotlib as mpl

    return {
        key: mpl.rcParams[key]
        for key in mpl.rcParams
        if key.startswith(_TYPOGRAPHY) and mpl.rcParams[key] != mpl.rcParamsDefault[key]
    }


def styled(activity: str) -> Callable[[Callable[_P, Figure]], Callable[_P, Figure]]:
    """Return a decorator that runs a drawing function in the style of all pictures.

    Args:
        activity: as in `picture_style`.
    """

    def decorate(draw: Callable[_P, Figure]) -> Callable[_P, Figure]:
        """Return `draw` in the style of all pictures."""

        @functools.wraps(draw)
        def draw_in_style(*args: _P.args, **kwargs: _P.kwargs) -> Figure:
            """Draw in the style of all pictures, with texts and ticks of the size that the user wants."""
            with picture_style(activity) as font_scale:
                callers_axes = kwargs.get("ax")
                callers_figure = kwargs.get("figure")
                previous_texts = _find_texts(callers_figure or callers_axes)
                figure = draw(*args, **kwargs)
                for text in _find_texts(figure) - previous_texts:
                    text.set_fontsize(float(text.get_fontsize()) * font_scale)
                if callers_axes is not None:  # the caller styles them
                    return figure
                for axes in (callers_figure or figure).axes:  # type: ignore[attr-defined]  # one of `Canvas`
                    for axis in (axes.xaxis, axes.yaxis):
                        # further ticks are created only when the figure is drawn, in the style of that time
                        (first_tick,) = axis.get_major_ticks(1)
                        axis.set_tick_params(labelsize=first_tick.label1.get_fontsize())
            return figure

        return draw_in_style

    return decorate


def _find_texts(drawing: object) -> set[Text]:
    """Return all texts in a figure, a part of one, or the figure of axes; none for None."""
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    if isinstance(drawing, Axes):
        drawing = drawing.get_figure(root=True)
    return set(drawing.findobj(Text)) if isinstance(drawing, Artist) else set()


def canvas(
    into: Canvas | None,
    size_in: tuple[float, float],
    *,
    dpi: float,
    layout: Literal["constrained"] | None = None,
) -> Canvas:
    """Return the given figure or part of one, or a new figure of a size [in]."""
    from matplotlib.figure import Figure

    return Figure(figsize=size_in, dpi=dpi, layout=layout) if into is None else into


def create_mosaic(
    into: Canvas,
    rows: list[list[str]],
    *,
    width_ratios: Sequence[float] | None = None,
    height_ratios: Sequence[float] | None = None,
    sharex: bool = False,
) -> dict[str, Axes]:
    """Create axes by the names in rows of cells.

    Args:
        into: the figure, or a part of one.
        rows: the names of the axes by rows; neighbouring cells of one name are one axes, "." stays empty.
        width_ratios: relative widths of the columns; None for equal ones.
        height_ratios: relative heights of the rows; None for equal ones.
        sharex: whether all axes have the same x axis.

    Returns:
        The axes by name.
    """
    axes: dict[str, Axes] = into.subplot_mosaic(
        rows,  # type: ignore[arg-type]  # matplotlib's own type of a mosaic knows no list of lists
        width_ratios=width_ratios,
        height_ratios=height_ratios,
        sharex=sharex,
    )
    return axes


def write_row_legend(
    into: Canvas | Axes,
    handles: Sequence[Artist],
    loc: Literal["upper left", "lower left"],
    anchor: tuple[float, float] | None = None,
) -> Legend:
    """Write a legend as a row at the head of a page.

    Args:
        into: a figure or axes.
        handles: the entries, with their labels.
        loc: which corner of the legend is placed.
        anchor: where that corner is, as shares of width and height; default in the same corner of `into`.
    """
    return into.legend(
        handles=handles,
        loc=loc,
        bbox_to_anchor=anchor,
        ncols=7,
        fontsize=7,
        frameon=False,
        borderaxespad=0.0,
        borderpad=0.0,
        handlelength=1.7,
        columnspacing=1.2,
    )


def label_figure(target: Canvas, label: str) -> Figure:
    """Set the label of the drawn figure or part, and return the whole figure."""
    target.set_label(label)
    return target.get_figure(root=True)


def axes_at(  # noqa: PLR0917 -- a page and a box
    figure: Canvas, page: tuple[float, float], left: float, top: float, width: float, height: float
) -> Axes:
    """Create axes in a box measured from the upper left corner of a figure.

    Args:
        figure: the figure to create them in.
        page: width and height of the figure [in].
        left: distance of the box from the left edge [in].
        top: distance of the box from the upper edge [in].
        width: the width of the box [in].
        height: the height of the box [in].
    """
    page_width, page_height = page
    return figure.add_axes(
        (left / page_width, 1.0 - (top + height) / page_height, width / page_width, height / page_height)
    )


def draw_arrow_head(
    axes: Axes, tip: Floats, behind: Floats, *, color: str, size: float, zorder: float
) -> None:
    """Draw the head of an arrow at `tip`, pointing away from `behind`; (2,) each."""
    head = {
        "arrowstyle": "-|>",
        "color": color,
        "lw": 0.0,
        "mutation_scale": size,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", (tip[0], tip[1]), (behind[0], behind[1]), arrowprops=head, zorder=zorder)


def trim_axes(axes: Axes) -> None:
    """Reduce small axes to their left and lower edges, with small tick labels."""
    axes.tick_params(labelsize=6.5, length=2.5, pad=1.5)
    axes.spines[["top", "right"]].set_visible(False)
