"""Where work stands in a trace: its ids, for logs and answers, and its steps, for those who record them.

A step is recorded only in a process that has a tracer, and of a trace that is sampled. Any other step costs
a look at one variable, so callers need not ask whether anybody records.
"""

from __future__ import annotations

import contextvars
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import ParamSpec, Protocol, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Value = str | int | float | bool | Sequence[str]
Values = Mapping[str, Value | None]
"""What is told of a step, by name; None is left out."""

LINKS_AT_MOST = 128
# Version 00; a later one may have more fields behind these. Ids of zeros alone are none.
_TRACEPARENT = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?!0{32})(?P<trace>[0-9a-f]{32})-(?!0{16})(?P<span>[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)


@dataclass(frozen=True, slots=True)
class TraceContext:
    """A step by its ids, as W3C's trace context has them. `state` is what vendors of tracers add."""

    trace_id: str
    span_id: str
    is_sampled: bool = False
    state: str = ""

    @property
    def traceparent(self) -> str:
        """The header that names this step.

        >>> TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", True).traceparent
        '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
        """
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.is_sampled else '00'}"

    @classmethod
    def of(cls, traceparent: str | None, state: str = "") -> TraceContext | None:
        """What the header says; None without one, or if it is not as it has to be.

        >>> TraceContext.of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").is_sampled
        True
        >>> TraceContext.of("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01") is None
        True
        """
        found = None if traceparent is None else _TRACEPARENT.fullmatch(traceparent.strip())
        if found is None or (found["version"] == "00" and found["more"]):
            return None
        return cls(found["trace"], found["span"], bool(int(found["flags"], 16) & 1), state)


class Span(Protocol):
    """One step of a trace. Entered, it is the current one of its thread; left, it has ended."""

    @property
    def context(self) -> TraceContext | None:
        """Its ids; None: it belongs to no trace."""

    @property
    def is_recorded(self) -> bool:
        """Whether what is told of it is kept: if not, nothing need be worked out for it."""

    def __enter__(self) -> Span:
        """Begins."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends; with an error, as one that failed."""

    def name(self, name: str) -> None:
        """Gives it another name."""

    def note(self, values: Values) -> None:
        """Tells more of it."""

    def fail(self, code: str) -> None:
        """Says that it failed, and why: a stable code, never a message, which may hold what callers wrote."""

    def step(self, name: str, since: datetime | None = None) -> Span:
        """A step within this one, to be entered; `since`: it began then."""

    def past(self, name: str, began_ns: int, ended_ns: int, values: Values) -> Span:
        """A step within this one that is over: nanoseconds since 1970."""


class Unrecorded:
    """A step that nobody records; so are all steps within it. Its ids are its caller's, if they sent any."""

    __slots__ = ("context",)

    def __init__(self, context: TraceContext | None = None) -> None:
        self.context = context

    @property
    def is_recorded(self) -> bool:
        """It is not."""
        return False

    def __enter__(self) -> Self:
        """Nothing changes."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing changes."""

    def name(self, name: str) -> None:
        """Forgets it."""

    def note(self, values: Values) -> None:
        """Forgets them."""

    def fail(self, code: str) -> None:
        """Forgets it."""

    def step(self, name: str, since: datetime | None = None) -> Self:  # noqa: ARG002
        """This one."""
        return self

    def past(self, name: str, began_ns: int, ended_ns: int, values: Values) -> Self:  # noqa: ARG002
        """This one."""
        return self


NOTHING = Unrecorded()
_current: contextvars.ContextVar[Span] = contextvars.ContextVar("span", default=NOTHING)


class Told(Unrecorded):
    """The first unrecorded step of a trace: entered, its ids are those of all that its thread does."""

    __slots__ = ("_token",)

    def __enter__(self) -> Self:
        """Its ids are the current ones from here on."""
        self._token = enter(Unrecorded(self.context))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The ids before are the current ones again."""
        leave(self._token)


class Tracer(Protocol):
    """Begins what is a part of no other step of this process."""

    def request(self, name: str, parent: TraceContext | None) -> Span:
        """A request, in the trace of its caller if they sent one."""

    def together(self, name: str, parent: TraceContext, links: Sequence[TraceContext]) -> Span:
        """Work for several others at once: in the trace of `parent`, and linked to all of them."""


_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    """Has this process's steps recorded from now on; None: no more."""
    global _tracer
    _tracer = tracer


def is_used() -> bool:
    """Whether this process has steps recorded."""
    return _tracer is not None


def current() -> Span:
    """The step that this thread is in."""
    return _current.get()


def enter(span: Span) -> contextvars.Token[Span]:
    """Makes it the current one, until `leave`."""
    return _current.set(span)


def leave(token: contextvars.Token[Span]) -> None:
    """Makes the one before the current one again."""
    _current.reset(token)


def trace_id() -> str | None:
    """That of the current trace: recorded or not, its caller may know it."""
    context = _current.get().context
    return None if context is None else context.trace_id


def step(name: str, since: datetime | None = None) -> Span:
    """A step within the current one, to be entered; `since`: it began then."""
    return _current.get().step(name, since)


def request(name: str, parent: TraceContext | None) -> Span:
    """The first step of a request, to be entered; `parent` is what its caller sent of theirs."""
    if _tracer is not None:
        return _tracer.request(name, parent)
    return NOTHING if parent is None else Told(parent)


def together(name: str, traces: Sequence[TraceContext | None]) -> Span:
    """What is done for several others at once, to be entered.

    It is a part of the first of their traces that is recorded, and linked to each of those. Of traces that
    nobody records, nor is it.
    """
    if _tracer is None:
        return NOTHING
    links = [each for each in traces if each is not None and each.is_sampled][:LINKS_AT_MOST]
    return _tracer.together(name, links[0], links) if links else NOTHING


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """The same function for another thread, which then is in this one's step; its log lines have the ids."""
    context = contextvars.copy_context()

    def within(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.run(function, *args, **kwargs)

    return within
