"""Processor in the loop: a unit on an emulated ATmega328P, step by step, and its footprint."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import numpy as np

from posewright.codegen.c.unit_spec import ChartUnitSpec
from posewright.codegen.targets.arduino_uno.simavr import Simavr
from posewright.codegen.targets.arduino_uno.toolchain import MCU, check_size, data_text, link
from posewright.codegen.targets.target import BOARD_QUEUE
from posewright.codegen.toolchains import run_tool
from posewright.codegen.unit import Footprint, Records, UnitSpec
from posewright.errors import BodyError

FLAGS = (
    *MCU,
    *("-Os", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic"),
    *("-ffunction-sections", "-fdata-sections"),
)
"""Flags of a unit; without link-time optimization, so that its own size can be measured."""

STEP_CYCLES = 50_000_000
"""Time limit of a step, three seconds of the board [cycles]."""

BATCH = 20_000
"""Steps in one request to the emulator."""

DATA = 0x800000
"""Address of the data memory of an AVR for the linker (avr-libc, memory sections)."""


def for_avr(unit_spec: UnitSpec) -> UnitSpec:
    """Return a unit specification with the options for a UNO.

    The compiler's `double` has 32 bits, so fractions of 64 bits are computed by calls. By default 64 raised
    events can wait, and a tick with more ends with status 2.
    """
    if not isinstance(unit_spec, ChartUnitSpec):
        return unit_spec
    options = unit_spec.options
    queue_size = BOARD_QUEUE if options.max_queued_events is None else options.max_queued_events
    return replace(unit_spec, options=replace(options, soft_doubles=True, max_queued_events=queue_size))


class UnoProcessor:
    """A unit on an emulated ATmega328P at 16 MHz.

    Its footprint: `flash_bytes` and `ram_bytes` are those of the unit's own objects in the image. `unit.c`,
    which moves records, counts for RAM only, as it has the chart's variable; functions of libgcc are in
    `parts` only. Cycles are counted from the first instruction of `<name>_step`, or of `unit_step` where
    there is none, to its return, both included, without the call. The stack is that of `unit_step` and the
    functions it calls.

    Args:
        unit_spec: the unit to build and run.

    Raises:
        InputError: the unit does not fit the processor.
        UnavailableError: compiler or emulator are missing; the hint names the package.
    """

    def __init__(self, unit_spec: UnitSpec) -> None:
        self.unit_spec = for_avr(unit_spec)
        self._steps = self._cycles = self._worst = self._stack = 0
        self._folder = tempfile.TemporaryDirectory(prefix="posewright-uno-")
        with ExitStack() as undone:
            undone.callback(self._folder.cleanup)
            self._build(Path(self._folder.name))
            self._set_up_command = self._make_set_up_command()
            self._simulator = self._switch_on()
            undone.pop_all()

    def reset(self) -> None:
        """Switch the processor off and on; measurements are kept."""
        self._simulator.close()
        self._simulator = self._switch_on()

    def run(self, inputs: Records) -> Records:
        """Take a step for each record.

        Raises:
            BodyError: a step does not end, or the stack has grown into the variables.
        """
        records = np.ascontiguousarray(inputs.astype(self.unit_spec.inputs, copy=False))
        parts = [self._run(records[k : k + BATCH]) for k in range(0, len(records), BATCH)]
        return np.concatenate(parts) if parts else np.empty(0, self.unit_spec.states)

    def footprint(self) -> Footprint:
        """Return the sizes, and the stack and cycles of the steps so far."""
        own = [f"{name}.o" for name in self._own]
        return Footprint(
            flash_bytes=sum(flash for part, (flash, _) in self._parts.items() if part in own),
            ram_bytes=sum(ram for part, (_, ram) in self._parts.items() if part in {*own, "unit.o"}),
            image_flash_bytes=self._sizes[0],
            image_ram_bytes=self._sizes[1],
            stack_bytes=self._stack if self._steps else None,
            step_cycles_mean=self._cycles / self._steps if self._steps else None,
            step_cycles_worst=self._worst if self._steps else None,
            parts=self._parts,
        )

    def close(self) -> None:
        """Switch the processor off and remove the files of the build."""
        self._simulator.close()
        self._folder.cleanup()

    def __enter__(self) -> UnoProcessor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _image(self) -> Path:
        return Path(self._folder.name) / "image.elf"

    def _build(self, folder: Path) -> None:
        """Write the sources into a folder, compile and link them, and read the sizes of the image."""
        sources = self.unit_spec.sources()
        for source in sources:
            path = folder / source.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source.text, encoding="utf-8")
        (folder / "pil_main.c").write_text(data_text("pil_main.c"), encoding="utf-8")
        compiled = [Path(s.name).stem for s in sources if s.name.endswith(".c")]
        self._own = tuple(name for name in compiled if name != "unit")
        names = (*compiled, "pil_main")
        paths = {Path(s.name).stem: s.name for s in sources if s.name.endswith(".c")} | {
            "pil_main": "pil_main.c"
        }
        for name in names:
            run_tool("avr-gcc", *FLAGS, "-I.", "-c", paths[name], "-o", f"{name}.o", folder=folder)
        self._link(folder, [f"{name}.o" for name in names])

    def _link(self, folder: Path, objects: list[str]) -> None:
        options = ("-Wl,--gc-sections", "-Wl,-Map=image.map", "-o", "image.elf")
        link(*MCU, "-Os", *options, *objects, "-lm", folder=folder)
        self._sizes = check_size(folder / "image.elf")
        self._parts = dict(
            read_part_sizes((folder / "image.map").read_text(encoding="utf-8", errors="replace"))
        )

    def _make_set_up_command(self) -> str:
        """Return the command of the emulator with the addresses and sizes in the image."""
        symbols = {}
        for line in run_tool("avr-nm", self._image).splitlines():
            address, _, name = line.rpartition(" ")
            symbols[name] = int(address.split()[0], 16)
        step = symbols.get(f"{self.unit_spec.name}_step", symbols["unit_step"])
        numbers = (
            symbols["pil_wait"],
            step,
            symbols["pil_input"] - DATA,
            self.unit_spec.inputs.itemsize,
            symbols["pil_state"] - DATA,
            self.unit_spec.states.itemsize,
            symbols["_end"] - DATA,
            STEP_CYCLES,
        )
        return "unit " + " ".join(map(str, numbers))

    def _switch_on(self) -> Simavr:
        simulator = Simavr(self._image)
        simulator.tell(self._set_up_command)
        return simulator

    def _run(self, records: Records) -> Records:
        """Run one step for each record of inputs; return the states and add up the cycles."""
        answer, _ = self._simulator.tell(f"steps {len(records)}", records.tobytes())
        cycles, worst, stack = map(int, answer)
        self._steps += len(records)
        self._cycles += cycles
        self._worst = max(self._worst, worst)
        self._stack = max(self._stack, stack)
        expected = len(records) * self.unit_spec.states.itemsize
        states = self._simulator.receive(expected)
        if len(states) != expected:
            raise BodyError("the emulated Arduino UNO stopped in the middle of an answer")
        return np.frombuffer(states, self.unit_spec.states).copy()


_FLASH_ONLY = (".text", ".progmem", ".vectors", ".init", ".fini", ".jumptables", ".lowtext", ".trampolines")
_RAM_ONLY = (".bss", ".noinit", "COMMON")
_FLASH_AND_RAM = (".data", ".rodata")

_PLACED = re.compile(r"^ (\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$", re.MULTILINE)


def read_part_sizes(link_map: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield flash and RAM of every object, and of every section of an object, from GNU ld's map file.

    A section is `object:section`, `mealy.o:.text.mealy_step`. Sections removed by `--gc-sections` do not
    count.
    """
    placed = link_map.partition("Linker script and memory map")[2]
    sizes: dict[str, tuple[int, int]] = {}
    for section, _, size, origin in _PLACED.findall(placed):
        n_bytes = int(size, 16)
        flash = n_bytes if section.startswith(_FLASH_ONLY + _FLASH_AND_RAM) else 0
        ram = n_bytes if section.startswith(_RAM_ONLY + _FLASH_AND_RAM) else 0
        if flash or ram:
            path = origin.replace("(", "/").rstrip(")").rpartition("/")[2]
            for part in (path, f"{path}:{section}"):
                before = sizes.get(part, (0, 0))
                sizes[part] = (before[0] + flash, before[1] + ram)
    yield from sizes.items()
