"""Builds of images for the CM-900 with GNU's compiler for Arm, and their sizes from the linker's map."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from posewright.codegen.targets.target import BuildResult
from posewright.codegen.toolchains import STRICT, CompileError, TooLargeError, run_tool
from posewright.codegen.unit import PartSize

from .core import RAM_BYTES

COMPILER = "arm-none-eabi-gcc"
PROCESSOR = ("-mcpu=cortex-m3", "-mthumb")
FLAGS = (*PROCESSOR, *STRICT, "-Os", "-ffunction-sections", "-fdata-sections")
LINKER_SCRIPT = "cm900.ld"
BUILD = "build"
"""The subfolder for compiled files."""
FLASH_FOR_PROGRAMS = 52 * 1024
"""Flash behind the bootloader: see cm900.ld."""

_OVERFLOW = re.compile(r"region `(\w+)' overflowed by (\d+) bytes")
_PLACED_SECTION = re.compile(r"^ (\*fill\*|COMMON|\.\S+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) ?(.*)$")
_OUTPUT_SECTION = re.compile(r"^(\.\w+|/DISCARD/)\b")
_OF_LIBRARY = re.compile(r"(lib\w+?)(?:_nano)?\.a\(")


def compile_sources(folder: Path, sources: Sequence[str]) -> None:
    """Compile C files in a folder, into its `build`.

    Raises:
        UnavailableError: there is no compiler.
        CompileError: the compiler reports errors.
    """
    build_folder = folder / BUILD
    build_folder.mkdir(exist_ok=True)
    run_tool(COMPILER, *FLAGS, "-c", *(f"../{source}" for source in sources), folder=build_folder)


def link_image(folder: Path, sources: Sequence[str], name: str, keep: Iterable[str] = ()) -> BuildResult:
    """Link compiled C files of a folder that has cm900.ld to `build/name.elf`.

    Args:
        folder: the folder.
        sources: names of the C files.
        name: name of the image.
        keep: functions that are not called but must stay.

    Raises:
        UnavailableError: there is no compiler.
        InputError: a file is missing, or the image does not fit the chip.
    """
    build_folder = folder / BUILD
    objects = [Path(source).with_suffix(".o").name for source in sources]
    keep_options = [f"-Wl,--undefined={function}" for function in keep]
    layout = ["--specs=nano.specs", "-nostartfiles", "-Wl,--gc-sections", "-T", f"../{LINKER_SCRIPT}"]
    output_options = [f"-Wl,-Map={name}.map", "-o", f"{name}.elf"]
    try:
        run_tool(
            COMPILER,
            *PROCESSOR,
            *layout,
            *keep_options,
            *objects,
            "-lm",
            *output_options,
            folder=build_folder,
        )
    except CompileError as error:
        raise (_too_large_error(error.log) or error) from None
    link_map = (build_folder / f"{name}.map").read_text(encoding="utf-8", errors="replace")
    elf = build_folder / f"{name}.elf"
    return BuildResult(elf, elf, read_part_sizes(link_map))


def write_binary(elf: Path) -> Path:
    """Write the file to be flashed, from 0x08003000 on, beside an image, with the suffix `.bin`."""
    binary = elf.with_suffix(".bin")
    run_tool("arm-none-eabi-objcopy", "-O", "binary", elf, binary)
    return binary


def _too_large_error(log: str) -> TooLargeError | None:
    """Return the error for an image that is too large; None where the linker reports other errors."""
    excess = {region: int(count) for region, count in _OVERFLOW.findall(log)}
    if not excess:
        return None
    available = {"FLASH": FLASH_FOR_PROGRAMS, "RAM": RAM_BYTES}
    needs = " and ".join(
        f"{available[region] + count} bytes of {region}, {count} more than there are"
        for region, count in excess.items()
    )
    return TooLargeError(
        f"the image does not fit a CM-900: it needs {needs}",
        hint=f"it has {FLASH_FOR_PROGRAMS} bytes of flash behind the bootloader and {RAM_BYTES} of RAM,"
        " 2048 of them for the stack: fewer or shorter motions, fewer states",
    )


def read_part_sizes(link_map: str) -> dict[str, PartSize]:
    """Return flash and RAM by part of an image, a C file or a library, from the map file of GNU ld.

    The largest parts in flash come first; parts that take neither are left out.

    Each output section, such as `.text`, is followed by lines with the sections of objects that are placed in
    it.
    """
    flash: dict[str, int] = {}
    ram: dict[str, int] = {}
    output_section = ""
    _, _, memory_map = link_map.partition("Linker script and memory map")
    # a long name stands on a line of its own before its address
    memory_map = re.sub(r"^( \S+)\n\s+(?=0x)", r"\1 ", memory_map, flags=re.MULTILINE)
    for line in memory_map.splitlines():
        output_match = _OUTPUT_SECTION.match(line)
        if output_match:
            output_section = output_match[1]
            continue
        section_match = _PLACED_SECTION.match(line)
        if section_match:
            section, hex_size, object_path = section_match.groups()
            part = _name_part(section, object_path)
            size = int(hex_size, 16)
            if output_section in {".text", ".data"}:
                flash[part] = flash.get(part, 0) + size
            if output_section in {".data", ".bss"}:
                ram[part] = ram.get(part, 0) + size
    parts = sorted({*flash, *ram}, key=lambda part: (-flash.get(part, 0), part))
    sizes = {part: PartSize(flash.get(part, 0), ram.get(part, 0)) for part in parts}
    return {part: size for part, size in sizes.items() if any(size)}


def _name_part(section: str, object_path: str) -> str:
    """Return the part of an image that a section belongs to: a C file, a library, or `alignment`."""
    if section == "*fill*":
        return "alignment"
    library = _OF_LIBRARY.search(object_path)
    return library[1] if library else f"{Path(object_path).stem}.c"
