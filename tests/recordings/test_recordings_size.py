"""What is written can be read back, however long the run; what cannot is refused when it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.errors import FormatError, OutputError
from posewright.recordings import Recording, budgets, mcap_bytes, read_mcap, write_mcap
from posewright.recordings.topics import exact_topics
from posewright.recordings.views import view_topics

Make = Callable[..., Recording]

HOUR_S = 3600.0
HEAD = 31


def unpacked(recording: Recording) -> int:
    """Return how many bytes the messages of a recording have, heads with them."""
    topics = (*view_topics(recording), *exact_topics(recording))
    return sum(HEAD + len(message) for topic in topics for message in topic.messages)


@pytest.mark.parametrize("rows_per_s", [32.0, 125.0])
def test_an_hour_may_be_read_back(make_recording: Make, rows_per_s: float) -> None:
    long, short = (unpacked(make_recording(rows=n, decisions=n // 16, robots=1)) for n in (640, 320))
    hour = (long - short) / 320.0 * rows_per_s * HOUR_S
    assert hour < budgets.MAX_UNPACKED_BYTES
    assert hour < budgets.max_unpacked_bytes(int(hour / 20.0))  # of a robot that stands still all the time


@pytest.mark.parametrize(
    "case",
    [
        ("MAX_UNPACKED_BYTES", 20_000, "what happened"),
        ("MAX_FILE_BYTES", 20_000, "the file"),
        ("MAX_RARE_BYTES", 30_000, "all attachments, metadata and channels"),
        ("MAX_TEXT_BYTES", 500, "the header"),
    ],
)
def test_what_would_not_be_read_is_not_written(
    make_recording: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, int, str]
) -> None:
    budget, value, expected = case
    recording = make_recording(rows=40)
    path = tmp_path / "run.mcap"
    write_mcap(recording, path)
    for module in ("budgets", "container_writer", "container_reader", "mcap_file"):
        monkeypatch.setattr(f"posewright.recordings.{module}.{budget}", value, raising=False)
    with pytest.raises(OutputError, match=f"larger than can be read back: {expected}"):
        mcap_bytes(recording)
    with pytest.raises(FormatError) as refused:
        read_mcap(path)
    assert "damaged" not in str(refused.value)


def test_a_still_run_that_swells_too_far_is_refused_when_it_is_written(
    make_recording: Make, changed: Callable[..., Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = make_recording(rows=300, full=False)
    still = changed(recording, boxes=np.zeros_like(recording.boxes), base=np.zeros((300, 7)))
    mcap_bytes(still)
    monkeypatch.setattr(budgets, "SMALL_BYTES", 0)
    monkeypatch.setattr(budgets, "MAX_EXPANSION", 1)
    with pytest.raises(OutputError, match="larger than can be read back: what happened"):
        mcap_bytes(still)


def test_a_header_that_grew_with_the_run_is_refused_when_it_is_written(make_recording: Make) -> None:
    recording = make_recording()
    header = replace(recording.header, extras={"attitudes": [[0.0, 0.1]] * 450_000})
    with pytest.raises(OutputError, match="larger than can be read back: the header"):
        mcap_bytes(replace(recording, header=header))
