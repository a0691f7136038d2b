"""One long flow over an empty path of 310 Mbit/s and 100 ms (chapter 4 of [Igarashi 2007]) in ns-2 and in Crosswind.

python -m validation.ns2.fast_paths [seconds]      both sides: mean and largest rate, share of lost packets

ns-2 runs the laws of Linux with the loss recovery of its kernels (`Agent/TCP/Linux`), which is nearest to the reading
`kernel` here, the main one of the experiments; `rfc` is a variant. Both receivers acknowledge every second segment, and
Standard TCP counts bytes, as it does there. The question is whether an empty path gives the rates that the source
printed (Table 4.5: 92, 106 and 125 Mbit/s).
"""

from __future__ import annotations

import subprocess
import sys

import crosswind as cw
from crosswind.experiments.igarashi import paths, rates
from crosswind.scenario import Scenario
from validation.ns2.driver import HERE, TIMEOUT_S, Ns2Error, ns2_program

SCRIPT = HERE / "fast_paths.tcl"
LAWS = {"Standard": "reno", "HSTCP": "highspeed", "Scalable": "scalable"}
BUFFERS = (50, 100, 300)
EVERY_SECOND = {"receiver": "as-given", "ack_every_segments": 2, "delayed_ack": "100 ms"}
Row = tuple[float, float, float]


def in_ns2(program: str, law: str, buffer_packets: int, seconds: int) -> Row:
    """Mean and largest rate (Mbit/s), share of lost packets."""
    words = [program, str(SCRIPT), law, str(buffer_packets), str(seconds)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    found = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("rates ")]
    if done.returncode != 0 or not found:
        raise Ns2Error(f"ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
    mean, largest, arrivals, drops = (float(word) for word in found[0])
    return mean, largest, drops / arrivals


def scenario(name: str, buffer_packets: int, seconds: int, *, is_kernel: bool) -> Scenario:
    """The same here."""
    size, path = paths.SIZES_4["full"], paths.JAPAN.buffered(buffer_packets)
    counting = {"avoidance_counting": "bytes"} if name == "Standard" else {}
    flow = paths.protocol(name, path, size, receive_buffer="8 MB", **EVERY_SECOND, **counting)
    made = paths.scenario(path, {"f": flow}, seconds, size, bin_s=2)
    return paths.on_kernels(made) if is_kernel else made


def in_crosswind(buffer_packets: int, seconds: int, *, is_kernel: bool) -> dict[str, Row]:
    """As `in_ns2`, all laws."""
    runs = cw.run({name: scenario(name, buffer_packets, seconds, is_kernel=is_kernel) for name in LAWS})
    columns = ("configuration", "f_mbps", "f_max_mbps", "f_loss")
    rows = rates.tables(runs)["repetition"].select(columns).iter_rows()
    return {name: (mean, largest, loss) for name, mean, largest, loss in rows}


def line(label: str, rows: dict[str, Row]) -> str:
    """Mean, largest rate (Mbit/s) and loss (%) of each law."""
    cells = (f"{mean:6.0f} {largest:5.0f} {loss * 100:8.4f}" for mean, largest, loss in (rows[n] for n in LAWS))
    return f"{label:28}" + "   ".join(cells)


def main(arguments: list[str]) -> int:
    program = ns2_program()
    if program is None:
        print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
        return 2
    seconds = int(arguments[0]) if arguments else 300
    print(f"{'':28}" + "   ".join(f"{name:>21}" for name in LAWS) + "   mean, largest (Mbit/s), lost (%)")
    for n in BUFFERS:
        print(line(f"{n} packets: ns-2", {name: in_ns2(program, law, n, seconds) for name, law in LAWS.items()}))
        print(line(f"{n} packets: kernel", in_crosswind(n, seconds, is_kernel=True)))
        print(line(f"{n} packets: rfc", in_crosswind(n, seconds, is_kernel=False)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
