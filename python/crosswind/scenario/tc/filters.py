"""Filters of `tc` as those of a scenario: code points, protocols and sizes; ports and addresses become flows."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from crosswind.errors import InputError, did_you_mean
from crosswind.scenario.tc import units
from crosswind.scenario.tc.lines import Id, Statement, identifier

PROTOCOLS = {
    "tcp": 6,
    "udp": 17,
    "icmp": 1,
    "6": 6,
    "17": 17,
    "1": 1,
    "0x6": 6,
    "0x11": 17,
    "0x1": 1,
    "0x06": 6,
    "0x01": 1,
}
NAMES = {6: "tcp", 17: "udp", 1: "icmp"}
IP_FIELDS = ("src", "dst", "sport", "dport", "protocol", "tos", "dsfield", "precedence")
FLOWER = ("ip_proto", "src_port", "dst_port", "src_ip", "dst_ip", "ip_tos")
ALL_CODE_POINTS = 64


@dataclass
class Match:
    """What one filter asks of a packet, and the class that it then belongs to."""

    where: str
    target: Id
    #: Ports, addresses and marks: what tells flows apart.
    who: set[str] = field(default_factory=set)
    proto: str = ""
    dscp: list[int] | None = None
    size_max: int | None = None
    payload: str = ""
    notes: list[str] = field(default_factory=list)

    def keys(self) -> dict[str, Any]:
        """The keys of a scenario's filter, but for class and flow."""
        out: dict[str, Any] = {}
        if self.dscp is not None:
            out["dscp"] = self.dscp if len(self.dscp) > 1 else self.dscp[0]
        if self.proto in ("tcp", "udp"):
            out["proto"] = self.proto
        if self.size_max is not None:
            out["size_max"] = f"{self.size_max} B"
        if self.payload:
            out["payload"] = self.payload
        return out


class _Reader:
    """The words behind the kind of a filter, and messages that name them."""

    def __init__(self, s: Statement) -> None:
        self.where, self.kind, self.rest = s.where, s.kind, list(s.words)

    def refuse(self, found: str, expected: str, hint: str = "", path: str = "") -> InputError:
        shown = f"`{found}`" if found else "nothing behind it"
        return InputError(self.where, path=f"{self.kind} {path}".strip(), found=shown, expected=expected, hint=hint)

    def take(self, path: str, read: Callable[[str], Any] = str) -> Any:
        if not self.rest:
            raise self.refuse("", "a value", path=path)
        text = self.rest.pop(0)
        try:
            return read(text)
        except units.UnreadError as e:
            raise self.refuse(text, e.expected, path=path) from None


def match_of(s: Statement) -> Match:
    """What the filter of a statement asks for. Raises InputError with the word that no filter here can say."""
    read = _Reader(s)
    kinds = {"u32": _u32, "fw": _fw, "flower": _flower, "matchall": _nothing}
    if s.kind not in kinds:
        hint = did_you_mean(s.kind, kinds)
        raise InputError(s.where, path="filter", found=f"`{s.kind}`", expected=f"one of {', '.join(kinds)}", hint=hint)
    out = Match(s.where, (0, 0))
    if s.kind == "fw":
        mark = s.mark.partition("/")[0]
        out.who.add(f"mark-{read_mark(s, mark)}")
    while read.rest:
        word = read.rest.pop(0)
        if word in ("flowid", "classid"):
            out.target = identifier(s.where, f"{s.kind} {word}", read.take(word))
        elif word in ("action", "police"):
            raise read.refuse(word, "flowid and a class: filters here only choose a class")
        else:
            kinds[s.kind](read, word, out)
    if out.target == (0, 0):
        raise InputError(s.where, path=s.kind, found="no flowid", expected="`flowid` and a class such as 1:10")
    if out.dscp == []:
        raise InputError(s.where, path=s.kind, found="code points that exclude each other", expected="one that can be")
    return out


def read_mark(s: Statement, text: str) -> int:
    """The mark of a firewall that `fw` looks for."""
    try:
        return units.integer(text)
    except units.UnreadError as e:
        found = f"`{text}`" if text else "no handle"
        raise InputError(s.where, path="fw handle", found=found, expected=e.expected) from None


def _nothing(read: _Reader, word: str, out: Match) -> None:
    raise read.refuse(word, "flowid and a class")


_fw = _nothing


def _u32(read: _Reader, word: str, out: Match) -> None:
    if word != "match":
        raise read.refuse(
            word, "match or flowid: hash tables are not followed", did_you_mean(word, ("match", "flowid"))
        )
    layer = read.take("match")
    if layer == "ip":
        _ip(read, read.take("match ip"), out)
    elif layer in ("u32", "u16", "u8"):
        _bits(read, layer, out)
    elif layer == "mark":
        value, mask = read.take("match mark", units.integer), read.take("match mark", units.integer)
        if mask != 0xFFFFFFFF:
            raise read.refuse(hex(mask), "the mask 0xffffffff: a flow has one mark", path="match mark")
        out.who.add(f"mark-{value}")
    else:
        known = ("ip", "u32", "u16", "u8", "mark")
        raise read.refuse(layer, f"one of {', '.join(known)}", did_you_mean(layer, known), "match")


def _ip(read: _Reader, what: str, out: Match) -> None:
    path = f"match ip {what}"
    if what in ("src", "dst"):
        out.who.add(f"{what}-{read.take(path, _address)}")
        return
    if what not in IP_FIELDS:
        raise read.refuse(what, f"one of {', '.join(IP_FIELDS)}", did_you_mean(what, IP_FIELDS), "match ip")
    value = read.take(path, units.integer)
    mask = read.take(path, units.integer)
    if what in ("sport", "dport"):
        _port(read, path, what, value, mask, out)
    elif what == "protocol":
        if mask & 0xFF != 0xFF or value not in NAMES:
            raise read.refuse(f"{value} {mask:#x}", "6, 17 or 1 and the mask 0xff", path=path)
        _protocol(read, NAMES[value], out)
    else:
        _code_points(read, path, value, mask, out)


def _port(read: _Reader, path: str, what: str, value: int, mask: int, out: Match) -> None:
    if mask != 0xFFFF or value > 0xFFFF:
        raise read.refuse(f"{value} {mask:#x}", "one port and the mask 0xffff: ranges are several filters", path=path)
    out.who.add(f"{what}-{value}")


def _protocol(read: _Reader, name: str, out: Match) -> None:
    if out.proto not in ("", name):
        raise read.refuse(name, f"one protocol: {out.proto} stands before")
    out.proto = name
    if name == "icmp":
        out.who.add("icmp")


def _code_points(read: _Reader, path: str, value: int, mask: int, out: Match) -> None:
    if value > 0xFF or mask > 0xFF:
        raise read.refuse(f"{value:#x} {mask:#x}", "a byte and its mask", path=path)
    if mask & 3:
        out.notes.append(f"{out.where}: the two ECN bits of `{path}` are not looked at")
    found = [d for d in range(ALL_CODE_POINTS) if d << 2 & mask == value & mask & 0xFC]
    before = set(range(ALL_CODE_POINTS) if out.dscp is None else out.dscp)
    left = sorted(before & set(found))
    out.dscp = None if len(left) == ALL_CODE_POINTS else left


def _bits(read: _Reader, layer: str, out: Match) -> None:
    path = f"match {layer}"
    value, mask = read.take(path, units.integer), read.take(path, units.integer)
    at = "0"
    if read.rest[:1] == ["at"]:
        read.rest.pop(0)
        at = str(read.take(f"{path} at", units.integer))
    width = {"u32": 32, "u16": 16, "u8": 8}[layer]
    if mask == 0 and value == 0:
        return
    if (layer, at) == ("u16", "2") and value == 0 and _is_prefix(mask, width):
        out.size_max = ~mask & 0xFFFF  # the length in the IP header is below a power of two
    elif (layer, at, value, mask) == ("u8", "0", 0x05, 0x0F):
        pass  # an IP header without options, as nearly all are
    elif (layer, at, value, mask) == ("u8", "33", 0x10, 0xFF):
        out.payload = "none"  # of the flags of TCP only ACK
        out.notes.append(f"{out.where}: a segment with nothing but ACK set is taken for one without payload")
    elif (layer, at) == ("u8", "1"):
        _code_points(read, path, value, mask, out)
    elif (layer, at, mask) == ("u8", "9", 0xFF) and value in NAMES:
        _protocol(read, NAMES[value], out)
    else:
        expected = "the length (u16 0 MASK at 2), the DS byte (u8 .. at 1) or the protocol (u8 .. 0xff at 9)"
        raise read.refuse(f"{value:#x} {mask:#x} at {at}", expected, path=path)


def _is_prefix(mask: int, width: int) -> bool:
    """Whether the mask is ones and then zeros."""
    zeros = ~mask & (1 << width) - 1
    return mask < 1 << width and zeros & (zeros + 1) == 0


def _flower(read: _Reader, word: str, out: Match) -> None:
    if word in ("skip_sw", "skip_hw"):
        return
    if word not in FLOWER:
        known = (*FLOWER, "classid")
        raise read.refuse(word, f"one of {', '.join(known)}", did_you_mean(word, known))
    if word == "ip_proto":
        name = read.take(word)
        if name not in PROTOCOLS:
            raise read.refuse(name, "tcp, udp or icmp", did_you_mean(name, PROTOCOLS), word)
        _protocol(read, NAMES[PROTOCOLS[name]], out)
    elif word in ("src_port", "dst_port"):
        _port(read, word, f"{word[0]}port", read.take(word, units.integer), 0xFFFF, out)
    elif word == "ip_tos":
        value, slash, mask = read.take(word).partition("/")
        read.rest[:0] = [value, mask if slash else "0xff"]
        _code_points(read, word, read.take(word, _hexadecimal), read.take(word, _hexadecimal), out)
    else:
        out.who.add(f"{word.removesuffix('_ip')}-{read.take(word, _address)}")


def _hexadecimal(text: str) -> int:
    return units.integer(text if text.lower().startswith("0x") else f"0x{text}", 0xFF)


def _address(text: str) -> str:
    try:
        net = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise units.UnreadError("an address, such as 10.0.0.1 or 10.0.0.0/8") from None
    written = str(net.network_address) if net.num_addresses == 1 else str(net)
    return re.sub(r"[^0-9a-f]+", "-", written)
