"""The pages of the site that are generated: command line, Python interface, gallery, decisions, citing."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import crosswind as cw
from crosswind.cli import application, main

ROOT = Path(__file__).resolve().parent.parent
# What the gallery shows: a title, the command, and the pictures to take from its folder.
GALLERY: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Three downloads over a phone",
        "crosswind run scenarios/gprs.toml --out {out}",
        ("cwnd", "queue", "delay-cdf", "time-sequence"),
    ),
    ("Four listed losses, repaired by SACK", "crosswind run scenarios/lossy.toml --out {out}", ("time-sequence",)),
    (
        "The same without SACK",
        "crosswind run scenarios/lossy.toml --set flow.download.tcp.recovery=newreno "
        "--set flow.download.tcp.sack=off --out {out}",
        ("time-sequence",),
    ),
    ("RED that marks", "crosswind run scenarios/red-ecn.toml --out {out}", ("queue", "cwnd")),
    (
        "How long should a queue be?",
        "crosswind sweep scenarios/gprs.toml --vary "
        "link.last-hop.queue.limit='5 packets,10 packets,20 packets,40 packets' --vary flow.bulk.count=1,2,4 "
        "--vary flow.bulk.tcp.preset=baseline-linux-2.4,enhanced-linux-2.4 --reps 10 --out {out}",
        ("elapsed-third", "elapsed-map-third"),
    ),
)
MODULES = ("claims", "design", "early_discard", "export", "figures", "place", "stats", "topology")


def write(pages: Path, gallery: str = "full") -> None:
    """Writes all of them."""
    (pages / "command-line.md").write_text(command_line(), encoding="utf-8")
    (pages / "python.md").write_text(python(), encoding="utf-8")
    decisions(pages / "decisions")
    notebooks(pages / "notebooks")
    if gallery == "full":
        make_gallery(pages)


def command_line() -> str:
    """What every command says about itself."""
    out = ["# Command line", "", "Every command has `--help`; what a script may read comes with `--json`.", ""]
    names = sorted(c.name or "" for c in application().registered_commands)
    os.environ["COLUMNS"] = "100"
    os.environ["NO_COLOR"] = "1"
    for name in ["", *names]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            main([*([name] if name else []), "--help"])
        text = "\n".join(line.rstrip() for line in said.getvalue().strip().splitlines())
        out += [f"## crosswind {name}".rstrip(), "", "```text", text, "```", ""]
    out += [
        "How commands end, and what they say then: [exit codes](how-to/exit-codes.md).",
        "",
    ]
    return "\n".join(out)


def python() -> str:
    """Signatures and docstrings of the public names."""
    out = ["# Python", "", "`import crosswind as cw`. Frames are [polars](https://docs.pola.rs) frames.", ""]
    for name in sorted(cw.__all__, key=str.lower):
        value = getattr(cw, name)
        if inspect.ismodule(value) or name == "pl":
            continue
        out += described(f"cw.{name}", value, level=2)
    for module in MODULES:
        loaded = getattr(cw, module)
        out += [f"## cw.{module}", "", first(loaded), ""]
        for n in sorted(getattr(loaded, "__all__", vars(loaded)), key=str.lower):
            value = getattr(loaded, n)
            own = str(getattr(value, "__module__", "")).startswith(f"{loaded.__name__}.") or hasattr(loaded, "__all__")
            here = own or getattr(value, "__module__", "") == loaded.__name__
            if here and not n.startswith("_") and callable(value) and inspect.getdoc(value):
                out += described(f"cw.{module}.{n}", value, level=3)
    return "\n".join(out)


def first(value: Any) -> str:
    return (inspect.getdoc(value) or "").split(">>>")[0].strip()


def described(name: str, value: Any, level: int) -> list[str]:
    """A heading with the signature, the docstring, and the methods of a class."""
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = ""
    doc = inspect.getdoc(value) or ""
    text, mark, example = doc.partition(">>>")
    out = ["#" * level + f" {name}", "", "```python", f"{name}{signature}", "```", "", text.strip(), ""]
    if mark:
        out += ["```python", f">>>{example}".rstrip(), "```", ""]
    if inspect.isclass(value):
        for method, inner in inspect.getmembers(value):
            inside = inner.fget if isinstance(inner, property) else inner
            if not method.startswith("_") and inspect.isfunction(inside) and inspect.getdoc(inside):
                shown = "" if isinstance(inner, property) else str(inspect.signature(inside)).replace("(self, ", "(")
                said = (inspect.getdoc(inside) or "").split("\n\n")[0].replace("\n", " ")
                out.append(f"- `.{method}{shown.replace('(self)', '()')}`: {said}")
        out.append("")
    return out


def decisions(folder: Path) -> None:
    """The list of decisions."""
    lines = ["# Decisions", "", "Why things are as they are, and what would change our mind.", ""]
    for page in sorted(folder.glob("0*.md")):
        title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        lines.append(f"- [{title}]({page.name})")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def notebooks(folder: Path) -> None:
    """The notebooks as pages: text, code and what it shows, with the file to download."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        parts = []
        for i, c in enumerate(cells):
            text = "".join(c["source"])
            parts.append(text if c["cell_type"] == "markdown" else f"```python\n{text}\n```")
            shown = (shown_by(o, folder / f"{file.stem}-{i}-{k}.svg") for k, o in enumerate(c.get("outputs", [])))
            parts += filter(None, shown)
        shutil.copyfile(file, folder / file.name)
        parts.insert(1, f"[Download as a notebook]({file.name})")
        parts.append("<style>.shown figure { width: 100%; margin: 0 }</style>")
        (folder / f"{file.stem}.md").write_text("\n\n".join([*parts, ""]), encoding="utf-8")


def shown_by(output: dict[str, Any], picture: Path) -> str:
    """An output of a notebook for a page; a figure becomes a file."""
    data = {kind: "".join(text) for kind, text in output.get("data", {}).items() if kind != "application/json"}
    if "image/svg+xml" in data:
        picture.write_text(data["image/svg+xml"], encoding="utf-8")
        return f"![What the cell shows]({picture.name})"
    if "text/html" in data:
        return f'<div class="shown">{data["text/html"]}</div>'
    text = data.get("text/plain", "".join(output.get("text", "")))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


def make_gallery(pages: Path) -> None:
    """Runs the commands of the gallery and shows their figures, each with its command and data."""
    here = pages / "images" / "gallery"
    here.mkdir(parents=True, exist_ok=True)
    out = ["# Gallery", "", "Every figure is written by the command above it, with its data beside it.", ""]
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        for i, (title, command, pictures) in enumerate(GALLERY):
            folder = ROOT / "out" / "gallery" / str(i)
            with contextlib.redirect_stdout(io.StringIO()):
                code = main(shlex.split(command.format(out=folder))[1:])
            if code:
                raise SystemExit(f"gallery: `{command}` ended with {code}")
            out += [f"## {title}", "", "```", command.format(out=f"out/{title.lower().split()[0]}"), "```", ""]
            for name in pictures:
                target = f"{i}-{name}"
                for suffix in (".svg", ".csv"):
                    if (folder / "figures" / f"{name}{suffix}").exists():
                        shutil.copyfile(folder / "figures" / f"{name}{suffix}", here / f"{target}{suffix}")
                caption = f"{title}: {name.replace('-', ' ')}"
                files = f"[SVG](images/gallery/{target}.svg)"
                if (here / f"{target}.csv").exists():
                    files += f", [data](images/gallery/{target}.csv)"
                out += [f"![{caption}](images/gallery/{target}.svg)", "", files, ""]
    finally:
        os.chdir(before)
    (pages / "gallery.md").write_text("\n".join(out), encoding="utf-8")


def citing(cff: str) -> str:
    """The page on how to cite."""
    bibtex = [
        "@software{crosswind,",
        "  title = {Crosswind: a packet-level laboratory for congestion control, queue management and wireless links},",
        f"  version = {{{cw.version()}}},",
        "  author = {{The Crosswind authors}}",
        "}",
    ]
    return "\n".join(
        [
            "# Citing", "",
            "Cite Crosswind with its version, and the study that an experiment reproduces. The `manifest.json` of a",
            "result holds version, scenario and seed.", "",
            "```bibtex", *bibtex, "```", "", "The same as `CITATION.cff`:", "", "```yaml", cff.strip(), "```", "",
        ]
    )  # fmt: skip
