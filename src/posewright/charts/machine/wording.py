"""Promises in words."""

from __future__ import annotations

from posewright.charts.model import Promise, PropertyKind


def text_of(promise: Promise) -> str:
    """Return a promise as a person would write it."""
    if promise.vow is PropertyKind.LEADS_TO:
        return f"{promise.when} leads to {promise.goal} within {promise.within_s:g} s"
    return f"{promise.vow.value} {promise.when}"


def how_broken(promise: Promise, ticks: int, state: str, waited: int = 0) -> str:
    """Return how a promise is broken after some ticks.

    Args:
        promise: that is broken.
        ticks: how many went by until it is; they are counted from 0 in the text, as in a run.
        state: the states active then.
        waited: ticks for which an answer has been owed, that of the question not counted.
    """
    last = ticks - 1
    after = f"after tick {last}, in {state}"
    if promise.vow is PropertyKind.LEADS_TO:
        since = f"at tick {last - waited}" if waited else "at that tick"
        why = f"`{promise.when}` held {since}, and `{promise.goal}` has not since"
        return f"`{text_of(promise)}` is broken {after}: {why}"
    holds = "holds" if promise.vow is PropertyKind.NEVER else "does not hold"
    return f"`{text_of(promise)}` is broken {after}: `{promise.when}` {holds}"
