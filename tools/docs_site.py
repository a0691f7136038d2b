"""Builds the documentation site: gathers the pages, writes the generated ones, runs mkdocs, checks every link.

Usage: docs_site.py [--quick]      (--quick: without the gallery, whose figures are made by running scenarios)
"""

from __future__ import annotations

import html.parser
import logging
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

from mkdocs.commands.build import build
from mkdocs.config import load_config

import reference
import site_pages

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "out/site-pages"
# Pages that live elsewhere, and what they are called on the site.
MOVED = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changes.md",
    "benches/README.md": "speed.md",
    "CITATION.cff": "citing.md",
}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(```.*?```)", re.DOTALL)


def sources() -> dict[Path, str]:
    """Every written page: its file -> its place on the site."""
    out = {ROOT / name: place for name, place in MOVED.items() if (ROOT / name).exists()}
    docs = ROOT / "docs"
    for page in sorted(docs.rglob("*.md")):
        if "reference" not in page.relative_to(docs).parts:
            out[page] = page.relative_to(docs).as_posix()
    return out


def gather(pages: dict[Path, str]) -> None:
    """Copies pages and what they show; links to files of the source tree become plain text."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for page, place in pages.items():
        target = PAGES / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".cff":
            target.write_text(site_pages.citing(page.read_text(encoding="utf-8")), encoding="utf-8")
            continue
        parts = FENCE.split(page.read_text(encoding="utf-8"))
        text = "".join(p if p.startswith("```") else relinked(p, page, target, pages) for p in parts)
        target.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs/assets", PAGES / "assets")


def relinked(text: str, page: Path, target: Path, pages: dict[Path, str]) -> str:
    """The text of a page with links that fit the site."""

    def link(found: re.Match[str]) -> str:
        label, to = found.groups()
        if "://" in to or to.startswith(("#", "mailto:")):
            return found.group()
        name, _, anchor = to.partition("#")
        file = (page.parent / name).resolve()
        if file.is_dir():
            file = next((f for f in (file / "README.md", file / "index.md") if f.exists()), file)
        place = pages.get(file) or (reference_place(file) if file.suffix == ".md" else None)
        if file == ROOT / "docs/decisions":
            place = "decisions/index.md"
        if place is not None:
            return f"[{label}]({up(target)}{place}{'#' + anchor if anchor else ''})"
        if file.suffix == ".ipynb" and file.exists():
            return f"[{label}]({up(target)}notebooks/{file.stem}.md)"
        if not file.exists():
            raise SystemExit(f"{page.relative_to(ROOT)} points to {to}, which does not exist")
        return label if label.startswith("`") else f"{label} (`{file.relative_to(ROOT)}`)"

    def image(found: re.Match[str]) -> str:
        file = (page.parent / found.group(2)).resolve()
        if "://" in found.group(2):
            return found.group()
        copy = PAGES / "images" / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        return f"![{found.group(1)}]({up(target)}images/{file.name})"

    return LINK.sub(link, IMAGE.sub(image, text))


def reference_place(file: Path) -> str | None:
    docs = ROOT / "docs/reference"
    return f"reference/{file.relative_to(docs).as_posix()}" if file.is_relative_to(docs) else None


def up(target: Path) -> str:
    return "../" * (len(target.relative_to(PAGES).parts) - 1)


def title_of(page: Path) -> str:
    first = next((line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# ")), "")
    return first.removeprefix("# ").strip() or page.stem


def navigation() -> list[dict[str, object]]:
    """The menu: fixed sections, filled with whatever pages there are."""

    def some(*names: str) -> list[dict[str, object]]:
        return [{title_of(PAGES / n): n} for n in names if (PAGES / n).exists()]

    def folder(name: str) -> list[dict[str, object]]:
        pages = sorted((PAGES / name).glob("*.md"), key=lambda p: (p.stem != "index", p.stem))
        return [{title_of(p): p.relative_to(PAGES).as_posix()} for p in pages]

    def elements() -> list[dict[str, object]]:
        """Reference pages by kind: `queue-red-linux.md` is `red-linux` under Queue."""
        kinds: dict[str, list[dict[str, object]]] = {}
        for p in sorted((PAGES / "reference").glob("*-*.md")):
            kind, _, name = p.stem.partition("-")
            kinds.setdefault(kind.capitalize(), []).append({name: p.relative_to(PAGES).as_posix()})
        return [{"All elements": "reference/index.md"}, *({k: v} for k, v in kinds.items())]

    checks = sorted(p.name for p in PAGES.glob("validation*.md"))
    evidence = (*checks, "readings-of-riva-2003.md", "mutants.md", "performance.md", "speed.md", "look-ahead.md")
    trust = ("trust.md", "blind-test.md", "beside-other-tools.md")
    menu: list[dict[str, object]] = [
        {"Start": [{"Crosswind": "index.md"}, *some("tutorial.md", "gallery.md")]},
        {"How to": [*folder("how-to"), *some("emulation.md", "how-to-add.md")]},
        {"Notebooks": folder("notebooks")},
        {"Coming from": folder("coming-from")},
        {"Concepts": [*some("concepts.md", "architecture.md", "glossary.md"), *folder("concepts")]},
        {"Phenomena": folder("phenomena")},
        {"Reference": [*some("results.md", "command-line.md", "python-interface.md", "python.md"), *elements()]},
        {"Evidence": [*some(*trust), *folder("reproduction"), *some(*evidence)]},
        {"Project": [*some("changes.md", "citing.md"), {"Decisions": folder("decisions")}]},
    ]
    named = re.findall(r"'([\w/.+-]+\.md)'", repr(menu))
    rest = [p.relative_to(PAGES).as_posix() for p in sorted(PAGES.rglob("*.md"))]
    menu.append({"More": [{title_of(PAGES / p): p} for p in rest if p not in named]})
    return [m for m in menu if next(iter(m.values()))]


class Links(html.parser.HTMLParser):
    """Targets and ids of one built page."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        # What a page would fetch from elsewhere: it must be complete without a network.
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name == "id":
                self.ids.add(value)
            elif value and name in ("href", "src") and tag in ("a", "img", "link", "script"):
                self.targets.append(value)
            if value and tag in ("script", "img") and name == "src" and re.match(r"(https?:)?//", value):
                self.foreign.append(value)


def broken(site: Path) -> list[str]:
    """Links of the built site that lead nowhere: to no file, or to no place in a file."""
    pages: dict[Path, Links] = {}
    for page in site.rglob("*.html"):
        pages[page] = Links()
        pages[page].feed(page.read_text(encoding="utf-8"))
    out = []
    for page, links in pages.items():
        out += [f"{page.relative_to(site)} fetches {f}" for f in links.foreign]
        for target in links.targets:
            if re.match(r"[a-z]+:", target) or target.startswith("//") or page.name == "404.html":
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / unquote(name.partition("?")[0])).resolve() if name else page
            missing = not file.exists() or (anchor and file in pages and unquote(anchor) not in pages[file].ids)
            if missing and anchor not in ("__top", "__toc"):
                out.append(f"{page.relative_to(site)} -> {target}")
    return sorted(set(out))


class Complaints(logging.Handler):
    """Collects what mkdocs warns about."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def main(arguments: list[str]) -> int:
    gather(sources())
    reference.main([str(PAGES / "reference")])
    site_pages.write(PAGES, gallery="quick" if "--quick" in arguments else "full")
    complaints = Complaints()
    logging.getLogger("mkdocs").addHandler(complaints)
    config = load_config(str(ROOT / "mkdocs.yml"), nav=navigation())
    build(config)
    site = Path(config["site_dir"])
    lost = broken(site)
    for line in [*complaints.said, *(f"broken link: {b}" for b in lost)]:
        print(line, file=sys.stderr)
    print(f"{len(list(site.rglob('*.html')))} pages in {site.relative_to(ROOT)}/index.html, {len(lost)} broken links")
    return 1 if lost or complaints.said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
