"""The page of a tuning's picture: scores and spread above, the dimensions in a grid below."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from posewright.figures.search.picture_curves import Course, draw_dimension, draw_scores, draw_spread
from posewright.search.journal import Journal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 4
_WIDE_IN = 12.0
_HEAD_IN, _SCORES_IN, _SPREAD_IN, _ROW_IN = 0.6, 2.6, 1.3, 1.5


def draw_page(journal: Journal) -> Figure:
    """Return the page of a journal."""
    from matplotlib.figure import Figure

    count = len(journal.plan.dimensions)
    columns = min(_COLUMNS, count)
    rows = math.ceil(count / columns)
    heights = [_SCORES_IN, _SPREAD_IN, *[_ROW_IN] * rows]
    figure = Figure(figsize=(_WIDE_IN, _HEAD_IN + sum(heights)), layout="constrained")
    grid = figure.add_gridspec(2 + rows, columns, height_ratios=heights)
    course = Course(journal)
    scores: Any = figure.add_subplot(grid[0, :])
    draw_scores(scores, course)
    spread: Any = figure.add_subplot(grid[1, :], sharex=scores)
    draw_spread(spread, course)
    scores.tick_params(labelbottom=False)
    for k, dimension in enumerate(journal.plan.dimensions):
        row, column = divmod(k, columns)
        axes: Any = figure.add_subplot(grid[2 + row, column], sharex=scores)
        draw_dimension(axes, course, dimension)
        is_lowest = k + columns >= count
        axes.tick_params(labelbottom=is_lowest)
        if is_lowest:
            axes.set_xlabel("evaluations")
    figure.suptitle(_title(course), x=0.01, ha="left", fontsize=10, fontweight="bold", parse_math=False)
    return figure


def _title(course: Course) -> str:
    plan, judged = course.journal.plan, int(course.judged.sum())
    least = course.generations[-1].best_so_far
    first = next(one.number for one in course.generations if one.best_so_far == least)
    found = f"best {least:.6g} in generation {first}" if judged else "nothing could be judged"
    fingerprint = textwrap.shorten(plan.fingerprint, 120, placeholder=" ...")
    return (
        f"{fingerprint}\n{len(course.scores)} evaluations, {len(course.scores) - judged} not judged, "
        f"population {plan.population}, seed {plan.seed}: {found}"
    )
