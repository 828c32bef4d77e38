"""A listing may call what ships, however it is written; it is linked where it is assembled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.work import Calls

from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.robots import robot
from posewright.runtimes.robi.catalogue import link, load_program, program_names
from posewright.runtimes.robi.listing import assemble, format_listing
from posewright.runtimes.robi.load import find_breakpoint, open_program
from posewright.runtimes.robi.memory import memory_map
from posewright.runtimes.robi.motion_writer import motion_to_program
from posewright.runtimes.robi.program import Op

from .texts import SCRATCH, Text, assert_same_doing, texts


@pytest.mark.parametrize("name", program_names())
def test_what_is_listed_is_opened_from_a_file_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "own.lst"
    path.write_text(format_listing(load_program(name)))
    assert open_program(path).render() == load_program(name).render()


@pytest.mark.parametrize(
    "text",
    [
        "call wait\nreturn",
        "a: call wait\nreturn",
        "a:\n\tcall  wait\nreturn",
        "00000000      call wait   ; and so on\nreturn",
        "jump wait",
        "calc\nconst 0\neq\njump wait\nendcalc\nreturn",
    ],
)
def test_what_ships_is_found_however_it_is_called(text: str) -> None:
    assert "wait" in link(text).labels.values()


@pytest.mark.parametrize("label", ["wait:", "  wait:", "00000000  wait:", "wait: "])
def test_a_subroutine_of_ones_own_is_the_one_that_is_called(label: str) -> None:
    made = link(f"call wait\nreturn\n{label}\nreturn\n")
    assert [node.op for node in made.tags] == [Op.CALL, Op.RETURN, Op.RETURN]


def test_a_name_in_a_string_or_a_comment_calls_nothing() -> None:
    made = link('a: return ; call wait\ntext "<medit>\\n call wait</medit>"\n')
    assert len(made.tags) == 2


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts(), n=st.integers(1, 30), data=st.data())
def test_edits_of_a_listing_keep_every_jump_through_files(
    text: Text, n: int, data: st.DataObject, tmp_path: Path
) -> None:
    """A block is put in and another grows, and a subroutine that ships is called; bytes are read anew."""
    (tmp_path / "own.rm4").write_bytes(text.data())
    before = open_program(tmp_path / "own.rm4")
    lines = format_listing(before).splitlines()
    head = sum(line.startswith(("between", "inside")) for line in lines)
    new = [f"mem_w 2 0x{SCRATCH:04x} = {', '.join('1' * n)}", "call wait"]
    grown = data.draw(st.sampled_from([i for i, line in enumerate(lines) if " mem_w " in line] or [-1]))
    if grown >= 0 and "=" in lines[grown]:
        size, values = re.findall(r"mem_w ([12]) .*= (.*?)\s*(?:;|$)", lines[grown])[0]
        address = SCRATCH + 0x80
        lines.insert(grown, f"mem_w {size} 0x{address:04x} = {', '.join([values] * 2)}")
    (tmp_path / "own.lst").write_text("\n".join([*lines[:head], *new, *lines[head:]]))
    (tmp_path / "edited.rm4").write_bytes(open_program(tmp_path / "own.lst").render())
    edited = open_program(tmp_path / "edited.rm4")
    assert edited.n_bytes > before.n_bytes
    if not any(line.startswith("blank") for line in lines[head : head + 1]):
        assert_same_doing(before, edited, 4)


def test_large_listings_and_motions_are_linked_with_work_in_step_with_their_size() -> None:
    n_lines = 20_000
    with Calls() as calls:
        link("a: return\n" + "jump a\n" * n_lines)
    assert calls.count < 200 * n_lines
    from posewright.motions import Keyframe, Motion, Pose

    card = robot("deagostini_robi2")
    frames = tuple(
        Keyframe(Pose(card.joint_names, card.pose(name)), 1.0)
        for name in ("stand", "sit")
        for _ in range(240)
    )
    motion = Motion("long", card.name, card.joint_names, frames)
    with Calls() as calls:
        motion_to_program(motion)
    assert calls.count < 5_000 * len(frames)


def test_a_label_that_a_subroutine_which_ships_has_too_is_told() -> None:
    with pytest.raises(FormatError, match=r"shipped program judge .*the label judge_chair"):
        link("judge_chair: call judge\nreturn")


def test_words_of_the_memory_may_be_named_and_numbers_have_a_sign() -> None:
    named = assemble("mem_w 2 posture = 1\nmem_w 2 position of ID 3 = -300, 0x50 ; knee\n")
    assert named.render() == assemble("mem_w 2 0x0f82 = 1\nmem_w 2 0x0a08 = 0xfed4, 80\n").render()
    assert assemble("mem_w 1 posture = -1").tags[0].values == (255,)
    for name, address in memory_map().addresses.items():
        assert assemble(f"mem_w 2 {name} = 0").tags[0].address == address
    with pytest.raises(FormatError, match="did you mean posture"):
        assemble("mem_w 2 postur = 1")
    with pytest.raises(FormatError, match="-32768 to 65535"):
        assemble("mem_w 2 posture = -32769")


def test_the_judgement_that_ships_has_the_numbers_of_the_rule() -> None:
    consts = {
        rule: [node.values[0] for node in load_program("judge", rule).tags if node.op is Op.CONST]
        for rule in ("consistent", "printed")
    }
    assert consts == {"consistent": [-600, 75, -75], "printed": [-600, -225, -170]}
    with pytest.raises(UnknownNameError, match="printed"):
        load_program("wait", "prnted")


def test_a_place_that_is_no_label_is_told_what_would_be_right() -> None:
    with pytest.raises(InputError, match="address of the file, as in 0x00000028"):
        find_breakpoint(load_program("wait"), "12")
