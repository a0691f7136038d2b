#!/bin/sh
# Installs the tools that some tests use, where that is possible (root on Debian/Ubuntu). Never fails: a test whose tool
# is missing is skipped and counted as skipped.
missing=""
for pair in ns:ns2 ns2:ns2 tshark:tshark tcpdump:tcpdump tcptrace:tcptrace chromium:chromium dot:graphviz tc:iproute2 setpriv:util-linux nft:nftables clang:clang bpftool:bpftool; do
    tool=${pair%%:*}
    package=${pair##*:}
    if [ "$package" = ns2 ]; then
        { command -v ns || command -v ns2; } >/dev/null 2>&1 && continue
    elif command -v "$tool" >/dev/null 2>&1 || [ -x "/usr/sbin/$tool" ]; then
        continue
    fi
    case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
done
# Headers, which no command shows: what `crosswind port` compiles against.
[ -e /usr/include/bpf/bpf_helpers.h ] || missing="$missing libbpf-dev"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "== Optional tools missing:$missing (tests that need them will be skipped)"
    exit 0
fi
echo "== Installing optional tools:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null 2>&1
for package in $missing; do
    timeout 300 apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 ||
        echo "   $package could not be installed"
done
exit 0
