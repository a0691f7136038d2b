"""`crosswind port`: a window law as a congestion control of the Linux kernel, or of a QUIC stack."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from crosswind.cli.shared import (
    FormatsOption,
    JsonOption,
    command_line,
    formats_of,
    print_json,
    print_table,
    suite_folder,
)
from crosswind.errors import EXIT_DONE, EXIT_FAILED, InputError
from crosswind.figures import Format
from crosswind.scenario import Scenario, parse_assignment

EPILOG = "Example: crosswind port hstcp --to kernel --out out/hstcp"


class Target(StrEnum):
    """What a law is written for."""

    kernel = "kernel"
    quinn = "quinn"
    noq = "noq"


def register(app: typer.Typer) -> None:
    app.command("port", epilog=EPILOG)(port)


def port(
    law: Annotated[
        str | None,
        typer.Argument(metavar="LAW", help="hstcp, scalable, htcp, ltcp, bic; for a stack more."),
    ] = None,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND", help="Runs it with the law in the kernel (root).")
    ] = None,
    to: Annotated[Target, typer.Option("--to", help="What it is written for.")] = Target.kernel,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the law: htcp.beta_max=0.7. Repeatable."),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", metavar="CHECK.toml", help="Its window there beside the simulated one."),
    ] = None,
    seconds: Annotated[float | None, typer.Option("--for", min=1.0, help="With --run: another duration.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take it out of the kernel, left by a killed run.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for what is written.")] = None,
    formats: FormatsOption = "",
    json: JsonOption = False,
) -> int:
    """Writes a window law for a kernel, in C and whole numbers as a BPF program, or for a QUIC stack, as a crate.

    With --run it is shown beside the simulated one; a kernel has it loaded for that, and taken out again.

    Exit code 1: the error of whole numbers is above its bound, or the windows are not alike.
    """
    if run is not None:
        return _run(run, seconds, out, formats, json)
    if law is None:
        raise InputError("port", found="no law", expected="LAW, or --run CHECK.toml")
    if to is not Target.kernel:
        if remove or command:
            raise InputError("port", found=f"--to {to.value}", expected="--to kernel: a crate is in no kernel")
        return _crate(to.value, law, assign, out, json)
    if remove:
        return _remove(law, json)
    if command:
        return _with_law(law, command, assign)
    return _write(law, assign, out, json)


def _own(law: str, assign: list[str] | None) -> list[tuple[str, Any]]:
    """What `--set` says of the law: keys with their path, and values."""
    found = [parse_assignment(a) for a in assign or ()]
    for path, _ in found:
        if not path.startswith(f"{law}."):
            raise InputError("--set", found=f"`{path}`", expected=f"a parameter of the law, such as {law}.KEY")
    return found


def _tcp(law: str, assign: list[str] | None) -> dict[str, Any]:
    """The law's part of a scenario, from `--set`."""
    from crosswind.emulate.port import source
    from crosswind.emulate.port.constants import portable

    what = source.scenario(portable(law))
    if not (found := _own(law, assign)):
        return {}
    changed = what.with_({f"flow.{source.FLOW}.tcp.{path}": value for path, value in found})
    return {law: changed.data["flow"][source.FLOW]["tcp"][law]}


def _write(name: str, assign: list[str] | None, out: Path | None, json: bool) -> int:
    from crosswind.emulate.needs import MissingError
    from crosswind.emulate.port import alone, objects, page, source
    from crosswind.emulate.port.constants import portable
    from crosswind.results.folder import prepare_out

    law, tcp = portable(name), _tcp(name, assign)
    what = source.scenario(law, tcp)
    text = source.bpf(law, source.parameters(law, what))
    folder = prepare_out(out or suite_folder("port", name))
    file = folder / f"{name}.bpf.c"
    file.write_text(text, encoding="utf-8")
    (folder / "check.toml").write_text(what.to_toml(), encoding="utf-8")
    notes: list[str] = []
    errors: list[alone.Error] = []
    built = None
    try:
        errors = alone.errors(text, {"law": name, **tcp})
    except MissingError as e:
        notes.append(str(e))
    (folder / "README").write_text(page.readme(law, errors), encoding="utf-8")
    try:
        built = objects.for_kernel(file, file.with_suffix(".o"))
    except MissingError as e:
        notes.append(str(e))
    largest = max((e.largest for e in errors), default=None)
    if json:
        rows = [{**vars(e)} for e in errors]
        said = {"law": name, "kernel_name": law.kernel_name, "source": str(file), "object": built and str(built)}
        print_json({**said, "bound": law.bound, "largest_error": largest, "paths": rows, "notes": notes})
    else:
        if errors:
            print_table(page.table_of_errors(law, errors))
        print(f"written: {file}" + (f"\nbuilt: {built}" if built else ""))
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        print(f"next: crosswind port --run {folder / 'check.toml'}")
    return EXIT_FAILED if largest is not None and largest > law.bound else EXIT_DONE


def _crate(stack: str, name: str, assign: list[str] | None, out: Path | None, json: bool) -> int:
    from crosswind.emulate.port import stacks
    from crosswind.results.folder import prepare_out

    law = stacks.portable(name)
    table: dict[str, Any] = {}
    for path, value in _own(law, assign):
        *inner, last = path.split(".")
        place = table
        for key in inner:
            place = place.setdefault(key, {})
        place[last] = value
    folder = prepare_out(out or suite_folder("port", f"{name}-{stack}"))
    files = stacks.write(stack, law, table, folder)
    check = folder / "check.toml"
    if json:
        crate, release = stacks.RELEASES[stack]
        print_json({"law": law, "stack": stack, "crate": crate, "release": release, "files": [str(f) for f in files]})
    else:
        for file in files:
            print(f"written: {file}")
        print(f"next: crosswind port --run {check}")
    return EXIT_DONE


def _run(file: Path, seconds: float | None, out: Path | None, formats: str, json: bool) -> int:
    from crosswind.emulate.port import beside, page, stacks
    from crosswind.results.folder import prepare_out

    files = formats_of(formats)
    what = Scenario.load(file)
    if seconds is not None:
        what = what.with_({"duration": f"{seconds:g} s"})
    folder = prepare_out(out or file.parent)
    if stacks.stack_of(what) is not None:
        return _run_stack(what, folder, files, json)
    found = beside.compare(what, lambda said: print(f"{what.name}: {said}", file=sys.stderr, flush=True))
    written = page.write(found, folder, command_line(), files)
    if json:
        print_json(found.as_dict())
    else:
        print_table(page.table(found))
        for warning in found.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        print(f"report: {written}")
    return EXIT_DONE if found.is_alike else EXIT_FAILED


def _run_stack(what: Scenario, folder: Path, files: Sequence[Format], json: bool) -> int:
    from crosswind.emulate.port import stacks, stacks_page

    found = stacks.compare(what)
    written = stacks_page.write(found, folder, command_line(), files)
    if json:
        print_json(found.as_dict())
    else:
        print_table(stacks_page.table(found))
        print(f"report: {written}")
    return EXIT_DONE if found.is_alike else EXIT_FAILED


def _with_law(name: str, command: list[str], assign: list[str] | None) -> int:
    import tempfile

    from crosswind.emulate.port import beside, loading, source
    from crosswind.emulate.port.constants import portable

    law = portable(name)
    with tempfile.TemporaryDirectory() as folder:
        target = beside.built(law, source.scenario(law, _tcp(name, assign)), Path(folder))
        with loading.loaded(law, target) as kernel_name:
            print(f"crosswind: {kernel_name} is in the kernel until the command ends", file=sys.stderr)
            try:
                return subprocess.run(command, check=False).returncode
            except OSError as e:
                raise InputError("port", found=f"`{command[0]}` ({e.strerror})", expected="a command") from None


def _remove(name: str, json: bool) -> int:
    from crosswind.emulate.port import loading
    from crosswind.emulate.port.constants import portable

    law = portable(name)
    was_there = loading.remove(law)
    if json:
        print_json({"law": name, "kernel_name": law.kernel_name, "removed": was_there})
    else:
        print(f"{law.kernel_name} {'was taken out of the kernel' if was_there else 'was not in the kernel'}")
    return EXIT_DONE
