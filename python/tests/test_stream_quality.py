"""What is reported about the stream beyond the source's numbers: quantiles and shares over marks, from histograms."""

from __future__ import annotations

import polars as pl
import pytest

from crosswind.experiments.jarvinen_2006.quality import buckets, quality, quantile_ms, share_above


def _hist(metric: str, rows: list[tuple[float, float, int]]) -> pl.DataFrame:
    return pl.DataFrame(
        [("BL", metric, int(low * 1e6), int(high * 1e6), count) for low, high, count in rows],
        schema=["configuration", "metric", "low", "high", "count"],
        orient="row",
    )


def test_quantiles_and_shares_are_interpolated_inside_a_bucket() -> None:
    b = buckets(_hist("delay_ns", [(200.0, 400.0, 50), (100.0, 200.0, 50)]), "BL", "delay_ns")
    assert quantile_ms(*b, 0.5) == pytest.approx(200.0)
    assert quantile_ms(*b, 0.75) == pytest.approx(300.0)
    assert [share_above(*b, mark) for mark in (50.0, 150.0, 300.0, 500.0)] == pytest.approx([1.0, 0.75, 0.25, 0.0])


def test_variation_counts_to_either_side_of_the_spacing() -> None:
    hist = pl.concat(
        [
            _hist("delay_ns", [(100.0, 101.0, 10)]),
            _hist("ipdv_ns", [(-60.0, -59.0, 1), (-10.5, -10.4, 6), (61.5, 61.6, 3)]),
        ]
    )
    row = quality(hist).row(0, named=True)
    assert row["variation_over_20_ms"] == pytest.approx(0.4)
    assert (row["over_150_ms"], row["delay_p99_ms"]) == (0.0, pytest.approx(100.99))
