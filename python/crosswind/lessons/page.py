"""A lesson as a page: what to move and see, its figure, and every claim beside what the runs measured."""

from __future__ import annotations

from pathlib import Path

from crosswind.figures.of_runs import run_pictures
from crosswind.lessons.lesson import REPETITIONS, Lesson
from crosswind.results.folder import prepare_out


def write(lesson: Lesson, out: Path) -> tuple[str, Path]:
    """Runs the lesson and writes `<name>.md` and `<name>.svg`; returns the text and where it is."""
    prepare_out(out)
    runs = lesson.runs()
    lines = [f"# {lesson.title}", "", f"**{lesson.question}**", ""]
    for paragraph in lesson.paragraphs:
        lines += [paragraph, ""]
    lines += ["| move | and see |", "|---|---|", *(f"| {s.move} | {s.see} |" for s in lesson.steps), ""]
    picture = next((p for p in run_pictures(runs) if p.name == lesson.figure), None)
    if picture is not None:
        picture.name = lesson.name
        picture.save(out, f"crosswind explain {lesson.name}", ("svg",))
        (out / f"{lesson.name}.csv").unlink(missing_ok=True)  # a page of text has its numbers in the table
        picture.close()
        lines += [f"![{picture.alt}]({lesson.name}.svg)", "", f"*{picture.caption}*", ""]
    lines += ["| what is claimed | measured | |", "|---|---|---|"]
    for claim in lesson.claims:
        holds, told = claim.judged(runs)
        lines.append(f"| {claim.says} | {told} | {'holds' if holds else '**does not hold**'} |")
    lines += ["", f"Means over {REPETITIONS} repetitions with the same random numbers in each row. The scenario:", ""]
    lines += ["```toml", lesson.text.rstrip(), "```", ""]
    lines += [f"To try it: `crosswind studio --lesson {lesson.name}`. Made by `crosswind explain {lesson.name}`.", ""]
    text = "\n".join(lines)
    page = out / f"{lesson.name}.md"
    page.write_text(text, encoding="utf-8")
    return text, page
