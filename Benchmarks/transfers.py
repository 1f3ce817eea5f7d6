#!/usr/bin/env python3
"""Compares dlstore with aria2c on a local nginx: many small files, and one large one.

Each round runs both in turn, so that other load on the machine affects both alike. Prints one
table, and exits with 1 if a target is missed.

    swift build -c release --product dlstore
    Benchmarks/transfers.py --tool .build/release/dlstore
"""

import argparse
import hashlib
import os
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SMALL_SIZE = 16 * 1024
LARGE_SIZE = 1 << 30
MOST_MEMORY = 64 * 1000 * 1000


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


def measure(*commands):
    """Returns the time of the commands in seconds, and the peak memory of their largest process."""
    start = time.monotonic()
    most = 0
    for command in commands:
        # In a separate process, so that the peak is that of these commands only.
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            status = subprocess.call(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL
            )
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
            os.write(writer, f"{status} {peak}".encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as result:
            status, peak = map(int, result.read().split())
        os.waitpid(child, 0)
        if status != 0:
            sys.exit(f"{' '.join(command[:4])} … ended with {status}")
        most = max(most, peak)
    return time.monotonic() - start, most


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Work:
    def __init__(self, arguments):
        self.tool = os.path.abspath(arguments.tool)
        self.folder = tempfile.mkdtemp(prefix="transfers-", dir=arguments.folder)
        # nginx started by root runs its workers as another user.
        os.chmod(self.folder, 0o755)
        self.count = arguments.count
        self.www = os.path.join(self.folder, "www")
        os.mkdir(self.www)
        for number in range(self.count):
            with open(os.path.join(self.www, f"{number:06}.bin"), "wb") as file:
                file.write(os.urandom(SMALL_SIZE))
        with open(os.path.join(self.www, "large.bin"), "wb") as file:
            for _ in range(LARGE_SIZE >> 20):
                file.write(os.urandom(1 << 20))

    def fresh(self, name):
        path = os.path.join(self.folder, name)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def check(self, folder, names):
        for name in names:
            if digest(os.path.join(folder, name)) != digest(os.path.join(self.www, name)):
                sys.exit(f"{folder}/{name} is not what was served")

    def small(self, server):
        names = [f"{number:06}.bin" for number in range(self.count)]
        urls = os.path.join(self.folder, "urls")
        with open(urls, "w") as file:
            file.writelines(server.url(name) + "\n" for name in names)
        store, out = self.fresh("store"), self.fresh("out")
        ours = measure(
            [self.tool, "add", "--store", store, "--input-file", urls],
            [self.tool, "run", "--store", store, "--until-idle", "--max-concurrent", "8",
             "--per-host", "8", "--output-folder", out],
        )
        self.check(out, names)
        out = self.fresh("out")
        os.mkdir(out)
        theirs = measure(["aria2c", "-j8", "-i", urls, "-d", out, "--quiet"])
        self.check(out, names)
        return ours, theirs

    def large(self, server):
        store, out = self.fresh("store"), self.fresh("out")
        ours = measure(
            [self.tool, "get", "--store", store, "--output-folder", out, server.url("large.bin")]
        )
        self.check(out, ["large.bin"])
        out = self.fresh("out")
        os.mkdir(out)
        theirs = measure(["aria2c", "-x1", "-d", out, "--quiet", server.url("large.bin")])
        self.check(out, ["large.bin"])
        return ours, theirs


def row(title, rounds, most_ratio):
    """Prints a row of the table; returns whether its target is met."""
    ours = statistics.median(one[0][0] for one in rounds)
    theirs = statistics.median(one[1][0] for one in rounds)
    memory = max(one[0][1] for one in rounds)
    other = max(one[1][1] for one in rounds)
    ratio = ours / theirs
    print(
        f"| {title} | {ours:.2f} | {theirs:.2f} | {ratio:.2f} | {most_ratio} "
        f"| {memory / 1e6:.0f} | {other / 1e6:.0f} |"
    )
    return ratio <= most_ratio, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default=".build/release/dlstore")
    parser.add_argument("--count", type=int, default=10_000, help="the number of small files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="the working folder; needs 4 GiB")
    arguments = parser.parse_args()
    for program in (arguments.tool, "aria2c"):
        if not shutil.which(program):
            sys.exit(f"{program} is missing")
    work = Work(arguments)
    try:
        with Nginx(work.folder, work.www) as server:
            small = [work.small(server) for _ in range(arguments.rounds)]
            large = [work.large(server) for _ in range(arguments.rounds)]
    finally:
        shutil.rmtree(work.folder, ignore_errors=True)
    print("| what | dlstore, s | aria2c, s | ratio | target | dlstore, MB | aria2c, MB |")
    print("|---|---|---|---|---|---|---|")
    small_is_met, _ = row(f"{work.count:,} files of 16 KiB, 8 at a time", small, 1.0)
    large_is_met, memory = row("one file of 1 GiB", large, 1.2)
    sys.exit(0 if small_is_met and large_is_met and memory <= MOST_MEMORY else 1)


if __name__ == "__main__":
    main()
