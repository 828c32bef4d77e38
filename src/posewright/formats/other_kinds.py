"""Kinds of file that are recognized but are not read as motions: documents, models, programs, near misses."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable

from posewright.documents import DOCUMENT_KINDS
from posewright.formats.binary import is_gzip
from posewright.formats.file_kind import (
    Evidence,
    FileContent,
    FileKind,
    has_xml_root,
    starts_with,
    text_matches,
)
from posewright.formats.oda.reader import looks_encrypted

_PAGE_BYTES = 512
_STEP_COUNT_OFFSET = 20
_MAX_STEPS = 7
_EMPTY_STEP_COUNT = 0xFF
_MIN_PAGES = 64
_MAX_PAGES = 512
"""A binary page file: the bytes of a page, where it has its number of steps, and how many pages there are."""

_CMPACK_RECORD_BYTES = (336, 352)
_UTF16_SAMPLE_BYTES = 1024


def _is_mtnx(content: FileContent) -> bool:
    root = content.xml_root
    return root.name == b"root" and b"R+Motion" in root.attributes


def _is_urdf(content: FileContent) -> bool:
    return content.xml_root.name == b"robot" and b"<link" in (content.text or b"")


def _is_xacro(content: FileContent) -> bool:
    return content.xml_root.name == b"robot" and b"<xacro:" in (content.text or b"")


def _is_utf16(content: FileContent) -> bool:
    """Return whether the content is text in UTF-16, with a byte order mark and mostly ASCII characters."""
    head = content.data[:_UTF16_SAMPLE_BYTES]
    if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    try:
        text = head.decode("utf-16")
    except UnicodeDecodeError:
        return False
    return 2 * sum(character.isascii() for character in text) > len(text) and "\0" not in text


def _is_robi(content: FileContent) -> bool:
    has_root = has_xml_root(b"mem_w", b"mem_r", b"calc", b"medit")
    has_tag = text_matches(rb"<mem_[wr]\b|<calc>|<medit>")
    return has_root(content) or has_tag(content)


def _has_page_layout(content: FileContent) -> bool:
    """Return whether the content is a binary page file: pages of 512 bytes, most with at most seven steps.

    Page checksums are no evidence: in a contest team's file all 256 are wrong. Real memory dumps have some
    damaged pages; of random bytes, one page in thirty looks right.
    """
    n_pages, n_bytes_left = divmod(len(content.data), _PAGE_BYTES)
    if n_bytes_left or not _MIN_PAGES <= n_pages <= _MAX_PAGES:
        return False
    step_counts = content.data[_STEP_COUNT_OFFSET::_PAGE_BYTES]
    n_plausible = sum(count <= _MAX_STEPS or count == _EMPTY_STEP_COUNT for count in step_counts)
    are_most_plausible = 4 * n_plausible >= 3 * n_pages
    return are_most_plausible and any(content.data)  # a file of zeros is no page file


def _has_record_size(content: FileContent) -> bool:
    """Return whether the content is a CMPack motion: a count and as many records of 336 or 352 bytes."""
    n_head_bytes = 4
    if len(content.data) < n_head_bytes:
        return False
    (n_records,) = struct.unpack_from("<I", content.data)
    possible_sizes = [n_head_bytes + record_bytes * n_records for record_bytes in _CMPACK_RECORD_BYTES]
    return n_records > 0 and len(content.data) in possible_sizes


def _is_scene(content: FileContent) -> bool:
    """Return whether the content is VRML, COLLADA, glTF, a mesh in text, or the COLLADA of an archive."""
    marks = starts_with(b"#VRML", b"glTF", b"#Inventor", b"ply\n", b"ply\r\n")
    comment_or_name = (
        rb"#.*|(?:mtllib|o|g|s|usemtl) .*"  # one way to match a line, or the search takes for ever
    )
    has_mesh_lines = text_matches(rb"\A(?:[ \t\r]*(?:" + comment_or_name + rb")?\n)*v( +-?[\d.eE+-]+){3}")
    is_text_stl = text_matches(rb"\Asolid\b.*\n\s*facet\b")
    return (
        marks(content) or has_xml_root(b"collada")(content) or has_mesh_lines(content) or is_text_stl(content)
    )


def _is_web_page(content: FileContent) -> bool:
    has_doctype = content.is_xml and (content.text or b"").lstrip()[:14].lower() == b"<!doctype html"
    return has_doctype or content.xml_root.name == b"html"


def _is_sound(content: FileContent) -> bool:
    """Return whether the content is a RIFF WAVE file or a MIDI file."""
    return content.data.startswith(b"MThd") or (
        content.data.startswith(b"RIFF") and content.data[8:12] == b"WAVE"
    )


def _other_kind(  # noqa: PLR0917 -- a row of the table
    name: str,
    title: str,
    detects: Callable[[FileContent], bool],
    evidence: Evidence = Evidence.BEGINNING,
    commands: tuple[str, ...] = (),
    remedy: str = "",
) -> FileKind:
    """Return a kind of file that is no motion; the arguments are the attributes of `FileKind`."""
    return FileKind(name, title, detects, evidence, is_motion=False, remedy=remedy, commands=commands)


def _robot_model_kind(name: str, title: str, detects: Callable[[FileContent], bool]) -> FileKind:
    """Return a kind of file that describes a robot and is read by `robots import`."""
    return _other_kind(
        name,
        title,
        detects,
        commands=("robots import", "studio"),
        remedy="`posewright robots import FILE` reads it",
    )


def _native_kinds() -> tuple[FileKind, ...]:
    """Return the kinds of native documents other than motions, recognized by their keys."""
    return tuple(
        _other_kind(
            f"posewright-{kind.name}",
            kind.title,
            text_matches(rb"^" + kind.key.encode() + rb"[ \t]*:"),
            Evidence.KEY,
            kind.commands,
            kind.usage,
        )
        for kind in DOCUMENT_KINDS
        if kind.name != "motion"
    )


_ROBOBASIC = rb"(?i)^[ \t]*(?:MOVE[ \t]+G\d|MOVE(?:6|8|12|16|24|32)[ \t]|DIR[ \t]+G\d|PTP[ \t]+\w)"

OTHER_KINDS: tuple[FileKind, ...] = (
    _other_kind("aibo-placeholder", "an AIBO Mind placeholder (NotOMTN)", starts_with(b"NotOMTN ")),
    _other_kind(
        "mcap",
        "an MCAP recording",
        starts_with(b"\x89MCAP0\r\n"),
        commands=("replay", "judge", "rank", "evaluate", "studio"),
        remedy="`posewright replay FILE` shows it",
    ),
    _other_kind("zip", "a ZIP archive", starts_with(b"PK\x03\x04")),
    _other_kind("pdf", "a PDF document", starts_with(b"%PDF-")),
    _other_kind("picture", "a picture", starts_with(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8")),
    _other_kind("gzip", "a gzip archive", lambda content: is_gzip(content.data)),
    FileKind(
        "live2d-mtn",
        "a Live2D motion, which moves a drawn figure, not a robot",
        text_matches(rb"\A#\s*Live2D Animator|^\$fps="),
    ),
    FileKind("choreonoid-pseq", "a Choreonoid pose sequence", text_matches(rb"^type:[ \t]*PoseSeq\b")),
    FileKind(
        "choreonoid-seq", "a Choreonoid composite sequence", text_matches(rb"^type:[ \t]*CompositeSeq\b")
    ),
    FileKind("rplus-mtnx", "a ROBOTIS R+ Motion 2 file (.mtnx)", _is_mtnx),
    FileKind("kondo-hth4", "a Kondo HeartToHeart4 motion", has_xml_root(b"arrayofanytype", b"canvasdata")),
    FileKind(
        "utf-16",
        "a text in UTF-16",
        _is_utf16,
        remedy="save it in UTF-8: in Notepad, choose the encoding UTF-8 under Save As",
    ),
    FileKind(
        "bvh",
        "a BVH motion capture file, which has rotations of a skeleton, not of a robot's joints",
        text_matches(rb"\A\s*HIERARCHY\s+ROOT\b"),
    ),
    FileKind(
        "nao-xar",
        "a behaviour of NAO's Choregraphe (.xar)",
        has_xml_root(b"choregrapheproject"),
        remedy="export its time line as a table or motion; its boxes are programs",
    ),
    FileKind(
        "opencat-skill",
        "a skill of an OpenCat robot (Petoi Bittle, Nybble)",
        text_matches(rb"\bconst\s+int8_t\s+\w+\s*\[\]\s*(?:PROGMEM\s*)?=|^#define\s+(?:BITTLE|NYBBLE|CUB)\b"),
    ),
    _robot_model_kind("mjcf", "a MuJoCo model", has_xml_root(b"mujoco")),
    _robot_model_kind("xacro", "a robot description with macros (xacro)", _is_xacro),
    _robot_model_kind("urdf", "a URDF robot description", _is_urdf),
    _other_kind(
        "openrave-xml",
        "an OpenRAVE model",
        has_xml_root(b"environment", b"kinbody", b"robot"),
        commands=("robots import", "arena import", "studio"),
        remedy="`posewright robots import` and `posewright arena import` read it",
    ),
    _other_kind(
        "openhrp-project",
        "a project of OpenHRP3",
        has_xml_root(b"grxui"),
        commands=("arena import",),
        remedy="`posewright arena import FILE` makes an arena of it",
    ),
    _other_kind(
        "choreonoid-project",
        "a project of Choreonoid",
        text_matches(
            rb"^items:[ \t]*\r?\n(?:[ \t]+.*\n)*?[ \t]+(?:plugin:[ \t]*Base|class:[ \t]*RootItem)\b"
        ),
        commands=("arena import",),
        remedy="`posewright arena import FILE` makes an arena of it",
    ),
    _other_kind(
        "scxml",
        "an SCXML document",
        has_xml_root(b"scxml"),
        commands=("chart", "board"),
        remedy="`posewright chart check FILE` checks it",
    ),
    _other_kind(
        "scene",
        "a scene or a mesh of other programs",
        _is_scene,
        commands=("arena import", "studio"),
        remedy="`posewright arena import FILE` makes an arena of it",
    ),
    _other_kind("web-page", "a web page", _is_web_page, remedy="download the file itself, not its page"),
    _other_kind(
        "git-lfs-pointer",
        "a Git LFS pointer, which stands for a file",
        starts_with(b"version https://git-lfs.github.com/spec/"),
        remedy="`git lfs pull` downloads the file itself",
    ),
    _other_kind("sound", "a sound", _is_sound, commands=("aibo", "studio")),
    *_native_kinds(),
    _other_kind(
        "robi-rm4",
        title="a Robi RM4 program",
        detects=_is_robi,
        evidence=Evidence.KEY,
        commands=("robi", "run --behaviour"),
        remedy="`posewright robi list FILE --motion MOTION` reads its poses",
    ),
    _other_kind(
        "aibo-monet",
        title="a Sony AIBO MONET configuration",
        detects=text_matches(rb"^monetagent|\bMONET_MOTION\b"),
        evidence=Evidence.LOOSE,
        commands=("aibo",),
        remedy="`posewright aibo check` reads it",
    ),
    _other_kind(
        "robobasic",
        title="a RoboBASIC program",
        detects=text_matches(_ROBOBASIC),
        evidence=Evidence.LOOSE,
        commands=("basic", "run --behaviour", "serve"),
        remedy="`posewright basic motions FILE -o FOLDER` makes motions of its routines",
    ),
    FileKind(
        "csv-semicolons",
        "a table with semicolons, as spreadsheets write it in languages with decimal commas",
        text_matches(rb"\A(?:[^\n;]*;){2,}[^\n;]*\n(?:[^\n;]*;){2,}"),
        evidence=Evidence.LOOSE,
        remedy="a joint table has commas and decimal points, and begins with thesis_id,initial_deg,step1_deg",
    ),
    _other_kind(
        "xml",
        title="an XML file of unknown kind",
        detects=lambda content: content.is_xml,
        evidence=Evidence.LOOSE,
        commands=("chart", "robots import", "arena import", "robi"),
    ),
    FileKind(
        "robotis-pages",
        title="a ROBOTIS binary page file (CM-5, CM-530, DARwIn-OP, OP2, OP3)",
        detects=_has_page_layout,
        evidence=Evidence.LAYOUT,
    ),
    FileKind(
        "cmpack-mot", title="a CMPack binary motion", detects=_has_record_size, evidence=Evidence.LAYOUT
    ),
    _other_kind(
        "aibo-encrypted",
        title=(
            "an encrypted Sony AIBO archive (archives under DATA/E are encrypted, those under DATA/P are not)"
        ),
        detects=lambda content: looks_encrypted(content.data, content.path),
        evidence=Evidence.LAYOUT,
        commands=("aibo",),
    ),
)
"""Kinds of file that are recognized but are not read as motions."""
