"""A unit on the emulated Cortex-M3 of a CM-900: same answers, what it needs, what goes wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import read_chart
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.proof.proving import input_stream
from posewright.codegen.targets import write_sources
from posewright.codegen.targets.cm900.elf import ElfImage
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.targets.cm900.target import Cm900
from posewright.errors import BodyError, FormatError, InputError, MissingExtraError, UnavailableError

from .cm900_units import BYTE, COUNTS, WrittenUnit, board_with, counting
from .conftest import need_tool

CHARTS = Path(__file__).resolve().parents[2] / "examples" / "charts"

NOTHING = '#include "unit.h"\nvoid unit_reset(void) {}\n'
STEP = "void unit_step(const uint8_t *input, uint8_t *state)"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    need_tool("arm-none-eabi-gcc")


def chart_unit_spec(name: str) -> ChartUnitSpec:
    return ChartUnitSpec(read_chart(CHARTS / name))


def assert_same_as_interpreter(unit_spec: ChartUnitSpec, processor: CortexProcessor, steps: int) -> None:
    inputs = input_stream(unit_spec).take_records(steps, seed=3)
    expected = unit_spec.reference().run(inputs)
    assert processor.run(inputs).tobytes() == expected.tobytes()


def test_documents_machine_is_the_interpreters_in_every_state() -> None:
    unit_spec = chart_unit_spec("document/obstacle_mealy.chart.yaml")
    processor = CortexProcessor(unit_spec)
    assert_same_as_interpreter(unit_spec, processor, 20_000)
    needs = processor.footprint()
    assert needs.step_unit == "instructions"
    assert 0 < needs.flash_bytes <= 41 * 4
    assert (
        needs.ram_bytes <= unit_spec.input_dtype.itemsize + 2 + 4
    )  # with both outputs, and 4 that are allowed
    assert needs.ram_bytes == 3  # the chart's variable alone: its state and both outputs
    assert needs.step_cycles_worst is not None
    assert 5 < needs.step_cycles_mean <= needs.step_cycles_worst < 100
    assert 0 < needs.stack_bytes < 200


@pytest.mark.parametrize(
    "name",
    [
        "traffic/crossing.chart.yaml",
        "balance_loop/balance_loop.chart.yaml",
        "aibo_ball/aibo_ball.chart.yaml",
        "stairs/stairs.chart.yaml",
    ],
)
def test_timers_regions_and_fractions_are_the_interpreters(name: str) -> None:
    unit_spec = chart_unit_spec(name)
    processor = CortexProcessor(unit_spec)
    assert_same_as_interpreter(unit_spec, processor, 1000)
    # at most what a record holds, and where events are raised a queue of a thousand
    own = unit_spec.state_dtype.itemsize + unit_spec.lowered.queue_limit
    assert 0 < processor.footprint().ram_bytes < own + 64


def test_fractions_in_software_are_ieee_754() -> None:
    inputs = np.dtype([("x", "<f8"), ("y", "<f8")])
    names = ("sum", "product", "quotient", "narrow")
    states = np.dtype([("status", "u1"), *((name, "<f4" if name == "narrow" else "<f8") for name in names)])
    source = f"""{NOTHING}
#include <string.h>
{STEP}
{{
    double x, y, found[3];
    float narrow;
    memcpy(&x, input, 8U);
    memcpy(&y, &input[8], 8U);
    found[0] = x + y;
    found[1] = x * y;
    found[2] = x / y;
    narrow = (float)x / 3.0F;
    state[0] = 0U;
    memcpy(&state[1], found, 24U);
    memcpy(&state[25], &narrow, 4U);
}}
"""
    drawn = np.random.default_rng(5).integers(0, 1 << 64, (20_000, 2), dtype=np.uint64).view("<f8")
    drawn[:100] = np.ldexp(drawn[:100], -1020)
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    given = np.zeros(len(drawn), inputs)
    given["x"], given["y"] = drawn.T
    found = CortexProcessor(WrittenUnit(source, inputs, states)).run(given)
    with np.errstate(all="ignore"):
        x, y = drawn.T
        expected = (x + y, x * y, x / y, x.astype("<f4") / np.float32(3))
    for name, column in zip(names, expected, strict=True):
        known = ~np.isnan(column)
        assert found[name][known].tobytes() == column[known].tobytes(), name


def test_it_goes_on_where_it_was_until_it_is_reset() -> None:
    processor = CortexProcessor(counting())
    given = np.zeros(100, BYTE)
    whole = processor.run(given)
    processor.reset()
    assert np.concatenate([processor.run(given[:30]), processor.run(given[30:])]).tobytes() == whole.tobytes()
    assert processor.run(given[:1])["steps"].tolist() == [101]
    assert len(processor.run(given[:0])) == 0


def test_parts_add_up_to_the_image_and_name_who_uses_what() -> None:
    needs = CortexProcessor(counting()).footprint()
    assert needs.parts is not None
    assert {"unit.c", "board.c", "main.c", "link.c", "startup.c", "board_hooks.c"} <= set(needs.parts)
    assert sum(flash for flash, _ in needs.parts.values()) == needs.image_flash_bytes
    assert sum(ram for _, ram in needs.parts.values()) == needs.image_ram_bytes
    assert needs.parts["unit.c"] == (needs.flash_bytes, needs.ram_bytes)


def test_instructions_are_those_that_a_step_runs() -> None:
    def mean(work: str) -> float:
        processor = CortexProcessor(counting(work))
        processor.run(np.zeros(10, BYTE))
        return processor.footprint().step_cycles_mean or 0.0

    assert mean('__asm__ volatile(".rept 100\\n nop\\n .endr");') - mean("") == 100


def test_a_step_that_hangs_is_told_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{CortexProcessor.__module__}._TIMEOUT_S", 0.5)
    monkeypatch.setattr(f"{CortexProcessor.__module__}._MAX_INSTRUCTIONS_PER_STEP", 1_000_000)
    processor = CortexProcessor(counting("while (input[0] == 7U) { }"))
    for place in (5, 100):  # among those that are counted, and not
        given = np.zeros(101, BYTE)
        given["input"][place] = 7
        with pytest.raises(BodyError, match="does not come to an end: it is still at 0x0800"):
            processor.run(given)
        processor.reset()


def test_memory_that_is_not_there_is_told() -> None:
    processor = CortexProcessor(counting("*(volatile uint8_t *)0x30000000UL = 1U;"))
    with pytest.raises(BodyError, match="fails on the emulated processor, at 0x0800"):
        processor.run(np.zeros(1, BYTE))


@pytest.mark.parametrize(
    ("declared", "region", "least"), [("const", "FLASH", 60_000), ("", "RAM", 60_000)], ids=["flash", "ram"]
)
def test_an_image_that_does_not_fit_is_refused_with_its_size(declared: str, region: str, least: int) -> None:
    table = f"static {declared} volatile uint8_t table[{least}] = {{1U}};"
    source = f"{NOTHING}{table}\n{STEP} {{ state[0] = table[input[0]]; }}\n"
    with pytest.raises(InputError, match=rf"does not fit a CM-900: it needs \d+ bytes of .*{region}") as told:
        CortexProcessor(WrittenUnit(source))
    assert "fewer or shorter motions" in str(told.value)


def test_what_the_compiler_says_is_handed_on() -> None:
    with pytest.raises(InputError, match="nonsense"):
        CortexProcessor(WrittenUnit(f"{NOTHING}{STEP} {{ state[0] = nonsense; (void)input; }}"))


def test_a_missing_compiler_names_its_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="gcc-arm-none-eabi libnewlib-arm-none-eabi"):
        CortexProcessor(counting())


def test_a_missing_emulator_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "unicorn", None)
    with pytest.raises(MissingExtraError, match=r"posewright\[boards\]"):
        CortexProcessor(counting())


def test_an_image_is_the_same_wherever_it_is_built(tmp_path: Path) -> None:
    for place in ("here", "over/there"):
        (tmp_path / place).mkdir(parents=True)
        board_with(counting(), tmp_path / place)
    here, there = (tmp_path / place / "build" / "image.bin" for place in ("here", "over/there"))
    assert here.read_bytes() == there.read_bytes()
    image = ElfImage.read(here.with_suffix(".elf"))
    assert image.segments[0x08003000] == here.read_bytes()[: len(image.segments[0x08003000])]
    assert image.size == here.stat().st_size


def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"\x7fELF\x01\x01" + bytes(20), b"\x7fELF\x01\x01" + b"\xff" * 100):
        (tmp_path / "a.elf").write_bytes(content)
        with pytest.raises(FormatError):
            ElfImage.read(tmp_path / "a.elf")


def test_what_the_user_wrote_stays(tmp_path: Path) -> None:
    target = Cm900()
    write_sources(target.sources(counting()), tmp_path)
    (tmp_path / "board_hooks.c").write_text("mine\n")
    (tmp_path / "main.c").write_text("not mine\n")
    write_sources(target.sources(counting()), tmp_path)
    assert (tmp_path / "board_hooks.c").read_text() == "mine\n"
    assert "not mine" not in (tmp_path / "main.c").read_text()


def test_a_chart_called_like_a_file_of_the_board_is_refused() -> None:
    class Board(WrittenUnit):
        def sources(self):  # type: ignore[no-untyped-def]
            return (*super().sources(), *Cm900().sources(counting())[:1])

    with pytest.raises(InputError, match=r"both called startup\.c"):
        Cm900().sources(Board("", BYTE, COUNTS))


def test_a_real_board_is_flashed_with_robotis_loader(tmp_path: Path) -> None:
    image = tmp_path / "image.bin"
    command = Cm900().flash_command(image, "/dev/ttyACM3")
    assert command == ("opencm9.04_ld", "/dev/ttyACM3", "57600", str(image), "1", "opencm")
    with pytest.raises(InputError, match="over a serial port"):
        Cm900().flash_command(image, None)


def test_a_folder_without_a_program_is_not_built(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no program for a CM-900"):
        Cm900().build(tmp_path)
