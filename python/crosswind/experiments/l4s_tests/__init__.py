"""The rows of [l4s-tests]: two flows behind queues of today, measured between Linux network namespaces in August 2020.

`study` makes a claim of each printed row; an experiment names the rows of its table that can be run.
"""
