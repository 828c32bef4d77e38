"""Vectors: a mover sends one when all are ready and a region is free, and goes on whoever kept one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posewright.errors import InputError
from posewright.runtimes.openr import (
    CommandVectorSubject,
    OCommandVectorData,
    ONotifyEvent,
    OObject,
    RCRegion,
    System,
    read_connect,
    read_connect_file,
)
from posewright.runtimes.openr.monet.messages import MoNetAgentCommand
from posewright.runtimes.openr.monet.motion_agents import MotionAgents
from posewright.runtimes.openr.programs import program
from posewright.runtimes.openr.stick import MonetSetup
from posewright.runtimes.openr.stick.limits import NEUTRAL_AGENT
from posewright.runtimes.openr.user_objects import read_objects

from .playing import DOG, RunLog, play

ROOT = Path(__file__).parents[3]
TO_KEEPER = "Move.OCommandVectorData.S Keeper.Effector.OCommandVectorData.O"


class Keeper(OObject):
    """Watches vectors: it answers at once, and keeps each region for a while."""

    def __init__(self, keeps_s: float) -> None:
        super().__init__("Keeper")
        self.keeps_s = keeps_s
        self.kept: list[RCRegion[OCommandVectorData]] = []
        self.vectors = self.observer("Effector", "OCommandVectorData", self.take)

    def take(self, event: ONotifyEvent) -> None:
        for region in event.data:
            region.add_reference()
            self.kept.append(region)
            self.openr.call_at(self.openr.time_s + self.keeps_s, region.remove_reference)
        self.vectors.assert_ready(event.sender)


class Asker(OObject):
    """Asks the agents of MoNet to lie down."""

    def __init__(self) -> None:
        super().__init__()
        self.ask = self.subject("Ask", "MoNetAgentCommand")

    def do_start(self) -> None:
        super().do_start()
        self.ask.send(MoNetAgentCommand(NEUTRAL_AGENT, "a_nt#sleep_standard", 0))


class Deaf(Keeper):
    """Never answers what it was sent."""

    def take(self, event: ONotifyEvent) -> None:
        """Do nothing about it."""


def watched(name: str, mover: str, script: str, by: Keeper, until_s: float) -> RunLog:
    lines = [*map(str, program(name).config.lines), f"{mover}.{TO_KEEPER}"]
    return play(read_connect("\n".join(lines)), script, until_s, own={"Keeper": lambda: by})


MOVERS = pytest.mark.parametrize(
    ("name", "mover", "script"),
    [
        ("move_head", "MoveHead", "MOVE_MP@0"),
        ("move_legs", "MoveLegs", "MOVE_SI@0"),
        ("ekmotion", "EKMotion", "102"),
    ],
)


@MOVERS
@pytest.mark.parametrize("keeps_s", [0.1, 0.136, 1.0])
def test_a_motion_comes_to_its_end_however_long_somebody_keeps_its_regions(
    name: str, mover: str, script: str, keeps_s: float
) -> None:
    alone = play(name, script, 6.0)
    held = watched(name, mover, script, Keeper(keeps_s), 200.0)
    assert [state for _, state in held.states(mover)] == [state for _, state in alone.states(mover)]
    assert (held.frames[-1] == alone.frames[-1]).all()
    assert held.controller.is_idle
    changes = [
        frames[(np.diff(frames, axis=0, prepend=-1) != 0).any(axis=1)]
        for frames in (held.frames, alone.frames)
    ]
    assert (changes[0] == changes[1]).all(), "it stops between vectors, and does nothing else"


def test_who_keeps_no_region_for_longer_than_a_vector_lasts_changes_nothing() -> None:
    held = watched("move_head", "MoveHead", "MOVE_MP@0", Keeper(0.1), 3.0)
    alone = play("move_head", "MOVE_MP@0", 3.0)
    assert (held.frames == alone.frames).all()


@pytest.mark.parametrize("keeps_s", [0.1, 1.0])
def test_the_agents_of_monet_go_on_too(keeps_s: float) -> None:
    lines = [
        "Asker.Ask.MoNetAgentCommand.S MotionAgents.Command.MoNetAgentCommand.O",
        "MotionAgents.Effector.OCommandVectorData.S OVirtualRobotComm.Effector.OCommandVectorData.O",
        "MotionAgents.Effector.OCommandVectorData.S Keeper.Effector.OCommandVectorData.O",
    ]
    own = {
        "Asker": Asker,
        "MotionAgents": lambda: MotionAgents(MonetSetup()),
        "Keeper": lambda: Keeper(keeps_s),
    }
    held = play(read_connect("\n".join(lines)), "", 100.0, own=own)
    assert [state for _, state in held.states("MotionAgents")][-1] == "IDLE"
    assert held.events("refused") == []
    down = np.trunc(DOG.pose("sleep")[:15] * 1e6)
    assert np.abs(held.frames[-1, :15] - down).max() <= 1


@MOVERS
def test_a_receiver_that_never_answers_is_reported_and_a_run_does_not_end_before(
    name: str, mover: str, script: str
) -> None:
    played = watched(name, mover, script, Deaf(0.0), 6.0)
    [(time_s, data)] = played.events("silent")
    assert (time_s, data["from"], data["to"]) == (2.0, f"{mover}.Move", "Keeper.Effector")
    assert played.controller.is_idle, "it has been reported, and nothing else is to come"
    short = watched(name, mover, script, Deaf(0.0), 1.9)
    assert not short.controller.is_idle
    assert short.events("silent") == []


def test_vectors_that_were_all_sent_at_once_are_played_without_a_word_of_silence() -> None:
    class Hasty(OObject):
        def do_start(self) -> None:
            super().do_start()
            for _ in range(30):
                vector = OCommandVectorData.with_room_for(1)
                vector.set(0, 0, range(16))
                vector.set_n_data(1)
                self.move.send(RCRegion(vector))

        def __init__(self) -> None:
            super().__init__()
            self.move = self.subject("Move", "OCommandVectorData")

    line = "Hasty.Move.OCommandVectorData.S OVirtualRobotComm.Effector.OCommandVectorData.O"
    played = play(read_connect(line), "", 6.0, own={"Hasty": Hasty})
    assert played.events("silent") == []
    assert played.controller.is_idle


class Sender(OObject):
    """Sends what it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.move = CommandVectorSubject(self, "Move", lambda: None)


def started(receiver: OObject) -> tuple[Sender, System]:
    sender = Sender()
    system = System(DOG, [sender, receiver], read_connect(f"Sender.{TO_KEEPER}"))
    system.start()
    system.run()
    return sender, system


def test_a_vector_has_servos_before_ears_each_by_its_own_kind_of_command() -> None:
    keeper = Keeper(1.0)
    sender, system = started(keeper)
    ear, pan = DOG.index("left_ear"), DOG.index("head_pan")
    sender.move.send_frames({ear: [1], pan: [2, 3]})
    system.run()
    [vector] = [region.data for region in keeper.kept]
    infos = [(info.primitive, info.data_type.value, info.n_frames) for info in vector.infos[: vector.n_data]]
    assert infos == [(pan, 2, 2), (ear, 4, 1)]
    assert str(vector) == "2 joints, 2 frames"


def test_who_sends_without_asking_is_told_that_no_region_is_free() -> None:
    sender, system = started(Keeper(1.0))
    for _ in range(2):
        assert sender.move.is_ready
        sender.move.send_frames({0: [1]})
        system.run()
    assert not sender.move.is_ready
    with pytest.raises(InputError, match=r"Sender\.Move has no free region"):
        sender.move.send_frames({0: [1]})


def test_the_page_on_own_objects_has_the_files_that_it_runs() -> None:
    page = (ROOT / "docs/how-to-own-openr-object.md").read_text()
    for name in ("look_around.py", "look_around.cfg"):
        assert f"\n{(ROOT / 'examples/openr' / name).read_text()}```\n" in page


def test_the_object_on_the_page_turns_the_head_from_side_to_side() -> None:
    own = read_objects(ROOT / "examples/openr/look_around.py")
    played = play(read_connect_file(ROOT / "examples/openr/look_around.cfg"), "", 3.0, own=own)
    pan = played.joint("head_pan")
    assert [pan[95], pan[191], pan[287]] == [700_000, -700_000, 700_000]
    assert np.abs(np.diff(pan)).max() <= 1_400_000 / 96 + 1
