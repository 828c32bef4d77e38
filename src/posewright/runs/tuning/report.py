"""Tunings, what a search found, and its journal: plain values for programs, lines and tables for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright import search
from posewright.display import Lines, Table, table
from posewright.documents.plain import PlainMapping
from posewright.runs.tuning.search import TunedGait
from posewright.runs.tuning.task import GaitTask

FIGURES: Mapping[str, tuple[str, str]] = {
    "speed_m_s": ("speed along the command", "{:.3f} m/s"),
    "following_error": ("worst error of what is commanded", "{:.0%}"),
    "max_joint_speed_ratio": ("fastest joint / the card's", "{:.3f}"),
    "max_tilt_deg": ("greatest tilt", "{:.1f} deg"),
    "slip_per_m": ("slip per metre", "{:.2f} m"),
    "falls": ("walks with a fall", "{:.0f}"),
}
"""Facts of a candidate, with people's words and how they read."""

AT_BOUND = 0.01  # nearer to a bound than this share of the range is at the bound
MOST_ROWS = 16  # so many generations are shown, evenly spaced; more of them say no more
NO_REASON = "no reason was noted"


def figures_line(facts: Mapping[str, search.Fact]) -> str:
    """Return the figures that tell most of a candidate."""
    short = {
        "speed_m_s": "{:.3f} m/s",
        "max_joint_speed_ratio": "joints {:.2f}",
        "max_tilt_deg": "tilt {:.1f} deg",
    }
    told = [text.format(facts[name]) for name, text in short.items() if name in facts]
    falls = facts.get("falls", 0)
    return ", ".join([*told, f"{falls} of {facts.get('walks')} walks with a fall" if falls else "no fall"])


def describe_task(task: GaitTask) -> dict[str, object]:
    """Return what a list says of a tuning."""
    return {
        "tune": task.name,
        "robot": task.robot.name,
        "gait": task.gait.name,
        "description": task.description,
        "parameters": len(task.dimensions),
        "walks": len(task.walks),
        "bodies": len(task.bodies.variations),
        "generations": task.search.generations,
    }


def task_table(tasks: Sequence[PlainMapping]) -> Table:
    """Return one row a tuning."""
    keys = ("tune", "robot", "gait", "parameters", "walks", "bodies", "generations", "description")
    columns = ("tuning", "robot", "from gait", "numbers", "walks", "bodies", "generations", "looks for")
    rows = ([task[key] for key in keys] for task in tasks)
    return table(columns, rows, text_columns=("tuning", "robot", "from gait", "looks for"))


def tuned_data(
    found: TunedGait, seed: int, journal: Path, output: Path | None, wall_s: float
) -> dict[str, object]:
    """Return what was found as plain data, fit for JSON."""
    tuned = found.tuned
    task = found.task
    return {
        "tune": task.name,
        "robot": task.robot.name,
        "gait": task.gait.name,
        "seed": seed,
        "generations": len(tuned.generations) - 1,
        "evaluations": tuned.evaluations,
        "ending": tuned.ending.value,
        "start_score": _finite(tuned.generations[0].best_score),
        "score": _finite(tuned.score),
        "best": found.values,
        "figures": _plain(tuned.facts),
        "whole": {"score": _finite(found.whole.score), **_plain(found.whole.facts)},
        "fingerprint": task.fingerprint,
        "journal": str(journal),
        "output": None if output is None or found.gait is None else str(output),
        "wall_s": wall_s,
    }


def _plain(facts: Mapping[str, search.Fact]) -> dict[str, object]:
    """Return facts fit for JSON: null where a number is none."""
    return {name: _finite(fact) if isinstance(fact, float) else fact for name, fact in facts.items()}


def _finite(number: float) -> float | None:
    """Return the number, or None where it is infinite or none."""
    return number if math.isfinite(number) else None


def tuned_lines(found: TunedGait, journal: Path, output: Path | None) -> Lines:
    """Yield what was found: the numbers, the figures, and where it stands now."""
    tuned = found.tuned
    task = found.task
    if found.gait is None:
        reason = tuned.facts.get(search.REASON, "no reason")
        yield f"none of {tuned.evaluations} candidates could be judged: {reason}"
        yield f"posewright tune --report {journal} counts the reasons"
        return
    yield values_table(task.dimensions, found.values)
    yield _figures_table(found)
    generations = len(tuned.generations) - 1
    start = tuned.generations[0].best_score
    began = f"{start:.4f}" if math.isfinite(start) else "no score"
    yield (
        f"{tuned.ending.value} after {generations} generations, {tuned.evaluations} evaluations: "
        f"score {tuned.score:.4f}, {began} at the start"
    )
    yield f"the search: {journal}"
    if output is not None:
        yield f"the gait: {output}; measure it with posewright gait run {output} --forward ..."
    else:
        yield f"to have the gait: --resume --generations {generations} -o my.gait.yaml"


def values_table(dimensions: Sequence[search.Dimension], values: Mapping[str, float]) -> Table:
    """Return where each number began, where it ended, and between which bounds; one at a bound is marked."""
    rows = []
    for one in dimensions:
        value = values[one.name]
        nearest = min(value - one.low, one.high - value)
        is_at_bound = not one.is_whole and nearest < AT_BOUND * one.width
        numbers = [f"{number:.5g}" for number in (one.start, value, one.low, one.high)]
        rows.append((one.name, *numbers, "at the bound" if is_at_bound else ""))
    return table(("number", "start", "best", "from", "to", ""), rows, text_columns=("number", ""))


def _figures_table(found: TunedGait) -> Table:
    sides = {"in the search": found.tuned.facts}
    if found.task.held:
        sides["no joint held still"] = found.whole.facts
    rows = (
        (words, *(text.format(facts[name]) if name in facts else "-" for facts in sides.values()))
        for name, (words, text) in FIGURES.items()
        if name in found.tuned.facts
    )
    return table(("figure", *sides), rows, text_columns=("figure",))


def _best(journal: search.Journal) -> search.Attempt | None:
    """Return the best attempt that could be judged, the first one where several are as good."""
    judged = [attempt for attempt in journal.attempts if attempt.evaluation.is_judged]
    return min(judged, key=lambda attempt: attempt.score, default=None)


def _refused(journal: search.Journal) -> Counter[str]:
    """Return why candidates could not be judged, with dots for numbers, and how many there are of each."""
    facts = (one.evaluation.facts for one in journal.attempts if not one.evaluation.is_judged)
    words = (str(told.get(search.REASON, NO_REASON)).split() for told in facts)
    return Counter(" ".join(".." if any(map(str.isdigit, word)) else word for word in told) for told in words)


def journal_data(journal: search.Journal) -> dict[str, object]:
    """Return a journal fit for JSON: the best so far, the course, and why candidates were refused."""
    plan = journal.plan
    best = _best(journal)
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
        "figures": None if best is None else _plain(best.evaluation.facts),
        "refused": dict(_refused(journal).most_common()),
        "generations": [
            {
                "number": one.number,
                "best_score": _finite(one.best_score),
                "median_score": _finite(one.median_score),
                "best_so_far": _finite(one.best_so_far),
                "spread": one.spread,
                "judged": one.judged,
            }
            for one in journal.generations
        ],
    }


def journal_lines(journal: search.Journal) -> Lines:
    """Yield the same for people."""
    plan = journal.plan
    best = _best(journal)
    yield plan.fingerprint
    yield f"seed {plan.seed}, population {plan.population}, {len(journal.attempts)} evaluations"
    if best is not None:
        facts = best.evaluation.facts
        told = f" ({figures_line(facts)})" if "max_joint_speed_ratio" in facts else ""
        yield f"best {best.score:.6g} in generation {best.generation}{told}"
        yield values_table(plan.dimensions, best.values)
    if journal.attempts:
        yield _course_table(journal.generations)
    for reason, count in _refused(journal).most_common():
        yield f"{count} not judged: {reason}"


def _course_table(generations: Sequence[search.Generation]) -> Table:
    last = len(generations) - 1
    shown: Sequence[int] = range(last + 1)
    if last >= MOST_ROWS:
        shown = sorted({round(row * last / (MOST_ROWS - 1)) for row in range(MOST_ROWS)})
    rows = []
    for one in (generations[row] for row in shown):
        scores = (one.best_so_far, one.best_score, one.median_score)
        told = [f"{score:.4f}" if math.isfinite(score) else "-" for score in scores]
        rows.append((one.number, *told, f"{one.spread:.3f}", one.judged))
    columns = ("generation", "best so far", "its best", "its median", "spread", "judged")
    return table(columns, rows, text_columns=())
