"""The example test cases in the appendix of [draft-ietf-ccwg-bbr], run with BBR version 3.

`study` declares, `states` has the cases that a path of its own shows: what the law does, state by state.
"""
