"""How a page of a motion file is named: by its name, or by its number."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.errors import FormatError, UnknownNameError, Where

Reference = str | int


def find_page(
    reference: Reference, names: Mapping[int, str], *, last: int, where: Where | None = None
) -> int:
    """Return the number of the page that `reference` names.

    A whole number is the page of that number. Text is a page's name, blanks around it not counting; if no
    page is called so, digits are a number.

    Args:
        reference: what a person wrote.
        names: name of every page that holds something, by number.
        last: the number of the file's last page, empty or not.
        where: for messages.

    Raises:
        FormatError: several pages are called so, or the page is empty.
        UnknownNameError: there is no such page.
    """
    if isinstance(reference, str):
        wanted = reference.strip()
        called = [number for number, name in names.items() if name.strip() == wanted != ""]
        if len(called) > 1:
            numbers = ", ".join(map(str, called))
            raise FormatError(
                f"{len(called)} pages are called {wanted!r}",
                where=where,
                hint=f"say which by number: {numbers}",
            )
        if called:
            return called[0]
    return _by_number(reference, names, last, where)


def _by_number(reference: Reference, names: Mapping[int, str], last: int, where: Where | None) -> int:
    text = str(reference).strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        known = [name for name in names.values() if name] or [str(number) for number in names]
        raise UnknownNameError.among("page", reference, known, where=where)
    number = int(text)
    if number in names:
        return number
    if 1 <= number <= last:
        raise FormatError(f"page {number} is empty", where=where, hint=f"played are {_span(sorted(names))}")
    raise UnknownNameError(f"there is no page {number}", where=where, hint=f"pages are 1 to {last}")


def _span(numbers: list[int]) -> str:
    """Return numbers as people list them: 1-6, 9."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1][-1:] = [spans[-1][0], number] if len(spans[-1]) == 1 else [number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans) or "none"
