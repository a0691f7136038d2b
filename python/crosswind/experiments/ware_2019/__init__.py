"""The experiments of [Ware 2019]: how BBR (version 1) and loss-based flows divide a drop-tail queue, and a model of
it.

`model` is the closed form, `study` declares, `shares` has the tables of shares, `pairs` one flow against one over
time, `alone` BBR without company.
"""
