"""Losses told to a person: each on a line of its own, and the flag that accepts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def losses_listed(
    message: str | None = None, worded: Callable[[Sequence[str]], Iterable[str]] = tuple
) -> Iterator[None]:
    """Let a refusal because of losses list each of them on stderr, and then say one line.

    Args:
        message: that line; default what the refusal itself says.
        worded: the lines to list for the losses.

    Raises:
        LossError: one is raised within.
    """
    from posewright.cli.console import warn
    from posewright.errors import LossError

    try:
        yield
    except LossError as error:
        for loss in worded(error.losses):
            warn(f"would be lost: {loss}")
        raise LossError(
            message or error.message,
            where=None if message else error.where,
            hint="--accept-loss writes it all the same",
            losses=error.losses,
        ) from error
