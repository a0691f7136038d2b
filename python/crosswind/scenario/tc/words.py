"""The grammar of `tc`: which words each kind takes, and what stands behind each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crosswind.errors import InputError, did_you_mean
from crosswind.scenario.tc import units

Words = list[str]
Values = dict[str, Any]
# What reads off what stands behind a word, or the word that it is another name of.
Behind = Callable[[list[str]], Any] | str


@dataclass(frozen=True)
class Word:
    """What follows a word: `take` reads it off the front of the rest. `name` is what it is called in the result."""

    name: str
    take: Callable[[Words], Any]


def one(read: Callable[[str], Any]) -> Callable[[Words], Any]:
    """What stands behind a word, read."""

    def take(rest: Words) -> Any:
        if not rest:
            raise units.UnreadError("a value behind it")
        return read(rest.pop(0))

    return take


def means(value: Any) -> Callable[[Words], Any]:
    """A word that is its value."""
    return lambda _rest: value


def priomap(rest: Words) -> list[int]:
    return [units.integer(one(str)(rest), 15) for _ in range(16)]


def _minor(text: str) -> int:
    digits = text.lower().removeprefix("0x")
    try:
        return int(digits, 16) if 0 < len(digits) <= 4 else _no_minor()
    except ValueError:
        return _no_minor()


def _no_minor() -> int:
    raise units.UnreadError("the hexadecimal number of a class, such as 30")


def refused(why: str) -> Callable[[Words], Any]:
    """A word that a scenario cannot say."""

    def take(_rest: Words) -> Any:
        raise RefusedError(why)

    return take


class RefusedError(units.UnreadError):
    """The word itself, and not what stands behind it, is what a scenario cannot say."""


def _delay(rest: Words) -> int:
    ns = units.time(one(str)(rest))
    if rest and rest[0][:1].isdigit() and units.time(rest[0]) > 0:
        raise units.UnreadError("a delay alone: it does not vary on a link here", rest[0])
    if rest and rest[0][:1].isdigit():
        rest.pop(0)
    return ns


def _loss(rest: Words) -> float:
    if rest and rest[0] in ("state", "gemodel"):
        raise units.UnreadError("independent losses, such as 1%: a model with states is not here")
    if rest and rest[0] == "random":
        rest.pop(0)
    lost = units.share(one(str)(rest))
    if rest and rest[0].endswith("%"):
        raise units.UnreadError("independent losses: a share without a correlation", rest[0])
    return lost


def _linklayer(rest: Words) -> str:
    text = one(str)(rest)
    if text != "ethernet":
        raise units.UnreadError("ethernet: cells are those of a link of type atm")
    return str(text)


RATE, SIZE, TIME = one(units.rate), one(units.size), one(units.time)
YES, NO = means(True), means(False)
COUNT, NUMBER = one(units.count), one(units.number)


def _table(**words: Behind) -> dict[str, Word]:
    """Words with what follows them; a text makes one an alias of another."""
    return {
        w: Word(take, words[take]) if isinstance(take, str) else Word(w, take)  # type: ignore[arg-type]
        for w, take in words.items()
    }


_BUCKET: dict[str, Behind] = {
    "burst": SIZE,
    "buffer": "burst",
    "maxburst": "burst",
    "mpu": SIZE,
    "overhead": SIZE,
    "linklayer": _linklayer,
}
#: Words behind each kind of qdisc.
QDISCS: Mapping[str, Mapping[str, Word]] = {
    "htb": _table(default=one(_minor), r2q=COUNT, direct_qlen=COUNT),
    "tbf": _table(rate=RATE, limit=SIZE, peakrate=RATE, mtu=SIZE, minburst="mtu", **{"latency": TIME}, **_BUCKET),
    "prio": _table(bands=COUNT, priomap=priomap),
    "pfifo_fast": _table(),
    "pfifo": _table(limit=COUNT),
    "bfifo": _table(limit=SIZE),
    "red": _table(
        limit=SIZE, min=SIZE, max=SIZE, avpkt=SIZE, burst=COUNT, probability=NUMBER, ecn=YES, **{"bandwidth": RATE},
        harddrop=refused("nothing of that name: marked packets pass between the thresholds only"),
        adaptive=YES,
        nodrop=refused("nothing of that name: what cannot be marked is dropped"),
    ),
    "netem": _table(
        delay=_delay, loss=_loss, drop="loss", rate=RATE, limit=COUNT,
        **{w: refused(f"delay, loss, rate or limit: there is no `{w}` on a link here")
           for w in ("duplicate", "corrupt", "reorder", "gap", "slot", "distribution", "ecn", "seed")},
    ),
    "drr": _table(),
}  # fmt: skip
#: Words behind each kind of class.
CLASSES: Mapping[str, Mapping[str, Word]] = {
    "htb": _table(
        rate=RATE,
        ceil=RATE,
        cburst=SIZE,
        cbuffer="cburst",
        maxcburst="cburst",
        prio=COUNT,
        quantum=SIZE,
        mtu=SIZE,
        **_BUCKET,
    ),
    "drr": _table(quantum=SIZE),
}


def read(where: str, kind: str, words: Words, table: Mapping[str, Word]) -> Values:
    """The words behind a kind, by name. Raises InputError with the word, what was expected and the nearest name."""
    out: Values = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word not in table:
            known = ", ".join(table) or "nothing"
            raise InputError(
                where, path=kind, found=f"`{word}`", expected=f"one of {known}", hint=did_you_mean(word, table)
            )
        entry, shown = table[word], f"`{rest[0]}`" if rest else "nothing behind it"
        if entry.name in out:
            raise InputError(
                where, path=f"{kind} {word}".strip(), found=f"`{word}` twice", expected=f"`{word}` with one value"
            )
        try:
            out[entry.name] = entry.take(rest)
        except units.UnreadError as e:
            found = f"`{word}`" if isinstance(e, RefusedError) else f"`{e.found}`" if e.found else shown
            raise InputError(where, path=f"{kind} {word}".strip(), found=found, expected=e.expected) from None
    return out
