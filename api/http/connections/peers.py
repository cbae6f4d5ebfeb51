"""Identifies the peer of a connection."""

from __future__ import annotations

import ipaddress

UNKNOWN = "unknown"
_NETWORK_OF_ONE = 64
"""The smallest network that an IPv6 subscriber gets. A bound on single addresses would have no effect."""


def peer_of(address: tuple[str, int] | None) -> str:
    """Returns the peer of an address: an IPv4 address, or an IPv6 network.

    >>> peer_of(("10.0.0.7", 4711)), peer_of(("::ffff:10.0.0.7", 1)), peer_of(("2001:db8::7", 1))
    ('10.0.0.7', '10.0.0.7', '2001:db8::/64')
    """
    if address is None:
        return UNKNOWN
    try:
        found = ipaddress.ip_address(address[0].split("%")[0])
    except ValueError:
        return address[0]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, _NETWORK_OF_ONE), strict=False))
