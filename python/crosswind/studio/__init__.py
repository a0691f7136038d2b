"""The studio: a page on this machine that shows a scenario while one turns its knobs.

`server` answers the page and nobody else; `limits` refuses what a page should not start; `answer` runs a scenario and
puts together what the page shows, out of `series` (charts), `network` (the drawing) and `controls` (what can be moved,
read off the schema). `edit` changes a value in the text of a scenario, `differences` says in words what a change did,
`exports` writes figures and tables. `page/` holds what the browser loads: nothing comes from elsewhere.
"""
