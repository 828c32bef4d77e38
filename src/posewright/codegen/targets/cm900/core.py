"""An emulated Cortex-M3 with the memory of an STM32F103C8: Unicorn runs the instructions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from posewright.errors import BodyError, MissingExtraError

from .elf import ElfImage

FLASH = 0x08000000
FLASH_BYTES = 64 * 1024
RAM = 0x20000000
RAM_BYTES = 20 * 1024
PROGRAM = 0x08003000
"""End of the board's bootloader, with the vector table: see cm900.ld."""
EXTERNAL_RAM = 0x60000000
"""Memory that no CM-900 has, for inputs and states of a verification; RM0008 3.3 has external RAM there."""

_STACK_PATTERN = 0xA5
_PAGE = 0x1000

_THUMB_BIT = 1
"""Bit 0 of an address in a register: set for instructions in Thumb code, the only ones of a Cortex-M3."""


def instruction_address(address: int) -> int:
    """Return where in memory an instruction is, from an address that may have the Thumb bit."""
    return address & ~_THUMB_BIT


class CortexM3:
    """A processor and its memory with a loaded program.

    Instructions are counted instead of cycles, since Unicorn does not model wait states and pipelines.

    Args:
        image: the program.
        external_ram_bytes: size of the memory at `EXTERNAL_RAM` [bytes].

    Raises:
        MissingExtraError: Unicorn is not installed.
    """

    def __init__(self, image: ElfImage, external_ram_bytes: int = 0) -> None:
        """Map the memory of the chip, and load the program into it."""
        try:
            unicorn: Any = importlib.import_module("unicorn")
            self._arm_constants: Any = importlib.import_module("unicorn.arm_const")
        except ImportError as error:
            raise MissingExtraError.for_extra("an emulated Cortex-M3", "boards") from error
        self._unicorn_module = unicorn
        self.emulator: Any = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self.emulator.ctl_set_cpu_model(self._arm_constants.UC_CPU_ARM_CORTEX_M3)
        self.emulator.mem_map(FLASH, FLASH_BYTES, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        self.emulator.mem_map(RAM, RAM_BYTES)
        if external_ram_bytes:
            n_pages = -(-external_ram_bytes // _PAGE)  # rounded up
            self.emulator.mem_map(EXTERNAL_RAM, n_pages * _PAGE)
        for address, data in image.segments.items():
            self.emulator.mem_write(address, data)
        self._instruction_counts: dict[tuple[int, int], int] = {}  # by address and size of a basic block

    def restart(self) -> int:
        """Set the stack pointer from the vector table, as the bootloader does; return the start address."""
        n_registers = 13  # R0 to R12
        for k in range(n_registers):
            self.emulator.reg_write(self._arm_constants.UC_ARM_REG_R0 + k, 0)
        self.emulator.reg_write(self._arm_constants.UC_ARM_REG_SP, self._read_word(PROGRAM))
        return self._read_word(PROGRAM + 4)

    def _read_word(self, address: int) -> int:
        """Return the 32-bit number at an address."""
        return int.from_bytes(self.emulator.mem_read(address, 4), "little")

    @property
    def program_counter(self) -> int:
        """The address of the next instruction."""
        return int(self.emulator.reg_read(self._arm_constants.UC_ARM_REG_PC))

    @property
    def return_address(self) -> int:
        """The return address of a function at its first instruction (the link register)."""
        return instruction_address(int(self.emulator.reg_read(self._arm_constants.UC_ARM_REG_LR)))

    def run_from(
        self, start: int, until: int = 0xFFFFFFFE, *, max_instructions: int = 0, timeout_s: float = 0.0
    ) -> None:
        """Run from `start` to `until`, or until the emulator is stopped.

        Args:
            start: address of the first instruction.
            until: address to stop at.
            max_instructions: limit of instructions, 0 for none; counting them is many times slower.
            timeout_s: limit in time of this computer, 0 for none [s].

        Raises:
            BodyError: the program accesses memory that does not exist.
        """
        try:
            self.emulator.emu_start(
                start | _THUMB_BIT,
                instruction_address(until),
                timeout=round(timeout_s * 1e6),
                count=max_instructions,
            )
        except self._unicorn_module.UcError as error:
            raise BodyError(
                f"the program fails on the emulated processor, at 0x{self.program_counter:08x}: {error}",
                hint="arm-none-eabi-addr2line -f -e IMAGE ADDRESS shows which function that is",
            ) from error

    def run_to(self, start: int, until: int, timeout_s: float) -> None:
        """Run from `start` to `until`; the arguments are those of `run_from`.

        Raises:
            BodyError: the program accesses memory that does not exist, or it does not arrive within the time
                limit.
        """
        self.run_from(start, until, timeout_s=timeout_s)
        if self.program_counter != instruction_address(until):
            raise BodyError(
                f"the program does not come to an end: it is still at 0x{self.program_counter:08x}",
                hint="arm-none-eabi-addr2line -f -e IMAGE ADDRESS shows which function hangs",
            )

    def call(self, function: int, *arguments: int, return_address: int, timeout_s: float) -> None:
        """Call a function with up to four words, to return to `return_address`; raises as `run_to` does."""
        for k, word in enumerate(arguments):
            self.emulator.reg_write(self._arm_constants.UC_ARM_REG_R0 + k, word)
        self.emulator.reg_write(self._arm_constants.UC_ARM_REG_SP, self._read_word(PROGRAM))
        self.emulator.reg_write(self._arm_constants.UC_ARM_REG_LR, return_address | _THUMB_BIT)
        self.run_to(function, return_address, timeout_s)

    def watch_blocks(
        self, on_block: Callable[[int, int], None], excluded: Iterable[tuple[int, int]] = ()
    ) -> Callable[[], None]:
        """Call `on_block(address, n_instructions)` before each basic block; return a function that ends this.

        Unicorn watches a range of addresses by a hook, so there is a hook for each range between the
        functions that are left out.

        Args:
            on_block: the callback.
            excluded: first address and end of functions whose blocks are left out.
        """
        instruction_counts = self._instruction_counts  # a local name, since this is called very often

        def on_hook(_machine: Any, address: int, size: int, _data: Any) -> None:
            count = instruction_counts.get((address, size))
            on_block(address, self._count_instructions(address, size) if count is None else count)

        hooks: list[Any] = []
        memory_end = RAM + RAM_BYTES
        watched_begin = FLASH
        for excluded_begin, excluded_end in (*sorted(excluded), (memory_end, memory_end)):
            if excluded_begin > watched_begin:
                hook = self.emulator.hook_add(
                    self._unicorn_module.UC_HOOK_BLOCK, on_hook, begin=watched_begin, end=excluded_begin - 1
                )
                hooks.append(hook)
            watched_begin = excluded_end
        self.emulator.ctl_flush_tb()  # code that was translated before calls no hook

        def stop_watching() -> None:
            for hook in hooks:
                self.emulator.hook_del(hook)
            self.emulator.ctl_flush_tb()

        return stop_watching

    def _count_instructions(self, address: int, size: int) -> int:
        """Return the number of instructions of a block of code, and cache it.

        An instruction that begins with the bits 11101 or more has 32 bits, others have 16 (ARMv7-M ARM,
        A5.1).
        """
        code = self.emulator.mem_read(address, size)
        offset = 0
        count = 0
        while offset < size:
            is_wide = code[offset + 1] >> 3 >= 0b11101
            offset += 4 if is_wide else 2
            count += 1
        self._instruction_counts[address, size] = count
        return count

    def fill_stack_pattern(self, start: int) -> None:
        """Fill RAM from `start` on with a pattern, for `stack_bytes_used`."""
        self.emulator.mem_write(start, bytes([_STACK_PATTERN]) * (RAM + RAM_BYTES - start))

    def stack_bytes_used(self, start: int) -> int:
        """Return how many bytes at the upper end of RAM were used since `fill_stack_pattern`: the stack."""
        return len(
            bytes(self.emulator.mem_read(start, RAM + RAM_BYTES - start)).lstrip(bytes([_STACK_PATTERN]))
        )
