"""The toolchain of an Arduino UNO: memory sizes, linking, and the emulator."""

from __future__ import annotations

import hashlib
import re
import tempfile
from importlib.resources import files
from pathlib import Path

from posewright.codegen.toolchains import PACKAGES, CompileError, TooLargeError, cache_folder, run_tool
from posewright.errors import UnavailableError

CACHE = "arduino_uno"

MCU = ("-mmcu=atmega328p", "-DF_CPU=16000000UL")
"""The UNO's processor and its crystal; arduino-core-avr, boards.txt, `uno.build`."""

FLASH_BYTES = 32_256
"""Flash of the UNO beside its boot loader; arduino-core-avr, boards.txt, `uno.upload.maximum_size`."""

_LINKED_FLASH_BYTES = 1 << 15
"""Flash of the processor for the linker, with the boot loader's part."""

RAM_BYTES = 2_048
"""RAM, the stack included; arduino-core-avr, boards.txt, `uno.upload.maximum_data_size`."""

RAM_START = 0x800100
"""Where RAM begins for the linker: behind the registers of the ATmega328P (avr-libc, memory sections)."""


def data_text(name: str) -> str:
    """Return the text of a file of this package."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def digest(*texts: str) -> str:
    """Return a digest of texts, for the name of a cached file."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def build_simulator() -> Path:
    """Return the path of the emulator program, which is compiled unless it is in the cache.

    Raises:
        UnavailableError: there is no compiler or no libsimavr.
    """
    source = data_text("simulator.c")
    # the digest gives another version of the source another file
    program = cache_folder(CACHE) / f"simulator-{digest(source)}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as scratch:
            (Path(scratch) / "simulator.c").write_text(source, encoding="utf-8")
            try:
                flags = ("-std=c99", "-O2", "simulator.c", "-o", "simulator", "-lsimavr")
                run_tool("gcc", *flags, folder=Path(scratch))
            except CompileError as error:
                raise UnavailableError(
                    f"the emulator of an Arduino UNO cannot be built: {error.message}",
                    hint=f"apt install {PACKAGES['libsimavr']}",
                ) from error
            (Path(scratch) / "simulator").replace(program)
    return program


def check_size(image: Path) -> tuple[int, int]:
    """Return the flash and the RAM of an image [bytes].

    Raises:
        TooLargeError: it does not fit a UNO.
    """
    section_sizes: dict[str, int] = {}
    for line in run_tool("avr-size", "-A", image).splitlines():
        words = line.split()
        is_section = len(words) == 3 and words[1].isdigit()  # name, size, address
        if is_section:
            section_sizes[words[0]] = int(words[1])
    flash = sum(section_sizes.get(name, 0) for name in (".text", ".data"))
    ram = sum(section_sizes.get(name, 0) for name in (".data", ".bss", ".noinit"))
    require_fitting_size(flash, ram)
    return flash, ram


def require_fitting_size(flash: int, ram: int, *, at_least: bool = False) -> None:
    """Raise a TooLargeError unless flash and RAM fit a UNO; with `at_least`, these are lower bounds."""
    for memory, needed, available in (("flash", flash, FLASH_BYTES), ("RAM", ram, RAM_BYTES)):
        if needed > available:
            amount = f"more than {needed}" if at_least else str(needed)
            raise TooLargeError(
                f"it needs {amount} bytes of {memory}, an Arduino UNO has {available}",
                hint="fewer states or narrower types; a CM-900 has twice the flash and ten times the RAM",
            )


def link(*arguments: str | Path, folder: Path | None = None) -> None:
    """Link an image for the bare processor, which has 32 KB of flash and 2 KB of RAM.

    Raises:
        TooLargeError: it does not fit.
        CompileError: the linker reports another error.
    """
    try:
        run_tool("avr-gcc", *arguments, folder=folder)
    except CompileError as error:
        if "will not fit in region `text'" in error.log:
            require_fitting_size(_LINKED_FLASH_BYTES, 0, at_least=True)  # raises, as the UNO has less
        section_ends = re.findall(r"address 0x([0-9a-f]+) of .* is not within region `data'", error.log)
        if section_ends:
            require_fitting_size(0, max(int(end, 16) for end in section_ends) - RAM_START)
        raise
