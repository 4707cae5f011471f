"""Which addresses pages may be fetched from: one function decides, by the registries."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Literal

from lexichord.ingest.web.registries import IPV4_HOLDERS, METADATA_ADDRESSES, SPECIAL_NETWORKS

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
