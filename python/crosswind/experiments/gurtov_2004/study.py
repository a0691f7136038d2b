"""How the experiments of [Gurtov 2004] are declared. Single traces need one repetition."""

from crosswind.reproduce import Study, variants
from crosswind.reproduce.claims.book import book

BOOK = book(__file__)
STUDY = Study("gurtov-2004", "[Gurtov 2004]", BOOK, reps=1, readings=variants(__file__))
experiment = STUDY.experiment
