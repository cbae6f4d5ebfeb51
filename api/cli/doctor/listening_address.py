"""The gateway's address: free, or taken by a running gateway."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from api.bootstrap.settings import Settings
from api.cli.part_checks import Found
from service.errors.gateway_error import CannotStart

ANSWER_WITHIN_S = 10.0
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}
_CURE = "Stop what listens there, or set SLUICE_PORT."


def address(settings: Settings, is_free: Callable[[], str | Found]) -> str | Found:
    """Returns the status of a gateway that listens there already, else the result of `is_free`.

    Raises:
        CannotStart: another program listens there, or the address cannot be listened on.
    """
    if settings.port and (status := _status(settings)):
        return f"A gateway listens on {settings.host}, port {settings.port}, and says {status}"
    return is_free()


def _status(settings: Settings) -> str | None:
    """Returns the status from `/readyz`; None if nothing listens there.

    Raises:
        CannotStart: the program that listens is not a gateway, or does not answer.
    """
    host = _EVERY_ADDRESS.get(settings.host, settings.host).strip("[]")
    scheme = "https" if settings.has_tls else "http"
    url = f"{scheme}://[{host}]:{settings.port}" if ":" in host else f"{scheme}://{host}:{settings.port}"
    where = f"{settings.host}, port {settings.port}"
    try:
        # This asks the same machine, by an address that the certificate may lack.
        with httpx.Client(timeout=ANSWER_WITHIN_S, trust_env=False, verify=False) as client:
            return str(client.get(f"{url}/readyz").json()["status"])
    except (httpx.ConnectError, httpx.ConnectTimeout):
        return None
    except httpx.TransportError as error:
        raise CannotStart(
            f"The program that listens on {where} does not answer like a gateway. {_CURE}"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CannotStart(f"Another program listens on {where}. {_CURE}") from error
