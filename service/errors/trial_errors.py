"""Why advice is not tried."""

from __future__ import annotations

from service.errors.gateway_error import CallerError, GatewayError


class TrialsOff(CallerError):
    """The operator has not enabled trials of advice."""

    code = "TRIALS_OFF"


class TrialNotFound(CallerError):
    """The table has no trial with this id."""

    code = "TRIAL_NOT_FOUND"


class TrialRunning(CallerError):
    """Another trial runs. Send the request again when it has ended."""

    code = "TRIAL_RUNNING"


class AdviceNotFound(CallerError):
    """There is no advice of this kind for the table and its recorded scans."""

    code = "ADVICE_NOT_FOUND"


class TrialTooLarge(CallerError):
    """The table is larger than trials may copy."""

    code = "TRIAL_TOO_LARGE"


class TrialCanceled(CallerError):
    """The trial was canceled."""

    code = "TRIAL_CANCELED"


class TrialFailed(GatewayError):
    """The layout could not be tried. The table is unchanged."""

    code = "TRIAL_FAILED"
