"""A folder of results: who writes to it, and what in it belongs to which run."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from crosswind.errors import EXIT_ENVIRONMENT, InputError

MANIFEST = "manifest.json"
#: Names of the figures and of the page that were drawn into a folder.
DRAWN = ".drawn.json"
SWEEP = "sweep.json"
CAPTURE = "packets.pcapng"
#: What is known of the runs that an interrupted command has left in `runs/` instead of joining them into tables.
UNJOINED = "unjoined.json"
NO_SPACE = "no space left"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def prepare_out(directory: str | Path) -> Path:
    """Makes sure that a folder exists and can be written, before any long work. Raises InputError otherwise."""
    out = Path(directory)
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except FileExistsError:
        raise InputError("--out", found=f"{out}, which is a file", expected="a folder to write results into") from None
    except NotADirectoryError:
        raise InputError(
            "--out", found=f"{out}, which lies below a file", expected="a folder to write results into"
        ) from None
    except OSError as e:
        raise InputError(
            "--out", found=f"{out} ({e.strerror})", expected="a folder that can be written", exit_code=EXIT_ENVIRONMENT
        ) from None
    return out


def lock(folder: Path) -> IO[str]:
    """Keeps other processes out until the file that is returned is closed. Raises InputError when one is in."""
    held = (folder / ".lock").open("w")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.close()
        raise InputError(
            "--out", found=f"{folder}, which another command is writing to", expected="another folder, or patience",
            exit_code=EXIT_ENVIRONMENT,
        ) from None  # fmt: skip
    return held


@contextlib.contextmanager
def results_in(directory: str | Path) -> Iterator[Path]:
    """A folder for the results of a run or an experiment, for this process alone.

    Raises InputError when it cannot be written, is being written by another, or holds a sweep (whose finished runs
    are not to be mixed with others).
    """
    folder = prepare_out(directory)
    if (folder / SWEEP).is_file():
        raise InputError("--out", found=f"{folder}, which holds a sweep", expected="another folder for these results")
    with lock(folder):
        yield folder


def why_not_written(e: BaseException) -> str:
    """A reason in words: a full disk, or what the system or polars said."""
    if getattr(e, "errno", None) in FULL or "No space left" in str(e) or "File too large" in str(e):
        return NO_SPACE
    return getattr(e, "strerror", None) or " ".join(str(e).split())


def manifest_in(folder: Path) -> dict[str, Any]:
    """The manifest of the results that a folder holds; empty when it holds none."""
    return _json(folder / MANIFEST)


def is_joined(folder: Path) -> bool:
    """Whether a folder holds the tables of a sweep, in which all of its runs stand that were finished."""
    return manifest_in(folder).get("kind") == "sweep" and not (folder / UNJOINED).is_file()


def clear_after(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Removes what the manifest `old` names and `new` does not: another run's tables, page, figures, captures.

    Files that no run of Crosswind wrote stay.
    """
    if old:
        for name in _files(folder, old) - _files(folder, new):
            (folder / name).unlink(missing_ok=True)
        clear_drawn(folder)


def clear_drawn(folder: Path, keep: Iterable[str] = ()) -> None:
    """Removes the page and the figures that were drawn into the folder, but for those to `keep`."""
    known = _json(folder / DRAWN).get("files", [])
    for name in {str(n) for n in known} - set(keep):
        if (folder / name).resolve().is_relative_to(folder.resolve()):
            (folder / name).unlink(missing_ok=True)
    (folder / DRAWN).unlink(missing_ok=True)


def drawn(folder: Path, files: Iterable[str]) -> None:
    """Notes what has been drawn into the folder, so that the next run can clear it away."""
    text = json.dumps({"files": sorted(files)}, indent=1)
    (folder / DRAWN).write_text(text + "\n", encoding="utf-8")


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _files(folder: Path, manifest: Mapping[str, Any]) -> set[str]:
    """Names of files below the folder that belong to a manifest: tables, texts, and what its scenarios record."""
    found = {f"{t}.parquet" for t in manifest.get("tables", ())} | set(manifest.get("files", {}))
    for s in manifest.get("scenarios", ()):
        record = (s.get("scenario") or {}).get("record") or {}
        for key in ("pcap", "event_file"):
            if isinstance(record.get(key), str):
                found |= _recorded(folder, Path(record[key]))
        if isinstance(record.get("qlog"), str):
            found |= _logged(folder, Path(record["qlog"]))
    return found


def _logged(folder: Path, below: Path) -> set[str]:
    """Logs of stacks that a run wrote into a folder below the results."""
    inside, top = (folder / below).resolve(), folder.resolve()
    if not inside.is_relative_to(top):
        return set()
    return {p.relative_to(top).as_posix() for p in inside.rglob("*.sqlog") if p.is_file()}


def _recorded(folder: Path, written: Path) -> set[str]:
    """A file that a run recorded below the folder, and those of its repetitions."""
    own = written.parent == folder or written.name == CAPTURE
    inside = (written if written.is_absolute() else folder / (written.name if own else written)).resolve()
    if not inside.is_relative_to(folder.resolve()):
        return set()
    same = [inside, *inside.parent.glob(f"{inside.stem}-rep*{inside.suffix}")]
    return {p.relative_to(folder.resolve()).as_posix() for p in same if p.is_file()}
