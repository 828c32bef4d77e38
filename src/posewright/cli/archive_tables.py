"""What `posewright archive` says: as data for programs, as lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.formats import ODA, Compression, OdaArchive

if TYPE_CHECKING:
    from posewright.formats import Assembled, Extraction

_GZIP = {
    Compression.NONE: "no gzip",
    Compression.FILE: "gzip around all of it",
    Compression.ENTRIES: "gzip around each entry",
}

MOST_LISTED = 20
"""More names than this are counted, not listed."""


def describe_archive(archive: OdaArchive) -> dict[str, Any]:
    """Return what an archive holds."""
    entries = [
        {
            "number": number,
            "name": entry.name,
            "type": entry.type,
            "holds": (contents := entry.contents).kind.value,
            "gzip": contents.is_packed,
            "offset": entry.offset,
            "size_bytes": len(entry.data),
        }
        for number, entry in enumerate(archive.entries, 1)
    ]
    return {
        "file": str(archive.path),
        "format": ODA,
        "gzip": archive.compression.value,
        "n_entries": len(entries),
        "holds": dict(Counter(str(entry["holds"]) for entry in entries)),
        "warnings": list(archive.remarks),
        "entries": entries,
    }


def list_lines(told: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that list an archive to a person."""
    counts = ", ".join(f"{count} {_plural(kind, count)}" for kind, count in told["holds"].items())
    gzip = _GZIP[Compression(told["gzip"])]
    yield f"{told['file']}: {entries_counted(told['n_entries'])} ({counts or 'empty'}), {gzip}"
    wide = len(str(told["n_entries"]))
    for entry in told["entries"]:
        packed = " (gzip)" if entry["gzip"] else ""
        size = f"{entry['size_bytes']:>9,}"
        yield f"  {entry['number']:>{wide}}  {entry['holds']:<11}{size}{packed:<7}  {shown(entry['name'])}"


def describe_extraction(done: Extraction, folder: Path) -> dict[str, Any]:
    """Return what was taken out of an archive."""
    return {
        "folder": str(folder),
        "files": [
            {"number": one.number, "name": one.name, "holds": one.kind.value, "file": str(one.file)}
            for one in done.files
        ],
        "placeholders": list(done.placeholders),
        "other_entries": list(done.others),
        "failed": list(done.failed),
        "losses": list(done.losses),
        "remarks": list(done.remarks),
    }


def extraction_lines(told: dict[str, Any]) -> Iterator[str]:
    """Yield what a person is told of an extraction."""
    files = told["files"]
    yield f"{len(files)} {_plural('file', len(files))} -> {told['folder']}"
    renamed = [one for one in files if not Path(one["file"]).name.startswith(f"{one['name']}.")]
    if renamed and len(renamed) <= MOST_LISTED:
        yield from (f"  {shown(one['name'])} -> {Path(one['file']).name}" for one in renamed)
    for what, key in (
        ("placeholders, which hold no motion", "placeholders"),
        ("no motions", "other_entries"),
    ):
        if told[key]:
            yield f"  left out, as they are {what}: {_some(told[key])}"


def describe_assembled(done: Assembled, path: Path) -> dict[str, Any]:
    """Return what an archive is like that was written."""
    return {
        "file": str(path),
        "format": ODA,
        "gzip": done.archive.compression.value,
        "n_entries": len(done.archive.entries),
        "added": list(done.names),
        "losses": list(done.losses),
        "remarks": list(done.remarks),
    }


def grouped(sentences: Sequence[str]) -> Iterator[str]:
    """Yield sentences that begin with the name of an entry, those that say the same of several as one."""
    names: dict[str, list[str]] = {}
    for sentence in sentences:
        name, _, what = sentence.partition(": ")
        names.setdefault(what, []).append(name)
    for what, called in names.items():
        yield f"{shown(called[0])}: {what}" if len(called) == 1 else f"{what} ({len(called)} motions)"


def shown(name: str) -> str:
    """Return a name as a terminal may have it, what is no letter or sign as its code."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in name)


def _some(names: list[str]) -> str:
    if len(names) <= MOST_LISTED:
        return ", ".join(map(shown, names))
    return entries_counted(len(names))


def entries_counted(count: int) -> str:
    """Return how many entries there are, in words."""
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _plural(word: str, count: int) -> str:
    return word if count == 1 or word in ("midi", "unknown") else f"{word}s"
