"""Ctrl-C for programs that tests start."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from functools import partial


def started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """A program that heeds Ctrl-C.

    Whoever started the tests in the background may have them ignore it, and what is ignored is inherited.
    """
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed)
