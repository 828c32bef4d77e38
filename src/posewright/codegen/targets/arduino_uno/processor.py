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
from posewright.codegen.unit import Footprint, PartSize, Records, UnitSpec
from posewright.errors import BodyError

FLAGS = (
    *MCU,
    *("-Os", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic"),
    *("-ffunction-sections", "-fdata-sections"),
)
"""Flags of a unit; without link-time optimization, so that its own size can be measured."""

STEP_CYCLES = 50_000_000
"""Time limit of a step, three seconds of the board [cycles]."""

STEPS_PER_BATCH = 20_000
"""Steps in one request to the emulator."""

DATA = 0x800000
"""Address of the data memory of an AVR for the linker (avr-libc, memory sections)."""


def with_avr_options(unit_spec: UnitSpec) -> UnitSpec:
    """Return a unit specification with the options for a UNO.

    The compiler's `double` has 32 bits, so floats of 64 bits are computed by support functions. By default
    `BOARD_QUEUE` raised events can wait; a tick that raises more ends with status 2.
    """
    if not isinstance(unit_spec, ChartUnitSpec):
        return unit_spec  # a whole behaviour, for which the UNO has no options
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
        """Build the image in a folder of its own, and switch the processor on."""
        self.unit_spec = with_avr_options(unit_spec)
        self._n_steps = 0
        self._total_cycles = 0
        self._worst_cycles = 0
        self._stack_bytes = 0
        self._folder = tempfile.TemporaryDirectory(prefix="posewright-uno-")
        with ExitStack() as cleanup_on_failure:
            cleanup_on_failure.callback(self._folder.cleanup)
            self._build(Path(self._folder.name))
            self._set_up_command = self._make_set_up_command()
            self._simulator = self._switch_on()
            cleanup_on_failure.pop_all()

    def reset(self) -> None:
        """Switch the processor off and on; measurements are kept."""
        self._simulator.close()
        self._simulator = self._switch_on()

    def run(self, inputs: Records) -> Records:
        """Take a step for each record.

        Raises:
            BodyError: a step does not end, or the stack has grown into the variables.
        """
        records = np.ascontiguousarray(inputs.astype(self.unit_spec.input_dtype, copy=False))
        batches = [
            records[start : start + STEPS_PER_BATCH] for start in range(0, len(records), STEPS_PER_BATCH)
        ]
        states = [self._run_batch(batch) for batch in batches]
        return np.concatenate(states) if states else np.empty(0, self.unit_spec.state_dtype)

    def footprint(self) -> Footprint:
        """Return the sizes, and the stack and cycles of the steps so far."""
        own_objects = [f"{name}.o" for name in self._own_modules]
        ram_objects = {*own_objects, "unit.o"}  # `unit.c` has the variable of the chart
        image_flash_bytes, image_ram_bytes = self._image_sizes
        return Footprint(
            flash_bytes=sum(size.flash_bytes for part, size in self._parts.items() if part in own_objects),
            ram_bytes=sum(size.ram_bytes for part, size in self._parts.items() if part in ram_objects),
            image_flash_bytes=image_flash_bytes,
            image_ram_bytes=image_ram_bytes,
            stack_bytes=self._stack_bytes if self._n_steps else None,
            step_cycles_mean=self._total_cycles / self._n_steps if self._n_steps else None,
            step_cycles_worst=self._worst_cycles if self._n_steps else None,
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
        c_files = {Path(source.name).stem: source.name for source in sources if source.name.endswith(".c")}
        self._own_modules = tuple(name for name in c_files if name != "unit")
        c_files["pil_main"] = "pil_main.c"
        for name, c_file in c_files.items():
            run_tool("avr-gcc", *FLAGS, "-I.", "-c", c_file, "-o", f"{name}.o", folder=folder)
        self._link(folder, [f"{name}.o" for name in c_files])

    def _link(self, folder: Path, objects: list[str]) -> None:
        """Link objects to `image.elf`, and read the sizes of the image and of its parts."""
        options = ("-Wl,--gc-sections", "-Wl,-Map=image.map", "-o", "image.elf")
        link(*MCU, "-Os", *options, *objects, "-lm", folder=folder)
        self._image_sizes = check_size(folder / "image.elf")
        self._parts = dict(
            read_part_sizes((folder / "image.map").read_text(encoding="utf-8", errors="replace"))
        )

    def _make_set_up_command(self) -> str:
        """Return the command of the emulator with the addresses and sizes in the image."""
        symbols = {}
        for line in run_tool("avr-nm", self._image).splitlines():
            address, _, name = line.rpartition(" ")
            symbols[name] = int(address.split()[0], 16)
        measured_function = symbols.get(f"{self.unit_spec.name}_step", symbols["unit_step"])
        numbers = (  # in the order of the command `unit`, see simulator.c
            symbols["pil_wait"],
            measured_function,
            symbols["pil_input"] - DATA,
            self.unit_spec.input_dtype.itemsize,
            symbols["pil_state"] - DATA,
            self.unit_spec.state_dtype.itemsize,
            symbols["_end"] - DATA,
            STEP_CYCLES,
        )
        return "unit " + " ".join(map(str, numbers))

    def _switch_on(self) -> Simavr:
        """Start the emulator with the image, and send it the addresses and sizes."""
        simulator = Simavr(self._image)
        simulator.send_command(self._set_up_command)
        return simulator

    def _run_batch(self, records: Records) -> Records:
        """Run one step for each record of inputs; return the states.

        The cycles and the stack that the emulator has measured are added to the measurements.
        """
        measurements, _ = self._simulator.send_command(f"steps {len(records)}", records.tobytes())
        total_cycles, worst_cycles, stack_bytes = map(int, measurements)
        self._n_steps += len(records)
        self._total_cycles += total_cycles
        self._worst_cycles = max(self._worst_cycles, worst_cycles)
        self._stack_bytes = max(self._stack_bytes, stack_bytes)
        n_state_bytes = len(records) * self.unit_spec.state_dtype.itemsize
        states = self._simulator.read_bytes(n_state_bytes)
        if len(states) != n_state_bytes:
            raise BodyError("the emulated Arduino UNO stopped in the middle of an answer")
        return np.frombuffer(states, self.unit_spec.state_dtype).copy()


_FLASH_ONLY = (".text", ".progmem", ".vectors", ".init", ".fini", ".jumptables", ".lowtext", ".trampolines")
_RAM_ONLY = (".bss", ".noinit", "COMMON")
_FLASH_AND_RAM = (".data", ".rodata")

_PLACED_SECTION = re.compile(r"^ (\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$", re.MULTILINE)


def read_part_sizes(link_map: str) -> Iterator[tuple[str, PartSize]]:
    """Yield flash and RAM of every object, and of every section of an object, from GNU ld's map file.

    The name of an object is like `unit.o`, that of a section like `mealy.o:.text.mealy_step`. Sections
    removed by `--gc-sections` do not count.
    """
    _, _, memory_map = link_map.partition("Linker script and memory map")  # removed sections are before it
    sizes: dict[str, PartSize] = {}
    for section, _address, hex_size, object_path in _PLACED_SECTION.findall(memory_map):
        n_bytes = int(hex_size, 16)
        flash = n_bytes if section.startswith(_FLASH_ONLY + _FLASH_AND_RAM) else 0
        ram = n_bytes if section.startswith(_RAM_ONLY + _FLASH_AND_RAM) else 0
        if not (flash or ram):
            continue
        # the path ends with `unit.o` or `libgcc.a(_divsf3.o)`
        _, _, object_name = object_path.replace("(", "/").rstrip(")").rpartition("/")
        for part in (object_name, f"{object_name}:{section}"):
            flash_so_far, ram_so_far = sizes.get(part, (0, 0))
            sizes[part] = PartSize(flash_so_far + flash, ram_so_far + ram)
    yield from sizes.items()
