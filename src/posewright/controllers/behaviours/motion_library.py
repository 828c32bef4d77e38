"""The motions of a behaviour, those it names and those these lead to, and the texts a recording carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from posewright.documents import Node, decode_document
from posewright.formats import NATIVE, MotionFile, read_motion_file
from posewright.formats.native import render
from posewright.motions import Motion
from posewright.robots import Robot


class CarriedTexts:
    """Texts of documents by name: a path below a folder, or, from elsewhere, a name without its path.

    Two files of one name in two places get as many folders before their names as it takes to tell them
    apart. Nothing above is told: where a person keeps files is nobody's business.
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
        """Return the name of a file, the same each time, and no other file's."""
        path = path.resolve()
        name = next(name for name in self._names(path) if self._paths.get(name, path) == path)
        self._paths[name] = path
        return name

    def _names(self, path: Path) -> list[str]:
        """Return what a file may be called: its ordinary name, then with more and more folders before it."""
        below = path.is_relative_to(self._folder)
        depth = len(path.relative_to(self._folder).parts) if below else 1
        return ["/".join(path.parts[start:]) for start in range(len(path.parts) - depth, -1, -1)]

    def keep(self, name: str, text: str) -> None:
        """Keep a text under a name."""
        self._texts[name] = text


FOLDER = "motions"
SUFFIX = ".motion.yaml"

SLOWEST, FASTEST = 0.01, 10.0  # nobody plays a motion slower or faster than so many times its own speed


@dataclass(frozen=True)
class Entry:
    """One entry of a behaviour's `motions:`."""

    name: str  # what the behaviour calls the motion
    path: Path  # the file it is in
    page: str | int | None  # name or number of its page there; None for the only one
    node: Node = field(repr=False)  # the entry itself, for messages
    speed: float = 1.0  # how many times as fast as the file says it is played
    repeat: int | bool | None = None  # how often; True for ever, None as the file says

    def adapt(self, motion: Motion) -> Motion:
        """Return the motion as the entry wants it played."""
        if self.speed != 1.0:
            motion = replace(motion, speed=motion.speed * self.speed)
        if self.repeat is None:
            return motion
        return replace(motion, repeat=None if self.repeat is True else max(1, int(self.repeat)))


def read_entries(node: Node, robot: Robot, vendor_file: Path | None = None) -> tuple[Entry, ...]:
    """Read a `motions:` block, not yet the motions' files.

    Args:
        node: the block.
        robot: whose catalogue it may refer to.
        vendor_file: the maker's own motions; every entry with a `vendor_page` is then that page of it,
            played as the maker meant.
    """
    return tuple(_read_entry(name, entry, robot, vendor_file) for name, entry in node.fields().items())


def _read_entry(name: str, node: Node, robot: Robot, vendor_file: Path | None) -> Entry:
    fields = node.fields(optional=("motion", "file", "page", "speed", "repeat", "vendor_page"))
    if vendor_file is not None and "vendor_page" in fields:
        return Entry(name, vendor_file, _page(fields["vendor_page"]), node)
    if ("motion" in fields) == ("file" in fields):
        what = "a motion comes from one place"
        node.fail(what, hint="`motion:` a name of the catalogue, or `file:` a path")
    path, page = _shipped(fields, robot) if "motion" in fields else _own(fields)
    speed = fields["speed"].number(low=SLOWEST, high=FASTEST) if "speed" in fields else 1.0
    repeat: int | bool | None = None
    if "repeat" in fields:
        told = fields["repeat"]
        repeat = told.boolean() if isinstance(told.value, bool) else told.integer(low=1)
    return Entry(name, path, page, node, speed, repeat)


def _shipped(fields: Mapping[str, Node], robot: Robot) -> tuple[Path, None]:
    folder = (robot.folder or Path()) / FOLDER
    known = [path.name.removesuffix(SUFFIX) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    if "page" in fields:
        fields["page"].fail("a motion of the catalogue has no pages", hint="pages go with `file:`")
    name = fields["motion"].choice("motion of the catalogue", known)
    return folder / f"{name}{SUFFIX}", None


def _own(fields: Mapping[str, Node]) -> tuple[Path, str | int | None]:
    node = fields["file"]
    path = Path(node.text()) if node.path is None else node.path.parent / node.text()
    return path, _page(fields["page"]) if "page" in fields else None


def _page(node: Node) -> str | int:
    return node.text() if isinstance(node.value, str) else node.integer(low=1)


def load(
    entries: Sequence[Entry], robot: Robot, carried: CarriedTexts, given: Mapping[str, Motion] | None = None
) -> Mapping[str, Motion]:
    """Read the motions, and those they lead to through `next` and `exit`.

    A motion that no entry names is called after its file and page. Those `given` are taken instead of what
    entries of the same names tell of; texts are kept as native documents, of these as `given/<name>`.

    Returns:
        The motions by name; a `next` or `exit` of theirs is a name here.

    Raises:
        InputError: a file is damaged, or a motion is made for another robot.
        UnknownNameError: there is no such page.
    """
    shelf = _Shelf(robot, carried)
    for entry in entries:
        shelf.name(entry)
    for entry in entries:
        if entry.name not in (given or {}):
            shelf.take(entry)
    for name, motion in (given or {}).items():
        carried.keep(f"given/{name}{SUFFIX}", decode_document(render(motion)))
    return {**shelf.motions, **(given or {})}


Place = tuple[Path, int]  # a file and the number of a page in it


class _Shelf:
    """Motions as they are read, and what each place is called."""

    def __init__(self, robot: Robot, carried: CarriedTexts) -> None:
        self.motions: dict[str, Motion] = {}
        self._carried = carried
        self._robot = robot
        self._files: dict[Path, MotionFile] = {}
        self._names: dict[Place, str] = {}

    def name(self, entry: Entry) -> None:
        """Note what the place of an entry is called; the first entry counts."""
        self._names.setdefault(self._place(entry), entry.name)

    def take(self, entry: Entry) -> None:
        """Read the motion of an entry and what it leads to."""
        place = self._place(entry)
        self.motions[entry.name] = entry.adapt(self._linked(place, entry))

    def _place(self, entry: Entry) -> Place:
        return entry.path, self._file(entry.path).page_number(entry.page)

    def _file(self, path: Path) -> MotionFile:
        if path not in self._files:
            self._files[path] = read_motion_file(path, robot=self._robot)
        return self._files[path]

    def _linked(self, place: Place, entry: Entry) -> Motion:
        """Return the motion at a place, its links become names of the library."""
        motion = self._file(place[0]).motion(place[1])
        if motion.robot != self._robot.name:
            what = f"this motion is made for {motion.robot}"
            entry.node.fail(what, hint=f"the robot is {self._robot.name}")
        self._keep_text(place, motion)
        follow, leave = (
            None if link is None else self._led_to(place, link, entry) for link in (motion.next, motion.exit)
        )
        return replace(motion, next=follow, exit=leave)

    def _led_to(self, place: Place, link: str, entry: Entry) -> str:
        """Return the name of what a motion leads to, having read it: a page, or the file beside it."""
        path = place[0]
        if self._file(path).format == NATIVE:
            path = path.with_name(f"{link}{SUFFIX}")
            target = (path, self._file(path).page_number())
        else:
            target = (path, self._file(path).page_number(int(link) if link.isdecimal() else link))
        if target not in self._names:
            name = self._names[target] = self._title(target)
            self.motions[name] = self._linked(target, entry)
        return self._names[target]

    def _title(self, place: Place) -> str:
        path, number = place
        native = self._file(path).format == NATIVE
        name = path.name.removesuffix(SUFFIX) if native else f"{path.name}#{number}"
        while name in self._names.values():
            name += "'"
        return name

    def _keep_text(self, place: Place, motion: Motion) -> None:
        """Keep a native file as it was read, a page of any other as the native file it would be."""
        path, number = place
        name, read = self._carried.name_of(path), self._file(path).document
        if isinstance(read, bytes):
            self._carried.keep(name, decode_document(read))
        else:
            self._carried.keep(f"{name}#{number}{SUFFIX}", decode_document(render(motion)))
