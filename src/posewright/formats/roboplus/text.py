"""RoboPlus Motion 1 text files (`.mtn`): the document, written back byte for byte.

Source: formats.md section 2.1. What is met in the wild and read with a remark: no byte order mark, CRLF,
decimal commas, unknown keys, more than seven steps in a page, damaged trailers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.motion_file import Reference, find_page
from posewright.formats.roboplus.checksum import BOM, checksum
from posewright.formats.roboplus.page import EMPTY_PAGE, IDS, MAX_PAGES, Page


@dataclass(frozen=True)
class RoboplusDocument:
    """A whole file.

    Attributes:
        head: everything before the first page, byte order mark included.
        enabled: of each ID 0..25, whether the file moves it.
        motor_types: of each ID 0..25; 0 is a 10-bit servo, anything else a 12-bit one.
        pages: page 1 first.
        trailer: the bytes behind the last page; None where they are to be computed.
        remarks: what is odd about the file, in words, for people.
    """

    head: bytes
    enabled: tuple[bool, ...]
    motor_types: tuple[int, ...]
    pages: tuple[Page, ...]
    trailer: bytes | None = None
    remarks: tuple[str, ...] = ()

    @property
    def eol(self) -> bytes:
        """The line end of the file."""
        return b"\r\n" if b"\r\n" in self.head else b"\n"

    def render(self) -> bytes:
        """Return the bytes of the file; a trailer only survives where nothing was edited."""
        body = self.head + b"".join(page.render(self.eol) for page in self.pages)
        return body + (checksum(body) if self.trailer is None else self.trailer)

    def page(self, number: int) -> Page:
        """Return a page by its number, which counts from 1; a page the file does not have is empty."""
        return self.pages[number - 1] if 1 <= number <= len(self.pages) else EMPTY_PAGE

    def page_name(self, number: int) -> str:
        """Return what a page is called; most pages that continue another have no name of their own."""
        return self.page(number).title.strip() or f"page {number}"

    @property
    def played(self) -> dict[int, Page]:
        """The pages that hold something, by number."""
        return {number: page for number, page in enumerate(self.pages, 1) if not page.is_empty}

    def with_page(self, number: int, page: Page) -> RoboplusDocument:
        """Return the document with one page changed, every untouched line as it stood."""
        changed = self.page(number).changed_to(page)
        if changed is self.page(number):
            return self
        pages = (*self.pages[: number - 1], changed, *self.pages[number:])
        return replace(self, pages=pages, trailer=None)

    def with_pages(self, pages: tuple[Page, ...]) -> RoboplusDocument:
        """Return the document with other pages, filled up with empty ones."""
        if len(pages) > MAX_PAGES:
            raise FormatError(
                f"{len(pages)} pages are needed", hint=f"a RoboPlus file has {MAX_PAGES}; split the motion"
            )
        spare = next((page for page in self.pages if page.is_spare), EMPTY_PAGE)
        filled = pages + (spare,) * (MAX_PAGES - len(pages))
        return self if filled == self.pages else replace(self, pages=filled, trailer=None)

    def repaired(self) -> RoboplusDocument:
        """Return the document with its byte order mark and a right trailer, so that RoboPlus opens it."""
        head = self.head if self.head.startswith(BOM) else BOM + self.head
        return replace(self, head=head, trailer=None)


def new_document(enabled: tuple[bool, ...]) -> RoboplusDocument:
    """Return a document of 255 empty pages that moves the `enabled` ones of the IDs 0..25."""
    flags = " ".join("1" if flag else "0" for flag in enabled)
    types = " ".join(["0"] * IDS)
    head = BOM + f"type=motion\nversion=1.01\nenable={flags}\nmotor_type={types}\n".encode()
    return RoboplusDocument(head, enabled, (0,) * IDS, (EMPTY_PAGE,) * MAX_PAGES)


def page_number(document: RoboplusDocument, reference: Reference, path: Path | None = None) -> int:
    """Return the number of the page that `reference` names (`page_reference.find_page`).

    Raises:
        FormatError: several pages are called so, or the page is empty.
        UnknownNameError: there is no such page.
    """
    names = {number: document.page_name(number) for number in document.played}
    return find_page(reference, names, last=len(document.pages), where=Where(path=path))
