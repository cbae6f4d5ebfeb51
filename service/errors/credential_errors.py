"""Why credentials are refused, or cannot be verified."""

from __future__ import annotations

from enum import StrEnum

from service.errors.gateway_error import CallerError, PartDown


class CredentialFault(StrEnum):
    """Why credentials are refused."""

    MISSING = "missing"
    MALFORMED = "malformed"
    UNKNOWN = "unknown"
    WRONG = "wrong"
    EXPIRED = "expired"
    REVOKED = "revoked"
    TOO_LARGE = "too_large"
    ISSUER = "issuer"
    ALGORITHM = "algorithm"
    EXTENSION = "extension"
    UNKNOWN_KEY = "unknown_key"
    SIGNATURE = "signature"
    AUDIENCE = "audience"
    NOT_YET_VALID = "not_yet_valid"
    CLAIM = "claim"
    NONCE = "nonce"
    PRINCIPAL = "principal"
    ROLES = "roles"


class CredentialRefused(CallerError):
    """The gateway does not accept these credentials.

    `reason` is for the log and the metrics.
    """

    code = "UNAUTHENTICATED"
    reason = CredentialFault.UNKNOWN

    def __init__(self, detail: str | None = None, reason: CredentialFault | None = None) -> None:
        super().__init__(detail)
        self.reason = reason or type(self).reason


class ApiKeyInvalid(CredentialRefused):
    """There is no such API key, or its secret is wrong."""

    code = "API_KEY_INVALID"
    reason = CredentialFault.WRONG


class ApiKeyExpired(CredentialRefused):
    """The API key has expired. Ask an administrator for a new one."""

    code = "API_KEY_EXPIRED"
    reason = CredentialFault.EXPIRED


class ApiKeyRevoked(CredentialRefused):
    """The API key was revoked. Ask an administrator for a new one."""

    code = "API_KEY_REVOKED"
    reason = CredentialFault.REVOKED


class KeySessionEnded(CredentialRefused):
    """The session has ended. Log in again."""

    code = "KEY_SESSION_ENDED"
    reason = CredentialFault.EXPIRED


class AccessTokenInvalid(CredentialRefused):
    """The gateway does not accept this access token."""

    code = "ACCESS_TOKEN_INVALID"
    reason = CredentialFault.MALFORMED


class AccessTokenExpired(CredentialRefused):
    """The access token has expired. Ask its issuer for a new one."""

    code = "ACCESS_TOKEN_EXPIRED"
    reason = CredentialFault.EXPIRED


class CertificateInvalid(CredentialRefused):
    """The client certificate is missing or has expired, or it names no principal."""

    code = "CERTIFICATE_INVALID"
    reason = CredentialFault.MISSING


class LoginNotBegun(CredentialRefused):
    """This browser has not begun this login, or has ended it. Open the console and log in again."""

    code = "LOGIN_NOT_BEGUN"
    reason = CredentialFault.WRONG


class LoginExpired(CredentialRefused):
    """The login took too long. Open the console and log in again."""

    code = "LOGIN_EXPIRED"
    reason = CredentialFault.EXPIRED


class LoginRefused(CredentialRefused):
    """The issuer has not logged the user in. Open the console and log in again."""

    code = "LOGIN_REFUSED"
    reason = CredentialFault.WRONG


class LoginTokenInvalid(CredentialRefused):
    """The issuer's answer does not say who logs in here. An administrator finds the reason in the log."""

    code = "LOGIN_TOKEN_INVALID"
    reason = CredentialFault.MALFORMED


class LoginElsewhere(CallerError):
    """Users of issuers log in at another address of this gateway."""

    code = "LOGIN_ELSEWHERE"


class LoginUnknown(CallerError):
    """This gateway has no login by an issuer of this name."""

    code = "LOGIN_UNKNOWN"


class LoginNeedsKey(CallerError):
    """Only an API key can log in to the console. Ask an administrator for one."""

    code = "LOGIN_NEEDS_KEY"


class CrossSiteRequest(CallerError):
    """A page of another site may not act for the user who is logged in here."""

    code = "CROSS_SITE_REQUEST"


class TooManyFailures(CallerError):
    """Too many attempts from this address, or with this key, have failed. Wait before the next one."""

    code = "TOO_MANY_FAILURES"

    def __init__(self, detail: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class ApiKeyNotFound(CallerError):
    """There is no API key with this id."""

    code = "API_KEY_NOT_FOUND"


class AuthenticationDown(PartDown):
    """The credentials cannot be verified now: a store or an issuer is down. Send the request again."""

    code = "AUTHENTICATION_DOWN"
