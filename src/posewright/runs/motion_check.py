"""`check_motion_file`: checks a motion file by the design rules and, on request, in a simulation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.display import LEVEL_STYLES, Lines, Styled, build_line, format_count, style_level
from posewright.evaluation import MotionResult, finding_data, physics_table
from posewright.formats import MotionFile, PageReference
from posewright.hazards import check_motion
from posewright.motions import Finding, Level, Motion
from posewright.motions.rule_sets import HARDWARE
from posewright.recordings import write_mcap
from posewright.runs.motion import try_motion

MAX_LISTED_FINDINGS = 12
"""Up to so many findings are listed; of more only the worst, or their counts."""


@dataclass(frozen=True)
class CheckOptions:
    """Options of a check.

    Attributes:
        rules: name or path of the design rules.
        near_pose: pose near which each motion must begin and end; replaces that of the rules.
        celebration: whether motions may be longer than the rules allow.
        physics: whether each motion is also played in a simulation.
        attitude: roll and pitch of the base at the start of the simulation [rad]; None for the motion's own.
        friction: the friction of the floor; None for that of the model.
    """

    rules: str = HARDWARE
    near_pose: str | None = None
    celebration: bool = False
    physics: bool = False
    attitude: tuple[float, float] | None = None
    friction: float | None = None


@dataclass(frozen=True)
class CheckedPage:
    """The findings about one motion of a file.

    Attributes:
        number: the number of its page.
        motion: its name.
        findings: the findings by the design rules.
        simulation_result: result of the simulation; None without one.
    """

    number: int
    motion: str
    findings: tuple[Finding, ...]
    simulation_result: MotionResult | None = None

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings by the rules, followed by those of the simulation."""
        return (
            self.findings
            if self.simulation_result is None
            else (*self.findings, *self.simulation_result.findings)
        )


@dataclass(frozen=True)
class MotionCheck:
    """The findings about a motion file, by page.

    Attributes:
        file: the file.
        rules_name: name or path of the design rules.
        pages: the checked pages; some may also have been simulated.
    """

    file: MotionFile
    rules_name: str
    pages: tuple[CheckedPage, ...]

    def count(self, level: Level) -> int:
        """Return the number of findings with this level."""
        return sum(finding.level is level for page in self.pages for finding in page.all_findings)

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        """All findings with the names of their motions: by the rules first, then by the simulation."""
        by_rules = [(page.motion, finding) for page in self.pages for finding in page.findings]
        return by_rules + [
            (result.played_motion.name, finding)
            for _, result in self.simulation_results
            for finding in result.findings
        ]

    @property
    def simulation_results(self) -> list[tuple[int, MotionResult]]:
        """The page number and the result of each simulated motion."""
        return [
            (page.number, page.simulation_result) for page in self.pages if page.simulation_result is not None
        ]

    def to_dict(self) -> dict[str, object]:
        """Return plain data, fit for JSON; it has a key `physics` if motions were simulated.

        Its findings are those of all pages by the design rules, followed by those of the simulations.
        """
        findings = [
            {"page": page.number, "motion": page.motion, **_rule_finding_data(finding)}
            for page in self.pages
            for finding in page.findings
        ]
        findings += [
            {"page": number, "motion": result.played_motion.name, **finding_data(finding)}
            for number, result in self.simulation_results
            for finding in result.findings
        ]
        data: dict[str, object] = {
            "file": str(self.file.path),
            "format": self.file.format,
            "assumed": self.file.assumed_robot,
            "rules": self.rules_name,
            "motions": len(self.pages),
            "checked": [{"page": page.number, "motion": page.motion} for page in self.pages],
            "errors": self.count(Level.ERROR),
            "warnings": self.count(Level.WARNING),
            "findings": findings,
        }
        if self.simulation_results:
            data["physics"] = [_physics_data(number, result) for number, result in self.simulation_results]
        return data

    def lines(self, *, verbose: bool = False) -> Lines:
        """Yield the report for people: findings, a line for each of several motions, counts, and figures.

        Args:
            verbose: whether all findings are listed.
        """
        yield from self.finding_lines(verbose=verbose)
        if (
            len(self.simulation_results) > 1
        ):  # one row each, as the figures of several motions would take too many lines
            yield physics_table((number, result.figures()) for number, result in self.simulation_results)
        else:
            for _, result in self.simulation_results:
                yield from result.number_lines()

    def finding_lines(self, *, verbose: bool = False) -> Lines:
        """Yield the report without the figures of the simulation."""
        findings = self.findings
        has_many = len(self.pages) > 1
        listed = findings
        if len(findings) > MAX_LISTED_FINDINGS and not verbose:
            listed = [] if has_many else _worst_findings(findings)
        for motion, finding in listed:
            owner = f"{motion}: " if has_many else ""
            yield build_line(
                style_level(finding.level.value, width=7), f" {finding.rule:<8} {owner}{finding.message}"
            )
        if has_many:
            yield from self._motion_lines()
        motions = f"{len(self.pages)} motions: " if has_many else ""
        hint = f" (-v shows all {len(findings)})" if len(listed) < len(findings) else ""
        errors = format_count(self.count(Level.ERROR), "error")
        yield f"{motions}{errors}, {format_count(self.count(Level.WARNING), 'warning')}{hint}"

    def _motion_lines(self) -> Lines:
        """Yield a line for each motion: the numbers of its findings, and the rules that they concern."""
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
    recording_path: Callable[[int], Path] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> MotionCheck:
    """Check a motion file by the design rules and, if requested, in a simulation.

    Args:
        file: the file to be checked.
        page: the only motion to check; None for all.
        options: the options of the check.
        recording_path: returns the path of the recording of a page by its number; None for no recordings.
        on_progress: called with the name of each motion before it is simulated.

    Raises:
        OutputError: a recording cannot be written.
    """
    options = options or CheckOptions()
    pages = pages_of(file, page)
    # all checks by the rules precede the first simulation, so that an error in the options ends them early
    findings_by_page = [
        check_motion(
            motion, near_pose=options.near_pose, celebration=options.celebration, rules=options.rules
        )
        for _, motion in pages
    ]
    checked_pages = []
    for (number, motion), findings in zip(pages, findings_by_page, strict=True):
        simulation_result = None
        if options.physics:
            if on_progress is not None:
                on_progress(motion.name)
            simulation_result = try_motion(motion, attitude=options.attitude, friction=options.friction)
            if recording_path is not None:
                write_mcap(simulation_result.recording, recording_path(number))
        checked_pages.append(CheckedPage(number, motion.name, tuple(findings), simulation_result))
    return MotionCheck(file, options.rules, tuple(checked_pages))


def pages_of(file: MotionFile, page: PageReference | None = None) -> list[tuple[int, Motion]]:
    """Return the motions of a file, or only that of a page, with their page numbers."""
    page_number = None if page is None else file.page_number(page)
    motions = zip((label.number for label in file.pages), file.motions, strict=True)
    return [(number, motion) for number, motion in motions if page_number in (None, number)]


def _worst_findings(findings: Sequence[tuple[str, Finding]]) -> list[tuple[str, Finding]]:
    """Return the first, and thus worst, finding of each level and rule, with its motion's name.

    They are in the order of the last finding of their level and rule.
    """
    # in reverse order, an earlier finding replaces a later one, but keeps its place in the dict
    first = {(finding.level, finding.rule): (motion, finding) for motion, finding in reversed(findings)}
    return list(reversed(first.values()))


def _rule_finding_data(finding: Finding) -> dict[str, object]:
    """Return a finding by the design rules as plain data."""
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
    """Return the figures of a simulated motion without its findings, as plain data."""
    figures = {name: value for name, value in result.figures().items() if name != "findings"}
    return {"page": number, **figures}
