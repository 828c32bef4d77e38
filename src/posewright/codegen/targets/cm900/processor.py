"""Processor in the loop: a unit, compiled for the CM-900, on an emulated Cortex-M3."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from posewright.codegen.targets.target import write_sources
from posewright.codegen.unit import Footprint, Records, UnitSpec, read_package_sources
from posewright.errors import BodyError

from .core import EXTERNAL_RAM, CortexM3, instruction_address
from .elf import ElfImage
from .target import Cm900, c_files
from .toolchain import BUILD, compile_sources, link_image

_STEPS_PER_BATCH = 4096
_PROFILED_STEPS_PER_BATCH = 64
_N_FIRST_PROFILED_STEPS = 256
"""Steps at the start whose instructions are all counted; counting costs as much as a hundred steps."""
_TIMEOUT_S = 20.0
_TIMEOUT_PER_STEP_S = 0.02
"""Time limits of this computer, which runs some hundred million instructions a second; a step takes some
thousand, or a million with a thousand microsteps."""
_MAX_INSTRUCTIONS_PER_STEP = 8_000_000
"""Limit of the instructions of a step, where they are counted: 0.1 s on the chip."""


class _StepCounter:
    """Counts the instructions of each call of a function.

    Attributes:
        counts: the number of instructions of each call that has returned.
    """

    def __init__(self, core: CortexM3, function: int) -> None:
        self.counts: list[int] = []
        self._core = core
        self._function_address = instruction_address(function)
        self._return_address: int | None = None
        self._n_instructions = 0

    def discard_open_call(self) -> None:
        """Count no more in a call that has begun and not returned, since the last step may have failed."""
        self._return_address = None

    def count_block(self, address: int, n_instructions: int) -> None:
        """Add the instructions of a basic block to the count of the present call, if there is one.

        A call begins with the block at the function's address, and is over at its return address. One that
        takes too many instructions is stopped.
        """
        if address == self._return_address:
            self.counts.append(self._n_instructions)
            self._return_address = None
        elif address == self._function_address and self._return_address is None:
            self._return_address = self._core.return_address
            self._n_instructions = 0
        self._n_instructions += n_instructions
        if self._return_address is not None and self._n_instructions > _MAX_INSTRUCTIONS_PER_STEP:
            self._core.emulator.emu_stop()


def _wraps_chart(unit_spec: UnitSpec) -> bool:
    """Return whether `unit.c` only packs the records of a chart."""
    return set(c_files(unit_spec.sources())) == {"unit.c", f"{unit_spec.name}.c"}


class CortexProcessor:
    """A unit on an emulated processor; see `Measured`.

    The image has the start code, memory and compiler options of the one that is flashed, and `pil_main.c`
    instead of `main.c` and the board's peripherals. Instructions are counted in a sample of the steps: the
    first 256, then 64 of every 4096. For a chart they are those of `<name>_step`, without the packing of
    records around it; the flash of its `unit.c` is in `parts` only, and its RAM is that of the chart's
    variable. Behaviours count with all their files.

    Args:
        unit_spec: the unit to run.

    Raises:
        InputError: the sources do not compile, or the image does not fit the chip.
        UnavailableError: there is no compiler.
        MissingExtraError: Unicorn is not installed.
    """

    def __init__(self, unit_spec: UnitSpec) -> None:
        """Build the image, load it into an emulated processor, and run its start code up to `main`."""
        self._input_dtype = unit_spec.input_dtype
        self._state_dtype = unit_spec.state_dtype
        with tempfile.TemporaryDirectory(prefix="posewright-") as folder:
            self._memory_footprint = self._build(unit_spec, Path(folder))
            image = ElfImage.read(Path(folder) / BUILD / "pil.elf")
        bytes_per_step = self._input_dtype.itemsize + self._state_dtype.itemsize
        self._core = CortexM3(image, external_ram_bytes=_STEPS_PER_BATCH * bytes_per_step)
        self._symbols = image.symbols
        measured_function = f"{unit_spec.name}_step" if _wraps_chart(unit_spec) else "unit_step"
        self._counter = _StepCounter(self._core, image.symbols[measured_function])
        self._core.run_to(self._core.restart(), self._symbols["main"], _TIMEOUT_S)
        self._n_steps = 0
        self._core.fill_stack_pattern(self._symbols["bss_end"])
        self.reset()

    def _build(self, unit_spec: UnitSpec, folder: Path) -> Footprint:
        """Build the test image and the image to be flashed; return the memory that the latter needs."""
        sources = (*unit_spec.sources(), *Cm900().sources(unit_spec))
        write_sources((*sources, *read_package_sources(__package__, ["pil_main.c"])), folder)
        compile_sources(folder, [*c_files(sources), "pil_main.c"])
        image = link_image(folder, c_files(sources), "image")
        unit_files = [file.name for file in unit_spec.sources() if file.name.endswith(".c")]
        link_image(folder, ["startup.c", "pil_main.c", *unit_files], "pil", keep=["pil_run", "unit_reset"])
        measured_files = [f"{unit_spec.name}.c"] if _wraps_chart(unit_spec) else unit_files
        return Footprint(
            flash_bytes=sum(image.parts[name].flash_bytes for name in measured_files if name in image.parts),
            ram_bytes=sum(image.parts[name].ram_bytes for name in unit_files if name in image.parts),
            image_flash_bytes=image.flash_bytes,
            image_ram_bytes=image.ram_bytes,
            step_unit="instructions",
            parts=image.parts,
        )

    def reset(self) -> None:
        """Return to the state before the first tick."""
        self._call("unit_reset")

    def _call(self, function: str, *arguments: int, steps: int = 0) -> None:
        """Call a function of the image; the time limit grows with the number of steps."""
        timeout_s = _TIMEOUT_S + steps * _TIMEOUT_PER_STEP_S
        return_address = self._symbols["main"]
        self._core.call(
            self._symbols[function], *arguments, return_address=return_address, timeout_s=timeout_s
        )

    def run(self, inputs: Records) -> Records:
        """Run one step (a tick) for each record of inputs, from the present state, and return the states.

        Raises:
            BodyError: the unit hangs or accesses memory that does not exist.
        """
        states = [np.zeros(0, self._state_dtype)]
        for start in range(0, len(inputs), _STEPS_PER_BATCH):
            batch = inputs[start : start + _STEPS_PER_BATCH]
            n_profiled = self._choose_n_profiled_steps()
            states += [
                self._run_with_instruction_count(batch[:n_profiled]),
                self._run_batch(batch[n_profiled:]),
            ]
            self._n_steps += len(batch)
        return np.concatenate(states)

    def _choose_n_profiled_steps(self) -> int:
        """Return how many steps at the start of the next batch are counted: some, or 0 for none."""
        n_profiled = len(self._counter.counts)
        is_behind = n_profiled * _STEPS_PER_BATCH <= self._n_steps * _PROFILED_STEPS_PER_BATCH
        return _PROFILED_STEPS_PER_BATCH if n_profiled < _N_FIRST_PROFILED_STEPS or is_behind else 0

    def _run_with_instruction_count(self, inputs: Records) -> Records:
        """Run records with the instructions of each step counted."""
        if not len(inputs):
            return self._run_batch(inputs)
        self._counter.discard_open_call()
        stop_watching = self._core.watch_blocks(self._counter.count_block)
        try:
            return self._run_batch(inputs)
        finally:
            stop_watching()

    def _run_batch(self, inputs: Records) -> Records:
        """Run one step for each record of inputs, at most a batch, and return the states.

        Inputs and states are in memory outside of the chip, one after the other.
        """
        n_steps = len(inputs)
        if not n_steps:
            return np.zeros(0, self._state_dtype)
        input_data = np.ascontiguousarray(inputs).tobytes()
        if len(input_data) != n_steps * self._input_dtype.itemsize:
            raise BodyError(
                f"records of inputs have {self._input_dtype.itemsize} bytes, not {len(input_data) // n_steps}"
            )
        memory = self._core.emulator
        if input_data:
            memory.mem_write(EXTERNAL_RAM, input_data)
        states_address = EXTERNAL_RAM + len(input_data)
        self._call("pil_run", n_steps, EXTERNAL_RAM, states_address, steps=n_steps)
        state_data = bytes(memory.mem_read(states_address, n_steps * self._state_dtype.itemsize))
        return np.frombuffer(state_data, self._state_dtype)

    def footprint(self) -> Footprint:
        """Return the footprint; its cycles are the instructions of the steps counted so far."""
        counts = self._counter.counts  # instructions of each step that was counted
        return replace(
            self._memory_footprint,
            stack_bytes=self._core.stack_bytes_used(self._symbols["bss_end"]),
            step_cycles_mean=float(np.mean(counts)) if counts else None,
            step_cycles_worst=max(counts) if counts else None,
        )

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
