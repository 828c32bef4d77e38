"""However a recording is forged, who reads, judges, measures or draws it gets that or one of our errors."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.house.recording_mutation import forge

import posewright as pw
from posewright.contests import contest_of, has_contest, judge
from posewright.errors import PosewrightError
from posewright.evaluation import evaluate
from posewright.recordings import Decisions, Recording, mcap_bytes, read_mcap
from posewright.recordings.container_reader import Contents, unpack


def use(path: Path, *, draw: bool = False) -> None:
    """Read a recording, then judge, evaluate, replay and draw it, ignoring errors of these steps."""
    recording = read_mcap(path, trust_attached_rules=True)
    steps: list[Callable[[], object]] = [
        lambda: judge(recording),
        lambda: evaluate(recording),
        lambda: has_contest(recording.header) and contest_of(recording.header).picture(recording),
        lambda: pw.replay(recording).to_dict(),
        lambda: pw.replay(recording, trust_attached_rules=True).to_dict(),
        lambda: draw and pw.draw_outcome(pw.replay(recording, trust_attached_rules=True)),
    ]
    for step in steps:
        try:
            step()
        except PosewrightError as error:
            str(error)


def shortened(recording: Recording, n: int) -> Recording:
    """Return the first rows of a recording of one robot."""
    (name, record), *_ = recording.robots.items()
    columns = ("positions", "commands", "efforts", "base", "footprints", "foot_contacts", "box_contacts")
    rows = {name_of_column: getattr(record, name_of_column)[:n] for name_of_column in columns}
    optional = ("requests", "free", "slips")
    rows |= {
        name_of_column: getattr(record, name_of_column)[:n]
        for name_of_column in optional
        if getattr(record, name_of_column) is not None
    }
    until_s = float(recording.times[n - 1])
    all_decisions = record.decisions
    is_before_end = all_decisions.times <= until_s
    parts = {
        name_of_column: getattr(all_decisions, name_of_column)[: is_before_end.sum()]
        for name_of_column in ("states", "inputs", "outputs", "playing")
    }
    sensors = {channel: values[is_before_end] for channel, values in all_decisions.sensors.items()}
    decisions = Decisions(times=all_decisions.times[is_before_end], sensors=sensors, **parts)
    contacts = record.contacts if len(record) <= n else None
    short = replace(record, **rows, decisions=decisions, contacts=contacts)
    events = tuple(event for event in recording.events if event.time_s <= until_s)
    return replace(
        recording, times=recording.times[:n], boxes=recording.boxes[:n], robots={name: short}, events=events
    )


@pytest.fixture(scope="module")
def wholes() -> list[tuple[bytes, Contents]]:
    """Give recordings of every kind, as files and as their contents."""
    aibo = pw.robot("sony_ers7")
    bioloid = pw.robot("robotis_bioloid")
    step = pw.read_motion(bioloid.folder / "motions" / "walk_forward.motion.yaml")
    kinds = [
        shortened(pw.run_trial("obstacle-race").recording, 300),
        shortened(pw.run_trial("passivity-test").recording, 200),
        pw.walk_gait(
            pw.read_gait("trot", robot=aibo), aibo, command=pw.VelocityCommand(0.1), seconds=1.0
        ).recording,
        pw.try_motion(step, longest_s=0.5, settle_s=0.1, hold_s=0.1).recording,
    ]
    files = [mcap_bytes(recording) for recording in kinds]
    return [(data, contents_of(data)) for data in files]


def contents_of(data: bytes) -> Contents:
    return unpack(io.BytesIO(data))


def test_what_is_forged_is_refused_or_used(
    wholes: list[tuple[bytes, Contents]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.recordings.mcap_file._require_unchanged_content", lambda *_: None)

    @settings(max_examples=80)
    @given(seed=st.integers(0, 2**64))
    def search(seed: int) -> None:
        rng = random.Random(seed)  # noqa: S311 -- nothing secret
        data, contents = rng.choice(wholes)
        (tmp_path / "run.mcap").write_bytes(data)
        forged_contents = forge(rng, contents)
        monkeypatch.setattr("posewright.recordings.container_reader.unpack", lambda *_: forged_contents)
        try:
            use(tmp_path / "run.mcap", draw=rng.random() < 0.02)
        except PosewrightError as error:
            assert "\n" not in error.message  # noqa: PT017 -- whether there is an error is left open

    search()
