"""Claims of the L4S digest beyond its tables: sentences, abstracts, a tenth of the buffer."""

import pytest

from crosswind.experiments.aqm import l4s
from crosswind.experiments.l4s_tests import sentences
from crosswind.experiments.tcp_validation import buffers
from crosswind.run import run


@pytest.mark.parametrize("experiment", [l4s, sentences, buffers])
def test_scenarios_are_valid(experiment: object) -> None:
    for scenario in experiment.configurations().values():  # type: ignore[attr-defined]
        scenario.validate()


def test_a_tenth_of_the_buffer_is_used_to_the_step_and_no_further() -> None:
    scenario = buffers.configurations()["DCTCP, 2 flows"].with_({"duration": "0.5 s"})
    line = run(scenario).links().row(0, named=True)
    assert line["drops_queue_full_packets"] == 0 and line["marks_packets"] > 0
    assert line["queue_delay_p50_ns"] == pytest.approx(buffers.STEP_US * 1e3, rel=0.5)
