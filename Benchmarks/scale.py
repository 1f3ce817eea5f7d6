#!/usr/bin/env python3
"""Measures the tool at growing numbers of downloads: time, processor time, peak anonymous memory.

    Benchmarks/scale.py --tool .build/release/dlstore --json scale.json
    Benchmarks/scale.py --most 10000000 --only list --only stats
    Benchmarks/scale.py --least 2000000 --most 2000000 --files 2000000 --only "run, small files"

The memory is the greatest sum of RssAnon over the processes of a command, polled every 5 ms. The
watches of `run beside watches` draw on terminals of their own, of 80 by 24 characters. Needs nginx.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

INTERVAL = 0.005
WATCHES = 10
WATCH_ROUNDS = 5
RATE_PARTS = 10


class Server:
    """Runs nginx, which answers each request with 16 bytes, and notes when."""

    BODY = "0123456789abcdef"
    # The length of a line of the log: seconds since 1970 with three decimals.
    LINE = 15

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="scale-nginx-")
        # nginx started by root runs its worker as another user.
        os.chmod(self.folder, 0o755)
        self.log = os.path.join(self.folder, "times")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        paths = "".join(
            f"{kind}_temp_path {self.folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        config = os.path.join(self.folder, "nginx.conf")
        pathlib.Path(config).write_text(
            f"daemon off; pid {self.folder}/pid; error_log {self.folder}/error.log;"
            "worker_processes 1; events { worker_connections 1024; }"
            f"http {{ log_format time '$msec'; access_log {self.log} time; {paths}"
            f"keepalive_requests 1000000000; server {{ listen 127.0.0.1:{self.port};"
            f"location / {{ return 200 {self.BODY}; }} }} }}"
        )
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-c", config])
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    sys.exit("nginx did not start")
                time.sleep(0.01)

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def clear(self):
        """Forgets the requests; nginx appends to the log."""
        os.truncate(self.log, 0)

    @property
    def count(self):
        """The number of requests since the last call of `clear`."""
        return os.path.getsize(self.log) // self.LINE

    @property
    def times(self):
        return [float(line) for line in pathlib.Path(self.log).read_text().split()]

    @property
    def processor(self):
        """The processor time of nginx so far, in seconds.

        It does the same for each request, so its time shows how fast the machine is.
        """
        return processor(self.process.pid)

    def wait(self, count, process):
        """Returns when that many requests have arrived."""
        while self.count < count:
            if process.poll() is not None:
                sys.exit(f"the engine ended after {self.count} of {count} requests")
            time.sleep(0.005)


def processes(pid):
    """Returns a process and its descendants."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(found for child in children for found in processes(child))]


def memory(pid):
    """Returns the anonymous memory of a process and its descendants, in bytes."""
    total = 0
    for one in processes(pid):
        try:
            status = pathlib.Path(f"/proc/{one}/status").read_text().splitlines()
        except OSError:
            continue
        own = [line.split()[1] for line in status if line.startswith("RssAnon")]
        total += sum(int(size) * 1024 for size in own)
    return total


def processor(pid):
    """Returns the processor time of a process and its descendants, in seconds."""
    ticks = 0
    for one in processes(pid):
        try:
            fields = pathlib.Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        # utime, stime, and those of children that have ended.
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Memory(threading.Thread):
    """Polls the anonymous memory of a process and of its descendants."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak = process, 0
        self.start()

    def run(self):
        while self.process.poll() is None:
            self.peak = max(self.peak, memory(self.process.pid))
            time.sleep(INTERVAL)


class Scale:
    """Runs the commands at one number of downloads."""

    def __init__(self, arguments, count, folder, server):
        self.tool = os.path.abspath(arguments.tool)
        self.bench = arguments.bench and os.path.abspath(arguments.bench)
        self.files = min(count, arguments.files)
        self.count, self.server = count, server
        self.folder = os.path.join(folder, str(count))
        os.mkdir(self.folder)
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

    @staticmethod
    def ended_processor():
        """Returns the processor time of all processes that have ended, in seconds."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def measure(self, *command):
        """Runs a command to its end; returns its seconds, processor seconds and megabytes."""
        before = self.ended_processor()
        begin = time.monotonic()
        process = self.start(*command)
        peak = Memory(process)
        if process.wait() != 0:
            sys.exit(f"dlstore {' '.join(command)} failed with status {process.returncode}")
        seconds = time.monotonic() - begin
        peak.join()
        ended = self.ended_processor()
        return {
            "seconds": round(seconds, 3),
            "processor": round(ended - before, 3),
            "memory": round(peak.peak / 1e6, 1),
        }

    # The options of an engine that downloads small files as fast as it can.
    RUN = ["run", "--quiet", "--max-concurrent", "8", "--per-host", "8"]

    def watch(self):
        """Starts a watching list on a terminal of its own."""
        terminal, end = pty.openpty()

        def drain():
            try:
                while os.read(terminal, 65536):
                    pass
            except OSError:
                pass  # The watch has ended.
            os.close(terminal)

        process = subprocess.Popen(
            [self.tool, "list", "--watch", "--limit", "20", "--store", self.store],
            stdin=end, stdout=end, start_new_session=True,
        )
        os.close(end)
        threading.Thread(target=drain, daemon=True).start()
        return process

    def engine(self, files, watches=0):
        """Runs an engine until that many requests have arrived.

        Returns its figures, and the rates of all requests and of each tenth of them.
        """
        self.server.clear()
        others = [self.watch() for _ in range(watches)]
        begin = time.time()
        out = os.path.join(self.folder, "out")
        process = self.start(*self.RUN, "--output-folder", out)
        peak = Memory(process)
        samples = []
        for part in range(RATE_PARTS + 1):
            self.server.wait(max(1, files * part // RATE_PARTS), process)
            samples.append({
                "count": self.server.count, "processor": processor(process.pid),
                "server": self.server.processor, "memory": memory(process.pid),
            })
        watched = sum(processor(one.pid) for one in others)
        times = [at - begin for at in self.server.times[:files]]
        for one in [process, *others]:
            one.send_signal(signal.SIGINT)
        for one in [process, *others]:
            one.wait()
        figures = {
            "seconds": round(times[-1], 3), "processor": round(samples[-1]["processor"], 3),
            "memory": round(peak.peak / 1e6, 1),
        }
        if watches:
            figures["watches"] = {"count": watches, "processor": round(watched, 3)}
        return figures, self.rates(times, samples)

    def beside_watches(self, files):
        """Compares the rate of an engine beside watches with that of one alone, in turn."""
        rates = {"alone": [], "beside": []}
        for _ in range(WATCH_ROUNDS):
            rates["alone"].append(self.engine(files // WATCH_ROUNDS // 2)[1]["whole"])
            figures, rate = self.engine(files // WATCH_ROUNDS // 2, watches=WATCHES)
            rates["beside"].append(rate["whole"])
        medians = {name: statistics.median(rate) for name, rate in rates.items()}
        title = f"run, small files beside {WATCHES} watching lists"
        return title, figures, medians | {"samples": rates}

    @staticmethod
    def rates(times, samples):
        """Returns the files per second of all requests and of each tenth of them.

        With the tenths, the processor time of the engine and of nginx in microseconds per file, and
        the engine's memory at the end.
        """
        def rate(part):
            if len(part) < 2 or part[-1] == part[0]:
                return None
            return round((len(part) - 1) / (part[-1] - part[0]))

        tenths = []
        for number, (before, after) in enumerate(zip(samples, samples[1:])):
            bounds = [len(times) * part // RATE_PARTS for part in (number, number + 1)]
            count = max(1, after["count"] - before["count"])

            def microseconds(what):
                return (after[what] - before[what]) / count * 1e6

            tenths.append({
                "rate": rate(times[slice(*bounds)]), "processor": round(microseconds("processor")),
                "server": round(microseconds("server"), 1),
                "memory": round(after["memory"] / 1e6, 1),
            })
        return {"whole": rate(times), "tenths": tenths}

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
            yield "run, until the first transfer", self.engine(1)[0], None
        if wanted("run, small files"):
            yield "run, small files one after another", *self.engine(self.files // 2)
        if wanted("run beside watches"):
            yield self.beside_watches(self.files // 4)
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


def collect(scale, only, rows, library):
    """Measures all commands at one number of downloads, prints their figures and adds them."""
    scale.write_urls()
    for title, figures, rate in scale.rows(only):
        watches = figures.get("watches", "")
        print(f"{scale.count:>10} {figures['seconds']:>9.2f} s {figures['processor']:>9.2f} s"
              f" {figures['memory']:>8.1f} MB  {title} {rate or ''} {watches}", flush=True)
        rows[title]["figures"][str(scale.count)] = figures
        if rate:
            rows[title]["rate"] = rate | {"count": scale.count}
    for title, figure in scale.library().items():
        library[title]["figures"][str(scale.count)] = figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default=".build/release/dlstore")
    parser.add_argument("--bench", help="the program `bench`, for operations in process")
    parser.add_argument("--most", type=int, default=1_000_000, help="the greatest number")
    parser.add_argument("--least", type=int, default=100_000, help="the smallest number")
    parser.add_argument("--files", type=int, default=60_000,
                        help="the most small files: half for the rate, a quarter for watches")
    parser.add_argument("--only", action="append", help="a part of the names of the commands")
    parser.add_argument("--folder", help="the working folder; 3 GB per million downloads")
    parser.add_argument("--json", metavar="FILE", help="also write the result to a file")
    arguments = parser.parse_args()
    counts, count = [], arguments.least
    while count <= arguments.most:
        counts.append(count)
        count *= 10
    server = Server()
    rows = collections.defaultdict(lambda: {"figures": {}})
    library = collections.defaultdict(lambda: {"figures": {}})
    # All files stay until the end: without a journal, ext4 does not use the inodes of deleted files
    # for some minutes, and searches long for others when many files have been deleted.
    folder = tempfile.mkdtemp(prefix="scale-", dir=arguments.folder)
    try:
        for count in counts:
            collect(Scale(arguments, count, folder, server), arguments.only, rows, library)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    result = {
        "date": datetime.date.today().isoformat(),
        "counts": counts,
        # The small files of the row with the rate.
        "files": min(counts[-1], arguments.files) // 2,
        "rows": [{"row": title} | row for title, row in rows.items()],
        "library": [{"row": title} | row for title, row in library.items()],
    }
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
