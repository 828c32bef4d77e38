"""What was changed in a recording is named; what fits its seal and cannot have happened is refused too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posewright as pw
from posewright.contests import contest_of, describe_attached_rules, rules
from posewright.errors import FormatError, InputError
from posewright.recordings import Event, Recording, mcap_bytes, read_mcap, write_mcap

from .forging import metadata_of, resaved

Make = Callable[..., Recording]
RULES = "obstacle_race.rules.yaml"
GENEROUS = rules().text.replace("time_weight: 7.5", "time_weight: 75")


@pytest.fixture(scope="module")
def race() -> Recording:
    """Give the beginning of a real race."""
    return _race()


def _race() -> Recording:
    recording = pw.run_trial("obstacle-race").recording
    n = 400
    name, record = next(iter(recording.robots.items()))
    columns = ("positions", "commands", "efforts", "base", "footprints", "foot_contacts", "box_contacts")
    columns_up_to_cut: dict[str, Any] = {column: getattr(record, column)[:n] for column in columns}
    is_before_cut = record.decisions.times < recording.times[n]
    decisions = replace(
        record.decisions,
        times=record.decisions.times[is_before_cut],
        **{
            name: getattr(record.decisions, name)[: is_before_cut.sum()]
            for name in ("states", "inputs", "outputs", "playing")
        },
        sensors={channel: values[is_before_cut] for channel, values in record.decisions.sensors.items()},
    )
    optional = {
        column: getattr(record, column)[:n]
        for column in ("requests", "free", "slips")
        if getattr(record, column) is not None
    }
    robots = {name: replace(record, **columns_up_to_cut, **optional, decisions=decisions)}
    return replace(
        recording,
        times=recording.times[:n],
        boxes=recording.boxes[:n],
        robots=robots,
        events=(Event(0.0, "start"),),
    )


@pytest.fixture(scope="module")
def recorded(race: Recording) -> bytes:
    return mcap_bytes(race)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forged") / "run.mcap"


def reason(place: Path, data: bytes, **trust: bool) -> str:
    place.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read_mcap(place, **trust)
    return caught.value.message


def ruled(recording: Recording, text: str, **changes: Any) -> Recording:
    """Return a recording that carries other rules."""
    documents = {**recording.header.documents, RULES: text}
    return replace(recording, header=replace(recording.header, documents=documents, **changes))


@pytest.mark.parametrize(
    ("entry", "change", "expected"),
    [
        ("arena", ('"size_m":[2.5,2.0]', '"size_m":[9.5,2.0]'), "the arena changed"),
        ("header", ('"layout":"example_1"', '"layout":"example_2"'), "the header changed"),
        ("header", ('"max_range_m":5.0', '"max_range_m":9.0'), "the header changed"),
        ("header", ('"seed":0', '"seed":1'), "the header changed"),
        ("columns", ('"free":false', '"free":true'), "the columns changed"),
        ("digest", ("posewright", "possewright"), "another digest"),
        ("seal", ('"arena"', '"area"'), "the arena added"),
    ],
)
def test_what_was_changed_is_named(
    recorded: bytes, place: Path, entry: str, change: tuple[str, str], expected: str
) -> None:
    text = metadata_of(recorded)[entry]
    assert change[0] in text
    assert expected in reason(place, resaved(recorded, {entry: text.replace(*change, 1)}))


def test_a_header_swapped_together_with_its_seal_is_refused(make_recording: Make, place: Path) -> None:
    first, second = (mcap_bytes(make_recording(seed, rows=3, decisions=2, joints=3)) for seed in (1, 2))
    second_metadata = metadata_of(second)
    message = reason(
        place, resaved(first, {name: second_metadata[name] for name in ("header", "arena", "seal")})
    )
    assert "another digest" in message
    assert "other rows, decisions" in reason(place, resaved(first, second_metadata))


def test_changed_added_doubled_and_missing_attachments_are_named(recorded: bytes, place: Path) -> None:
    changed = resaved(recorded, texts=[(RULES, GENEROUS)], without=RULES)
    assert f"rules '{RULES}' changed" in reason(place, changed)
    added = resaved(recorded, texts=[("more.rules.yaml", GENEROUS)])
    assert "rules 'more.rules.yaml' added" in reason(place, added)
    assert f"rules '{RULES}' removed" in reason(place, resaved(recorded, without=RULES))
    doubled = resaved(recorded, texts=[(RULES, GENEROUS)])
    assert f"two attachments '{RULES}'" in reason(place, doubled)
    assert "two attachments" in reason(place, doubled, trust_attached_rules=True)
    motion = "walk_forward.motion.yaml"
    changed_motion = resaved(recorded, texts=[(motion, "")], without=motion)
    assert f"the attachment '{motion}' changed" in reason(place, changed_motion, trust_attached_rules=True)


def test_changed_rules_count_only_for_who_trusts_them(
    race: Recording, recorded: bytes, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.write_bytes(resaved(recorded, texts=[(RULES, GENEROUS)], without=RULES))
    with pytest.raises(FormatError, match=r"rules .* changed \(.*--trust-attached-rules"):
        pw.replay(place)
    recording = read_mcap(place, trust_attached_rules=True)
    (warning,) = caplog.messages
    assert f"the rules '{RULES}'" in warning
    assert "changed after it was made: its digest was not checked" in warning
    assert recording.content_digest == race.content_digest
    assert recording.digest() != race.digest()
    with pytest.raises(InputError, match=r"scoring.time_weight is 75, not 7.5 .*--trust-attached-rules"):
        pw.judge(recording)
    generous = pw.judge(recording, trust_attached_rules=True)
    assert generous == pw.judge(race, contest_of(race.header, GENEROUS))
    (remark,) = pw.replay(place, trust_attached_rules=True).remarks
    assert "scoring.time_weight is 75, not 7.5" in remark


def test_what_else_was_changed_is_refused_however_the_rules_are_trusted(recorded: bytes, place: Path) -> None:
    changed: dict[str, Any] = {"texts": [(RULES, GENEROUS)], "without": RULES}
    arena = metadata_of(recorded)["arena"].replace("2.5", "9.5")
    message = reason(place, resaved(recorded, {"arena": arena}, **changed), trust_attached_rules=True)
    assert "the arena changed" in message
    fewer = resaved(recorded, messages={"/events": b'{"time_s":0.1,"kind":"go","data":{}}'}, **changed)
    assert "other rows, decisions" in reason(place, fewer, trust_attached_rules=True)


def test_rules_changed_and_sealed_anew_are_refused_too(race: Recording, place: Path) -> None:
    forged = ruled(race, GENEROUS)
    write_mcap(forged, place)
    for judged in (lambda: pw.judge(read_mcap(place)), lambda: pw.replay(place)):
        with pytest.raises(
            InputError, match=r"differ from the shipped .*: scoring.time_weight is 75, not 7.5"
        ):
            judged()


def test_rules_that_differ_in_sources_and_comments_only_are_the_same(race: Recording) -> None:
    text = rules().text + "\n# seen again\n"
    assert pw.judge(ruled(race, text)) == pw.judge(race)
    assert describe_attached_rules(race.header, contest_of(race.header)) == ""


def test_rules_of_ones_own_keep_their_name_and_are_told(race: Recording, place: Path) -> None:
    own = GENEROUS.replace("rules: ceabot_2013/obstacle_race", "rules: club/generous")
    assert own != GENEROUS
    write_mcap(ruled(race, own, contest="club/generous"), place)
    outcome = pw.replay(place)
    assert outcome.score.to_dict()["contest"] == "club/generous"
    (remark,) = outcome.remarks
    assert "club/generous: no rules of that name ship" in remark
    with pytest.raises(InputError, match="is of 'ceabot_2013/obstacle_race' but has the rules 'club"):
        pw.judge(ruled(race, own))


def test_an_error_in_rules_says_where_they_stand(race: Recording) -> None:
    wrong = rules().text.replace("time_weight: 7.5", "time_weight: much")
    with pytest.raises(InputError, match=rf"attached {RULES}:\d+: scoring.time_weight"):
        pw.judge(ruled(race, wrong))
    with pytest.raises(InputError, match=r"mine.yaml:\d+: scoring.time_weight"):
        contest_of(race.header, wrong, "mine.yaml")


def bent(recording: Recording, name: str, row: int, value: float) -> Recording:
    """Return a recording with another number in one row of its boxes, its times or its robot's record."""
    owner: Any = recording if name in {"times", "boxes"} else recording.robot()
    array = getattr(owner, name).copy()
    array[row, ..., 0] = value
    return with_(recording, name, array)


def with_(recording: Recording, name: str, value: Any) -> Recording:
    """Return a recording with another array."""
    if name in {"times", "boxes", "events"}:
        return replace(recording, **{name: value})
    (robot, record), *_ = recording.robots.items()
    return replace(recording, robots={robot: replace(record, **{name: value})})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("boxes", np.nan, "where box 1 was"),
        ("boxes", np.inf, r"pose of box 1 has the value inf in row 7"),
        ("boxes", 1e300, r"pose of box 1 has the value 1e\+300 in row 7"),
        ("base", -np.inf, r"base of robotis_bioloid has the value -inf in row 7"),
        ("positions", np.inf, "positions of robotis_bioloid has the value inf in row 7"),
        ("efforts", 1e99, r"efforts of robotis_bioloid has the value 1e\+99 in row 7"),
        ("footprints", np.nan, "where the robot's base and feet were"),
        ("times", 0.0, "row 7 is at 0.0 s"),
        ("times", np.nan, "the time of row 7 is not a finite number"),
        ("times", 1e12, "row 7 is at"),
    ],
)
def test_a_sealed_forgery_of_odd_numbers_is_not_judged(
    race: Recording, place: Path, name: str, value: float, expected: str
) -> None:
    if name == "times":
        times = race.times.copy()
        times[7] = value
        forged = replace(race, times=times)
    else:
        forged = bent(race, name, 7, value)
    write_mcap(forged, place)
    with pytest.raises(InputError, match=expected):
        pw.judge(read_mcap(place))
    with pytest.raises(InputError, match=expected):
        pw.replay(place)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Event(6.0, "touch", {"box": 1_000_000_001}), "box 1000000001"),
        (Event(6.0, "touch", {"box": 2.5}), "box 2.5"),
        (Event(6.0, "touch", {"since_s": float("-inf")}), "since_s is -inf"),
        (Event(6.0, "touch", {"since_s": 7.0}), "since_s is 7"),
        (Event(99.0, "touch"), "its time is 99"),
        (Event(6.0, "safety", {"joint": "tail"}), "the joint 'tail'"),
        (Event(6.0, "fault", {"robot": "another"}), "the robot 'another'"),
        (Event(6.0, "fault", {"joint": [1]}), r"the joint \[1\]"),
    ],
)
def test_an_event_that_cannot_have_been_is_not_judged(
    race: Recording, place: Path, event: Event, expected: str
) -> None:
    write_mcap(with_(race, "events", (event,)), place)
    for judged in (lambda: pw.judge(read_mcap(place)), lambda: pw.replay(place)):
        with pytest.raises(InputError, match=expected):
            judged()


def test_decisions_after_the_run_do_not_lengthen_it(race: Recording) -> None:
    times = race.robot().decisions.times.copy()
    times[-1] = 1e5
    late = with_(race, "decisions", replace(race.robot().decisions, times=times))
    with pytest.raises(InputError, match="last decision of robotis_bioloid is at 100000"):
        pw.judge(late)


def test_a_base_turned_by_no_quaternion_is_not_judged(race: Recording) -> None:
    base = race.robot().base.copy()
    base[3, 3:] = 0.0
    with pytest.raises(InputError, match="base of robotis_bioloid in row 3 has a quaternion of norm 0"):
        pw.judge(with_(race, "base", base))


def test_a_picture_of_an_arena_without_a_size_is_refused(race: Recording, tmp_path: Path) -> None:
    arena = {name: value for name, value in race.header.arena.items() if name != "size_m"}
    bare = replace(race, header=replace(race.header, arena=arena))
    with pytest.raises(InputError, match="size_m"):
        pw.replay(bare, plot=tmp_path / "race.png")
