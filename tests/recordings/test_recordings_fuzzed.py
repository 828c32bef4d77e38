"""However a recording is forged, who reads, judges, measures or draws it gets that or one of our errors."""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posewright as pw
from posewright.contests import contest_of, has_contest, judge
from posewright.errors import PosewrightError
from posewright.evaluation import evaluate
from posewright.recordings import Decisions, Recording, mcap_bytes, read_mcap
from posewright.recordings.container_reader import Contents, unpack
from posewright.recordings.mcap_file import METADATA

from .forging import compute_part_checksums

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 2**63, -(2**63), 10**19, 10**400, 0.0, 1.5, 1e6, 1e308, -1e308, 5e-324),
    *({"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}, float("inf"), float("nan"), {"$float": 3}),
    *("", "x", "x" * 3000, "\ud800", "\x1b[31m\x00", "a/b", "..", "robotis_bioloid", "walk", "obstacle-race"),
    *([], {}, [[]], [1.0], [0.0] * 7, ["a", "a"], {"a": 1}, {"": {}}, [[[[[[[[]]]]]]]]),
)
NUMBERS = tuple(np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, 1e6, 1e-300], dtype="<f8"))


def place(rng: random.Random, value: Any) -> tuple[Any, Any]:
    """Return a random container within a value, and the key of one of its elements, at any depth."""
    holder, key = value, rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.85:
        holder = holder[key]
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    return holder, key


def bent_value(rng: random.Random, value: Any) -> Any:
    """Return a JSON value with one or two random changes."""
    bent = copy.deepcopy(value)
    for _ in range(rng.randint(1, 2)):
        if not isinstance(bent, dict | list) or not bent:
            return rng.choice(ODD)
        holder, key = place(rng, bent)
        change = rng.randrange(10)
        old_value = holder[key]
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, dict):
            holder[rng.choice(("", "x", "joint", "box", "since_s", "robot", "\ud800"))] = rng.choice(ODD)
        elif change == 2 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(rng.choice((*holder, *ODD))))
        else:
            same_type = (
                [candidate for candidate in ODD if type(candidate) is type(old_value)] if change < 8 else ()
            )
            holder[key] = copy.deepcopy(rng.choice(same_type or ODD))
    return bent


def bent_json(rng: random.Random, text: str | bytes) -> str:
    return json.dumps(bent_value(rng, json.loads(text)))


def bent_bytes(rng: random.Random, raw: bytes) -> bytes:
    """Return the bytes of a message or a text with some random changes."""
    bent = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        change = rng.randrange(4)
        position = rng.randrange(max(1, len(bent)))
        if change == 0:
            bent[position : position + 1] = bytes([rng.randrange(256)])
        elif change == 1:
            del bent[position : position + rng.randint(1, 9)]
        else:
            start = 4 + (position - 4) // 8 * 8
            bent[start : start + 8] = rng.choice(NUMBERS).tobytes()[: len(bent[start : start + 8])]
    return bytes(bent)


def forged(rng: random.Random, contents: Contents) -> Contents:
    """Return the contents of a recording with random changes and matching seals of its texts."""
    messages_by_topic = {name: list(messages) for name, messages in contents.messages.items()}
    metadata = dict(contents.metadata[METADATA])
    documents = dict(contents.attachments)
    for _ in range(rng.randint(1, 2)):
        change = rng.randrange(6)
        if change < 2:
            name = rng.choice(("header", "header", "arena", "columns"))
            metadata[name] = bent_json(rng, metadata[name])
        elif change == 2 and documents:
            name = rng.choice(
                [*documents, *(document_name for document_name in documents if "rules" in document_name)]
            )
            text = documents[name].decode()
            position = rng.randrange(len(text))
            character = rng.choice("0123456789-:. \n{[#e&*")
            documents[name] = (
                text[:position] + character * rng.randint(0, 3) + text[position + 1 :]
            ).encode()
        else:
            topic = rng.choice([name for name, messages in messages_by_topic.items() if messages])
            row = rng.randrange(len(messages_by_topic[topic]))
            is_json = messages_by_topic[topic][row][:1] == b"{"
            bent = (
                bent_json(rng, messages_by_topic[topic][row]).encode()
                if is_json
                else bent_bytes(rng, messages_by_topic[topic][row])
            )
            messages_by_topic[topic][row] = bent
            if rng.random() < 0.2:
                del messages_by_topic[topic][row]
    texts = {name: raw.decode(errors="replace") for name, raw in documents.items()}
    metadata["seal"] = json.dumps(compute_part_checksums(metadata, texts, ""))
    return Contents(messages_by_topic, documents, {METADATA: metadata})


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
        forged_contents = forged(rng, contents)
        monkeypatch.setattr("posewright.recordings.container_reader.unpack", lambda *_: forged_contents)
        try:
            use(tmp_path / "run.mcap", draw=rng.random() < 0.02)
        except PosewrightError as error:
            assert "\n" not in error.message  # noqa: PT017 -- whether there is an error is left open

    search()
