"""Random scenarios, and what must hold for each of them: `make fuzz`, or `python -m validation.fuzz --help`."""
