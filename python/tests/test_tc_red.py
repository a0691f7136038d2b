"""RED as `tc` configures it: its words are read as `tc` reads them, and the kernel's numbers are the engine's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.cli import main
from crosswind.errors import InputError
from crosswind.theory import tc_red

COMMAND = "limit 20000 min 5000 max 18000 avpkt 1000 burst 12 probability 0.1 bandwidth 140kbit"
THESIS = COMMAND.split()

needs_engine = pytest.mark.engine


def test_the_words_of_tc_become_the_keys_of_a_queue() -> None:
    queue = tc_red.parse([*THESIS, "ecn"], kbit=1024).queue()
    assert queue["min_th"] == "5000 B" and queue["burst"] == 12 and queue["ecn"] == "mark"
    assert queue["rate"] == "143360 bit/s" and queue["max_p_rounding"] == "tc-plog"


def test_what_is_left_out_gets_the_defaults_of_tc() -> None:
    red = tc_red.parse(["limit", "60kb", "avpkt", "1000"])
    # max is a quarter of limit, min a third of max, burst (2 min + max) / (3 avpkt).
    assert (red.limit, red.max, red.min, red.burst) == (61440, 15360, 5120, 8)
    assert (red.probability, red.rate_bps, red.marks) == (0.02, 10_000_000, "drop")
    assert set(red.filled_in) == {"min", "max", "burst", "probability", "bandwidth"}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("limit 20000", "avpkt"),
        ("limit 20000 avpkt", "nothing behind it"),
        ("limit 20000 limit 3 avpkt 9", "twice"),
        ("limti 20000", "did you mean `limit`"),
        ("limit 20000 avpkt 1000 adaptive", "has no curve"),
        ("limit 20parsec avpkt 1000", "bytes as tc reads them"),
        ("limit 20000 avpkt 1000 bandwidth 5furlong", "a rate as tc reads it"),
        ("limit 20000 avpkt 1000 probability often", "a number"),
        ("limit 20000 avpkt 1000 probability nan", "a number"),
        ("limit 20000 avpkt 1000 burst inf", "a whole number"),
        ("limit 20000 avpkt 1000 burst 12.5", "a whole number"),
    ],
)
def test_words_that_tc_would_not_take_are_refused_with_the_reason(words: str, part: str) -> None:
    with pytest.raises(InputError) as e:
        tc_red.parse(words.split())
    assert part in str(e.value)


class TestWithTheEngine:
    """The rounding is the engine's."""

    pytestmark = needs_engine

    def test_the_thesis_parameters_give_a_sixteenth_and_just_below_a_tenth(self) -> None:
        e = tc_red.effective(tc_red.parse(THESIS))
        assert (e.w_log, e.p_log) == (4, 17)
        assert e.max_p == pytest.approx(13_000 / 2**17)
        assert e.probability(11_500) == pytest.approx(e.max_p / 2)
        # Cells of 2^16 us; ten packets of 1000 B at 140 kbit/s are 0.6 s.
        assert (e.idle_halving_s(), e.exponential_halving_s()) == pytest.approx((0.0328, 0.614), rel=0.01)
        assert (e.probability(4999), e.probability(18_000)) == (0.0, 1.0)

    def test_thresholds_the_wrong_way_round_are_named_in_the_words_of_tc(self) -> None:
        words = COMMAND.replace("max 18000", "max 4000").split()
        with pytest.raises(InputError) as e:
            tc_red.effective(tc_red.parse(words))
        assert "tc-red: min" in str(e.value)

    def test_the_command_prints_numbers_and_writes_the_figure(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["study", "tc-red", *THESIS, "--out", str(tmp_path)]) == 0
        text = capsys.readouterr().out
        assert "w_q = 1/16" in text and "max_p = 13000/2^17 = 0.09918" in text and "0.0496" in text
        assert (tmp_path / "red-tc.svg").stat().st_size > 1000
        assert main(["study", "tc-red", *THESIS, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["w_log"] == 4
        assert main(["study", "tc-red", *THESIS, "--kbit", "1001"]) == 2
