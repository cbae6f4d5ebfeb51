"""Findings about the answers of the two stores."""

from __future__ import annotations

from collections.abc import Sequence

from api.cli.part_checks import Found, State
from service.model.operations.store_answer import StoreAnswer

_MIB = 1024**2


def metrics_store(
    answer: StoreAnswer,
    found: Sequence[str],
    needed: Sequence[str],
    *,
    is_embedded: bool,
    is_newer: bool = False,
) -> Found:
    """Whether the store's schema, at revision `found`, is the one that this version needs."""
    text = _reported(answer)
    if set(found) == set(needed):
        return _with_cures(f"{text}, schema {_named(needed)} as this version needs", answer)
    text += f", has schema {_named(found)}; this version needs {_named(needed)}"
    if is_newer:
        return Found(text, State.WARNING, "It belongs to a newer version: run that version everywhere.")
    if is_embedded:
        return Found(f"{text}, which the start creates")
    return Found(text, State.FAILED, "Run `sluice migrate`, with this version of Sluice.")


def filter_cache(answer: StoreAnswer, within_ms: int) -> Found:
    """Whether the cache is as near as queries need it, and takes keys when its memory is full."""
    text = _reported(answer)
    if answer.memory_policy:
        limit = f"{answer.max_memory_bytes // _MIB} MiB" if answer.max_memory_bytes else "no limit"
        text += f", memory: {limit}, {answer.memory_policy}"
    if answer.round_trip_ms > within_ms:
        return Found(text, State.WARNING, f"Queries wait {within_ms} ms for it at most: move it nearer.")
    if answer.max_memory_bytes and answer.memory_policy == "noeviction":
        cure = "Set its maxmemory-policy to allkeys-lru: otherwise it accepts no keys once it is full."
        return Found(text, State.WARNING, cure)
    return _with_cures(text, answer)


def _reported(answer: StoreAnswer) -> str:
    return ", ".join((f"{answer.server} answers in {answer.round_trip_ms:.0f} ms", *answer.remarks))


def _with_cures(text: str, answer: StoreAnswer) -> Found:
    return Found(text, State.WARNING if answer.cures else State.OK, " ".join(answer.cures))


def _named(revisions: Sequence[str]) -> str:
    return ", ".join(revisions) or "none"
