"""Published experiments, one file each: `experiments/<study>/<id>.py` holds an `EXPERIMENT`."""
