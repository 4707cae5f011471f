"""Which addresses are public: by IANA's registries, and in whatever form one holds another."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest

from lexichord.ingest.web import (
    IPV4_HOLDERS,
    METADATA_ADDRESSES,
    SPECIAL_NETWORKS,
    Address,
    Network,
    standing,
)

PUBLIC = (
    *(
        "93.184.216.34",
        "8.8.8.8",
        "1.1.1.1",
        "192.0.0.9",
        "192.0.0.10",
        "192.31.196.1",
        "100.128.0.0",
    ),
    *("2606:4700::1111", "2001:4860:4860::8888", "2001:200::1", "2620:4f:8000::1", "2001:1::1"),
    *("::ffff:8.8.8.8", "::8.8.8.8", "::ffff:0:808:808", "64:ff9b::8.8.8.8", "2002:808:808::1"),
    "2001:0:808:808:0:ffff:f7f7:f7f7",  # Teredo, server and client 8.8.8.8
    "2606:4700::5efe:8.8.8.8",
)
PRIVATE = (
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "0.0.0.0", "100.64.0.1"),
    *("192.0.0.1", "192.0.0.8", "192.0.0.170", "192.0.0.11", "192.0.2.1", "192.88.99.1"),
    *("198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "feff::1"),
    *("fc00::1", "fdff::1", "ff02::1", "ff0e::1", "100::1", "100:0:0:1::1", "5f00::1", "3fff::1"),
    *("2001:db8::1", "2001:2::1", "2001:10::1", "2001:1ff::1", "4000::1", "200::1", "::1:0:0"),
    *("64:ff9b:1::8.8.8.8", "64:ff9b:1::1", "64:ff9b:2::1"),  # a network's own
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:100.64.0.1"),  # mapped
    *("::127.0.0.1", "::10.0.0.1", "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1"),  # and others
    *("64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2002:a00:1::1"),
    *("2001:0:a00:1:0:ffff:f7f7:f7f7", "2001:0:808:808:0:ffff:80ff:fffe", "2001::1"),  # Teredo
    *("2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1", "fe80::5efe:8.8.8.8"),  # ISATAP
)
METADATA = (
    *("169.254.169.254", "168.63.129.16", "192.0.0.192", "100.100.100.200", "fd00:ec2::254"),
    *("::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::169.254.169.254"),
    *("64:ff9b:1::169.254.169.254", "2002:a9fe:a9fe::", "::ffff:0:168.63.129.16"),
    *("2606:4700::5efe:168.63.129.16", "fd20:ce::254%eth0"),
)


@pytest.mark.parametrize(
    ("addresses", "expected"), [(PUBLIC, "public"), (PRIVATE, "private"), (METADATA, "metadata")]
)
def test_addresses_are_told_apart(addresses: tuple[str, ...], expected: str) -> None:
    assert [one for one in addresses if standing(ip_address(one)) != expected] == []


def borders(network: Network) -> list[Address]:
    """Return where a network begins and ends, and what stands beside it."""
    kind = IPv4Address if network.version == 4 else IPv6Address
    first, last = int(network[0]), int(network[-1])
    numbers = (first - 1, first, last, last + 1)
    return [kind(number) for number in numbers if 0 <= number < 2**network.max_prefixlen]


def smallest(address: Address) -> Network | None:
    of_it = [one for one in SPECIAL_NETWORKS if one.version == address.version and address in one]
    return max(of_it, key=lambda one: one.prefixlen, default=None)


def test_each_entry_of_the_registries_holds_from_its_first_address_to_its_last() -> None:
    holders = {*IPV4_HOLDERS, *(one for one, told in SPECIAL_NETWORKS.items() if told is None)}
    for network in SPECIAL_NETWORKS:
        for address in borders(network):
            within = smallest(address)
            if address in METADATA_ADDRESSES or any(
                one.version == address.version and address in one for one in holders
            ):
                continue  # judged by what they hold: see above
            expected = within is None or SPECIAL_NETWORKS[within] is True
            assert (standing(address) == "public") == expected, address


def test_nothing_passes_as_public_that_python_knows_to_be_special() -> None:
    """Python's own tables, of another hand, know fewer; those that it refuses are globally
    reachable by the registry."""
    borderline = [one for network in SPECIAL_NETWORKS for one in borders(network)]
    passing = {one for one in borderline if standing(one) == "public" and not one.is_global}
    assert {str(smallest(one)) for one in passing} <= {
        *("192.0.0.9/32", "192.0.0.10/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128"),
        *("2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28", "64:ff9b::/96"),
    }
