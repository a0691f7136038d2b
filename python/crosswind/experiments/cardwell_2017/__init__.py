"""The experiments of [Cardwell 2017], the paper of BBR, and of a replication of its loss sweep.

`study` declares, `losses` has rates by loss, law, round trip and line, `queues` what BBR leaves in a buffer,
`rules` what follows from its gains, filters and windows.
"""
