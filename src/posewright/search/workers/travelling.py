"""What can go from one process to another, and what stands for an error that cannot."""

from __future__ import annotations

import pickle
import traceback
from multiprocessing.reduction import ForkingPickler

from posewright.errors import InputError

_NO_PICKLE = (pickle.PickleError, TypeError, AttributeError, ValueError, ImportError, RecursionError)
"""What comes of an object that cannot travel; other errors end the worker, which is seen too."""


def refuse_homebound(job: object) -> None:
    """Raise an InputError where a job cannot go to another process."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(job))
    except _NO_PICKLE as error:
        raise InputError(
            f"what is to be done cannot be handed to another process: {error}",
            hint="its class stands at the top of a module and holds nothing open; or take one worker",
        ) from error


def portable(error: Exception) -> Exception:
    """Return an error that can go to another process, with a note of where it arose.

    Where it cannot travel itself, it is a RuntimeError that tells of it.
    """
    story = "".join(traceback.format_exception(error))
    error.add_note(f"in a worker process:\n{story}")
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except _NO_PICKLE:
        substitute = RuntimeError(f"{type(error).__name__}: {error}")
        substitute.add_note(f"in a worker process:\n{story}")
        return substitute
    return error
