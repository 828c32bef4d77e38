"""What C does otherwise is said before it is written, names never clash, and the class of C++ steps."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import Chart, read_chart
from posewright.charts.expression import parse_expression
from posewright.charts.model import ChartKind, State, StateTarget, Transition
from posewright.charts.types import BoolType
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.codegen.c.differences import find_differences
from posewright.errors import InputError

from .conftest import need_tool
from .host_unit import host_unit

EXAMPLES = Path(__file__).parents[2] / "examples" / "charts"
STRICT_CPP = ["-std=c++11", "-Os", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
TRICKY = """\
chart: {name}
period_s: {period}
inputs: {{x: {{float: [-10, 10]}}, n: {{int: [0, 9]}}, int: bool, INPUT: bool}}
events: [go]
outputs: {{event: {{enum: [OVER, BUSY]}}, ok: bool}}
locals: {{queue: bool, status: {{int: [0, 9]}}, waiting: bool, broken: bool, y: float}}
local_events: [over]
initial: idle
states:
  idle:
    transitions:
      - {{when: x % 2.5 > 1 and int, go: busy, do: [{{event: BUSY, y: x % 2.5}}, {{raise: over}}]}}
  busy:
    transitions:
      - {{when: 8 % n == 1, go: idle, do: {{event: OVER, queue: not queue, status: n}}}}
      - {{on: over, do: {{waiting: not waiting, broken: INPUT, ok: waiting}}}}
"""


def tricky(folder: Path, name: str = "tricky", period: str = "0.1") -> Chart:
    path = folder / "tricky.chart.yaml"
    path.write_text(TRICKY.format(name=name, period=period))
    return read_chart(path)


def told(chart: Chart, options: Options | None = None) -> dict[str, str]:
    differences = find_differences(ChartUnitSpec(chart, options or Options()).generator)
    return {difference.feature: str(difference) for difference in differences}


def test_what_c_does_otherwise_stands_at_the_head_of_the_header(tmp_path: Path) -> None:
    header = ChartUnitSpec(tricky(tmp_path)).sources()[0]
    head = header.text.split("#ifndef")[0]
    assert "Division by zero: the tick is given up" in head
    assert "TRICKY_DIVISION_BY_ZERO until init [busy -> idle (line 15)]" in head
    assert "`%` of fractions: exact" in head
    assert "[idle -> busy (line 12)]" in head
    assert "int is int_; INPUT is INPUT_" in head
    assert len(header.lines) == len(header.elements)


def test_a_chart_that_c_keeps_as_it_is_has_nothing_at_the_head() -> None:
    chart = read_chart(EXAMPLES / "button_lamp" / "button_lamp.chart.yaml")
    assert ChartUnitSpec(chart).sources()[0].text.startswith("#ifndef BUTTON_LAMP_H")


def test_a_queue_and_ticks_without_end_are_told_with_their_sizes() -> None:
    chart = read_chart(EXAMPLES / "handshake" / "handshake.chart.yaml")
    assert "after 1000 microsteps it is given up" in told(chart)["a tick that may not end"]
    short_queue = told(chart, Options(max_queued_events=16))["events raised inside"]
    assert "16 may wait at once" in short_queue
    assert "in the interpreter 1000 may wait" in short_queue
    assert "in the interpreter" not in told(chart)["events raised inside"]


def test_fractions_of_64_bits_are_told_where_the_compiler_has_none(tmp_path: Path) -> None:
    assert "fractions of 64 bits" not in told(tricky(tmp_path))
    assert "[x; y]" in told(tricky(tmp_path), Options(soft_doubles=True))["fractions of 64 bits"]


@pytest.mark.parametrize(
    ("period", "said"), [("0.0001", "may miss ticks"), ("0.03333333333", "whole microseconds")]
)
def test_a_period_that_a_board_keeps_badly_is_told(tmp_path: Path, period: str, said: str) -> None:
    assert said in told(tricky(tmp_path, period=period))["the period"]


@pytest.mark.parametrize("queue", [0, -1, 1001])
def test_a_queue_that_cannot_be_is_refused(tmp_path: Path, queue: int) -> None:
    with pytest.raises(InputError, match="a queue cannot hold"):
        ChartUnitSpec(tricky(tmp_path), Options(max_queued_events=queue)).sources()


def test_a_period_that_no_board_can_count_is_refused_where_it_stands(tmp_path: Path) -> None:
    chart = tricky(tmp_path, period="2200")
    with pytest.raises(InputError, match="cannot be timed") as refused:
        ChartUnitSpec(chart).sources()
    assert refused.value.where is not None
    assert refused.value.where.path == chart.path


@pytest.mark.parametrize("name", ["tricky", "string", "Unit", "math", "é", "int"])
def test_names_never_clash(tmp_path: Path, name: str) -> None:
    unit_spec = ChartUnitSpec(tricky(tmp_path, name), Options(monitors=True))
    rng = np.random.default_rng(4)
    rows = [
        {"x": float(x), "n": int(n), "int": bool(a), "INPUT": bool(b), "go": False}
        for x, n, a, b in zip(
            rng.uniform(-12, 12, 60),
            rng.integers(1, 9, 60),
            rng.integers(0, 2, 60),
            rng.integers(0, 2, 60),
            strict=True,
        )
    ]
    records = unit_spec.format.pack(rows)
    with host_unit(unit_spec, tmp_path) as step:
        found = [step(record) for record in records]
    wanted = unit_spec.reference().run(records)
    assert len({one.tobytes() for one in wanted}) > 5
    assert all(got.tobytes() == want.tobytes() for got, want in zip(found, wanted, strict=True))


def ring(n: int, prefix: str) -> tuple[State, ...]:
    """States in a ring; each is left for the next one while `go`."""
    empty = Chart(
        "ring", ChartKind.STATECHART, 0.1, {"go": BoolType()}, {}, (StateTarget("s"),), (State("s"),)
    )
    go = parse_expression("go", empty.scope, BoolType())
    ways = [(Transition(go=(StateTarget(f"{prefix}{(k + 1) % n}"),), when=go),) for k in range(n)]
    return tuple(State(f"{prefix}{k}", way) for k, way in enumerate(ways))


def side_by_side(rings: int, n: int) -> tuple[State, ...]:
    sides = (
        State(f"r{k}", states=ring(n, f"a{k}_"), initial=(StateTarget(f"a{k}_0"),)) for k in range(rings)
    )
    return (State("all", parallel=True, states=tuple(sides)),)


@pytest.mark.parametrize(
    "states",
    [lambda: ring(300, "a"), lambda: side_by_side(2, 150), lambda: side_by_side(260, 2)],
    ids=["300 states", "300 in two regions", "260 regions"],
)
def test_numbers_of_one_byte_are_not_too_small(
    states: Callable[[], tuple[State, ...]], tmp_path: Path
) -> None:
    tops = states()
    chart = Chart(
        "big", ChartKind.STATECHART, 0.1, {"go": BoolType()}, {}, (StateTarget(tops[0].name),), tops
    )
    unit_spec = ChartUnitSpec(chart)
    records = unit_spec.format.pack([{"go": k % 7 != 0} for k in range(400)])
    with host_unit(unit_spec, tmp_path) as step:
        found = [step(record).tobytes() for record in records]
    assert found == [one.tobytes() for one in unit_spec.reference().run(records)]


USE = """\
#include "tricky.hpp"
#include <stdio.h>
int main()
{
    TrickyChart chart;
    TrickyChart::Inputs inputs = TrickyChart::Inputs();
    TrickyChart::Status status = chart.step(inputs);
    const bool idle = chart.in(TrickyChart::State::idle);
    inputs.x = 2.0;
    inputs.int_ = true;
    status = chart.step(inputs);
    const bool busy = chart.outputs().event == static_cast<unsigned>(TrickyChart::Event::BUSY_);
    inputs.n = 0;
    status = chart.step(inputs);
    (void)printf("%d %d %d\\n", idle, busy, status == TrickyChart::Status::division_by_zero);
    return 0;
}
"""


def test_the_class_of_cpp_steps_its_chart(tmp_path: Path) -> None:
    compiler, c_compiler = need_tool("g++"), need_tool("gcc")
    for file in ChartUnitSpec(tricky(tmp_path)).sources():
        (tmp_path / file.name).write_text(file.text)
    (tmp_path / "use.cpp").write_text(USE)
    subprocess.run([c_compiler, "-c", "tricky.c"], cwd=tmp_path, check=True)
    subprocess.run(
        [compiler, *STRICT_CPP, "use.cpp", "tricky.o", "-lm", "-o", "use"], cwd=tmp_path, check=True
    )
    ran = subprocess.run([str(tmp_path / "use")], capture_output=True, text=True, check=True)
    assert ran.stdout == "1 1 1\n"


@pytest.mark.parametrize("compiler", [["g++"], ["avr-g++", "-mmcu=atmega328p"]])
def test_the_classes_of_all_examples_compile_without_a_warning(compiler: list[str], tmp_path: Path) -> None:
    tool = need_tool(compiler[0])
    options = Options(monitors=True, soft_doubles=len(compiler) > 1, max_queued_events=16)
    names = []
    for path in sorted(EXAMPLES.rglob("*.chart.yaml")):
        unit_spec = ChartUnitSpec(read_chart(path), options)
        names.append(unit_spec.name)
        for file in unit_spec.sources():
            (tmp_path / file.name).write_text(file.text)
    (tmp_path / "use.cpp").write_text("".join(f'#include "{name}.hpp"\n' for name in names))
    done = subprocess.run(
        [tool, *compiler[1:], *STRICT_CPP, "-c", "use.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
