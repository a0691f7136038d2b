"""What compilers make of the C: an object for the kernel, and a library that can be stepped here."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from crosswind.emulate.needs import MissingError
from crosswind.emulate.port.source import DATA, part

TYPES = Path("/sys/kernel/btf/vmlinux")
ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm64", "riscv64": "riscv", "s390x": "s390", "ppc64le": "powerpc"}
PACKAGES = {"clang": "clang", "bpftool": "bpftool", "cc": "gcc"}
HELPERS = Path("bpf/bpf_helpers.h")


def program(name: str, why: str) -> str:
    """Where a program is. Raises MissingError, which names the package."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if found is None:
        raise MissingError(f"{why} needs the program `{name}`; on Debian: apt-get install {PACKAGES[name]}")
    return found


def missing() -> list[str]:
    """What stands in the way of an object for the kernel, in words."""
    out = []
    for name in ("clang", "bpftool"):
        try:
            program(name, "an object for the kernel")
        except MissingError as e:
            out.append(str(e))
    if not any((Path(folder) / HELPERS).exists() for folder in ("/usr/include", "/usr/local/include")):
        out.append("an object for the kernel needs the headers of libbpf; on Debian: apt-get install libbpf-dev")
    if not TYPES.exists():
        out.append(f"an object for the kernel needs the types of one ({TYPES}; a kernel with CONFIG_DEBUG_INFO_BTF)")
    return out


def called(command: Sequence[str | Path], what: str) -> str:
    """Runs a compiler. Raises MissingError with its own words where it refuses."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingError(f"{what} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def for_kernel(source: Path, target: Path) -> Path:
    """Compiles `law.bpf.c` to an object that any kernel with these types loads. Raises MissingError."""
    if found := missing():
        raise MissingError("; ".join(found))
    with tempfile.TemporaryDirectory() as folder:
        types = called([program("bpftool", "it"), "btf", "dump", "file", TYPES, "format", "c"], "reading kernel types")
        (Path(folder) / "vmlinux.h").write_text(types, encoding="utf-8")
        machine = ARCHITECTURES.get(platform.machine(), platform.machine())
        flags = ["-O2", "-g", "-Wall", "-Werror", "-target", "bpf", f"-D__TARGET_ARCH_{machine}", f"-I{folder}"]
        called([program("clang", "it"), *flags, "-c", source, "-o", target], f"compiling {source.name}")
    if strip := shutil.which("llvm-strip"):
        # What debuggers want; the types stay.
        called([strip, "-g", target], f"stripping {target.name}")
    return target


def for_here(text: str, folder: Path) -> ctypes.CDLL:
    """The same C as a library, with a shim in the place of the kernel's sockets. Raises MissingError."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        program("cc", "stepping a ported law")
    source, library = folder / "native.c", folder / "law.so"
    source.write_text(text + part("native.c"), encoding="utf-8")
    with tempfile.TemporaryDirectory() as headers:
        (Path(headers) / "native.h").write_text((DATA / "native.h").read_text(encoding="utf-8"), encoding="utf-8")
        flags = ["-O2", "-Wall", "-Wno-unused-function", "-shared", "-fPIC", "-DCROSSWIND_NATIVE", f"-I{headers}"]
        called([str(compiler), *flags, source, "-o", library], "compiling the law for this machine")
    return ctypes.CDLL(str(library))
