#!/usr/bin/env python3
"""Compares dlstore, with each of its transports, with curl and aria2c on a local nginx.

The workloads are one large file, many small ones, and the start of the tool. In each round the
contenders take turns, so that other load on the machine affects all alike. Prints tables, with
each target that is missed.

    .ci/build-release dlstore
    Benchmarks/transfers.py --tool .build/release/dlstore --json transfers.json
"""

import argparse
import datetime
import hashlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SMALL_SIZE = 16 * 1024
LARGE_SIZE = 1 << 30
TRANSPORTS = {"AsyncHTTPClient": "async-http-client", "URLSession": "urlsession"}
MB = 1_000_000

# Per workload: contender, what is limited, the contender that it is compared with, and the limit: a
# ratio or, without such a contender, a number of bytes.
TARGETS = {
    "large": [
        ("AsyncHTTPClient", "seconds", "curl", 1.05),
        ("AsyncHTTPClient", "processor", "curl", 1.2),
        ("AsyncHTTPClient", "memory", None, 40 * MB),
        ("URLSession", "seconds", "aria2c", 1.1),
        ("URLSession", "memory", None, 40 * MB),
    ],
    "small": [
        ("AsyncHTTPClient", "seconds", "aria2c", 0.75),
        ("AsyncHTTPClient", "memory", None, 40 * MB),
        ("URLSession", "seconds", "aria2c", 0.75),
        ("URLSession", "memory", None, 40 * MB),
    ],
    "one": [],
    "list": [],
}
NAMES = {
    "seconds": "time", "processor": "processor time", "memory": "memory", "sent": "bytes sent",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """Runs nginx on a folder for the duration of the block."""

    def __init__(self, folder, www):
        self.port = free_port()
        self.config = os.path.join(folder, "nginx.conf")
        paths = "".join(
            f"{kind}_temp_path {folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        with open(self.config, "w") as file:
            file.write(
                f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;"
                "events { worker_connections 1024; }"
                "http { access_log off; sendfile on; keepalive_requests 1000000;"
                f"{paths} server {{ listen 127.0.0.1:{self.port}; root {www}; }} }}"
            )

    def __enter__(self):
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-c", self.config])
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    sys.exit("nginx did not start")
                time.sleep(0.01)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"


class MemoryPeak:
    """Reads the anonymous memory of a process and its descendants until it is stopped."""

    def __init__(self, pid, interval):
        # In bytes, of the largest process.
        self.byte_count = 0
        self.root = pid
        self.interval = interval
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopped.wait(self.interval):
            self.byte_count = max([self.byte_count, *map(self.anonymous, self.tree(self.root))])

    def stop(self):
        self.stopped.set()
        self.thread.join()
        return self.byte_count

    @staticmethod
    def tree(root):
        """Returns a process and its descendants; without those that have ended meanwhile."""
        found, rest = [], [root]
        while rest:
            pid = rest.pop()
            found.append(pid)
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/children") as file:
                        rest += map(int, file.read().split())
            except OSError:
                pass
        return found

    @staticmethod
    def anonymous(pid):
        try:
            with open(f"/proc/{pid}/status") as file:
                for line in file:
                    if line.startswith("RssAnon:"):
                        return int(line.split()[1]) * 1024
        except OSError:
            pass
        return 0


def measure(*commands, interval):
    """Runs commands; returns their time and processor time in seconds, and their peak memory.

    The memory is the anonymous memory of the largest process, in bytes, read at an interval in
    seconds.
    """
    seconds = processor = memory = 0
    for command in commands:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        peak = MemoryPeak(process.pid, interval)
        # The usage includes the descendants that the process has waited for.
        _, status, usage = os.wait4(process.pid, 0)
        seconds += time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        memory = max(memory, peak.stop())
        processor += usage.ru_utime + usage.ru_stime
        if process.returncode != 0:
            sys.exit(f"{' '.join(command[:4])} … ended with {process.returncode}")
    return {"seconds": seconds, "processor": processor, "memory": memory}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Work:
    """The files that nginx serves, and the workloads."""

    def __init__(self, arguments):
        self.tool = os.path.abspath(arguments.tool)
        self.folder = tempfile.mkdtemp(prefix="transfers-", dir=arguments.folder)
        # nginx started by root runs its workers as another user.
        os.chmod(self.folder, 0o755)
        self.count = arguments.count
        self.www = os.path.join(self.folder, "www")
        os.mkdir(self.www)
        self.digests = {}
        self.folders = 0
        for number in range(self.count):
            self.make(f"{number:06}.bin", SMALL_SIZE)
        if not arguments.only or "large" in arguments.only:
            self.make("large.bin", LARGE_SIZE)
        # Otherwise the first rounds share the disk with the files that were just made.
        os.sync()

    def make(self, name, size):
        sha256 = hashlib.sha256()
        with open(os.path.join(self.www, name), "wb") as file:
            for start in range(0, size, 1 << 20):
                piece = os.urandom(min(1 << 20, size - start))
                sha256.update(piece)
                file.write(piece)
        self.digests[name] = sha256.hexdigest()

    def fresh(self, kind):
        """Returns the path of a store or a folder that does not exist yet.

        Small files stay until the end: ext4 would search long for inodes that have not been freed
        recently, and the next contender would pay for it.
        """
        self.folders += 1
        return os.path.join(self.folder, f"{kind}-{self.folders}")

    def run(self, names, out, *commands, interval=0.02):
        """Measures commands that download files into a folder, and checks the files."""
        # The system must not still be writing the files of the previous contender.
        os.sync()
        sample = measure(*commands, interval=interval)
        for name in names:
            path = os.path.join(out, name)
            if digest(path) != self.digests[name]:
                sys.exit(f"{commands[0][0]}: {name} is not what was served")
            if os.path.getsize(path) == LARGE_SIZE:
                os.remove(path)
        return sample

    def get(self, name, server, interval=0.02):
        """Downloads one file with each contender, over one connection."""
        url = server.url(name)
        samples = {}

        def run(title, command, out):
            samples[title] = self.run([name], out, command, interval=interval)

        out = self.fresh("out")
        os.mkdir(out)
        run("curl", ["curl", "-s", "-o", f"{out}/{name}", url], out)
        out = self.fresh("out")
        os.mkdir(out)
        run("aria2c", ["aria2c", "-x1", "-d", out, "--quiet", url], out)
        for title, transport in TRANSPORTS.items():
            out = self.fresh("out")
            command = [self.tool, "get", "--store", self.fresh("store"), "--output-folder", out]
            run(title, [*command, "--transport", transport, url], out)
        return samples

    def large(self, server):
        """Downloads one large file."""
        return self.get("large.bin", server)

    def one(self, server):
        """Downloads one small file."""
        return self.get("000000.bin", server, interval=0.002)

    def small(self, server):
        """Downloads many small files, eight at a time."""
        names = [f"{number:06}.bin" for number in range(self.count)]
        urls = os.path.join(self.folder, "urls")
        with open(urls, "w") as file:
            file.writelines(server.url(name) + "\n" for name in names)
        samples = {}
        out = self.fresh("out")
        os.mkdir(out)
        samples["aria2c"] = self.run(
            names, out, ["aria2c", "-j8", "-i", urls, "-d", out, "--quiet"]
        )
        for title, transport in TRANSPORTS.items():
            store, out = self.fresh("store"), self.fresh("out")
            samples[title] = self.run(
                names,
                out,
                [self.tool, "add", "--store", store, "--input-file", urls],
                [
                    self.tool, "run", "--store", store, "--until-idle", "--max-concurrent", "8",
                    "--per-host", "8", "--output-folder", out, "--transport", transport,
                ],
            )
        return samples

    def list(self, server):
        """Lists a store with one download, which starts nothing but the tool itself."""
        store = self.fresh("store")
        subprocess.check_call(
            [self.tool, "add", "--store", store, server.url("000000.bin")],
            stdout=subprocess.DEVNULL,
        )
        return {
            "dlstore": self.run(
                [], "", [self.tool, "list", "--store", store], interval=0.002
            )
        }


def summary(title, key, rounds):
    """Returns the medians of a workload and its targets, for JSON."""
    contenders = {}
    for name in rounds[0]:
        samples = [one[name] for one in rounds]
        contenders[name] = {
            "seconds": round(statistics.median(one["seconds"] for one in samples), 4),
            "processor": round(statistics.median(one["processor"] for one in samples), 4),
            "memory": max(one["memory"] for one in samples),
            "samples": [round(one["seconds"], 4) for one in samples],
        }
        if "sent" in samples[0]:
            contenders[name]["sent"] = max(one["sent"] for one in samples)
    targets = []
    for name, measured, reference, limit in TARGETS[key]:
        value = contenders[name][measured]
        if reference:
            value = round(value / contenders[reference][measured], 3)
        targets.append(
            {
                "contender": name,
                "measured": measured,
                "reference": reference,
                "at most": limit,
                "value": value,
                "met": value <= limit,
            }
        )
    return {
        "key": key,
        "title": title,
        "date": datetime.date.today().isoformat(),
        "rounds": len(rounds),
        "contenders": contenders,
        "targets": targets,
    }


def target_text(target):
    mark = "✓" if target["met"] else "✗"
    limit, value = target["at most"], target["value"]
    if target["reference"]:
        wanted = f"at most {limit:g}x {target['reference']}: {value:.2f}x"
    else:
        wanted = f"at most {limit / MB:g} MB: {value / MB:.0f} MB"
    return f"{NAMES[target['measured']]}: {wanted} {mark}"


def table(workload):
    """Returns the table of a workload in Markdown."""
    lines = [
        f"| {workload['title']} | time, s | processor time, s | memory, MB | targets |",
        "|---|---|---|---|---|",
    ]
    for name, figures in workload["contenders"].items():
        texts = [target_text(one) for one in workload["targets"] if one["contender"] == name]
        digits = 2 if figures["seconds"] >= 0.5 else 3
        lines.append(
            f"| {name} | {figures['seconds']:.{digits}f} | {figures['processor']:.{digits}f} "
            f"| {figures['memory'] / MB:.1f} | {'; '.join(texts)} |"
        )
    return "\n".join(lines) + "\n"


def section(workloads):
    """Returns what the page says about the workloads."""
    return "\n".join(
        f"{table(one)}\n{one['date']}, rounds: {one['rounds']}.\n"
        for one in workloads
    )


def save(workloads, path):
    """Writes workloads to a file, in place of earlier results of the same workloads."""
    found = {one["key"]: one for one in workloads}
    if os.path.exists(path):
        with open(path) as file:
            found = {one["key"]: one for one in json.load(file)["workloads"]} | found
    with open(path, "w") as file:
        ordered = [found[key] for key in TARGETS if key in found]
        json.dump({"workloads": ordered}, file, indent=1, ensure_ascii=False)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default=".build/release/dlstore")
    parser.add_argument("--count", type=int, default=10_000, help="the number of small files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=TARGETS, action="append", help="a workload to run")
    parser.add_argument("--folder", help="the working folder; needs 4 GiB")
    parser.add_argument("--json", metavar="FILE", help="also write the results to a file")
    arguments = parser.parse_args()
    for program in (arguments.tool, "aria2c", "curl"):
        if not shutil.which(program):
            sys.exit(f"{program} is missing")
    count, rounds = arguments.count, arguments.rounds
    # The last two are short, so they get more rounds.
    workloads = {
        "large": ("one file of 1 GiB", rounds),
        "small": (f"{count:,} files of 16 KiB, 8 at a time", rounds),
        "one": ("`get` of one file of 16 KiB", rounds * 5),
        "list": ("`list` of a store with one download", rounds * 5),
    }
    work = Work(arguments)
    try:
        with Nginx(work.folder, work.www) as server:
            results = [
                summary(title, key, [getattr(work, key)(server) for _ in range(times)])
                for key, (title, times) in workloads.items()
                if not arguments.only or key in arguments.only
            ]
    finally:
        shutil.rmtree(work.folder, ignore_errors=True)
    print("\n".join(map(table, results)), end="")
    if arguments.json:
        save(results, arguments.json)


if __name__ == "__main__":
    main()
