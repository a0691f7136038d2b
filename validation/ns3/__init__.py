"""ns-3 beside Crosswind: its speed (`bench.cc`), and its queues with the same arrivals (`queue.cc`, `queues.py`)."""
