#!/bin/sh
# What the compiler is told for the engine. Usage: rustflags.sh [portable]
#
# A packet's way through the engine is one long chain of small functions: with more of them inlined a run takes 2 to 6 % less
# time, and with the instructions of every x86 processor since 2013 another 4 % (docs/decisions/0013-flags-of-the-compiler.md).
# `portable` is for wheels that other machines install. Results are the same bit by bit either way.
flags="-C llvm-args=-inline-threshold=1000"
has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }
if [ "$1" != portable ] && [ "$(uname -m)" = x86_64 ] && has avx2 && has bmi1 && has bmi2 && has fma && has movbe && has abm; then
    flags="$flags -C target-cpu=x86-64-v3"
fi
printf '%s\n' "$flags"
