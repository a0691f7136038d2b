"""One benchmark in this process, told and answered in JSON: `python -m crosswind.bench '{"flows": 10}'`."""

from __future__ import annotations

import sys

from crosswind.core import core

print(core().bench(sys.argv[1]))
