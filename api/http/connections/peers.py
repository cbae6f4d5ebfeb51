"""Who counts as one peer."""

from __future__ import annotations

import ipaddress

UNKNOWN = "unknown"
_NETWORK_OF_ONE = 64
"""The shortest prefix that one IPv6 subscriber is given; a bound by address would bound nobody."""


def peer_of(address: tuple[str, int] | None) -> str:
    """The peer that an address belongs to: an IPv4 address, or a network of IPv6.

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
