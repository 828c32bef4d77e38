"""The picture of a tuning: scores, spread, and the values of every dimension over the evaluations."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags, Floats
from posewright.errors import InputError
from posewright.figures.style import canvas, create_mosaic, label_figure, styled
from posewright.search import Dimension, Generation, Journal, read_journal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_COLUMNS = 4
_WIDE_IN = 12.0
_HEAD_IN = 0.6
_SCORES_IN = 2.6
_SPREAD_IN = 1.3
_ROW_IN = 1.5


@styled("drawing a tuning")
def draw_tuning(journal: Journal | str | Path, *, figure: Canvas | None = None) -> Figure:
    """Draw a tuning: scores and spread above, the values of every dimension below.

    Args:
        journal: the journal of the tuning, or its file, which may still be growing.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.

    Raises:
        InputError: the journal has no evaluation.
        FormatError: the journal cannot be read.
    """
    loaded_journal = journal if isinstance(journal, Journal) else read_journal(journal)
    if not loaded_journal.attempts:
        raise InputError("nothing has been evaluated yet: there is nothing to draw")
    history = TuningHistory(loaded_journal)
    dimensions = loaded_journal.plan.dimensions
    n_columns = min(_COLUMNS, len(dimensions))
    n_rows = math.ceil(len(dimensions) / n_columns)
    heights = [_SCORES_IN, _SPREAD_IN, *[_ROW_IN] * n_rows]
    tuning_figure = canvas(figure, (_WIDE_IN, _HEAD_IN + sum(heights)), dpi=130, layout="constrained")
    cells = [f"dimension {i}" for i in range(n_rows * n_columns)]
    mosaic = [["scores"] * n_columns, ["spread"] * n_columns]
    mosaic += [cells[row * n_columns : (row + 1) * n_columns] for row in range(n_rows)]
    axes = create_mosaic(tuning_figure, mosaic, height_ratios=heights, sharex=True)
    draw_scores(axes["scores"], history)
    draw_spread(axes["spread"], history)
    axes["spread"].tick_params(labelbottom=True)
    for i, cell in enumerate(cells):
        if i >= len(dimensions):
            axes[cell].remove()
            continue
        draw_dimension(axes[cell], history, dimensions[i])
        is_lowest = i + n_columns >= len(dimensions)
        axes[cell].tick_params(labelbottom=is_lowest)
        if is_lowest:
            axes[cell].set_xlabel("evaluations")
    title = _title(history)
    tuning_figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold", parse_math=False)
    return label_figure(tuning_figure, f"tuning {title}")


def _title(history: TuningHistory) -> str:
    """Return the title: fingerprint, number of evaluations and best score."""
    plan = history.journal.plan
    n_judged = int(history.is_judged.sum())
    best_score = history.generations[-1].best_so_far
    best_generation = next(
        generation.number for generation in history.generations if generation.best_so_far == best_score
    )
    result = (
        f"best {best_score:.6g} in generation {best_generation}" if n_judged else "nothing could be judged"
    )
    fingerprint = textwrap.shorten(plan.fingerprint, 120, placeholder=" ...")
    return (
        f"{fingerprint}\n{len(history.scores)} evaluations, {len(history.scores) - n_judged} not judged, "
        f"population {plan.population}, seed {plan.seed}: {result}"
    )


_CANDIDATE = "#9aa7b1"
_BEST = "#0072b2"
_MEDIAN = "#e69f00"
_FAILED = "#d55e00"
_START = "#444444"

_COMPRESSION_RATIO = 100.0
"""If the range of all scores exceeds that of the better half by this factor, the axis is compressed."""

_MAX_DRAWN = 1e100
"""Larger scores are drawn as this one: the differences that an axis computes must be finite."""

_DECADE = 10.0
"""Spreads with a greater ratio are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class TuningHistory:
    """A journal as arrays, computed once for all curves."""

    journal: Journal

    @cached_property
    def scores(self) -> Floats:
        """Scores of the attempts as far as an axis can show them, infinite if not judged, `(n,)`."""
        return _drawable([attempt.score for attempt in self.journal.attempts])

    @cached_property
    def generations(self) -> tuple[Generation, ...]:
        """Generations of the attempts."""
        return self.journal.generations

    @cached_property
    def generation_ends(self) -> NDArray[np.int64]:
        """Number of evaluations after each generation, `(n_generations,)`."""
        return np.array([generation.evaluations for generation in self.generations])

    @property
    def attempt_numbers(self) -> NDArray[np.int64]:
        """Numbers of the attempts, from 1, `(n,)`."""
        return np.arange(1, len(self.scores) + 1)

    @property
    def is_judged(self) -> Flags:
        """Which attempts have a score, `(n,)`."""
        return np.isfinite(self.scores)

    def values(self, dimension: Dimension) -> Floats:
        """Return the values of a dimension in the attempts, `(n,)`."""
        return np.array([attempt.values[dimension.name] for attempt in self.journal.attempts], dtype=float)

    def best_values(self, dimension: Dimension) -> Floats:
        """Return a dimension's value in the best attempt up to each generation, `(n_generations,)`."""
        return np.array([generation.best[dimension.name] for generation in self.generations], dtype=float)


def draw_scores(axes: Axes, history: TuningHistory) -> None:
    """Draw all scores as dots, and the generations' medians and the best so far as curves.

    Candidates that could not be judged have no score, and are crosses at the bottom.
    """
    attempt_numbers = history.attempt_numbers
    is_judged = history.is_judged
    axes.plot(
        attempt_numbers[is_judged],
        history.scores[is_judged],
        ".",
        color=_CANDIDATE,
        markersize=3.0,
        label="one candidate",
    )
    # a curve is interrupted at NaN
    medians = _nan_for_infinite([generation.median_score for generation in history.generations])
    axes.plot(history.generation_ends, medians, color=_MEDIAN, linewidth=1.2, label="median of a generation")
    best = _nan_for_infinite([generation.best_so_far for generation in history.generations])
    axes.step(history.generation_ends, best, where="post", color=_BEST, linewidth=1.6, label="best so far")
    if not is_judged.all():  # at the bottom of the panel, whatever the scores are
        heights = np.full(int((~is_judged).sum()), 0.02)
        panel_shares = axes.get_xaxis_transform()  # y as a share of the panel
        axes.plot(
            attempt_numbers[~is_judged],
            heights,
            "x",
            color=_FAILED,
            ms=3.0,
            transform=panel_shares,
            label="not judged",
        )
    _compress_score_axis(axes, history.scores[is_judged])
    axes.set(ylabel="score (less is better)", xlim=(0.0, len(history.scores) + 1.0))
    axes.grid(visible=True, alpha=0.25)
    axes.legend(loc="upper right", fontsize=7, ncols=4, frameon=False)


def draw_spread(axes: Axes, history: TuningHistory) -> None:
    """Draw the spread of the candidates of each generation."""
    spread_generations = [generation for generation in history.generations if generation.spread > 0.0]
    evaluations = [generation.evaluations for generation in spread_generations]
    spreads = [generation.spread for generation in spread_generations]
    axes.plot(evaluations, spreads, color=_BEST, linewidth=1.2)
    axes.set(ylabel="spread / range")
    if spreads and max(spreads) > _DECADE * min(spreads):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0.0)
    axes.grid(visible=True, alpha=0.25)


def draw_dimension(axes: Axes, history: TuningHistory, dimension: Dimension) -> None:
    """Draw the values of a dimension in its range, its start, and its value in the best candidate."""
    values = history.values(dimension)
    is_judged = history.is_judged
    axes.plot(history.attempt_numbers[is_judged], values[is_judged], ".", color=_CANDIDATE, markersize=2.0)
    axes.plot(
        history.attempt_numbers[~is_judged], values[~is_judged], "x", color=_FAILED, markersize=2.0, alpha=0.6
    )
    axes.axhline(dimension.start, color=_START, linewidth=0.6, linestyle=":")
    axes.step(
        history.generation_ends, history.best_values(dimension), where="post", color=_BEST, linewidth=1.4
    )
    margin = 0.04 * dimension.width
    axes.set_ylim(dimension.low - margin, dimension.high + margin)
    for bound in (dimension.low, dimension.high):
        axes.axhline(bound, color=_START, linewidth=0.6)
    best = history.generations[-1].best[dimension.name]
    best_text = f"{best}" if dimension.is_whole else f"{best:.4g}"
    axes.set_title(f"{dimension.name} = {best_text}", fontsize=8, loc="left", parse_math=False)


def _nan_for_infinite(scores: list[float]) -> Floats:
    """Return scores as far as an axis can show them, with NaN where they are infinite."""
    return np.where(np.isfinite(scores), _drawable(scores), np.nan)


def _drawable(scores: list[float]) -> Floats:
    """Return finite scores limited to what an axis can show, and others as they are."""
    return np.where(np.isfinite(scores), np.clip(scores, -_MAX_DRAWN, _MAX_DRAWN), scores)


def _compress_score_axis(axes: Axes, scores: Floats) -> None:
    """Compress the axis of scores if far worse scores would leave no room for the better ones.

    Positive scores are drawn on a logarithmic axis; others on one that is linear up to the median.
    """
    if len(scores) == 0:
        axes.set_yticks([])
        return
    lowest = float(scores.min())
    median = float(np.median(scores))
    greatest = float(scores.max())
    if lowest > 0.0 and greatest > _COMPRESSION_RATIO * lowest:
        axes.set_yscale("log")
    elif median > lowest and greatest - lowest > _COMPRESSION_RATIO * (median - lowest):
        axes.set_yscale("symlog", linthresh=max(abs(lowest), abs(median), median - lowest))
