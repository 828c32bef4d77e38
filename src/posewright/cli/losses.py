"""Losses told to a person: each on a line of its own, and the flag that accepts them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def losses_listed(message: str) -> Iterator[None]:
    """Let a refusal because of losses list each of them on stderr, and then say `message` in one line.

    Raises:
        LossError: with `message`, where one is raised within.
    """
    from posewright.cli.console import warn
    from posewright.errors import LossError

    try:
        yield
    except LossError as error:
        for loss in error.losses:
            warn(f"would be lost: {loss}")
        hint = "--accept-loss writes it all the same"
        raise LossError(message, hint=hint, losses=error.losses) from error
