#!/bin/sh
# Checks for what cannot be installed from here, and says how to get it. Usage: need.sh PYTHON
python="${1:-python3}"
missing=0

say() {
    missing=1
    printf 'crosswind needs %s\n    %s\n' "$1" "$2" >&2
}

if ! command -v "$python" >/dev/null 2>&1; then
    say "Python 3.11 or newer" "Debian/Ubuntu: sudo apt-get install python3 python3-venv"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    say "Python 3.11 or newer (found $("$python" --version 2>&1))" "set another one: make PYTHON=python3.12 ..."
elif [ ! -x .venv/bin/python ] && ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    say "the venv module of Python" "Debian/Ubuntu: sudo apt-get install python3-venv"
fi
if ! command -v cargo >/dev/null 2>&1; then
    say "Rust 1.85 or newer (cargo)" \
        "rustup: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh   then: . \$HOME/.cargo/env"
else
    version=$(cargo --version | cut -d' ' -f2)
    minor=$(printf '%s' "$version" | cut -d. -f2)
    major=$(printf '%s' "$version" | cut -d. -f1)
    if [ "$major" -eq 1 ] && [ "$minor" -lt 85 ]; then
        say "Rust 1.85 or newer (found $version)" "rustup update stable"
    fi
fi
if ! command -v cc >/dev/null 2>&1; then
    say "a C compiler (cc)" "Debian/Ubuntu: sudo apt-get install gcc libc6-dev"
fi
exit "$missing"
