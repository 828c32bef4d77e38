"""What is the same on every board, under a static analyser and sanitizers: player, sensing, line, board."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from posewright.codegen.behaviour import BehaviourUnitSpec
from posewright.codegen.hil.frames import FrameKind, LinkFrame
from posewright.codegen.proof.source_coverage import build_program, run_program
from posewright.codegen.proof.verification import compare_records, run_from_reset
from posewright.codegen.targets import target_named, write_sources
from posewright.codegen.toolchains import STRICT
from posewright.controllers.behaviours import read_behaviour

from .conftest import need_tool
from .hil_boards import TARGETS, UNIT_H
from .test_generated_quality import ALLOWED, said_by

SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
NAMES = ("document_mealy", "obstacle_race", "passivity_test")


@pytest.fixture(scope="module", params=NAMES)
def unit_spec(request: pytest.FixtureRequest) -> BehaviourUnitSpec:
    return BehaviourUnitSpec(read_behaviour(request.param))


def test_a_behaviour_and_its_board_are_clean_for_a_static_analyser(
    unit_spec: BehaviourUnitSpec, tmp_path: Path
) -> None:
    need_tool("cppcheck")
    write_sources((*unit_spec.sources(), *target_named("cm900").sources(unit_spec)), tmp_path)
    checked = {path.name for path in tmp_path.glob("*.c")}
    assert checked >= {"player.c", "sensing.c", "link.c", "board.c", "main.c", "motions.c", "unit.c"}
    rules = ["--enable=warning,style,performance,portability", "--std=c99", "--error-exitcode=1", "--quiet"]
    rules += ["--platform=arm32-wchar_t4", "--inline-suppr", *(f"--suppress={name}" for name in ALLOWED)]
    assert said_by(["cppcheck", *rules, "."], tmp_path) == ""


def test_a_behaviours_unit_calls_and_keeps_nothing_for_nothing() -> None:
    plain = {file.name: file.text for file in BehaviourUnitSpec(read_behaviour("document_mealy")).sources()}
    for idle in ("is_first", "math.h", "return true", "NO_NUMBER"):
        assert idle not in plain["unit.c"]


def test_sanitizers_find_nothing_in_player_and_sensing(unit_spec: BehaviourUnitSpec, tmp_path: Path) -> None:
    need_tool("gcc")
    program = build_program(unit_spec.sources(), tmp_path, SANITIZED)
    episodes = [unit_spec.random_inputs(700, seed) for seed in range(3)]
    reference = unit_spec.reference()
    expected = np.concatenate([run_from_reset(reference, episode) for episode in episodes])
    assert not compare_records(expected, run_program(program, unit_spec, episodes)).any()


LINE = """
#include <stdio.h>
#include "link.h"
#include "unit.h"
void unit_reset(void) { }
void link_put(uint8_t byte) { putchar(byte); }
int main(void)
{
    uint8_t input[UNIT_INPUT_BYTES + 1U], state[UNIT_STATE_BYTES] = {0U}, sequence;
    int byte;
    link_init();
    while ((byte = getchar()) != EOF) {
        link_receive((uint8_t)byte);
        if (link_take(input, &sequence)) {
            state[0]++;
            link_reply(sequence, state);
        }
    }
    return 0;
}
"""


@pytest.mark.parametrize("inputs", [0, 3])
def test_sanitizers_find_nothing_in_the_line_whatever_comes_over_it(inputs: int, tmp_path: Path) -> None:
    need_tool("gcc")
    (tmp_path / "unit.h").write_text(UNIT_H.format(name="u", period=1000, inputs=inputs, states=2))
    (tmp_path / "line.c").write_text(LINE)
    files = ["line.c", str(TARGETS / "link.c"), f"-I{TARGETS}", "-I."]
    assert said_by(["gcc", *STRICT, *SANITIZED, *files, "-o", "line"], tmp_path) == ""
    chance = np.random.default_rng(5)
    given = bytearray(LinkFrame(FrameKind.HELLO, 1).encode())
    for number in range(20_000):
        kind = FrameKind(int(chance.integers(1, 4)))
        payload = chance.bytes(inputs if kind is FrameKind.STEP else 0)
        frame = bytearray(LinkFrame(kind, number % 255 + 1, payload).encode())
        if chance.random() < 0.5:
            frame[int(chance.integers(len(frame)))] ^= 1 << int(chance.integers(8))
        given += frame if chance.random() < 0.7 else frame[: int(chance.integers(len(frame)))]
        given += chance.bytes(int(chance.integers(3))) + b"\xa5" * int(chance.integers(2))
    done = subprocess.run(["./line"], cwd=tmp_path, input=bytes(given), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout) > 10_000
