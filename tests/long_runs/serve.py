#!/usr/bin/env python3
"""A million requests to one `berth serve --extender`: is every answer as the first was, and is its memory flat?

usage: tests/long_runs/serve.py [--requests N] [--seconds S] [--seed N] [--connections N] [--berth FILE] [--policy FILE] --out DIR

Several clients ask /filter and /prioritize in turn for the pod of tests/extender/nodes.json, a connection a request: the server closes it. Every fiftieth of the way
it notes the server's resident memory and its requests per CPU-second, also in DIR/serve.csv. A finding is an answer that is not 200 or
has another shape, a client that got none in 60 s, a server that ended, or memory that grew; the last line is JSON, as tools/campaign reads it.
"""
import argparse
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time

from watched import conclude, cpu_seconds, growth, resident

TREE = pathlib.Path(__file__).resolve().parents[2]


def free_port():
    with socket.socket() as probe:
        for port in range(26000, 32768):
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("no port from 26000 on is free")


class Connection:
    def __init__(self, port):
        self.port, self.reconnects = port, -1
        self.connect()

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest, self.reconnects = b"", self.reconnects + 1

    def ask(self, request):
        """(status, body); connects anew where the server has closed."""
        for _ in range(2):
            try:
                self.socket.sendall(request)
                while b"\r\n\r\n" not in self.rest:
                    self.more()
                head, self.rest = self.rest.split(b"\r\n\r\n", 1)
                lines = head.lower().split(b"\r\n")
                length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
                while len(self.rest) < length:
                    self.more()
                body, self.rest = self.rest[:length], self.rest[length:]
                if b"connection: close" in lines:
                    self.connect()
                return int(lines[0].split()[1]), body
            except ConnectionError:
                self.connect()
        return 0, b""

    def more(self):
        got = self.socket.recv(65536)
        if not got:
            raise ConnectionError("closed")
        self.rest += got


class Run:
    def __init__(self, args, port):
        self.args, self.port = args, port
        self.lock, self.done, self.wrong, self.reconnects, self.over = threading.Lock(), 0, [], 0, False
        body = (TREE / "tests/extender/nodes.json").read_bytes()
        self.requests = [b"POST /%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (verb, len(body)) + body
                         for verb in (b"filter", b"prioritize")]
        first = Connection(port)
        self.shapes = [self.shape(*first.ask(request)) for request in self.requests]

    @staticmethod
    def shape(status, body):
        """What may not change: the scores of an answer may, with the pod's age."""
        answer = json.loads(body) if status == 200 else body.decode(errors="replace")
        if isinstance(answer, list):
            answer = sorted(one["Host"] for one in answer)
        return status, json.dumps(answer, sort_keys=True)

    def work(self):
        try:
            self.ask_on()
        except Exception as error:  # a time-out, an answer that is no HTTP: whatever ends it is a finding
            with self.lock:
                self.wrong.append(f"a client stopped: {error!r}")

    def ask_on(self):
        connection = Connection(self.port)
        known = [set(), set()]  # bodies that were parsed and found right
        while not self.over:
            for which, request in enumerate(self.requests):
                status, body = connection.ask(request)
                if status == 200 and body in known[which]:
                    continue
                try:
                    right = self.shape(status, body) == self.shapes[which]
                except ValueError:
                    right = False
                if right:
                    known[which].add(body)
                else:
                    with self.lock:
                        self.wrong.append(f"{self.requests[which].split()[1].decode()}: {status} {body[:200]!r}")
            with self.lock:
                self.done += len(self.requests)
        with self.lock:
            self.reconnects += connection.reconnects


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", default="0", help="not used: the requests are always the same")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--berth", default=str(TREE / "build/release/berth"))
    parser.add_argument("--policy", default=str(TREE / "data/policies/cluster/hetero_blind.h5"))
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    out, port = pathlib.Path(args.out), free_port()
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "serve.log", "w", encoding="utf-8") as log, open(out / "serve.csv", "w", encoding="utf-8") as csv:
        server = subprocess.Popen([args.berth, "serve", "--extender", "--policy", args.policy, "--table",  # pylint: disable=consider-using-with
                                   str(TREE / "tests/extender/table.json"), "--port", str(port)], stdout=log, stderr=log)
        try:
            return watch(args, out, csv, server, port)
        finally:
            server.terminate()
            server.wait(30)


def watch(args, out, csv, server, port):
    begin = time.monotonic()
    while True:
        try:
            run = Run(args, port)
            break
        except OSError:
            if server.poll() is not None or time.monotonic() - begin > 120:
                raise SystemExit(f"the server does not answer: {out}/serve.log") from None
            time.sleep(0.2)
    team = [threading.Thread(target=run.work) for _ in range(args.connections)]
    for thread in team:
        thread.start()
    print("requests,server_cpu_s,per_cpu_s,resident_bytes", file=csv, flush=True)
    early, told, told_cpu, begin = 0, 0, cpu_seconds(server.pid), time.monotonic()
    while run.done < args.requests and time.monotonic() - begin < args.seconds and server.poll() is None \
            and any(thread.is_alive() for thread in team):
        time.sleep(0.05)
        part = max(run.done / args.requests, (time.monotonic() - begin) / args.seconds)
        if not early and part >= 0.1:
            early = resident(server.pid)
        if run.done - told < args.requests / 50:
            continue
        cpu, memory, done = cpu_seconds(server.pid), resident(server.pid), run.done
        rate = (done - told) / max(cpu - told_cpu, 0.01)
        print(f"{done},{cpu:.2f},{rate:.0f},{memory}", file=csv, flush=True)
        print(f"{done} requests, {rate:.0f} per CPU-second of the server, {memory / 1e6:.1f} MB", flush=True)
        told, told_cpu = done, cpu
    ended = server.poll() is not None
    late = 0 if ended else resident(server.pid)
    run.over = True
    for thread in team:
        thread.join(90)
    wrong = list(run.wrong[:20])
    if ended:
        wrong.append(f"the server ended with {server.returncode}: {out}/serve.log")
    wrong += growth(early, late)
    return conclude(out / f"findings/serve_{args.seed}.txt", wrong, run.done, resident_bytes=[early, late], reconnects=run.reconnects)


if __name__ == "__main__":
    sys.exit(main())
