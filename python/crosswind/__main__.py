"""`python -m crosswind` is the command line."""

from crosswind.cli import entry

entry()
