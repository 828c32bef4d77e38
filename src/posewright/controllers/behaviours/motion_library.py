"""The motions of a behaviour with those they lead to, and the document texts that a recording contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from posewright.documents import Node, decode_document
from posewright.formats import NATIVE, MotionFile, read_motion_file
from posewright.formats.native import render
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.units import parse_whole_number


class DocumentTexts:
    """Texts of documents by name: a path below a folder, or, for files elsewhere, the file name.

    Files of the same name get as many folders before their names as make them unique. Folders above are left
    out, as they tell where the user keeps files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._paths: dict[str, Path] = {}
        self._texts: dict[str, str] = {}

    @property
    def texts(self) -> Mapping[str, str]:
        """All texts by name."""
        return self._texts

    def name_of(self, path: Path) -> str:
        """Return the unique name of a file, the same for each call."""
        path = path.resolve()
        is_in_folder = path.is_relative_to(self._folder)
        n_parts = len(path.relative_to(self._folder).parts) if is_in_folder else 1
        first_part = len(path.parts) - n_parts
        candidates = ("/".join(path.parts[start:]) for start in range(first_part, -1, -1))
        name = next(name for name in candidates if self._paths.get(name, path) == path)  # the shortest unused
        self._paths[name] = path
        return name

    def add(self, name: str, text: str) -> None:
        """Store a text under a name."""
        self._texts[name] = text


FOLDER = "motions"
SUFFIX = ".motion.yaml"

MIN_SPEED = 0.01
MAX_SPEED = 10.0
"""Accepted factors of a motion's own speed."""


@dataclass(frozen=True)
class MotionEntry:
    """One entry of a behaviour's `motions:`."""

    name: str  # of the motion in the behaviour
    path: Path  # the motion's file
    page: str | int | None  # name or number of its page there; None for the only one
    node: Node = field(repr=False)  # the entry itself, for messages
    speed: float = 1.0  # factor of the speed in the file
    repeat: int | bool | None = None  # number of passes; True for ever, None as in the file

    def adapt(self, motion: Motion) -> Motion:
        """Return the motion with the speed and the number of passes of the entry."""
        if self.speed != 1.0:
            motion = replace(motion, speed=motion.speed * self.speed)
        if self.repeat is None:
            return motion
        return replace(motion, repeat=None if self.repeat is True else max(1, int(self.repeat)))


def read_motion_entries(node: Node, robot: Robot, vendor_file: Path | None = None) -> tuple[MotionEntry, ...]:
    """Read a `motions:` block, without the motions' files.

    Args:
        node: the block.
        robot: the robot whose catalogue it may refer to.
        vendor_file: a file with the maker's motions. Every entry with a `vendor_page` is then that page of
            it, with the speed and the repetitions of the file.
    """
    return tuple(_read_entry(name, entry, robot, vendor_file) for name, entry in node.fields().items())


def _read_entry(name: str, node: Node, robot: Robot, vendor_file: Path | None) -> MotionEntry:
    """Read one entry of a `motions:` block, which names a motion's file, page, speed and repetitions.

    Args:
        name: the name of the motion in the behaviour.
        node: the entry.
        robot: the robot, whose folder has the motions of the catalogue.
        vendor_file: a file of the robot's maker, which replaces the file of an entry with a `vendor_page`;
            None for none.

    Raises:
        DocumentError: the entry is not valid.
    """
    fields = node.fields(optional=("motion", "file", "page", "speed", "repeat", "vendor_page"))
    if vendor_file is not None and "vendor_page" in fields:
        return MotionEntry(name, path=vendor_file, page=_read_page(fields["vendor_page"]), node=node)
    if ("motion" in fields) == ("file" in fields):
        node.fail(
            "a motion needs either `motion` or `file`",
            hint="`motion:` a name of the catalogue, or `file:` a path",
        )
    page: str | int | None = None
    if "motion" in fields:
        path = _shipped_motion_path(fields, robot)
    else:
        file_node = fields["file"]
        document_path = file_node.path
        folder = Path() if document_path is None else document_path.parent
        path = folder / file_node.text()
        page = _read_page(fields["page"]) if "page" in fields else None
    speed = fields["speed"].number(low=MIN_SPEED, high=MAX_SPEED) if "speed" in fields else 1.0
    repeat = _read_repeat(fields["repeat"]) if "repeat" in fields else None
    return MotionEntry(name, path, page, node, speed, repeat)


def _read_repeat(node: Node) -> int | bool:
    """Read how often a motion is played: a number, or true for ever, or false for once."""
    is_bool = isinstance(node.value, bool)
    return node.boolean() if is_bool else node.integer(low=1)


def _shipped_motion_path(fields: Mapping[str, Node], robot: Robot) -> Path:
    """Return the path of a motion in the robot's catalogue."""
    if "page" in fields:
        fields["page"].fail("a motion of the catalogue has no pages", hint="`page:` goes with `file:`")
    paths = shipped_motions(robot)
    return paths[fields["motion"].choice("motion", list(paths))]


def shipped_motions(robot: Robot) -> dict[str, Path]:
    """Return the paths of the motions in a robot's folder by the names that behaviours use."""
    folder = (robot.folder or Path()) / FOLDER
    return {path.name.removesuffix(SUFFIX): path for path in sorted(folder.glob(f"*{SUFFIX}"))}


def _read_page(node: Node) -> str | int:
    """Read the name or the number of a page."""
    return node.text() if isinstance(node.value, str) else node.integer(low=1)


def load_motions(
    entries: Sequence[MotionEntry],
    robot: Robot,
    texts: DocumentTexts,
    overrides: Mapping[str, Motion] | None = None,
) -> Mapping[str, Motion]:
    """Read the motions, and those they lead to through `next` and `exit`.

    A motion that has no entry is named after its file and page. The factor of an entry's speed applies to all
    that it leads to.

    Args:
        entries: the entries of the behaviour.
        robot: the robot.
        texts: receives the motions as native documents, `overrides` as `given/<name>.motion.yaml`.
        overrides: motions that replace entries of the same names.

    Returns:
        The motions by name; their `next` and `exit` are names of this mapping.

    Raises:
        InputError: a file is damaged, or a motion is for another robot.
        UnknownNameError: there is no such page.
    """
    overrides = overrides or {}
    loader = _MotionLoader(robot, texts)
    for entry in entries:
        loader.register_name(entry)
    for entry in entries:
        if entry.name not in overrides:
            loader.load(entry)
    for name, motion in overrides.items():
        texts.add(f"given/{name}{SUFFIX}", decode_document(render(motion)))
    return {**loader.motions, **overrides}


class PageKey(NamedTuple):
    """A page as it is played: its file, its number there, and the factor of its speed."""

    path: Path
    number: int
    speed: float


class _MotionLoader:
    """Reads motions and those they lead to, and names the pages.

    Attributes:
        motions: the motions read, by name.
    """

    def __init__(self, robot: Robot, texts: DocumentTexts) -> None:
        self.motions: dict[str, Motion] = {}
        self._texts = texts
        self._robot = robot
        self._files: dict[Path, MotionFile] = {}  # the files read
        self._names: dict[
            PageKey, str
        ] = {}  # the name in `motions` of each page; a link may lead there again

    def register_name(self, entry: MotionEntry) -> None:
        """Name the page of an entry after it, unless an earlier entry has named it."""
        self._names.setdefault(self._page_key(entry), entry.name)

    def load(self, entry: MotionEntry) -> None:
        """Read the motion of an entry and the motions it leads to."""
        self.motions[entry.name] = entry.adapt(self._read_page(self._page_key(entry), entry))

    def _page_key(self, entry: MotionEntry) -> PageKey:
        return PageKey(entry.path, self._file(entry.path).page_number(entry.page), entry.speed)

    def _file(self, path: Path) -> MotionFile:
        """Return the file at a path, which is read once only."""
        if path not in self._files:
            self._files[path] = read_motion_file(path, robot=self._robot)
        return self._files[path]

    def _read_page(self, page_key: PageKey, entry: MotionEntry) -> Motion:
        """Return the motion of a page, with `next` and `exit` as names in `motions`; read those motions, too.

        Args:
            page_key: the file and the number of the page in it.
            entry: the entry of the behaviour that led here; errors point at it.
        """
        path = page_key.path
        motion = self._file(path).motion(page_key.number)
        if motion.robot != self._robot.name:
            entry.node.fail(
                f"this motion is made for {motion.robot}", hint=f"the robot is {self._robot.name}"
            )
        self._store_text(page_key, motion)
        next_name = None if motion.next is None else self._load_linked(path, motion.next, entry)
        exit_name = None if motion.exit is None else self._load_linked(path, motion.exit, entry)
        return replace(motion, next=next_name, exit=exit_name)

    def _load_linked(self, path: Path, link: str, entry: MotionEntry) -> str:
        """Read the motion that a link, `next` or `exit`, leads to; return its name in `motions`.

        A motion that was read or named before is not read again.

        Args:
            path: the file with the link.
            link: in a native file (`*.motion.yaml`) the name of another one beside it, without the suffix;
                in any other format the number or name of a page of the same file.
            entry: the entry of the behaviour that led here; the factor of its speed applies to this motion
                too.
        """
        if self._file(path).format == NATIVE:
            linked_path = path.with_name(f"{link}{SUFFIX}")
            page_key = PageKey(linked_path, self._file(linked_path).page_number(), entry.speed)
        else:
            number = parse_whole_number(link)
            page = link if number is None else number
            page_key = PageKey(path, self._file(path).page_number(page), entry.speed)
        if page_key not in self._names:
            name = self._unused_name(page_key)
            self._names[page_key] = name
            motion = self._read_page(page_key, entry)
            self.motions[name] = replace(motion, speed=motion.speed * entry.speed)
        return self._names[page_key]

    def _unused_name(self, page_key: PageKey) -> str:
        """Return a name for the motion of a page that no other motion has, after its file and page."""
        path = page_key.path
        is_native = self._file(path).format == NATIVE
        name = path.name.removesuffix(SUFFIX) if is_native else f"{path.name}#{page_key.number}"
        while name in self._names.values():
            name += "'"
        return name

    def _store_text(self, page_key: PageKey, motion: Motion) -> None:
        """Store the text of a motion, from which a recording can replay it.

        A file of our own format is stored as it is; a page of any other format as a document of ours.

        Args:
            page_key: the file and the page that the motion was read from.
            motion: the motion.
        """
        file_name = self._texts.name_of(page_key.path)
        document = self._file(page_key.path).document
        if isinstance(document, bytes):  # our own format
            self._texts.add(file_name, decode_document(document))
        else:
            document_name = f"{file_name}#{page_key.number}{SUFFIX}"
            self._texts.add(document_name, decode_document(render(motion)))
