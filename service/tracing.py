"""The trace of the current work: its ids, for logs and answers, and its recorded steps.

A step is recorded only in a process that has a tracer, and only if its trace is sampled. Any other step costs
one look at a variable, so callers need not ask whether it is recorded.
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
"""A step's attributes by name; None is left out."""

LINKS_AT_MOST = 128
# Version 00; a later one may add fields behind these. Ids of only zeros are not valid.
_TRACEPARENT = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?!0{32})(?P<trace>[0-9a-f]{32})-(?!0{16})(?P<span>[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The ids of a step, as in W3C's trace context. `state` holds additions of tracer vendors."""

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
        """Parses the header; None if it is missing or malformed.

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
    """One step of a trace. Entering it makes it the thread's current step; leaving ends it."""

    @property
    def context(self) -> TraceContext | None:
        """Returns its ids; None: it belongs to no trace."""

    @property
    def is_recorded(self) -> bool:
        """Whether its attributes are kept: if not, they need not be computed."""

    def __enter__(self) -> Span:
        """Begins."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends; an error marks the step as failed."""

    def name(self, name: str) -> None:
        """Renames the step."""

    def note(self, values: Values) -> None:
        """Adds attributes to the step."""

    def fail(self, code: str) -> None:
        """Marks the step as failed, with a stable code; never a message, which may hold a caller's text."""

    def step(self, name: str, since: datetime | None = None) -> Span:
        """Returns a step within this one, to be entered; `since`: when it began, if before now."""

    def past(self, name: str, began_ns: int, ended_ns: int, values: Values) -> Span:
        """Adds a finished step within this one; times in nanoseconds since 1970."""


class Unrecorded:
    """A step that is not recorded, like all steps within it. Its ids are its caller's, if any were sent."""

    __slots__ = ("context",)

    def __init__(self, context: TraceContext | None = None) -> None:
        self.context = context

    @property
    def is_recorded(self) -> bool:
        """Returns False."""
        return False

    def __enter__(self) -> Self:
        """Nothing changes."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing changes."""

    def name(self, name: str) -> None:
        """Does nothing."""

    def note(self, values: Values) -> None:
        """Does nothing."""

    def fail(self, code: str) -> None:
        """Does nothing."""

    def step(self, name: str, since: datetime | None = None) -> Self:  # noqa: ARG002
        """Returns this step."""
        return self

    def past(self, name: str, began_ns: int, ended_ns: int, values: Values) -> Self:  # noqa: ARG002
        """Returns this step."""
        return self


NOTHING = Unrecorded()
_current: contextvars.ContextVar[Span] = contextvars.ContextVar("span", default=NOTHING)


class PropagatedSpan(Unrecorded):
    """The first unrecorded step of a trace: while entered, all work of its thread has its ids."""

    __slots__ = ("_token",)

    def __enter__(self) -> Self:
        """Makes its ids the current ones."""
        self._token = enter(Unrecorded(self.context))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restores the previous ids."""
        leave(self._token)


class Tracer(Protocol):
    """Begins steps that have no parent in this process."""

    def request(self, name: str, parent: TraceContext | None) -> Span:
        """Returns the step of a request, in the trace of its caller if one was sent."""

    def together(self, name: str, parent: TraceContext, links: Sequence[TraceContext]) -> Span:
        """Returns a step for several traces at once: in the trace of `parent`, and linked to all of them."""


_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    """Sets the tracer that records this process's steps from now on; None: no more."""
    global _tracer
    _tracer = tracer


def is_used() -> bool:
    """Whether this process records steps."""
    return _tracer is not None


def current() -> Span:
    """Returns the current step of this thread."""
    return _current.get()


def enter(span: Span) -> contextvars.Token[Span]:
    """Makes the span the current one, until `leave`."""
    return _current.set(span)


def leave(token: contextvars.Token[Span]) -> None:
    """Restores the span before the current one."""
    _current.reset(token)


def trace_id() -> str | None:
    """Returns the id of the current trace: recorded or not, its caller may know it."""
    context = _current.get().context
    return None if context is None else context.trace_id


def step(name: str, since: datetime | None = None) -> Span:
    """Returns a step within the current one, to be entered; `since`: when it began, if before now."""
    return _current.get().step(name, since)


def request(name: str, parent: TraceContext | None) -> Span:
    """Returns the first step of a request, to be entered; `parent` is the caller's own step, if sent."""
    if _tracer is not None:
        return _tracer.request(name, parent)
    return NOTHING if parent is None else PropagatedSpan(parent)


def together(name: str, traces: Sequence[TraceContext | None]) -> Span:
    """Returns a step for the work of several traces at once, to be entered.

    It belongs to the first of their traces that is recorded, and links to each of those. If none of the
    traces is recorded, neither is this step.
    """
    if _tracer is None:
        return NOTHING
    links = [trace for trace in traces if trace is not None and trace.is_sampled][:LINKS_AT_MOST]
    return _tracer.together(name, links[0], links) if links else NOTHING


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """Returns the function for another thread, to run in this thread's step; its log lines have the ids."""
    context = contextvars.copy_context()

    def within(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.run(function, *args, **kwargs)

    return within
