"""A motion file held against the design rules, and against physics where that is wanted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.display import LEVEL_STYLES, Lines, Styled, build_line, format_count, style_level
from posewright.evaluation import MotionResult, finding_data, physics_table
from posewright.formats import MotionFile, PageReference
from posewright.motions import Finding, Level, Motion, check_motion
from posewright.motions.rule_sets import HARDWARE
from posewright.recordings import write_mcap
from posewright.runs.motion import try_motion

FEW = 12
"""So many findings are told one by one, unless all are asked for."""


@dataclass(frozen=True)
class CheckOptions:
    """What motions are held against.

    Attributes:
        rules: name or path of the design rules.
        near_pose: the pose each must begin and end near, whatever the rules.
        celebration: whether they may last longer than the rules say.
        physics: whether each is played under gravity, too.
        attitude: roll and pitch with which the robot is put down then [rad]; None for the motion's own.
        friction: of the floor; None for the model's.
    """

    rules: str = HARDWARE
    near_pose: str | None = None
    celebration: bool = False
    physics: bool = False
    attitude: tuple[float, float] | None = None
    friction: float | None = None


@dataclass(frozen=True)
class CheckedPage:
    """A motion of a file, and what was found in it.

    Attributes:
        number: of its page.
        motion: its name.
        findings: by the design rules.
        played: what became of it under gravity; None where it was not played.
    """

    number: int
    motion: str
    findings: tuple[Finding, ...]
    played: MotionResult | None = None

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Those of the rules, then those of physics."""
        return self.findings if self.played is None else (*self.findings, *self.played.findings)


@dataclass(frozen=True)
class MotionCheck:
    """What was found in a motion file."""

    file: MotionFile
    rules: str
    pages: tuple[CheckedPage, ...]

    def count(self, level: Level) -> int:
        """Return how many findings are so bad."""
        return sum(finding.level is level for page in self.pages for finding in page.all_findings)

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        """Each finding with the name of its motion: those of the rules first, then those of physics."""
        by_rules = [(page.motion, finding) for page in self.pages for finding in page.findings]
        return by_rules + [
            (result.played.name, finding) for _, result in self.played for finding in result.findings
        ]

    @property
    def played(self) -> list[tuple[int, MotionResult]]:
        """Number and result of each page that was played under gravity."""
        return [(page.number, page.played) for page in self.pages if page.played is not None]

    def to_dict(self) -> dict[str, object]:
        """Return all of it, fit for JSON; `physics` is there where motions were played."""
        findings = [
            {"page": page.number, "motion": page.motion, **_rule_finding_data(finding)}
            for page in self.pages
            for finding in page.findings
        ]
        findings += [
            {"page": number, "motion": result.played.name, **finding_data(finding)}
            for number, result in self.played
            for finding in result.findings
        ]
        data: dict[str, object] = {
            "file": str(self.file.path),
            "format": self.file.format,
            "assumed": self.file.assumed,
            "rules": self.rules,
            "motions": len(self.pages),
            "checked": [{"page": page.number, "motion": page.motion} for page in self.pages],
            "errors": self.count(Level.ERROR),
            "warnings": self.count(Level.WARNING),
            "findings": findings,
        }
        if self.played:
            data["physics"] = [_physics_data(number, result) for number, result in self.played]
        return data

    def lines(self, *, verbose: bool = False) -> Lines:
        """Yield the findings where they are few or all are asked for, a line a motion, and the counts.

        What physics measured follows: of one motion all numbers, of several a table.
        """
        yield from self.finding_lines(verbose=verbose)
        if len(self.played) > 1:
            yield physics_table((number, result.figures()) for number, result in self.played)
        else:
            for _, result in self.played:
                yield from result.number_lines()

    def finding_lines(self, *, verbose: bool = False) -> Lines:
        """Yield the findings, as `lines` does, without the numbers of physics."""
        findings = self.findings
        has_many = len(self.pages) > 1
        listed = findings
        if len(findings) > FEW and not verbose:
            listed = [] if has_many else _worst(findings)
        for motion, finding in listed:
            owner = f"{motion}: " if has_many else ""
            yield build_line(
                style_level(finding.level.value, 7), f" {finding.rule:<8} {owner}{finding.message}"
            )
        if has_many:
            yield from self._motion_lines()
        motions = f"{len(self.pages)} motions: " if has_many else ""
        more = f" (-v shows all {len(findings)})" if len(listed) < len(findings) else ""
        errors = format_count(self.count(Level.ERROR), "error")
        yield f"{motions}{errors}, {format_count(self.count(Level.WARNING), 'warning')}{more}"

    def _motion_lines(self) -> Lines:
        """Yield a line a motion: what was found in it, and by which rules."""
        width = max(len(page.motion) for page in self.pages)
        for page in self.pages:
            levels = Counter(finding.level.value for finding in page.all_findings)
            rules = ", ".join(dict.fromkeys(finding.rule for finding in page.all_findings))
            counts = ", ".join(format_count(number, level) for level, number in levels.items())
            worst = next((level for level in LEVEL_STYLES if levels[level]), "ok")
            summary = Styled(f"{counts}: {rules}" if levels else "ok", LEVEL_STYLES[worst])
            yield build_line(f"{page.motion:<{width}}  ", summary)


def check_motion_file(
    file: MotionFile,
    page: PageReference | None = None,
    options: CheckOptions | None = None,
    *,
    record: Callable[[int], Path] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> MotionCheck:
    """Return what the design rules, and physics where it is asked for, find in a motion file.

    Args:
        file: the file.
        page: the motion that is checked; None for all.
        options: what it is held against.
        record: gives the path of the recording of a page by its number; None for no recordings.
        on_progress: is told the name of each motion that is played.

    Raises:
        OutputError: a recording cannot be written.
    """
    options = options or CheckOptions()
    pages = []
    for number, motion in pages_of(file, page):
        findings = check_motion(
            motion, near_pose=options.near_pose, celebration=options.celebration, rules=options.rules
        )
        pages.append((number, motion, tuple(findings)))
    checked = []
    for number, motion, findings in pages:
        played = None
        if options.physics:
            if on_progress is not None:
                on_progress(motion.name)
            played = try_motion(motion, attitude=options.attitude, friction=options.friction)
            if record is not None:
                write_mcap(played.recording, record(number))
        checked.append(CheckedPage(number, motion.name, findings, played))
    return MotionCheck(file, options.rules, tuple(checked))


def pages_of(file: MotionFile, page: PageReference | None = None) -> list[tuple[int, Motion]]:
    """Return the motions of a file with the numbers of their pages; of one page that alone."""
    wanted = None if page is None else file.page_number(page)
    numbered = zip((label.number for label in file.pages), file.motions, strict=True)
    return [(number, motion) for number, motion in numbered if wanted in (None, number)]


def _worst(findings: Sequence[tuple[str, Finding]]) -> list[tuple[str, Finding]]:
    """Return the first finding of each level and rule, which is the worst."""
    first = {(finding.level, finding.rule): (motion, finding) for motion, finding in reversed(findings)}
    return list(first.values())[::-1]


def _rule_finding_data(finding: Finding) -> dict[str, object]:
    value = finding.value
    return {
        "level": finding.level.value,
        "rule": finding.rule,
        "message": finding.message,
        "keyframe": finding.keyframe,
        "joint": finding.joint,
        "value": value if value is not None and math.isfinite(value) else None,
        "limit": finding.limit,
        "unit": finding.unit,
    }


def _physics_data(number: int, result: MotionResult) -> dict[str, object]:
    """Return the numbers of a page that was played; its findings stand with the others."""
    figures = {name: value for name, value in result.figures().items() if name != "findings"}
    return {"page": number, **figures}
