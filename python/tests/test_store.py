"""The store of finished runs: whole or absent, whatever happens in between."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from crosswind.errors import InputError
from crosswind.results.place import Folder, NoRoomError, place
from crosswind.run.store import MERGE_ABOVE, Store


def some(*keys: str) -> dict[str, pl.DataFrame]:
    run = pl.DataFrame({"key": list(keys), "seed": [1] * len(keys)})
    flow = pl.DataFrame({"key": [k for k in keys for _ in range(2)], "goodput_bps": [1.0] * 2 * len(keys)})
    return {"flow": flow, "run": run}


def test_what_was_put_is_there_when_opened_again(tmp_path: Path) -> None:
    Store.open(Folder(tmp_path)).put(some("a", "b"))
    again = Store.open(Folder(tmp_path))
    assert again.keys() == {"a", "b"}
    assert again.load("flow", ["b"])["key"].to_list() == ["b", "b"]
    assert again.load("nothing").is_empty()


def test_a_run_that_is_there_twice_is_read_once(tmp_path: Path) -> None:
    store = Store.open(Folder(tmp_path))
    store.put(some("a", "b"))
    store.put(some("b", "c"))
    assert sorted(store.load("run")["key"].to_list()) == ["a", "b", "c"]


def test_a_shard_whose_last_table_is_missing_does_not_exist_and_is_cleared_away(tmp_path: Path) -> None:
    store = Store.open(Folder(tmp_path))
    store.put(some("a"))
    (run,) = (tmp_path / "runs").glob("*.run.parquet")
    run.unlink()
    again = Store.open(Folder(tmp_path))
    assert not again.keys() and not again.damaged and not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize("table", ["run", "flow"])
@pytest.mark.parametrize("harm", ["cut", "flip", "empty"])
def test_a_damaged_file_is_set_aside_and_the_rest_is_kept(tmp_path: Path, table: str, harm: str) -> None:
    store = Store.open(Folder(tmp_path))
    store.put(some("a"))
    (file,) = (tmp_path / "runs").glob(f"*.{table}.parquet")
    store.put(some("b"))
    data = file.read_bytes()
    middle = len(data) // 2 if table == "flow" else len(data) - 6
    flipped = data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]
    file.write_bytes({"cut": data[:-9], "flip": flipped, "empty": b""}[harm])
    again = Store.open(Folder(tmp_path))
    assert again.keys() == {"b"} and len(again.damaged) == 1
    assert len(list((tmp_path / "damaged").iterdir())) == 2
    assert Store.open(Folder(tmp_path)).damaged == []


def test_many_small_shards_become_one_without_losing_a_run(tmp_path: Path) -> None:
    store = Store.open(Folder(tmp_path))
    for i in range(MERGE_ABOVE + 3):
        store.put(some(f"k{i}"))
    keys = store.keys()
    store.merge()
    assert len(store.shards) == 1 and store.keys() == keys
    again = Store.open(Folder(tmp_path))
    assert again.keys() == keys and again.load("flow").height == 2 * len(keys)
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_a_full_disk_is_said_and_keeps_what_was_there(tmp_path: Path) -> None:
    program = f"""
import resource, signal, sys, polars as pl
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_store import some
from crosswind.results.place import Folder, NoRoomError
from crosswind.run.store import Store
store = Store.open(Folder({str(tmp_path)!r}))
store.put(some("a"))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    big = some(*[str(i * 7919 % 100003) for i in range(5000)])
    store.put(big)
except NoRoomError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "no space left" in done.stdout, done.stderr
    assert Store.open(Folder(tmp_path)).keys() == {"a"}
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_an_address_of_fsspec_holds_a_store_too() -> None:
    store = Store.open(place("memory://store-test/x"))
    store.put(some("a", "b"))
    again = Store.open(place("memory://store-test/x"))
    assert again.keys() == {"a", "b"} and again.load("flow").height == 4


def test_unknown_addresses_and_folders_in_use_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere://x"):
        place("nowhere://x")
    first, second = Folder(tmp_path), Folder(tmp_path)
    first.lock()
    with pytest.raises(InputError, match="another command is writing"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_a_place_that_cannot_be_written_is_an_error_with_its_name(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "x")
    (tmp_path / "x" / "runs").write_text("a file in the way")
    with pytest.raises(NoRoomError, match="cannot be written"):
        folder.write("runs/a.parquet", b"1")
