"""The applications of one host: reads tasks as JSON on its command line, writes what happened as lines of JSON.

It runs as a program of its own in the place of the host and needs nothing but Python. Times are those of the clock that
all processes of the machine share, so that a delay from one host to another is a difference.
"""

import contextlib
import json
import socket
import struct
import sys
import threading
import time

TCP_CONGESTION = 13
TCP_INFO = 11
TCP_MAXSEG = 2
# struct tcp_info of linux/tcp.h up to tcpi_total_rto_time; older kernels fill less of it.
LAYOUT = struct.Struct("=8B24I4Q6I4Q2I2Q6I2HI")
FIELDS = (
    *("state", "ca_state", "retransmits", "probes", "backoff", "options", "wscale", "limited"),
    *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets"),
    *("last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv"),
    *("pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss", "reordering"),
    *("rcv_rtt", "rcv_space", "total_retrans"),
    *("pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received"),
    *("segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in", "data_segs_out"),
    *("delivery_rate", "busy_time", "rwnd_limited", "sndbuf_limited"),
    *("delivered", "delivered_ce", "bytes_sent", "bytes_retrans"),
    *("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd", "rcv_wnd", "rehash"),
    *("total_rto", "total_rto_recoveries", "total_rto_time"),
)
UNLIMITED_SSTHRESH = 0x7FFFFFFF
BLOCK_bytes = 1 << 18
STAMP = struct.Struct("<QQ")
CONNECT_TIMEOUT_s = 130

_lock = threading.Lock()


def say(**facts):
    """One line for whoever started this."""
    with _lock:
        print(json.dumps(facts), flush=True)


def tcp_info(s):
    """What the kernel knows of a connection."""
    raw = s.getsockopt(socket.IPPROTO_TCP, TCP_INFO, LAYOUT.size)
    return dict(zip(FIELDS, LAYOUT.unpack(raw.ljust(LAYOUT.size, b"\0")), strict=True))


def marked_socket(kind, task):
    """A socket whose packets carry the flow's code point."""
    s = socket.socket(socket.AF_INET, kind)
    if task.get("dscp"):
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, task["dscp"] << 2)
    return s


def sleep_until(at_ns):
    """Sleeps up to a moment of the shared clock."""
    left = at_ns - time.monotonic_ns()
    if left > 0:
        time.sleep(left / 1e9)


class Sampler(threading.Thread):
    """Looks at a connection at an interval and keeps what it saw."""

    def __init__(self, s, task, start_ns, every_ns):
        super().__init__(daemon=True)
        self.s, self.task, self.start_ns, self.every_ns = s, task, start_ns, every_ns
        self.over = threading.Event()
        self.rows, self.rtts = [], []
        self.cwnd_max = 0

    def look(self):
        try:
            i = tcp_info(self.s)
        except OSError:
            return
        now = time.monotonic_ns() - self.start_ns
        ssthresh = -1 if i["snd_ssthresh"] >= UNLIMITED_SSTHRESH else i["snd_ssthresh"] * i["snd_mss"]
        cwnd = i["snd_cwnd"] * i["snd_mss"]
        self.cwnd_max = max(self.cwnd_max, cwnd)
        in_flight = max(0, i["unacked"] - i["sacked"] - i["lost"] + i["retrans"]) * i["snd_mss"]
        self.rows.append([now, cwnd, ssthresh, in_flight, i["rtt"] * 1000, i["rto"] * 1000])
        if i["rtt"]:
            self.rtts.append(i["rtt"] * 1000)

    def run(self):
        while not self.over.wait(self.every_ns / 1e9):
            self.look()


def send_bulk(task, job):
    """Opens a connection at its time and sends a file, or as much as the time allows."""
    s = marked_socket(socket.SOCK_STREAM, task)
    s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, task["congestion"].encode())
    if task.get("mss"):
        s.setsockopt(socket.IPPROTO_TCP, TCP_MAXSEG, task["mss"])
    s.settimeout(CONNECT_TIMEOUT_s)
    start_ns = job["start_ns"]
    sleep_until(start_ns + task["start_ns"])
    opened = time.monotonic_ns()
    try:
        s.connect((task["to"], task["port"]))
    except OSError as e:
        say(flow=task["flow"], open_ns=opened - start_ns, error=str(e))
        return
    sampler = Sampler(s, task, start_ns, job["sample_ns"])
    sampler.look()
    sampler.start()
    left, write = task["size"], task["write"] or BLOCK_bytes
    block = bytes(min(write, BLOCK_bytes))
    stop = start_ns + job["stop_ns"]
    s.settimeout(0.2)
    while (left is None or left > 0) and time.monotonic_ns() < stop:
        try:
            sent = s.send(block if left is None or left >= len(block) else block[:left])
            left = None if left is None else left - sent
        except TimeoutError:
            continue
        except OSError:
            break
    closed = None
    if left == 0 and task["close"] == "fin":
        s.shutdown(socket.SHUT_WR)
        s.settimeout(max(0.1, (stop - time.monotonic_ns()) / 1e9))
        try:
            if s.recv(1) == b"":
                closed = time.monotonic_ns() - start_ns
        except OSError:
            closed = None
    sampler.over.set()
    sampler.look()
    facts = tcp_info(s)
    say(
        flow=task["flow"],
        open_ns=opened - start_ns,
        close_ns=closed if closed is not None else -1,
        info=facts,
        samples=sampler.rows,
        rtts=sampler.rtts,
        cwnd_max=sampler.cwnd_max,
    )
    s.close()


def receive_bulk(task, job):
    """Takes one connection and reads it to its end."""
    s = marked_socket(socket.SOCK_STREAM, task)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if task.get("receive_buffer"):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, task["receive_buffer"])
    if task.get("mss"):
        s.setsockopt(socket.IPPROTO_TCP, TCP_MAXSEG, task["mss"])
    s.bind(("0.0.0.0", task["port"]))
    s.listen(1)
    say(ready=task["flow"])
    stop = job["start_ns"] + job["stop_ns"]
    s.settimeout(max(0.1, (stop - time.monotonic_ns()) / 1e9))
    received, points, last = 0, [], -1
    try:
        c, _ = s.accept()
        next_point = 0
        buffer = bytearray(BLOCK_bytes)
        while True:
            c.settimeout(max(0.05, (stop - time.monotonic_ns()) / 1e9))
            n = c.recv_into(buffer)
            now = time.monotonic_ns() - job["start_ns"]
            if n == 0:
                break
            received, last = received + n, now
            if now >= next_point:
                points.append([now, received])
                next_point = now + job["sample_ns"]
            if now >= job["stop_ns"]:
                break
        c.close()
    except OSError:
        pass
    say(flow=task["flow"], received_bytes=received, last_ns=last, points=points)


def send_cbr(task, job):
    """Sends numbered datagrams at an even pace; idle times between bursts as they were drawn."""
    s = marked_socket(socket.SOCK_DGRAM, task)
    s.connect((task["to"], task["port"]))
    start_ns = job["start_ns"]
    at = start_ns + task["start_ns"]
    stop = start_ns + job["stop_ns"]
    sent, padding = 0, bytes(max(0, task["payload"] - STAMP.size))
    first = None
    while at < stop and (task["packets"] is None or sent < task["packets"]):
        sleep_until(at)
        now = time.monotonic_ns()
        first = now if first is None else first
        with contextlib.suppress(OSError):
            s.send((STAMP.pack(sent, now) + padding)[: max(task["payload"], STAMP.size)])
        sent += 1
        at += task["interval_ns"]
    say(flow=task["flow"], open_ns=(first or at) - start_ns, sent_packets=sent, last_ns=time.monotonic_ns() - start_ns)


def receive_cbr(task, job):
    """Takes datagrams until the time is up; how long each was under way."""
    s = marked_socket(socket.SOCK_DGRAM, task)
    s.bind(("0.0.0.0", task["port"]))
    say(ready=task["flow"])
    stop = job["start_ns"] + job["stop_ns"]
    delays, received, bytes_, last = [], 0, 0, -1
    while True:
        left = (stop - time.monotonic_ns()) / 1e9
        if left <= 0 or (task["packets"] is not None and received >= task["packets"]):
            break
        s.settimeout(left)
        try:
            data = s.recv(65536)
        except OSError:
            break
        now = time.monotonic_ns()
        _, stamp = STAMP.unpack_from(data)
        delays.append(now - stamp)
        received, bytes_, last = received + 1, bytes_ + len(data), now - job["start_ns"]
    say(flow=task["flow"], received_packets=received, received_bytes=bytes_, last_ns=last, delays=delays)


TASKS = {"send-bulk": send_bulk, "receive-bulk": receive_bulk, "send-cbr": send_cbr, "receive-cbr": receive_cbr}


def main():
    job = json.loads(sys.stdin.read())
    threads = [threading.Thread(target=TASKS[t["do"]], args=(t, job)) for t in job["tasks"]]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


if __name__ == "__main__":
    main()
