"""The closed forms of fast long paths, each against a second way to get at it; and the testbeds of chapters 4 and 5."""

import math

import numpy as np
import pytest

import crosswind as cw
from crosswind.experiments.igarashi import e5_1, e5_14, paths
from crosswind.reproduce import Results, catalogue
from crosswind.reproduce.claims import MissingDataError, measures
from crosswind.results import Runs
from crosswind.scenario import Scenario
from crosswind.theory import fast_paths as theory


def test_the_window_of_standard_tcp_is_the_inverse_of_its_loss_rate():
    for loss in (1e-2, 1e-5, 2.07e-10):
        assert theory.standard_loss(theory.standard_window(loss)) == pytest.approx(loss)


def test_a_scalable_window_that_grows_by_a_hundredth_is_back_after_as_many_round_trips_as_the_formula_says():
    window, rounds = 0.875, 0
    while window < 1:
        window, rounds = window * 1.01, rounds + 1
    assert math.ceil(theory.scalable_recovery_rtts()) == rounds


def test_standard_tcp_grows_by_one_segment_in_each_round_trip():
    window, seconds = theory.needed_window(500e6, 0.2), 0.0
    while window < theory.needed_window(1e9, 0.2):
        window, seconds = window + 1, seconds + 0.2
    assert theory.standard_recovery_s(500e6, 1e9, 0.2) == pytest.approx(seconds, rel=1e-3)


def test_increase_and_decrease_of_hstcp_belong_to_its_response():
    # One loss for each saw-tooth with mean w: its top is w / (1 - b/2), and b of it is regained at a per round trip.
    for window in (100.0, 5000.0, 83_000.0):
        a, b = theory.hstcp_increase(window), theory.hstcp_decrease(window)
        sent = b * window / (1 - b / 2) / a * window
        assert theory.hstcp_window(1 / sent) == pytest.approx(window, rel=0.04)
    assert (theory.hstcp_increase(38), theory.hstcp_decrease(38)) == (1.0, 0.5)


def test_fast_goes_half_of_the_way_and_stays_where_alpha_packets_wait():
    window = 400.0
    for _ in range(200):
        window = theory.fast_step(window, 1000, 50)
    assert window == pytest.approx(1050)
    assert theory.fast_step(1050, 1000, 50) == pytest.approx(1050)


def test_cubic_is_flat_at_k_and_begins_below_by_what_the_loss_cost():
    k = theory.cubic_k(1000)
    assert theory.cubic_window(0, 1000) == pytest.approx(800)
    assert theory.cubic_window(k, 1000) == 1000
    assert theory.cubic_window(k + 0.01, 1000) - theory.cubic_window(k - 0.01, 1000) < 1e-5


def test_cells_of_a_packet_are_whole():
    assert theory.atm_efficiency(32) == pytest.approx(32 / 53)
    assert theory.atm_efficiency(33) == pytest.approx(33 / 106)


@pytest.mark.parametrize("size", ["full", "quarter", "quick"])
def test_a_divided_path_keeps_its_round_trip_and_its_buffer_in_parts_of_the_bdp(size):
    s = paths.SIZES_5[size]
    whole, part = paths.SIZES_5["full"], paths.INTERNATIONAL
    assert part.bdp_bytes(s) * s.divisor == pytest.approx(part.bdp_bytes(whole))
    assert part.payload_mbps(whole) == pytest.approx(941)
    assert s.packets(paths.SMALL) * s.divisor == pytest.approx(paths.SMALL, rel=0.05)


def test_short_transfers_have_the_mean_that_they_are_named_after():
    for mean_kb in e5_14.MEANS_KB:
        flows = e5_14.short_flows(mean_kb, paths.SIZES_5["full"])
        sizes = [float(f["workload"]["size"].split()[0]) for f in flows.values()]
        assert len(sizes) == 3000
        # Quantiles leave out what lies beyond the last one: a tenth of the mean of so heavy a tail.
        assert np.mean(sizes) == pytest.approx(mean_kb * 1000, rel=0.12)


def test_every_experiment_of_chapters_4_5_and_7_has_a_smaller_first_look():
    for id, e in catalogue.of_study("igarashi").items():
        if id.split("/")[1].startswith(("e4-", "e5-", "e7-")):
            assert e.quick is not None, id
            whole, smaller = e.configurations(), e.configurations(**e.quick.settings)
            assert list(whole) == list(smaller), id
            for scenario in smaller.values():
                scenario.validate()


def test_a_number_with_a_unit_is_not_judged_in_a_smaller_network():
    judged = measures.at_full_size(measures.median(lambda _: np.array([50.0])))

    def of(size: str) -> Results:
        return Results(Runs({}, {}, {"size": size}), {})

    with pytest.raises(MissingDataError, match="judged at full size only"):
        judged(of("quick"))
    assert judged(of("full")).value == 50.0


def test_senders_of_chapters_4_and_5_repair_losses_as_their_kernels_did():
    for id, e in catalogue.of_study("igarashi").items():
        if not id.split("/")[1].startswith(("e4-", "e5-")):
            continue
        main, rfc = (e.configurations(**e.settings(v, "quick")) for v in ("", "rfc"))
        for label, scenario in main.items():
            scenario.validate()
            for name, flow in scenario.data["flow"].items():
                other = rfc[label].data["flow"][name].get("tcp", {})
                changed = {k: v for k, v in flow.get("tcp", {}).items() if other.get(k) != v}
                has_sack = flow.get("tcp", {}).get("receiver") != "freebsd-4.7"
                wanted = {k: v for k, v in paths.KERNEL.items() if has_sack or k != "recovery"}
                assert changed == (wanted if "tcp" in flow else {}), (id, label, name)


def test_what_experiments_of_chapter_5_look_at_elsewhere_is_run_there():
    known = catalogue.of_study("igarashi")
    labels = known["igarashi/e5-1"].configurations(size="quick")
    for name in (*paths.TCP_VARIANTS, "UDT"):
        assert all(e5_1.alone(name, b).removeprefix("e5-1/") in labels for b in e5_1.BUFFERS)
    beside = known["igarashi/e5-3"]
    for label in beside.configurations(size="quick"):
        n, _, cell = label.partition(", ")
        assert int(n) in paths.OTHER_LARGE
        front, _, rest = cell.rpartition(", ")
        others = [front] if front else beside.uses
        assert any(rest in known[f"igarashi/{other}"].configurations(size="quick") for other in others)


@pytest.mark.engine
def test_a_satellite_path_behind_a_slow_host_loses_nothing_and_carries_what_the_host_does():
    size = paths.SIZES_4["quick"]
    fast = paths.cbr(105 / size.divisor, paths.MTU_BYTES, 10)
    s = paths.scenario(paths.EARTH2, {"f": fast}, 60, size, bin_s=2)
    flow = cw.run(s, seed=1).flows().row(0, named=True)
    assert flow["drops_packets"] == 0
    assert flow["received_packets"] * 1500 * 8e-6 / 10.5 <= 100 / size.divisor
    assert paths.JAPAN.access_mbps == paths.BUS_MBPS


@pytest.mark.parametrize("every_ms", [0.0, 5.0, 9.0])
def test_datagrams_in_bursts_keep_their_rate_and_their_number(every_ms):
    source = paths.cbr(200, 1500, 10, every_ms)["workload"]
    together, bursts = source["packets"], source.get("bursts", 1)
    ns = [int(source.get(k, "0 ns").split()[0]) for k in ("interval", "idle")]
    seconds = (bursts * ((together - 1) * ns[0] + ns[1]) if every_ms else together * ns[0]) / 1e9
    assert together * bursts * 1500 * 8e-6 / seconds == pytest.approx(200, rel=1e-3)
    assert seconds == pytest.approx(10, rel=2e-3)
    assert not every_ms or together == round(every_ms / 0.06)


@pytest.mark.engine
def test_udt_raises_its_rate_less_where_reports_of_losses_hold_it_back():
    link = {"from": "a", "to": "b", "rate": "20 Mbit/s", "delay": "20 ms"}
    lossy = {**link, "loss": {"type": "uniform", "probability": 0.05}}

    def goodput(**own: str) -> float:
        flow = {"from": "a", "to": "b", "workload": {"type": "bulk"}, "udt": {"preset": "udt-2", **own}}
        data = {"name": "udt", "duration": "60 s", "link": {"l": lossy}, "flow": {"f": flow}}
        return float(cw.run(Scenario.from_dict(data), seed=1, reps=3).flows()["size_bytes"].mean())

    assert goodput(**{"raise": "unreported"}) < 0.9 * goodput()
