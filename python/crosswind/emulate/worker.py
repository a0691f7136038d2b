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
    mortal(s, task)
    return s


def mortal(s, task):
    """Every packet of the socket carries the flow's lifetime; what a listening socket accepts has to be told again."""
    if task.get("ip_option"):
        s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes.fromhex(task["ip_option"]))


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

    def end(self):
        """Stops looking; what was seen."""
        self.over.set()
        self.look()
        return {"info": tcp_info(self.s), "samples": self.rows, "rtts": self.rtts, "cwnd_max": self.cwnd_max}


def connected(task, job):
    """A connection opened at the flow's time, and when that was; no connection where that failed."""
    s = marked_socket(socket.SOCK_STREAM, task)
    s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, task["congestion"].encode())
    if task.get("mss"):
        s.setsockopt(socket.IPPROTO_TCP, TCP_MAXSEG, task["mss"])
    s.settimeout(CONNECT_TIMEOUT_s)
    sleep_until(job["start_ns"] + task["start_ns"])
    open_ns = time.monotonic_ns() - job["start_ns"]
    try:
        s.connect((task["to"], task["port"]))
    except OSError as e:
        say(flow=task["flow"], open_ns=open_ns, error=str(e))
        return None, open_ns
    return s, open_ns


def send_bulk(task, job):
    """Opens a connection at its time and sends a file, or as much as the time allows."""
    s, open_ns = connected(task, job)
    if s is None:
        return
    start_ns = job["start_ns"]
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
    close_ns = closed if closed is not None else -1
    say(flow=task["flow"], open_ns=open_ns, close_ns=close_ns, **sampler.end())
    s.close()


def send_messages(task, job):
    """Writes messages of one size to a connection, at an even pace in bursts; what does not go at once waits."""
    s, open_ns = connected(task, job)
    if s is None:
        return
    sampler = Sampler(s, task, job["start_ns"], job["sample_ns"])
    sampler.start()
    stop, message = job["start_ns"] + job["stop_ns"], bytes(task["payload"])
    # As in a simulation, the program's own clock starts with the connection, a round trip after the flow.
    began, left = time.monotonic_ns() - task["start_ns"], None
    with contextlib.suppress(OSError):
        for begins_ns, messages in task["bursts"]:
            at, left = began + begins_ns, messages
            while at < stop and left != 0:
                sleep_until(at)
                s.settimeout(max(0.01, (stop - time.monotonic_ns()) / 1e9))
                s.sendall(message)
                left = None if left is None else left - 1
                at += task["interval_ns"]
    sleep_until(stop)
    say(flow=task["flow"], open_ns=open_ns, close_ns=-1, all_sent=left == 0, **sampler.end())
    s.close()


def receive_bulk(task, job):
    """Takes one connection and reads it to its end."""
    s = listening(task)
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


class Asked:
    """A page as its browser sees it: which connections may be opened when; the rule of `workload/page.rs`."""

    def __init__(self, connections, parallel):
        self.connections, self.parallel = connections, parallel
        self.opened, self.running, self.is_seen = 1, 1, False
        self.over = set()

    def told(self, connection, is_over):
        """The first data of a connection came, or it is over; the connections that are to be opened now."""
        if is_over and connection not in self.over:
            self.over.add(connection)
            self.running -= 1
        self.is_seen = self.is_seen or connection == 0
        first = self.opened
        if self.is_seen:
            free = max(0, self.parallel - self.running)
            self.opened = min(first + free, self.connections)
            self.running += self.opened - first
        return range(first, self.opened)


def load_page(task, job):
    """Loads a page: its body, and the objects, some at a time, each over a connection of its own."""
    start_ns = job["start_ns"]
    asked, lock, threads = Asked(len(task["connections"]), task["parallel"]), threading.Lock(), []

    def told(connection, is_over):
        with lock:
            for i in asked.told(connection, is_over):
                threads.append(threading.Thread(target=fetch, args=(i,)))
                threads[-1].start()

    def fetch(i):
        c = task["connections"][i]
        facts = {"flow": c["flow"], "open_ns": time.monotonic_ns() - start_ns, "received_bytes": 0}
        s = marked_socket(socket.SOCK_STREAM, task)
        try:
            s.settimeout(max(0.1, (start_ns + job["stop_ns"] - time.monotonic_ns()) / 1e9))
            if task.get("mss"):
                s.setsockopt(socket.IPPROTO_TCP, TCP_MAXSEG, task["mss"])
            s.connect((task["to"], c["port"]))
            s.sendall(bytes(c["request"]))
            while data := s.recv(BLOCK_bytes):
                now = time.monotonic_ns() - start_ns
                if facts["received_bytes"] == 0:
                    facts["first_byte_ns"] = now
                    told(i, is_over=False)
                facts["received_bytes"] += len(data)
                if facts["received_bytes"] >= c["size"] and "done_ns" not in facts:
                    facts["done_ns"] = facts["last_ns"] = now
                    told(i, is_over=True)
        except OSError as e:
            facts["error"] = str(e)
        finally:
            s.close()
        say(**facts)
        told(i, is_over=True)

    sleep_until(start_ns + task["start_ns"])
    fetch(0)
    done = 0
    while done < len(threads):
        threads[done].join()
        done += 1


def answer_page(task, job):
    """The server's side of one connection of a page: waits for the request, answers and closes."""
    listener = listening(task)
    say(ready=task["flow"])
    listener.settimeout(max(0.1, (job["start_ns"] + job["stop_ns"] - time.monotonic_ns()) / 1e9))
    try:
        s, _ = listener.accept()
        mortal(s, task)
        s.settimeout(listener.gettimeout())
        sampler = Sampler(s, task, job["start_ns"], job["sample_ns"])
        sampler.start()
        wanted = task["request"]
        while wanted > 0 and (data := s.recv(BLOCK_bytes)):
            wanted -= len(data)
        for at in range(0, task["size"], task["write"] or task["size"]):
            s.sendall(bytes(min(task["write"] or task["size"], task["size"] - at)))
        s.shutdown(socket.SHUT_WR)
        closed = time.monotonic_ns() - job["start_ns"] if s.recv(1) == b"" else -1
    except OSError:
        return
    say(flow=task["flow"], close_ns=closed, **sampler.end())
    s.close()


def listening(task):
    """A socket that takes the connection of one flow."""
    s = marked_socket(socket.SOCK_STREAM, task)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if task.get("receive_buffer"):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, task["receive_buffer"])
    if task.get("mss"):
        s.setsockopt(socket.IPPROTO_TCP, TCP_MAXSEG, task["mss"])
    if task.get("congestion"):
        s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, task["congestion"].encode())
    s.bind(("0.0.0.0", task["port"]))
    s.listen(1)
    return s


def send_datagrams(task, job):
    """Sends numbered datagrams at an even pace, in bursts that begin at the times that were drawn."""
    s = marked_socket(socket.SOCK_DGRAM, task)
    s.connect((task["to"], task["port"]))
    start_ns = job["start_ns"]
    stop = start_ns + min(job["stop_ns"], task.get("until_ns", job["stop_ns"]))
    answers = None
    if task["answers"]:
        answers = threading.Thread(target=hear_answers, args=(s, task, start_ns, stop))
        answers.start()
    sent, padding = 0, bytes(max(0, task["payload"] - STAMP.size))
    first, last, span = None, -1, 0
    for begins_ns, packets in task["bursts"]:
        at, left = start_ns + begins_ns, packets
        began = None
        while at < stop and (left is None or left > 0):
            sleep_until(at)
            now = last = time.monotonic_ns()
            first = now if first is None else first
            began = now if began is None else began
            with contextlib.suppress(OSError):
                s.send((STAMP.pack(sent, now) + padding)[: max(task["payload"], STAMP.size)])
            sent += 1
            left = None if left is None else left - 1
            at += task["interval_ns"]
        span += last - began if began is not None else 0
    if answers is not None:
        answers.join()
    if first is None:
        return
    wanted = [n for _, n in task["bursts"]]
    all_sent = None not in wanted and sent == sum(wanted)
    facts = {"sent_packets": sent, "last_ns": last - start_ns, "span_ns": span, "all_sent": all_sent}
    say(flow=task["flow"], open_ns=first - start_ns, **facts)


def hear_answers(s, task, start_ns, stop):
    """Round trips of the questions that were answered, when both were there, how long the answers were under way."""
    rtts, ways, heard = [], [], []
    expected = sum(n for _, n in task["bursts"]) if all(n is not None for _, n in task["bursts"]) else None
    while expected is None or len(rtts) < expected:
        left = (stop - time.monotonic_ns()) / 1e9
        if left <= 0:
            break
        s.settimeout(left)
        try:
            data = s.recv(65536)
        except TimeoutError:
            break
        except OSError:
            continue
        now = time.monotonic_ns()
        number, asked = STAMP.unpack_from(data)
        rtts.append(now - asked)
        heard.append((number, asked - start_ns, now - start_ns, len(data)))
        if len(data) >= 2 * STAMP.size:
            ways.append(now - STAMP.unpack_from(data, STAMP.size)[1])
    say(flow=task["flow"], rtts=rtts, reply_packets=len(rtts), reply_delays=ways, heard=heard)


def receive_datagrams(task, job):
    """Takes datagrams until the time is up, answers them where that is wanted; how long each was under way."""
    s = marked_socket(socket.SOCK_DGRAM, task)
    s.bind(("0.0.0.0", task["port"]))
    say(ready=task["flow"])
    stop = job["start_ns"] + min(job["stop_ns"], task.get("until_ns", job["stop_ns"]))
    delays, received, bytes_, last = [], 0, 0, -1
    while True:
        left = (stop - time.monotonic_ns()) / 1e9
        if left <= 0 or (task["packets"] is not None and received >= task["packets"]):
            break
        s.settimeout(left)
        try:
            data, asker = s.recvfrom(65536)
        except OSError:
            break
        now = time.monotonic_ns()
        number, stamp = STAMP.unpack_from(data)
        if task["answers"]:
            own = STAMP.pack(number, now) if len(data) >= 2 * STAMP.size else b""
            with contextlib.suppress(OSError):
                s.sendto(data[: STAMP.size] + own + data[STAMP.size + len(own) :], asker)
        delays.append(now - stamp)
        received, bytes_, last = received + 1, bytes_ + len(data), now - job["start_ns"]
    say(flow=task["flow"], received_packets=received, received_bytes=bytes_, last_ns=last, delays=delays)


TASKS = {
    "send-bulk": send_bulk,
    "send-messages": send_messages,
    "receive-bulk": receive_bulk,
    "load-page": load_page,
    "answer-page": answer_page,
    "send-datagrams": send_datagrams,
    "receive-datagrams": receive_datagrams,
}


def main():
    job = json.loads(sys.stdin.read())
    threads = [threading.Thread(target=TASKS[t["do"]], args=(t, job)) for t in job["tasks"]]
    for t in threads:
        t.daemon = True
        t.start()
    # Ctrl-C on a terminal reaches this program, too; the sandbox is ended by its first process.
    with contextlib.suppress(KeyboardInterrupt):
        for t in threads:
            t.join()


if __name__ == "__main__":
    main()
