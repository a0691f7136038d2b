"""Lessons: a question, a scenario, what to move and what to see. One file of `data/` each; the studio shows them,
`crosswind explain` and the documentation print them, and tests hold every claim in them against the runs."""

from crosswind.lessons.lesson import Claim, Lesson, Measure, Step, find, registry

__all__ = ["Claim", "Lesson", "Measure", "Step", "find", "registry"]
