"""How the experiments of [ns3-tcp-validation] are declared: nothing in them is drawn, one repetition says all."""

from crosswind.reproduce import Study
from crosswind.reproduce.claims.book import book

STUDY = Study("tcp-validation", "[ns3-tcp-validation]", book(__file__), reps=1, quick_reps=1)
