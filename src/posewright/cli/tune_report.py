"""`posewright tune --report`: what a journal holds, of a search that is done, was stopped or goes on."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.cli.options import refuse_overwriting

if TYPE_CHECKING:
    from rich.table import Table

    from posewright.search import Attempt, Generation, Journal

MOST_ROWS = 16
"""So many generations are shown, evenly spaced; more of them say no more."""

NO_REASON = "no reason was noted"


def show_journal(journal: Path, plot: Path | None, *, as_json: bool) -> None:
    """Show the best so far, the course of the search, and why candidates were refused.

    A journal may be looked at while the search goes on.

    Args:
        journal: the file.
        plot: a picture of the search to draw.
        as_json: whether a program reads it.
    """
    from posewright.cli.console import emit_json
    from posewright.figures import draw_tuning, refuse_unsavable, save_figure
    from posewright.search import read_journal

    if plot is not None:
        refuse_unsavable(plot)
        refuse_overwriting(plot, journal)
    held = read_journal(journal)
    if plot is not None:
        save_figure(draw_tuning(held), plot)
    if as_json:
        emit_json(_data(held))
    else:
        _show(held)


def _best(journal: Journal) -> Attempt | None:
    """Return the best attempt that could be judged, the first one where several are as good."""
    judged = [attempt for attempt in journal.attempts if attempt.evaluation.is_judged]
    return min(judged, key=lambda attempt: attempt.score, default=None)


def _refused(journal: Journal) -> Counter[str]:
    """Return why candidates could not be judged, without the numbers, and how many there are of each."""
    from posewright.search import REASON

    reasons = (
        str(attempt.evaluation.facts.get(REASON, NO_REASON))
        for attempt in journal.attempts
        if not attempt.evaluation.is_judged
    )
    return Counter(_without_numbers(reason) for reason in reasons)


def _without_numbers(reason: str) -> str:
    """Return a reason with dots for its numbers, so that those that differ in nothing else are one."""
    words = (".." if any(letter.isdigit() for letter in word) else word for word in reason.split())
    return " ".join(words)


def _data(journal: Journal) -> dict[str, Any]:
    from posewright.cli.tune_tables import finite, plain_facts

    plan, best = journal.plan, _best(journal)
    return {
        "fingerprint": plan.fingerprint,
        "made_with": journal.made_with,
        "seed": plan.seed,
        "population": plan.population,
        "spread": plan.spread,
        "evaluations": len(journal.attempts),
        "judged": sum(attempt.evaluation.is_judged for attempt in journal.attempts),
        "score": None if best is None else best.score,
        "best": None if best is None else dict(best.values),
        "figures": None if best is None else plain_facts(best.evaluation.facts),
        "refused": dict(_refused(journal).most_common()),
        "generations": [
            {
                "number": one.number,
                "best_score": finite(one.best_score),
                "median_score": finite(one.median_score),
                "best_so_far": finite(one.best_so_far),
                "spread": one.spread,
                "judged": one.judged,
            }
            for one in journal.generations
        ],
    }


def _show(journal: Journal) -> None:
    from posewright.cli.console import out
    from posewright.cli.tune_tables import figures_line, say, values_table

    plan, best = journal.plan, _best(journal)
    say(plan.fingerprint)
    say(f"seed {plan.seed}, population {plan.population}, {len(journal.attempts)} evaluations")
    if best is not None:
        facts = best.evaluation.facts
        told = f" ({figures_line(facts)})" if "max_joint_speed_ratio" in facts else ""
        say(f"best {best.score:.6g} in generation {best.generation}{told}")
        out.print(values_table(plan.dimensions, best.values))
    if journal.attempts:
        out.print(_course_table(_thinned(journal.generations)))
    for reason, count in _refused(journal).most_common():
        say(f"{count} not judged: {reason}")


def _thinned(generations: tuple[Generation, ...]) -> list[Generation]:
    last = len(generations) - 1
    if last < MOST_ROWS:
        return list(generations)
    rows = sorted({round(row * last / (MOST_ROWS - 1)) for row in range(MOST_ROWS)})
    return [generations[row] for row in rows]


def _course_table(generations: list[Generation]) -> Table:
    from posewright.cli.tune_tables import table_of

    table = table_of(("generation", "best so far", "its best", "its median", "spread", "judged"), words=())
    for one in generations:
        scores = (one.best_so_far, one.best_score, one.median_score)
        told = [f"{score:.4f}" if math.isfinite(score) else "-" for score in scores]
        table.add_row(str(one.number), *told, f"{one.spread:.3f}", str(one.judged))
    return table
