"""Experiments of [Bhandarkar 2006]: non-congestion losses, long fat pipes, queue management at the end host."""
