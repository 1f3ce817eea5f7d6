#!/usr/bin/env python3
"""Measures the tool at growing numbers of downloads: the time and the peak anonymous memory.

    Benchmarks/scale.py --tool .build/release/dlstore --json scale.json
    Benchmarks/scale.py --most 10000000 --only list --only stats

The memory is the greatest sum of RssAnon over the processes of a command, polled every 5 ms.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

INTERVAL = 0.005
WATCHES = 10
RATE_SHARE = 10


class Server(threading.Thread):
    """A server on 127.0.0.1 that serves files of 16 bytes, and notes when each request arrived."""

    BODY = b"0123456789abcdef"

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.times = []
        self.start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(self.BODY)}\r\n\r\n".encode()
        pending = b""
        try:
            while part := connection.recv(65536):
                pending += part
                while b"\r\n\r\n" in pending:
                    _, pending = pending.split(b"\r\n\r\n", 1)
                    self.times.append(time.monotonic())
                    connection.sendall(head + self.BODY)
        except OSError:
            pass  # The client is gone.
        finally:
            connection.close()

    def wait(self, count, process):
        """Returns when that many requests have arrived."""
        while len(self.times) < count:
            if process.poll() is not None:
                sys.exit(f"the engine ended after {len(self.times)} of {count} requests")
            time.sleep(0.005)


class Memory(threading.Thread):
    """Polls the anonymous memory of a process and of its descendants."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak = process, 0
        self.start()

    def run(self):
        while self.process.poll() is None:
            self.peak = max(self.peak, self.current(self.process.pid))
            time.sleep(INTERVAL)

    def current(self, pid):
        """Returns the sum in bytes."""
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return 0
        own = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
        return sum(int(size) * 1024 for size in own) + sum(map(self.current, children))


class Scale:
    """Runs the commands at one number of downloads."""

    def __init__(self, arguments, count, server):
        self.tool = os.path.abspath(arguments.tool)
        self.bench = arguments.bench and os.path.abspath(arguments.bench)
        self.files = min(count, arguments.files)
        self.count, self.server = count, server
        self.folder = tempfile.mkdtemp(prefix="scale-", dir=arguments.folder)
        self.store = os.path.join(self.folder, "store")
        self.urls = os.path.join(self.folder, "urls")

    def write_urls(self):
        with open(self.urls, "w") as file:
            for number in range(self.count):
                file.write(f"http://127.0.0.1:{self.server.port}/f{number:08}.bin\n")

    def start(self, *command):
        return subprocess.Popen(
            [self.tool, *command, "--store", self.store],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
        )

    def measure(self, *command):
        """Runs a command to its end; returns its seconds and megabytes."""
        begin = time.monotonic()
        process = self.start(*command)
        memory = Memory(process)
        if process.wait() != 0:
            sys.exit(f"dlstore {' '.join(command)} failed with status {process.returncode}")
        seconds = time.monotonic() - begin
        memory.join()
        return {"seconds": round(seconds, 3), "memory": round(memory.peak / 1e6, 1)}

    # The options of an engine that downloads small files as fast as it can.
    RUN = ["run", "--quiet", "--max-concurrent", "8", "--per-host", "8"]

    def engine(self, files, watches=0):
        """Runs an engine until that many requests have arrived, and returns their times, too."""
        self.server.times.clear()
        others = [self.start("list", "--watch", "--limit", "20") for _ in range(watches)]
        begin = time.monotonic()
        out = os.path.join(self.folder, "out")
        process = self.start(*self.RUN, "--output-folder", out)
        memory = Memory(process)
        self.server.wait(files, process)
        times = [at - begin for at in self.server.times[:files]]
        for one in [process, *others]:
            one.send_signal(signal.SIGINT)
        for one in [process, *others]:
            one.wait()
        return times, {"seconds": round(times[-1], 3), "memory": round(memory.peak / 1e6, 1)}

    @staticmethod
    def rates(times):
        """Returns the files per second in the first and the last tenth."""
        share = max(2, len(times) // RATE_SHARE)
        parts = {"start": times[:share], "end": times[-share:]}
        return {
            name: round((len(part) - 1) / (part[-1] - part[0])) for name, part in parts.items()
        }

    def rows(self, only):
        """Yields the title, the figures and the rates of each command, in an order that works."""
        def wanted(name):
            return not only or any(one in name for one in only)

        yield "add --input-file", self.measure("add", "--input-file", self.urls), None
        for command in (
            "list --limit 20", "list --limit 20 --sort updatedAt:desc", "list --format jsonl",
            "stats",
        ):
            if wanted(command):
                yield command, self.measure(*command.split()), None
        if wanted("run, until the first transfer"):
            yield "run, until the first transfer", self.engine(1)[1], None
        if wanted("run, small files"):
            times, figures = self.engine(self.files // 2)
            title = "run, small files one after another"
            yield title, figures, self.rates(times)
        if wanted("run beside watches"):
            times, figures = self.engine(self.files // 4, watches=WATCHES)
            title = f"run, small files beside {WATCHES} watching lists"
            yield title, figures, self.rates(times)
        if wanted("purge"):
            figures = self.measure("purge", "--state", "completed", "--yes")
            yield "purge --state completed, after these runs", figures, None
            yield "purge --state waiting", self.measure(
                "purge", "--state", "waiting", "--yes"
            ), None

    def library(self):
        """Returns the medians of operations in process, from `bench`."""
        if not self.bench:
            return {}
        result = os.path.join(self.folder, "bench.json")
        subprocess.run(
            [self.bench, str(self.count), "--rows", "whole,batches,newest", "--contenders",
             "ObjectStore", "--repetitions", "0.3", "--json", result],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        rows = json.loads(pathlib.Path(result).read_text())["rows"]
        return {
            f"{row['row']}, {row['unit']}": float(f"{row['medians']['ObjectStore']:.4g}")
            for row in rows
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default=".build/release/dlstore")
    parser.add_argument("--bench", help="the program `bench`, for operations in process")
    parser.add_argument("--most", type=int, default=1_000_000, help="the greatest number")
    parser.add_argument("--least", type=int, default=100_000, help="the smallest number")
    parser.add_argument("--files", type=int, default=20_000, help="the most small files to run")
    parser.add_argument("--only", action="append", help="a part of the names of the commands")
    parser.add_argument("--folder", help="the working folder; 2 GB per million downloads")
    parser.add_argument("--json", metavar="FILE", help="also write the result to a file")
    arguments = parser.parse_args()
    counts, count = [], arguments.least
    while count <= arguments.most:
        counts.append(count)
        count *= 10
    server = Server()
    rows = collections.defaultdict(lambda: {"figures": {}})
    library = collections.defaultdict(lambda: {"figures": {}})
    for count in counts:
        scale = Scale(arguments, count, server)
        try:
            scale.write_urls()
            for title, figures, rate in scale.rows(arguments.only):
                print(f"{count:>10} {figures['seconds']:>9.2f} s {figures['memory']:>8.1f} MB"
                      f"  {title} {rate or ''}", flush=True)
                rows[title]["figures"][str(count)] = figures
                if rate:
                    rows[title]["rate"] = rate | {"count": count}
            for title, figure in scale.library().items():
                library[title]["figures"][str(count)] = figure
        finally:
            shutil.rmtree(scale.folder, ignore_errors=True)
    result = {
        "date": datetime.date.today().isoformat(),
        "counts": counts,
        "rows": [{"row": title} | row for title, row in rows.items()],
        "library": [{"row": title} | row for title, row in library.items()],
    }
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
