"""Scripts of commands, and which object receives each."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.robots import robot
from posewright.runtimes.openr import ONotifyEvent, OObject, System, read_connect
from posewright.runtimes.openr.commander import CommandSender
from posewright.runtimes.openr.script import ScriptedCommand, read_script

DOG = robot("sony_ers7")
CONFIG = read_connect(
    "Commander.SendHeadCommand.char.S Head.Receive.char.O\n"
    "Commander.SendLegCommand.char.S Legs.Receive.char.O"
)


class Listener(OObject):
    def __init__(self, name: str, *words: str) -> None:
        super().__init__(name)
        self.words = words
        self.receive = self.observer("Receive", "char", self.take, self.read)
        self.received: list[tuple[float, str]] = []

    def read(self, word: str) -> str:
        if word not in self.words:
            raise InputError(f"no command {word}", hint=f"commands are {', '.join(self.words)}")
        return word

    def take(self, event: ONotifyEvent) -> None:
        self.received += [(self.openr.time_s, word) for word in event.data]
        self.receive.assert_ready(event.sender)


def run(text: str, path: Path | None = None) -> tuple[Listener, Listener]:
    head, legs = Listener("Head", "UP", "STOP"), Listener("Legs", "SIT", "STOP")
    commander = CommandSender(CONFIG, read_script(text, path))
    system = System(DOG, [commander, head, legs], CONFIG)
    commander.check()
    system.start()
    for frame in range(200):
        system.openr.frame = frame
        system.run()
    return head, legs


def test_a_command_goes_to_who_knows_it_at_its_time() -> None:
    head, legs = run("UP@0, SIT@0.5, Head:STOP@1.0, Legs:STOP")
    assert head.received == [(0.0, "UP"), (1.0, "STOP")]
    assert legs.received == [(pytest.approx(0.504), "SIT"), (1.0, "STOP")]


def test_lines_and_commas_part_commands_and_comments_are_left_out() -> None:
    script = read_script("UP@0 # first\n\n SIT @ 0.5,STOP\n")
    assert [(command.text, command.time_s) for command in script] == [
        ("UP", 0.0),
        ("SIT", 0.5),
        ("STOP", 0.5),
    ]
    assert [command.where.line for command in script if command.where] == [1, 3, 3]


@given(
    st.lists(
        st.tuples(st.from_regex(r"[A-Z_]{1,8}[0-9]{0,3}", fullmatch=True), st.integers(0, 1000)), max_size=9
    )
)
def test_what_is_written_is_read(commands: list[tuple[str, int]]) -> None:
    commands.sort(key=lambda command: command[1])
    text = ", ".join(f"{word}@{time_ms / 1000}" for word, time_ms in commands)
    assert [(command.text, command.time_s) for command in read_script(text)] == [
        (w, t / 1000) for w, t in commands
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("UP@soon", "'soon' is not a valid time"),
        ("UP@-1", "'-1' is not a valid time"),
        ("UP@nan", "'nan' is not a valid time"),
        ("UP@1_0", "'1_0' is not a valid time"),
        ("UP@\u0661", "'\u0661' is not a valid time"),
        ("UP@1e9", "'1e9' is not a valid time"),
        ("@1", "'@1' is not a command"),
        ("UP@2, SIT@1", "comes after a command at 2 s"),
        ("JUMP@0", "no object knows the command 'JUMP'"),
        ("STOP@0", "STOP is a command of Head, Legs"),
        ("Tail:STOP@0", "sends nothing to Tail"),
        ("Head:SIT@0", "Head does not know the command 'SIT'"),
    ],
)
def test_a_bad_command_is_told_with_its_file_and_line(text: str, words: str) -> None:
    path = Path("dance.txt")
    with pytest.raises(FormatError) as caught:
        run(f"# a dance\n{text}\n", path)
    assert words in str(caught.value)
    assert str(caught.value).startswith("dance.txt:2: ")


def test_a_command_without_a_time_is_sent_at_once() -> None:
    assert read_script("UP") == (ScriptedCommand("UP", 0.0, "", read_script("UP")[0].where),)


def commander(config: str, *others: OObject, script: str = "") -> tuple[CommandSender, System]:
    read = read_connect(config)
    sender = CommandSender(read, read_script(script))
    return sender, System(DOG, [sender, *others], read)


def test_of_several_that_one_subject_sends_to_any_may_know_the_word_and_all_get_it() -> None:
    head, legs = Listener("Head", "UP"), Listener("Legs", "SIT")
    config = "Commander.Out.char.S Head.Receive.char.O\nCommander.Out.char.S Legs.Receive.char.O"
    sender, system = commander(config, head, legs, script="SIT, UP")
    sender.check()
    system.start()
    system.run()
    assert [word for _, word in head.received] == [word for _, word in legs.received] == ["SIT", "UP"]
    with pytest.raises(FormatError, match="no object knows the command 'JUMP'"):
        commander(config, head, legs, script="JUMP")[0].check()


@pytest.mark.parametrize(
    ("receiver", "kind", "words"),
    [
        (
            "Ear.In",
            "Number",
            "2: Commander cannot send Number to Ear.In (it sends char, or data that Ear parses",
        ),
        ("Commander.In", "char", "2: Commander cannot send char to Commander.In"),
    ],
)
def test_what_commander_cannot_send_is_told_with_its_line_whatever_the_script(
    receiver: str, kind: str, words: str
) -> None:
    ear = OObject("Ear")
    ear.observer("In", "Number", lambda _: None)
    with pytest.raises(FormatError) as caught:
        commander(f"# to the ear\nCommander.Out.{kind}.S {receiver}.{kind}.O", ear)[0].check()
    assert words in str(caught.value)


def test_any_number_of_commands_may_come_at_one_time() -> None:
    head = Listener("Head", "UP")
    _, system = commander("Commander.Out.char.S Head.Receive.char.O", head, script="UP@0, " * 5000)
    system.start()
    system.run()
    assert len(head.received) == 5000
