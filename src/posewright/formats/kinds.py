"""The kinds of file a person may hand in as a motion: what each is called, and which of them are read.

Source: formats.md section 0 (identify by content, never by extension: `.mtn` alone is used by four
unrelated formats).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NATIVE = "posewright-motion"
GAIT = "posewright-gait"
ROBOPLUS_TEXT = "roboplus-mtn"
UC3M_CSV = "uc3m-csv"

ENCRYPTED = "aibo-encrypted"
OMTN = "aibo-omtn"
ODA = "aibo-oda"
EKMOVES = "ekmoves-h"
TEKKOTSU_MOT = "tekkotsu-mot"
TEKKOTSU_POS = "tekkotsu-pos"
WEBOTS = "webots-motion"

READABLE = (NATIVE, ROBOPLUS_TEXT, UC3M_CSV, OMTN, ODA, EKMOVES, TEKKOTSU_MOT, TEKKOTSU_POS, WEBOTS)
"""The formats that are read and written."""

READ_AS: Mapping[str, str] = MappingProxyType({f"{OMTN}-gzip": OMTN, f"{ODA}-gzip": ODA})
"""The format that reads a kind of file which is another one in wrapping."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: its short name in programs and what it is called among people.

    Attributes:
        is_motion: whether it holds motions at all (a robot model or a picture does not).
    """

    name: str
    title: str
    is_motion: bool = True


KINDS: tuple[Kind, ...] = (
    Kind(NATIVE, "a Posewright motion"),
    Kind(ROBOPLUS_TEXT, "a ROBOTIS RoboPlus Motion 1 text file"),
    Kind(UC3M_CSV, "a joint table of the source document"),
    Kind(OMTN, "a Sony AIBO motion (OMTN)"),
    Kind("aibo-omtn-gzip", "a Sony AIBO motion (OMTN) inside gzip"),
    Kind("aibo-placeholder", "an AIBO Mind placeholder (NotOMTN)", is_motion=False),
    Kind(ODA, "a Sony AIBO ODA archive of motions"),
    Kind("aibo-oda-gzip", "a Sony AIBO ODA archive inside gzip"),
    Kind(
        ENCRYPTED,
        "an encrypted Sony AIBO archive (those under DATA/E are; those under DATA/P are not)",
        is_motion=False,
    ),
    Kind(EKMOVES, "a C header of AIBO poses (EKMoves.h)"),
    Kind(
        "aibo-monet", "a Sony AIBO MONET configuration (`posewright monet check` reads it)", is_motion=False
    ),
    Kind("robotis-pages", "a ROBOTIS binary page file (CM-5, CM-530, DARwIn-OP, OP2, OP3)"),
    Kind("rplus-mtnx", "a ROBOTIS R+ Motion 2 file (.mtnx)"),
    Kind("live2d-mtn", "a Live2D motion, which moves a drawn figure and no robot"),
    Kind(TEKKOTSU_MOT, "a Tekkotsu motion sequence (#MSq)"),
    Kind(TEKKOTSU_POS, "a Tekkotsu posture (#POS)"),
    Kind("cmpack-mot", "a CMPack binary motion"),
    Kind(WEBOTS, "a Webots motion"),
    Kind("choreonoid-pseq", "a Choreonoid pose sequence"),
    Kind("choreonoid-seq", "a Choreonoid composite sequence"),
    Kind("kondo-hth4", "a Kondo HeartToHeart4 motion"),
    Kind("robobasic", "a RoboBASIC program"),
    Kind("robi-rm4", "a Robi RM4 program"),
    Kind("openrave-xml", "an OpenRAVE model", is_motion=False),
    Kind("mjcf", "a MuJoCo model", is_motion=False),
    Kind("urdf", "a URDF robot description", is_motion=False),
    Kind("posewright-robot", "a Posewright robot card", is_motion=False),
    Kind("posewright-chart", "a Posewright chart", is_motion=False),
    Kind("posewright-behaviour", "a Posewright behaviour", is_motion=False),
    Kind("posewright-trial", "a Posewright trial", is_motion=False),
    Kind(
        GAIT,
        "a Posewright gait (`posewright gait show` shows it, `posewright gait sample` makes a motion of it)",
        is_motion=False,
    ),
    Kind("posewright-tune", "a tuning of a Posewright gait (`posewright tune` runs it)", is_motion=False),
    Kind("posewright-bodies", "a Posewright table of how far bodies differ", is_motion=False),
    Kind("mcap", "an MCAP recording", is_motion=False),
    Kind("gzip", "a gzip archive", is_motion=False),
    Kind("zip", "a ZIP archive", is_motion=False),
    Kind("pdf", "a PDF document", is_motion=False),
    Kind("picture", "a picture", is_motion=False),
    Kind("xml", "an XML file of a kind unknown here", is_motion=False),
)

KIND_OF: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in KINDS})
