"""Which file of a Rust crate names which other, read from the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
PATH = re.compile(r"(?<![\w:])((?:crate|super|self)(?:::\w+)+)")
MODULE = re.compile(
    r'^(?:#\[path = "(?P<path>[^"]*)"\]\n)?[ \t]*(?:pub(?:\([^)]*\))? )?mod (?P<name>\w+);', re.MULTILINE
)
# An item that only tests have: up to its closing brace, or one line.
TESTS = re.compile(r"^#\[cfg\((?:all\()?test\b.*\]\n(?:#\[.*\]\n)*(?:.*;$|(?:.*\n)*?\}.*$)", re.MULTILINE)
COMMENT = re.compile(r"//.*$", re.MULTILINE)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# Who may see an item is no import.
SEEN_BY = re.compile(r"\bpub\(in [\w:]+\)")


def expanded(tree: str) -> Iterator[str]:
    """The paths of one `use`: `a::{b, c::{self, d as e}}` is `a::b`, `a::c` and `a::c::d`."""
    tree = tree.strip()
    if "{" not in tree:
        yield tree.split(" as ")[0].strip()
        return
    head, _, rest = tree.partition("{")
    depth, part = 0, ""
    for letter in rest[: rest.rindex("}")] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            for path in expanded(part) if part.strip() else ():
                yield head.removesuffix("::").strip() if path == "self" else head.strip() + path
            part = ""
        else:
            part += letter


class Module:
    """One file of a crate: where it stands, and its code without comments, texts and tests."""

    def __init__(self, name: tuple[str, ...], file: Path) -> None:
        self.name, self.file = name, file
        text = TESTS.sub(lambda only: "\n" * only.group().count("\n"), file.read_text(encoding="utf-8"))
        self.children = {found["name"]: found["path"] for found in MODULE.finditer(text)}
        self.code = SEEN_BY.sub("pub(crate)", COMMENT.sub("", TEXT.sub('""', text)))

    @cached_property
    def uses(self) -> list[tuple[str, bool, int]]:
        """Paths that it imports, whether it hands them on, and the line."""
        found = []
        for use in USE.finditer(self.code):
            line = self.code.count("\n", 0, use.start(2)) + 1
            found += [(path, use.group(1) is not None, line) for path in expanded(" ".join(use.group(2).split()))]
        return found

    @cached_property
    def paths(self) -> list[tuple[str, int]]:
        """Paths in the code that are no imports."""
        rest = USE.sub(lambda use: "\n" * use.group().count("\n"), self.code)
        own = "|".join(sorted(self.children))
        inside = re.compile(rf"(?<![\w:.])((?:{own})(?:::\w+)+)") if own else None
        named = [*PATH.finditer(rest), *(inside.finditer(rest) if inside else ())]
        return [(m.group(1), rest.count("\n", 0, m.start()) + 1) for m in named]


class Crate:
    """All files of a crate, found through their `mod` lines."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules: dict[tuple[str, ...], Module] = {}
        self.read((), root / "lib.rs")

    def read(self, name: tuple[str, ...], file: Path) -> None:
        module = self.modules[name] = Module(name, file)
        folder = file.parent if file.name in ("lib.rs", "mod.rs") else file.with_suffix("")
        for child, path in sorted(module.children.items()):
            there = file.parent / path if path else folder / f"{child}.rs"
            self.read((*name, child), there if there.exists() else folder / child / "mod.rs")

    def find(self, path: str, at: tuple[str, ...], depth: int = 0) -> Module | None:
        """The file that holds what a path names, seen from a module; `None` for another crate."""
        first, *rest = path.split("::")
        if first == "crate":
            here: tuple[str, ...] = ()
        elif first == "self":
            here = at
        elif first == "super":
            here = at[:-1]
        elif first in self.modules[at].children:
            here = (*at, first)
        else:
            return None
        for i, part in enumerate(rest):
            if part == "super":
                here = here[:-1]
            elif (*here, part) in self.modules:
                here = (*here, part)
            elif depth < 10 and (passed := self.handed_on(here, part)):
                return self.find("::".join([passed, *rest[i + 1 :]]), here, depth + 1)
            else:
                break
        return self.modules[here]

    def handed_on(self, module: tuple[str, ...], name: str) -> str | None:
        """The path behind a `pub use` of that name."""
        is_it = (path for path, is_public, _ in self.modules[module].uses if is_public and path.split("::")[-1] == name)
        return next((p for p in is_it if self.find(p, module, 9) not in (None, self.modules[module])), None)

    def in_circles(self) -> set[Module]:
        """The files that name themselves over others."""
        named: dict[Module, set[Module]] = {}
        for module, other, _ in self.arrows():
            named.setdefault(module, set()).add(other)
        found = set()
        for start in named:
            reached, left = set(), list(named[start])
            while left:
                if (module := left.pop()) not in reached:
                    reached.add(module)
                    left += named.get(module, ())
            if start in reached:
                found.add(start)
        return found

    def arrows(self) -> Iterator[tuple[Module, Module, int]]:
        """Every file with every other that it names, and the line."""
        for name, module in self.modules.items():
            named = [(path, line) for path, _, line in module.uses] + module.paths
            for path, line in named:
                other = self.find(path, name)
                if other is not None and other is not module:
                    yield module, other, line
