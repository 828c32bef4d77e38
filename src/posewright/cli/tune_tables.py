"""What `posewright tune` shows of tunings and of what they found, to people and to programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from posewright.cli import console

if TYPE_CHECKING:
    from posewright.experiments.tuning.search import TunedGait
    from posewright.experiments.tuning.task import GaitTask
    from posewright.search import Dimension, Evaluation, Fact

FIGURES: Mapping[str, tuple[str, str]] = {
    "speed_m_s": ("speed along the command", "{:.3f} m/s"),
    "following_error": ("worst error of what is commanded", "{:.0%}"),
    "max_joint_speed_ratio": ("fastest joint / the card's", "{:.3f}"),
    "max_tilt_deg": ("greatest tilt", "{:.1f} deg"),
    "slip_per_m": ("slip per metre", "{:.2f} m"),
    "falls": ("walks with a fall", "{:.0f}"),
}
"""Facts of a candidate, with people's words and how they read."""

AT_BOUND = 0.01
"""Nearer to a bound than this share of the range is at the bound."""


def figures_line(facts: Mapping[str, Fact]) -> str:
    """Return the figures that tell most of a candidate."""
    short = {
        "speed_m_s": "{:.3f} m/s",
        "max_joint_speed_ratio": "joints {:.2f}",
        "max_tilt_deg": "tilt {:.1f} deg",
    }
    told = [text.format(facts[name]) for name, text in short.items() if name in facts]
    falls = facts.get("falls", 0)
    return ", ".join([*told, f"{falls} of {facts.get('walks')} walks with a fall" if falls else "no fall"])


def describe(task: GaitTask) -> dict[str, Any]:
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


def list_table(told: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row a tuning."""
    columns = ("tuning", "robot", "from gait", "numbers", "walks", "bodies", "generations", "looks for")
    table = table_of(columns, words=("tuning", "robot", "from gait", "looks for"))
    for one in told:
        numbers = (one["parameters"], one["walks"], one["bodies"], one["generations"])
        names = (Text(one[key]) for key in ("tune", "robot", "gait"))
        table.add_row(*names, *map(str, numbers), Text(one["description"]))
    return table


def result_data(
    found: TunedGait, seed: int, journal: Path, output: Path | None, wall_s: float
) -> dict[str, Any]:
    """Return what was found as plain data, fit for JSON."""
    tuned, task = found.tuned, found.task
    return {
        "tune": task.name,
        "robot": task.robot.name,
        "gait": task.gait.name,
        "seed": seed,
        "generations": len(tuned.generations) - 1,
        "evaluations": tuned.evaluations,
        "ending": tuned.ending.value,
        "start_score": finite(tuned.generations[0].best_score),
        "score": finite(tuned.score),
        "best": found.values,
        "figures": plain_facts(tuned.facts),
        "whole": {"score": finite(found.whole.score), **plain_facts(found.whole.facts)},
        "fingerprint": task.fingerprint,
        "journal": str(journal),
        "output": None if output is None or found.gait is None else str(output),
        "wall_s": wall_s,
    }


def plain_facts(facts: Mapping[str, Fact]) -> dict[str, Any]:
    """Return facts fit for JSON: null where a number is none."""
    return {name: finite(fact) if isinstance(fact, float) else fact for name, fact in facts.items()}


def finite(number: float) -> float | None:
    """Return the number, or None where it is infinite or none."""
    return number if math.isfinite(number) else None


def show_result(found: TunedGait, journal: Path, output: Path | None) -> None:
    """Print what was found: the numbers, the figures, and where it stands now."""
    from posewright.search import REASON

    tuned, task = found.tuned, found.task
    if found.gait is None:
        say(f"none of {tuned.evaluations} candidates could be judged: {tuned.facts.get(REASON, 'no reason')}")
        say(f"posewright tune --report {journal} counts the reasons")
        return
    console.out.print(values_table(task.dimensions, found.values))
    console.out.print(_figures_table(found))
    generations = len(tuned.generations) - 1
    start = tuned.generations[0].best_score
    began = f"{start:.4f}" if math.isfinite(start) else "no score"
    say(
        f"{tuned.ending.value} after {generations} generations, {tuned.evaluations} evaluations: "
        f"score {tuned.score:.4f}, {began} at the start"
    )
    if tuned.facts.get("falls"):
        console.warn("the best candidate falls; search longer, or look at what is asked of it")
    say(f"the search: {journal}")
    if output is not None:
        say(f"the gait: {output}; measure it with posewright gait run {output} --forward ...")
    else:
        say(f"to have the gait: --resume --generations {generations} -o my.gait.yaml")


def values_table(dimensions: Sequence[Dimension], values: Mapping[str, float]) -> Table:
    """Return where each number began, where it ended, and between which bounds; one at a bound is marked."""
    table = table_of(("number", "start", "best", "from", "to", ""), words=("number", ""))
    for one in dimensions:
        value = values[one.name]
        nearest = min(value - one.low, one.high - value)
        is_at_bound = not one.is_whole and nearest < AT_BOUND * one.width
        numbers = [f"{number:.5g}" for number in (one.start, value, one.low, one.high)]
        table.add_row(Text(one.name), *numbers, "at the bound" if is_at_bound else "")
    return table


def _figures_table(found: TunedGait) -> Table:
    sides: list[tuple[str, Evaluation | None]] = [("in the search", None)]
    facts = [found.tuned.facts]
    if found.task.held:
        sides.append(("no joint held still", found.whole))
        facts.append(found.whole.facts)
    table = table_of(("figure", *(name for name, _ in sides)), words=("figure",))
    for name, (words, text) in FIGURES.items():
        if name in facts[0]:
            table.add_row(words, *(text.format(side[name]) if name in side else "-" for side in facts))
    return table


def table_of(columns: Sequence[str], *, words: Sequence[str]) -> Table:
    """Return an empty table; columns of words are flush left, those of numbers right."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, justify="left" if column in words else "right")
    return table


def say(line: str) -> None:
    """Print a line that is not wrapped."""
    console.out.print(Text(line), soft_wrap=True)
