"""Runs the notebooks of docs/notebooks and keeps what they show, so that they can be read without being run.

Usage: notebooks.py [NOTEBOOK ...]
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "docs/notebooks"
LIMIT_S = 300


def run(path: Path) -> None:
    """Runs one from its own folder and writes it again, without the times at which cells ran."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=LIMIT_S, record_timing=False, resources={"metadata": {"path": str(FOLDER)}}
    )
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_lasting(o) for o in cell.outputs if o.output_type != "stream" or o.name != "stderr"]
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


def _lasting(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """An output without the names of folders that live as long as the notebook runs."""
    text = json.dumps(output).replace(tempfile.gettempdir() + "/", "TEMPORARY/")
    return nbformat.from_dict(json.loads(re.sub(r"TEMPORARY/\w+", "a temporary folder", text)))


def main(arguments: list[str]) -> int:
    for path in [Path(a) for a in arguments] or sorted(FOLDER.glob("*.ipynb")):
        run(path)
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
