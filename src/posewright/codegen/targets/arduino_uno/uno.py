"""The Arduino UNO as a target: a sketch around a chart, its image, and the command that flashes it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from posewright.codegen.c.unit_spec import ChartUnitSpec
from posewright.codegen.targets.arduino_uno.processor import with_avr_options
from posewright.codegen.targets.arduino_uno.toolchain import CACHE, check_size, digest, link
from posewright.codegen.targets.arduino_uno.wiring import ChartWiring
from posewright.codegen.targets.target import BuildResult, serial_link
from posewright.codegen.toolchains import cache_folder, missing_tool_error, run_tool
from posewright.codegen.unit import PartSize, SourceFile, UnitSpec, read_package_sources
from posewright.errors import InputError

CORE = Path("/usr/share/arduino/hardware/arduino/avr")
"""Where Debian's package arduino-core-avr has the Arduino core."""

COMMON = (
    *("-mmcu=atmega328p", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_UNO", "-DARDUINO_ARCH_AVR"),
    *("-Os", "-flto", "-ffunction-sections", "-fdata-sections", "-I."),
    "-DDECIMAL_DIG=__DECIMAL_DIG__",  # WString.cpp needs it, and gcc 5 has it in C only
)
C_FLAGS = ("-std=gnu11",)
CPP_FLAGS = ("-std=gnu++11", "-fno-exceptions", "-fno-threadsafe-statics")
OWN_FLAGS = ("-Wall", "-Wextra", "-ffat-lto-objects")  # fat: so that they can be asked for their names
"""As the Arduino IDE compiles; arduino-core-avr, platform.txt."""

FIXED_FILES = ("board.h", "board.cpp", "board_pins_kinds.h")
BUILD = "build"


class ArduinoUno:
    """An Arduino UNO, Revision 3: ATmega328P at 16 MHz."""

    name = "arduino-uno"

    def adapt(self, unit_spec: UnitSpec) -> UnitSpec:
        """Return the chart with 64-bit floats computed by calls and an event queue that fits the RAM."""
        return with_avr_options(unit_spec)

    def sources(self, unit_spec: UnitSpec) -> tuple[SourceFile, ...]:
        """Return the sketch around a chart.

        Raises:
            InputError: the document is not a chart.
        """
        if not isinstance(unit_spec, ChartUnitSpec):
            raise InputError(
                f"an Arduino UNO runs charts, and {unit_spec.name} is a whole behaviour",
                hint="that goes to a CM-900: --target cm900",
            )
        wiring = ChartWiring(unit_spec)
        (hooks,) = read_package_sources(__package__, ["board_hooks.cpp"])  # a proposal, then the user's
        fixed_files = read_package_sources(__package__, (*FIXED_FILES, *wiring.additional_files))
        lines = _SKETCH.format(name=unit_spec.name).splitlines()
        sketch = SourceFile(f"{unit_spec.name}.ino", tuple(lines))
        return sketch, wiring.pins(), replace(hooks, keep=True), wiring.wiring(), *fixed_files, *serial_link()

    def build(self, folder: Path) -> BuildResult:
        """Compile a sketch into `build/NAME.hex` and `build/NAME.elf`.

        Raises:
            UnavailableError: the compiler or the Arduino core is missing; the hint names the package.
            CompileError: a file does not compile.
            InputError: the folder has no sketch of a chart, or the image does not fit.
        """
        sketches = sorted(folder.glob("*.ino"))
        if len(sketches) != 1 or not (folder / "unit.h").exists():
            raise InputError(
                f"{folder} is not a sketch of a chart",
                hint="posewright board generate CHART --target arduino-uno",
            )
        core = build_core_archive()
        build_folder = folder / BUILD
        build_folder.mkdir(exist_ok=True)
        image = build_folder / f"{sketches[0].stem}.elf"
        with tempfile.TemporaryDirectory(prefix="posewright-uno-") as scratch:
            objects = list(_compile_sketch(folder, Path(scratch), sketches[0]))
            options = ("-Os", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections", "-mmcu=atmega328p")
            link(*options, "-o", image, *objects, core, "-lm")
            sizes_of_parts = dict(_measure_sizes_by_file(image, objects))
        flashed = image.with_suffix(".hex")
        run_tool("avr-objcopy", "-O", "ihex", "-R", ".eeprom", image, flashed)
        return BuildResult(flashed, image, sizes_of_parts)

    def flash_command(self, image: Path, port: str | None) -> Sequence[str]:
        """Return avrdude's command: the boot loader at 115200 (arduino-core-avr, boards.txt, `uno.upload`).

        Raises:
            InputError: no port was named.
        """
        if port is None:
            raise InputError(
                "an Arduino UNO is flashed over a serial port", hint="--port /dev/ttyACM0, or COM3"
            )
        if image.suffix != ".hex":
            raise InputError(
                f"{image} cannot be flashed", hint="the .hex file that `posewright board build` made"
            )
        return (
            *("avrdude", "-p", "atmega328p", "-c", "arduino", "-P", port, "-b", "115200", "-D"),
            *("-U", f"flash:w:{image}:i"),
        )


_SKETCH = """\
/* {name} on an Arduino UNO. Yours are board_pins.h and board_hooks.cpp. */
#include "board.h"

void setup()
{{
    board_begin();
}}

void loop()
{{
    board_loop();
}}
"""


def _include_options() -> tuple[str, ...]:
    """Return the compiler's options for the headers of the Arduino core."""
    return (f"-I{CORE / 'cores' / 'arduino'}", f"-I{CORE / 'variants' / 'standard'}")


def _compile(source: Path, object_file: Path, *flags: str, folder: Path | None = None) -> Path:
    """Compile a C, C++, assembler or sketch file and return the object file."""
    common = (*COMMON, *_include_options(), *flags, "-c")
    if source.suffix == ".c":
        run_tool("avr-gcc", *common, *C_FLAGS, source, "-o", object_file, folder=folder)
    elif source.suffix == ".S":
        run_tool("avr-gcc", *common, "-x", "assembler-with-cpp", source, "-o", object_file, folder=folder)
    else:
        source_options = ("-include", "Arduino.h", "-x", "c++") if source.suffix == ".ino" else ()
        run_tool("avr-g++", *common, *CPP_FLAGS, *source_options, source, "-o", object_file, folder=folder)
    return object_file


def _compile_sketch(folder: Path, scratch: Path, sketch: Path) -> Iterator[Path]:
    """Compile a sketch and the C and C++ files beside it, and yield the objects."""
    sources = sorted((*folder.glob("*.c"), *folder.glob("*.cpp"), sketch))
    for source in sources:
        yield _compile(source.absolute(), scratch / f"{source.name}.o", *OWN_FLAGS, folder=folder)


_SYMBOL = re.compile(r"^[0-9a-f]+ ([0-9a-f]* ?)([TtDdBbVvWw]) ([^.\s]+)", re.MULTILINE)
"""A line of `avr-nm`: the address, the size with `-S`, the letter of the type, and the name."""

_ZEROED_TYPES = "Bb"  # letters of `avr-nm`
_VARIABLE_TYPES = "BbDdVv"


def _measure_sizes_by_file(image: Path, objects: Sequence[Path]) -> Iterator[tuple[str, PartSize]]:
    """Yield flash and RAM of an image by file, the largest in flash first, then those of the libraries.

    The linker's map has no files after link-time optimization, so the sizes are those of the symbols of the
    image, and the objects say which file defines a symbol. An inlined function counts for the file of its
    caller.

    Args:
        image: the linked image.
        objects: the compiled files of the sketch.
    """
    file_of_symbol = {"main": "main, with all that was put into it"}
    for object_file in objects:
        symbols = _SYMBOL.findall(run_tool("avr-nm", object_file))
        file_of_symbol |= {name: object_file.stem for _size, _type, name in symbols}
    flash_of_file = dict.fromkeys(file_of_symbol.values(), 0)
    ram_of_file = dict.fromkeys(file_of_symbol.values(), 0)
    for hex_size, symbol_type, name in _SYMBOL.findall(run_tool("avr-nm", "-S", image)):
        if not hex_size or name not in file_of_symbol:
            continue
        n_bytes = int(hex_size, 16)
        if symbol_type not in _ZEROED_TYPES:  # zeroed variables take no flash
            flash_of_file[file_of_symbol[name]] += n_bytes
        if symbol_type in _VARIABLE_TYPES:
            ram_of_file[file_of_symbol[name]] += n_bytes
    for file in sorted(flash_of_file, key=lambda file: -flash_of_file[file]):
        size = PartSize(flash_of_file[file], ram_of_file[file])
        if any(size):
            yield file, size
    image_flash, image_ram = check_size(image)
    other_flash = image_flash - sum(flash_of_file.values())
    other_ram = image_ram - sum(ram_of_file.values())
    yield "Arduino core and libraries", PartSize(other_flash, other_ram)


def build_core_archive() -> Path:
    """Return the path of the library of the Arduino core, which is compiled unless it is in the cache.

    Raises:
        UnavailableError: it is not installed, or the compiler is not.
    """
    folder = CORE / "cores" / "arduino"
    if not folder.is_dir():
        raise missing_tool_error("Arduino core")
    sources = sorted(path for path in folder.iterdir() if path.suffix in {".c", ".cpp", ".S"})
    versions = (run_tool("avr-gcc", "--version"), *(path.read_text(errors="replace") for path in sources))
    archive = cache_folder(CACHE) / f"core-{digest(*versions, *COMMON, *C_FLAGS, *CPP_FLAGS)}.a"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
            objects = [_compile(source, Path(scratch) / f"{source.name}.o", "-w") for source in sources]
            run_tool("avr-gcc-ar", "rcs", Path(scratch) / "core.a", *objects)
            (Path(scratch) / "core.a").replace(archive)
    return archive
