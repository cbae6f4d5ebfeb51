"""Sessions that are not there, and values that a session may not have."""

from __future__ import annotations

from service.errors.gateway_error import CallerError


class SessionRequired(CallerError):
    """This statement changes a session. Create one with POST /sessions, and send its sessionId."""

    code = "SESSION_REQUIRED"


class SessionNotFound(CallerError):
    """There is no session with this id for this caller. It may have ended because it was not used."""

    code = "SESSION_NOT_FOUND"


class SessionViewNotFound(CallerError):
    """The session has no temporary view of this name."""

    code = "SESSION_VIEW_NOT_FOUND"


class SessionSettingRefused(CallerError):
    """A session may not have this setting, or not this value of it."""

    code = "SESSION_SETTING_REFUSED"


class SessionTooLarge(CallerError):
    """The session would have more views or bytes than this gateway allows."""

    code = "SESSION_TOO_LARGE"


class TooManySessions(CallerError):
    """There are as many sessions as this gateway allows. Try again later."""

    code = "TOO_MANY_SESSIONS"
    retry_after_s = 60
