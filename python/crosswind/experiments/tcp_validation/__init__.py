"""Runs that ns-3 checks its TCP with, [ns3-tcp-validation]: DCTCP over a queue that marks above a step."""
