"""The Arduino UNO as a target: a sketch around a chart, its image, and the command that flashes it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from posewright.codegen.c import ChartSubject
from posewright.codegen.targets.arduino_uno.toolchain import (
    cache_folder,
    check_size,
    data_text,
    digest,
    link,
    program,
    run_tool,
)
from posewright.codegen.targets.arduino_uno.wiring import ChartWiring
from posewright.codegen.unit import SourceFile, Subject
from posewright.errors import InputError, UnavailableError

CORE = Path("/usr/share/arduino/hardware/arduino/avr")
"""Where Debian's package arduino-core-avr has the Arduino core."""

COMMON = (
    *("-mmcu=atmega328p", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_UNO", "-DARDUINO_ARCH_AVR"),
    *("-Os", "-flto", "-ffunction-sections", "-fdata-sections", "-I."),
    "-DDECIMAL_DIG=__DECIMAL_DIG__",  # WString.cpp needs it, and gcc 5 has it in C only
)
C_FLAGS = ("-std=gnu11", "-fno-fat-lto-objects")
CPP_FLAGS = ("-std=gnu++11", "-fno-exceptions", "-fno-threadsafe-statics")
"""As the Arduino IDE compiles; arduino-core-avr, platform.txt."""

FIXED = ("board.h", "board.cpp", "board_pins_kinds.h")
BUILD = "build"


class ArduinoUno:
    """An Arduino UNO, Revision 3: ATmega328P at 16 MHz."""

    name = "arduino-uno"
    about = "Arduino UNO (ATmega328P): a sketch for the Arduino IDE"

    def sources(self, subject: Subject) -> tuple[SourceFile, ...]:
        """Return the sketch around a chart; the IDE wants it in a folder of the chart's name.

        Raises:
            InputError: it is no chart.
        """
        if not isinstance(subject, ChartSubject):
            raise InputError(
                f"an Arduino UNO runs a chart, and {subject.name} is none",
                hint="a whole behaviour goes to a CM-900",
            )
        wiring = ChartWiring(subject)
        targets = files("posewright.codegen.targets")
        link = [_file(name, (targets / name).read_text(encoding="utf-8")) for name in ("link.h", "link.c")]
        hooks = SourceFile("board_hooks.cpp", tuple(data_text("board_hooks.cpp").splitlines()), keep=True)
        fixed = [_file(name, data_text(name)) for name in (*FIXED, *wiring.needed)]
        sketch = _file(f"{subject.name}.ino", _SKETCH.format(name=subject.name))
        return sketch, wiring.pins(), hooks, wiring.wiring(), *fixed, *link

    def build(self, folder: Path) -> tuple[Path, ...]:
        """Compile a sketch and return `build/NAME.hex` and `build/NAME.elf`.

        Raises:
            UnavailableError: the compiler or the Arduino core is missing; the hint names the package.
            InputError: it is no sketch, does not compile, or does not fit.
        """
        sketches = sorted(folder.glob("*.ino"))
        if len(sketches) != 1 or not (folder / "unit.h").exists():
            raise InputError(
                f"{folder} is no sketch of a chart", hint="posewright generate CHART --target arduino-uno"
            )
        core = core_archive()
        made = folder / BUILD
        made.mkdir(exist_ok=True)
        image = made / f"{sketches[0].stem}.elf"
        with tempfile.TemporaryDirectory(prefix="posewright-uno-") as scratch:
            objects = list(_compiled(folder, Path(scratch), sketches[0]))
            _link(objects, core, image)
        check_size(image)
        flashed = image.with_suffix(".hex")
        run_tool("avr-objcopy", "-O", "ihex", "-R", ".eeprom", image, flashed)
        return flashed, image

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
            raise InputError(f"{image} cannot be flashed", hint="the .hex file that `posewright build` made")
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


def _file(name: str, text: str) -> SourceFile:
    return SourceFile(name, tuple(text.splitlines()))


def _includes() -> tuple[str, ...]:
    return (f"-I{CORE / 'cores' / 'arduino'}", f"-I{CORE / 'variants' / 'standard'}")


def _compile(source: Path, made: Path, *flags: str, folder: Path | None = None) -> Path:
    common = (*COMMON, *_includes(), *flags, "-c")
    if source.suffix == ".c":
        run_tool("avr-gcc", *common, *C_FLAGS, source, "-o", made, folder=folder)
    elif source.suffix == ".S":
        run_tool("avr-gcc", *common, "-x", "assembler-with-cpp", source, "-o", made, folder=folder)
    else:
        before = ("-include", "Arduino.h", "-x", "c++") if source.suffix == ".ino" else ()
        run_tool("avr-g++", *common, *CPP_FLAGS, *before, source, "-o", made, folder=folder)
    return made


def _compiled(folder: Path, scratch: Path, sketch: Path) -> Iterator[Path]:
    sources = sorted((*folder.glob("*.c"), *folder.glob("*.cpp"), sketch))
    for source in sources:
        yield _compile(source.absolute(), scratch / f"{source.name}.o", "-Wall", "-Wextra", folder=folder)


def _link(objects: Sequence[Path], core: Path, image: Path) -> None:
    options = ("-Os", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections", "-mmcu=atmega328p")
    link(*options, "-o", image, *objects, core, "-lm")


def core_archive() -> Path:
    """Return the Arduino core, compiled when it is first asked for.

    Raises:
        UnavailableError: it is not installed, or the compiler is not.
    """
    folder = CORE / "cores" / "arduino"
    if not folder.is_dir():
        raise UnavailableError("the Arduino core is not installed", hint="apt-get install arduino-core-avr")
    sources = sorted(path for path in folder.iterdir() if path.suffix in {".c", ".cpp", ".S"})
    versions = (run_tool("avr-gcc", "--version"), *(path.read_text(errors="replace") for path in sources))
    made = cache_folder() / f"core-{digest(*versions, *COMMON, *C_FLAGS, *CPP_FLAGS)}.a"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=made.parent) as scratch:
            objects = [_compile(source, Path(scratch) / f"{source.name}.o", "-w") for source in sources]
            run_tool("avr-gcc-ar", "rcs", Path(scratch) / "core.a", *objects)
            (Path(scratch) / "core.a").replace(made)
    program("avr-g++")
    return made
