"""Names of files and folders to write: their endings, and names that not every system allows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from posewright.errors import InputError, OutputError, Where

_DEVICE_NAME = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|:|$)")
"""Names that are devices on Windows, whatever their ending."""

_FORBIDDEN_CHARACTERS = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
"""Characters that no name has on Windows."""


def require_ending(path: Path, endings: Iterable[str], content: str) -> None:
    """Raise InputError unless the name of a file to write has one of the endings of its kind.

    Args:
        path: the file.
        endings: the endings in lower case, `.motion.yaml`; upper case is accepted, too.
        content: what the file will contain, for the message: `a picture`.
    """
    endings = tuple(endings)
    if not path.name.lower().endswith(endings):
        raise build_ending_error(path, endings, content)


def build_ending_error(path: Path, endings: Sequence[str], content: str) -> InputError:
    """Return the error for a file to write whose name has none of the endings.

    Args:
        path: the file.
        endings: the accepted endings.
        content: what the file will contain, for the message: `a picture`.
    """
    *first_endings, last_ending = endings
    listed_endings = f"{', '.join(first_endings)} or {last_ending}" if first_endings else last_ending
    if path.suffix:
        message = f"{path.suffix!r} is not the ending of {content}"
    else:
        message = f"the name of {content} needs an ending"
    return InputError(message, where=Where(path), hint=f"end the name in {listed_endings}")


def is_device_name(name: str) -> bool:
    """Return whether a file name is that of a device on Windows: `con`, `aux.mtn`."""
    return _DEVICE_NAME.match(name) is not None


def require_portable_name(path: Path) -> None:
    """Raise OutputError if a new file or folder has a name that Windows does not allow.

    Such a file could be neither copied to other computers nor unpacked there.
    """
    name = path.name
    forbidden = _FORBIDDEN_CHARACTERS.search(name)
    if is_device_name(name):
        message = f"{name!r} is the name of a device on Windows"
    elif forbidden is not None:
        message = f"Windows allows no {forbidden[0]} in a name"
    elif name.endswith((".", " ")):
        message = "on Windows, no name ends in a period or a space"
    else:
        return
    raise OutputError(message, where=Where(path), hint="choose another name")
