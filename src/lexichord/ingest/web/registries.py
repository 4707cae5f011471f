"""IANA's registries of special-purpose addresses, as data; and where clouds tell of themselves.

https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, as they
stood in 2025, with what the registries of all addresses have besides: multicast, and that of
version 6 only 2000::/3 is given out.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal

type Network = IPv4Network | IPv6Network

# Each with whether it is globally reachable; None where the registry says that this depends.
_ROWS: tuple[tuple[str, str, bool | None], ...] = (
    ("0.0.0.0/8", "this network", False),
    ("10.0.0.0/8", "private use", False),
    ("100.64.0.0/10", "shared address space", False),
    ("127.0.0.0/8", "loopback", False),
    ("169.254.0.0/16", "link local", False),
    ("172.16.0.0/12", "private use", False),
    ("192.0.0.0/24", "IETF protocol assignments", False),
    ("192.0.0.0/29", "IPv4 service continuity prefix", False),
    ("192.0.0.8/32", "IPv4 dummy address", False),
    ("192.0.0.9/32", "Port Control Protocol anycast", True),
    ("192.0.0.10/32", "TURN anycast", True),
    ("192.0.0.170/32", "NAT64/DNS64 discovery", False),
    ("192.0.0.171/32", "NAT64/DNS64 discovery", False),
    ("192.0.2.0/24", "documentation", False),
    ("192.31.196.0/24", "AS112", True),
    ("192.52.193.0/24", "AMT", True),
    ("192.88.99.0/24", "6to4 relay anycast, deprecated", None),
    ("192.88.99.2/32", "6a44 relay anycast", False),
    ("192.168.0.0/16", "private use", False),
    ("192.175.48.0/24", "AS112 by direct delegation", True),
    ("198.18.0.0/15", "benchmarking", False),
    ("198.51.100.0/24", "documentation", False),
    ("203.0.113.0/24", "documentation", False),
    ("224.0.0.0/4", "multicast", False),
    ("240.0.0.0/4", "reserved", False),
    ("255.255.255.255/32", "limited broadcast", False),
    ("::/0", "not given out", False),
    ("::/128", "unspecified address", False),
    ("::1/128", "loopback", False),
    ("::ffff:0:0/96", "IPv4-mapped", False),
    ("64:ff9b::/96", "translated by NAT64", True),
    ("64:ff9b:1::/48", "translated by NAT64 of a network's own", False),
    ("100::/64", "discard only", False),
    ("100:0:0:1::/64", "dummy prefix", False),
    ("2000::/3", "global unicast", True),
    ("2001::/23", "IETF protocol assignments", False),
    ("2001::/32", "Teredo", None),
    ("2001:1::1/128", "Port Control Protocol anycast", True),
    ("2001:1::2/128", "TURN anycast", True),
    ("2001:1::3/128", "DNS-SD service registration anycast", True),
    ("2001:2::/48", "benchmarking", False),
    ("2001:3::/32", "AMT", True),
    ("2001:4:112::/48", "AS112", True),
    ("2001:10::/28", "ORCHID, deprecated", None),
    ("2001:20::/28", "ORCHIDv2", True),
    ("2001:30::/28", "drones' remote identification", True),
    ("2001:db8::/32", "documentation", False),
    ("2002::/16", "6to4", None),
    ("2620:4f:8000::/48", "AS112 by direct delegation", True),
    ("3fff::/20", "documentation", False),
    ("5f00::/16", "segment routing", False),
    ("fc00::/7", "unique local", False),
    ("fe80::/10", "link local", False),
    ("fec0::/10", "site local, deprecated", False),
    ("ff00::/8", "multicast", False),
)
SPECIAL_NETWORKS: dict[Network, bool | None] = {
    ip_network(prefix): is_global for prefix, _, is_global in _ROWS
}
# In their last 32 bits these hold an address of version 4: as it is compatible with version 6,
# mapped into it, translated without state, and translated by NAT64.
IPV4_HOLDERS = tuple(
    IPv6Network(prefix) for prefix in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")
)
# What a machine in a cloud is told here, such as its keys, is for itself.
METADATA_ADDRESSES = {
    ip_address(address): cloud
    for address, cloud in (
        ("169.254.169.254", "most clouds"),
        ("169.254.169.250", "Rancher"),
        ("169.254.170.2", "Amazon ECS"),
        ("169.254.170.23", "Amazon EKS"),
        ("169.254.0.23", "Tencent"),
        ("169.254.42.42", "Scaleway"),
        ("100.100.100.200", "Alibaba"),
        ("168.63.129.16", "Azure"),
        ("192.0.0.192", "Oracle"),
        ("fd00:ec2::254", "Amazon EC2"),
        ("fd00:ec2::23", "Amazon EKS"),
        ("fd20:ce::254", "Google"),
        ("fd00:42::42", "Scaleway"),
    )
}
METADATA_NAMES = frozenset(
    (
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "api.metadata.cloud.ibm.com",
    )
)


# In the last half of an address of ISATAP, before one of version 4.
ISATAP_MARKS = (0x0000_5EFE, 0x0200_5EFE)
OWN_NAT64 = IPv6Network("64:ff9b:1::/48")  # translated within a network, mostly by the last bits
LOW_BITS = 0xFFFF_FFFF

type Address = IPv4Address | IPv6Address
type Standing = Literal["public", "private", "metadata"]


def standing(address: Address) -> Standing:
    """Tell a public address from all others, and where a cloud tells a machine of itself.

    What holds an address of version 4, in whatever form, is no more than that one is.
    """
    if isinstance(address, IPv6Address):
        address = IPv6Address(int(address))  # without its zone
    judged = _judged(address)
    if any(one in METADATA_ADDRESSES for one in (address, *judged)):
        return "metadata"
    return "public" if all(map(_is_global, judged)) else "private"


def _judged(address: Address) -> tuple[Address, ...]:
    """Return what an address leads to: it is that, or those that it holds, or both."""
    if isinstance(address, IPv4Address):
        return (address,)
    if address.teredo:
        return address.teredo
    if address.sixtofour:
        return (address.sixtofour,)
    last = IPv4Address(int(address) & LOW_BITS)
    if any(address in holder for holder in IPV4_HOLDERS):
        return (last,)
    is_isatap = int(address) >> 32 & LOW_BITS in ISATAP_MARKS
    return (address, last) if is_isatap or address in OWN_NAT64 else (address,)


def _is_global(address: Address) -> bool:
    """Return what the smallest network says that an address is in."""
    networks = (one for one in SPECIAL_NETWORKS if one.version == address.version)
    found = [network for network in networks if address in network]
    smallest = max(found, key=lambda network: network.prefixlen, default=None)
    return smallest is None or SPECIAL_NETWORKS[smallest] is True
