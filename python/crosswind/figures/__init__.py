"""Figures: what is drawn, as charts that a page explores and as files for print.

| file | holds |
|---|---|
| `pictures` | a figure, and one function for each kind |
| `charts` | the data of a figure: series, axes, colours |
| `drawing` | a chart drawn with matplotlib |
| `drawn` | a chart out of what was drawn |
| `plotting` | the door to matplotlib, which is loaded when something is drawn |
| `of_runs` | the figures of every run |
| `sweeps` | the figures of sweeps and comparisons |
| `panels`, `side_by_side` | panels over one axis; sequence graphs, statistics and distributions side by side |
| `spark` | a claim's measured value beside its band, in a line of text |
"""

from crosswind.figures.charts import FORMATS, MARKERS, PALETTE, Format
from crosswind.figures.drawing import INK, RASTER_ABOVE, STYLE, styled
from crosswind.figures.drawing import LINESTYLES as DASHES
from crosswind.figures.pictures import (
    Picture,
    Sample,
    bars,
    close_all,
    cumulative,
    over_time,
    packet_delays,
    panels_cumulative,
    panels_over_time,
    quartile_bars,
    scatter,
    time_sequence,
)

__all__ = [
    "DASHES",
    "FORMATS",
    "INK",
    "MARKERS",
    "PALETTE",
    "RASTER_ABOVE",
    "STYLE",
    "Format",
    "Picture",
    "Sample",
    "bars",
    "close_all",
    "cumulative",
    "over_time",
    "packet_delays",
    "panels_cumulative",
    "panels_over_time",
    "quartile_bars",
    "scatter",
    "styled",
    "time_sequence",
]
