"""Reports of tunings, their results and journals: plain data for programs, lines and tables for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright import search
from posewright.controllers import PageGait
from posewright.display import Lines, Table, table
from posewright.documents.plain import PlainMapping
from posewright.runs.tuning.robustness import HeldOutWalk
from posewright.runs.tuning.search import TunedGait
from posewright.runs.tuning.task import GaitTask, TunableGait

FIGURES: Mapping[str, tuple[str, str]] = {
    "speed_m_s": ("speed along the command", "{:.3f} m/s"),
    "following_error": ("worst error of what is commanded", "{:.0%}"),
    "max_joint_speed_ratio": ("fastest joint / the card's", "{:.3f}"),
    "max_tilt_deg": ("greatest tilt", "{:.1f} deg"),
    "slip_per_m": ("slip per metre", "{:.2f} m"),
    "falls": ("walks with a fall", "{:.0f}"),
}
"""Facts of a candidate by name: each with its label and its number format."""

BOUND_TOLERANCE = 0.01
"""A value is at a bound if it is nearer than this share of the range."""

MAX_GENERATION_ROWS = 16
"""A table shows at most so many generations, evenly spaced."""

NO_REASON = "no reason was noted"


def figures_line(facts: Mapping[str, search.Fact]) -> str:
    """Return the most important figures of a candidate as one line."""
    formats = {
        "speed_m_s": "{:.3f} m/s",
        "max_joint_speed_ratio": "joints {:.2f}",
        "max_tilt_deg": "tilt {:.1f} deg",
    }
    parts = [text.format(facts[name]) for name, text in formats.items() if name in facts]
    falls = facts.get("falls", 0)
    parts.append(f"{falls} of {facts.get('walks')} walks with a fall" if falls else "no fall")
    return ", ".join(parts)


def describe_task(task: GaitTask) -> dict[str, object]:
    """Return the summary of a tuning as plain data."""
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
    """Return a table with one row for each summary from `describe_task`."""
    keys = ("tune", "robot", "gait", "parameters", "walks", "bodies", "generations", "description")
    columns = ("tuning", "robot", "from gait", "numbers", "walks", "bodies", "generations", "looks for")
    rows = ([task[key] for key in keys] for task in tasks)
    return table(columns, rows, text_columns=("tuning", "robot", "from gait", "looks for"))


def tuned_data(
    tuned_gait: TunedGait, seed: int, journal: Path, output: Path | None, wall_s: float
) -> dict[str, object]:
    """Return the result of a tuning as plain data, fit for JSON."""
    task = tuned_gait.task
    result = tuned_gait.result
    unlocked_evaluation = tuned_gait.unlocked
    return {
        "tune": task.name,
        "robot": task.robot.name,
        "gait": task.gait.name,
        "seed": seed,
        "generations": len(result.generations) - 1,
        "evaluations": result.evaluations,
        "ending": result.ending.value,
        "start_score": _finite_or_none(result.generations[0].best_score),
        "score": _finite_or_none(result.score),
        "best": tuned_gait.values,
        "figures": _plain_facts(result.facts),
        # the evaluation with no joint locked
        "whole": {
            "score": _finite_or_none(unlocked_evaluation.score),
            **_plain_facts(unlocked_evaluation.facts),
        },
        "held_out": [
            {"candidate": _candidate_name(held_out_walk, tuned_gait), **held_out_walk.to_dict()}
            for held_out_walk in tuned_gait.held_out_walks
        ],
        "fingerprint": task.fingerprint,
        "journal": str(journal),
        "output": None if output is None or tuned_gait.gait is None else str(output),
        "wall_s": wall_s,
    }


def _plain_facts(facts: Mapping[str, search.Fact]) -> dict[str, object]:
    """Return the facts of an evaluation, fit for JSON: numbers that are not finite become null."""
    return {name: _finite_or_none(fact) if isinstance(fact, float) else fact for name, fact in facts.items()}


def _finite_or_none(number: float) -> float | None:
    """Return the number, or None if it is infinite or not a number."""
    return number if math.isfinite(number) else None


def tuned_lines(tuned_gait: TunedGait, journal: Path, output: Path | None) -> Lines:
    """Yield the report of a tuning: values, figures, the course of the search, and its files."""
    task = tuned_gait.task
    result = tuned_gait.result
    if tuned_gait.gait is None:
        reason = result.facts.get(search.REASON, "no reason")
        yield f"none of {result.evaluations} candidates could be judged: {reason}"
        yield f"posewright tune --report {journal} counts the reasons"
        return
    yield values_table(task.dimensions, tuned_gait.values)
    yield _figures_table(tuned_gait)
    if tuned_gait.held_out_walks:
        yield _held_out_table(tuned_gait)
    generations = len(result.generations) - 1
    start_score = result.generations[0].best_score
    start_text = f"{start_score:.4f}" if math.isfinite(start_score) else "no score"
    yield (
        f"{result.ending.value} after {generations} generations, {result.evaluations} evaluations: "
        f"score {result.score:.4f}, {start_text} at the start"
    )
    yield f"the search: {journal}"
    if output is not None:
        yield f"the gait: {output}; measure it with {_measuring_command(tuned_gait.gait, output)}"
    else:
        yield f"to write the gait: --resume --generations {generations} -o my.gait.yaml"


def values_table(dimensions: Sequence[search.Dimension], values: Mapping[str, float]) -> Table:
    """Return a table of start, best value and bounds of each number; values at a bound are marked."""
    rows = []
    for dimension in dimensions:
        value = values[dimension.name]
        distance_to_bound = min(value - dimension.low, dimension.high - value)
        is_at_bound = not dimension.is_whole and distance_to_bound < BOUND_TOLERANCE * dimension.width
        numbers = (dimension.start, value, dimension.low, dimension.high)
        cells = [f"{number:.5g}" for number in numbers]
        rows.append((dimension.name, *cells, "at the bound" if is_at_bound else ""))
    return table(("number", "start", "best", "from", "to", ""), rows, text_columns=("number", ""))


def _measuring_command(gait: TunableGait, path: Path) -> str:
    """Return the command that measures a gait in a file."""
    if isinstance(gait, PageGait):
        return f"posewright motion walk {path} --page {gait.first_page}"
    return f"posewright gait run {path} --forward ..."


def _figures_table(tuned_gait: TunedGait) -> Table:
    """Return the figures of the best candidate, in the search and, if joints were locked, without that."""
    columns = {"in the search": tuned_gait.result.facts}
    if tuned_gait.task.locked_joints:
        columns["no joint held still"] = tuned_gait.unlocked.facts
    rows = []
    for name, (label, number_format) in FIGURES.items():
        if name in tuned_gait.result.facts:
            cells = [
                number_format.format(facts[name]) if name in facts else "-" for facts in columns.values()
            ]
            rows.append((label, *cells))
    return table(("figure", *columns), rows, text_columns=("figure",))


def _held_out_table(tuned_gait: TunedGait) -> Table:
    """Return a table of the walks on bodies that no candidate walked on: one row for each walk and gait."""
    rows = []
    for held_out_walk in tuned_gait.held_out_walks:
        data = held_out_walk.to_dict()
        command = ", ".join(
            f"{name} {value:.3g}" for name, value in held_out_walk.command.by_name.items() if value
        )
        rows.append(
            (
                _candidate_name(held_out_walk, tuned_gait),
                command or "on the spot",
                f"{data['fallen']} of {data['bodies']}",
                _number_or_dash(data["mean_speed_m_s"], "{:.3f}"),
                _number_or_dash(data["min_speed_m_s"], "{:.3f}"),
                _number_or_dash(data["mean_heading_drift_deg"], "{:.1f}"),
                _number_or_dash(data["max_heading_drift_deg"], "{:.1f}"),
            )
        )
    columns = ("other bodies", "command", "fell", "mean m/s", "least m/s", "mean deg off", "most deg off")
    return table(columns, rows, text_columns=("other bodies", "command"))


def _candidate_name(held_out_walk: HeldOutWalk, tuned_gait: TunedGait) -> str:
    """Return which gait walked: `best`, or `start`, which may have the same name."""
    return "best" if held_out_walk.gait is tuned_gait.gait else "start"


def _number_or_dash(number: float | None, number_format: str) -> str:
    return "-" if number is None else number_format.format(number)


def _best_attempt(journal: search.Journal) -> search.Attempt | None:
    """Return the first attempt with the smallest score; None if none could be judged."""
    judged = [attempt for attempt in journal.attempts if attempt.evaluation.is_judged]
    return min(judged, key=lambda attempt: attempt.score, default=None)


def _count_failure_reasons(journal: search.Journal) -> Counter[str]:
    """Count why candidates could not be judged; `..` replaces the words with digits in a reason."""
    counts: Counter[str] = Counter()
    for attempt in journal.attempts:
        evaluation = attempt.evaluation
        if evaluation.is_judged:
            continue
        reason = str(evaluation.facts.get(search.REASON, NO_REASON))
        words = [".." if any(map(str.isdigit, word)) else word for word in reason.split()]
        counts[" ".join(words)] += 1  # reasons that differ in their numbers only are counted together
    return counts


def journal_data(journal: search.Journal) -> dict[str, object]:
    """Return a journal fit for JSON: the best attempt, the generations, and why candidates failed."""
    plan = journal.plan
    best = _best_attempt(journal)
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
        "figures": None if best is None else _plain_facts(best.evaluation.facts),
        "refused": dict(_count_failure_reasons(journal).most_common()),
        "generations": [
            {
                "number": generation.number,
                "best_score": _finite_or_none(generation.best_score),
                "median_score": _finite_or_none(generation.median_score),
                "best_so_far": _finite_or_none(generation.best_so_far),
                "spread": generation.spread,
                "judged": generation.judged,
            }
            for generation in journal.generations
        ],
    }


def journal_lines(journal: search.Journal) -> Lines:
    """Yield the report of a journal for people: the data of `journal_data` as lines and tables."""
    plan = journal.plan
    best = _best_attempt(journal)
    yield plan.fingerprint
    yield f"seed {plan.seed}, population {plan.population}, {len(journal.attempts)} evaluations"
    if best is not None:
        facts = best.evaluation.facts
        figures = f" ({figures_line(facts)})" if "max_joint_speed_ratio" in facts else ""
        yield f"best {best.score:.6g} in generation {best.generation}{figures}"
        yield values_table(plan.dimensions, best.values)
    if journal.attempts:
        yield _generations_table(journal.generations)
    for reason, count in _count_failure_reasons(journal).most_common():
        yield f"{count} not judged: {reason}"


def _generations_table(generations: Sequence[search.Generation]) -> Table:
    """Return a table of the generations.

    Of more than `MAX_GENERATION_ROWS` it has an evenly spaced selection with the first and the last.
    """
    selected_indices: Sequence[int] = range(len(generations))
    if len(generations) > MAX_GENERATION_ROWS:
        last_index = len(generations) - 1
        last_row = MAX_GENERATION_ROWS - 1
        selected_indices = [round(row * last_index / last_row) for row in range(MAX_GENERATION_ROWS)]
    rows = []
    for index in selected_indices:
        generation = generations[index]
        scores = (generation.best_so_far, generation.best_score, generation.median_score)
        cells = [f"{score:.4f}" if math.isfinite(score) else "-" for score in scores]
        rows.append((generation.number, *cells, f"{generation.spread:.3f}", generation.judged))
    columns = ("generation", "best so far", "its best", "its median", "spread", "judged")
    return table(columns, rows, text_columns=())
