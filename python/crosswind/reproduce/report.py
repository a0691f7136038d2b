"""The page of an experiment: the question, the claims with their verdicts, the figures, other readings."""

from __future__ import annotations

from collections.abc import Sequence

from crosswind.figures import Format, Picture
from crosswind.figures.spark import spark
from crosswind.report import environment, facts, for_page, scenario_texts
from crosswind.reproduce.claims import MEANING, VERDICTS, Checked, tally
from crosswind.reproduce.experiment import Experiment
from crosswind.reproduce.readings import MAIN, MAIN_TITLE, Reading, beside, comparison, tallies
from crosswind.results import Runs
from crosswind.results.summary import class_table, link_table, queue_table


def reproduction_report(
    experiment: Experiment,
    runs: Runs,
    checked: Sequence[Checked],
    pictures: Sequence[Picture],
    *,
    command: str = "",
    formats: Sequence[Format] = (),
    readings: Sequence[Reading] = (),
) -> str:
    """The HTML of `crosswind reproduce`: the question, the claims with their verdicts, the figures, other readings."""
    rows = [c.row(experiment.id, 0.0) for c in checked]
    found = tally(rows)
    apart = [(kind, sum(n.values())) for kind, n in found.apart.items()]
    counts = [(v, n) for v, n in (*found.evidence.items(), *apart) if n]
    return (
        environment()
        .get_template("reproduction.html")
        .render(
            title=experiment.title,
            name=experiment.id,
            source=experiment.source,
            changes=runs.manifest.get("changes", []),
            doc=experiment.doc,
            facts=facts(runs),
            warnings=runs.manifest.get("warnings", []),
            checked=checked,
            sparks={r["claim"]: [spark(p) for p in r["parts"]] for r in rows},
            meaning=MEANING,
            counts=counts,
            first_look=runs.manifest.get("size") == "quick",
            verdicts=VERDICTS,
            readings=comparison(readings),
            beside=beside(readings),
            tallies=tallies([readings], experiment.grades) if beside(readings) else None,
            variants=experiment.variants,
            main_title=MAIN_TITLE,
            variant=runs.manifest.get("variant", MAIN),
            pictures=for_page(pictures, formats),
            tables=[t for t in (link_table(runs), queue_table(runs), class_table(runs)) if t],
            scenarios=scenario_texts(runs.scenarios),
            command=command,
        )
    )
