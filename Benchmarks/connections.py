#!/usr/bin/env python3
"""Compares one file over several connections with curl and aria2c, on servers where that matters.

The servers are a local nginx that limits the rate of each connection, one behind a proxy that delays
every byte, and one without a limit, on which several connections gain nothing. Prints tables,
with each target that is missed.

    .ci/build-release dlstore
    Benchmarks/connections.py --tool .build/release/dlstore --json connections.json
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
import transfers  # noqa: E402

MB = transfers.MB
DELAY = 0.04
# What a connection has in flight: with the delay in both directions, 12.5 MB/s.
WINDOW = 500_000

PIECE = 1 << 20

# As in transfers.TARGETS.
TARGETS = {
    "limited": [
        ("dlstore, 8 connections", "seconds", "aria2c -x8", 1.05),
        ("dlstore, 4 connections", "seconds", "dlstore, 1 connection", 1 / 3.6),
    ],
    "medium": [("dlstore, 8 connections", "seconds", "aria2c -x8", 1.2)],
    "delayed": [("dlstore, 8 connections", "seconds", "aria2c -x8", 1.1)],
    "unlimited": [
        ("dlstore, 4 connections", "seconds", "dlstore, 1 connection", 1.05),
        ("dlstore, 4 connections", "seconds", "aria2c -x1", 1.0),
        ("dlstore, 4 connections", "seconds", "curl", 1.05),
        ("dlstore, 4 connections", "processor", "curl", 1.3),
    ],
    "damaged": [("dlstore verify-file --repair", "sent", None, PIECE)],
    "memory": [("dlstore, 16 connections", "memory", None, 64 * MB)],
}
transfers.TARGETS = TARGETS
FILES = {
    "limited": "200M.bin", "medium": "64M.bin", "delayed": "500M.bin", "unlimited": "1G.bin", "damaged": "1G.bin",
    "memory": "200M.bin",
}


class Nginx(transfers.Nginx):
    """An nginx that limits the rate of each connection below /limited, and counts the bytes."""

    def __init__(self, folder, www):
        super().__init__(folder, www)
        self.log = os.path.join(folder, "access.log")
        with open(self.config) as file:
            text = file.read()
        text = text.replace(
            "access_log off;", f"log_format b '$body_bytes_sent'; access_log {self.log} b;"
        )
        text = text.replace(
            f"root {www};",
            f"root {www}; location /limited/ {{ alias {www}/; limit_rate 2000000; }}",
        )
        with open(self.config, "w") as file:
            file.write(text)

    def take_bytes(self):
        """Returns the number of bytes of bodies that were sent since the last call."""
        with open(self.log, "r+") as file:
            count = sum(map(int, file))
            file.truncate(0)
        return count


class DelayingProxy:
    """Forwards connections to a port of this machine, and delays every byte in both directions."""

    def __init__(self, target):
        self.target = target
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()
        self.ready.wait()

    def run(self):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.connect, "127.0.0.1", 0, limit=WINDOW)
        )
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        self.loop.run_forever()

    async def connect(self, reader, writer):
        # A client that connects waits for one round trip.
        await asyncio.sleep(2 * DELAY)
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.target, limit=WINDOW)
        await asyncio.gather(
            self.forward(reader, up_writer), self.forward(up_reader, writer), return_exceptions=True
        )

    async def forward(self, reader, writer):
        """Delivers what arrives after the delay, with at most a window of bytes on the way."""
        queue, room = asyncio.Queue(), asyncio.Condition()
        in_flight = 0

        async def deliver():
            nonlocal in_flight
            while True:
                due, data = await queue.get()
                await asyncio.sleep(due - self.loop.time())
                if not data:
                    break
                writer.write(data)
                await writer.drain()
                async with room:
                    in_flight -= len(data)
                    room.notify()
            writer.close()

        delivery = asyncio.create_task(deliver())
        try:
            while not delivery.done():
                data = await reader.read(65_536)
                async with room:
                    while in_flight >= WINDOW and not delivery.done():
                        await asyncio.wait_for(room.wait(), 10)
                    in_flight += len(data)
                queue.put_nowait((self.loop.time() + DELAY, data))
                if not data:
                    break
            await delivery
        finally:
            delivery.cancel()
            writer.close()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"


class Work(transfers.Work):
    """The files that nginx serves, and the workloads."""

    def __init__(self, arguments):
        arguments.count = 0
        arguments.only = ["none"]
        super().__init__(arguments)
        self.sizes = {"64M.bin": 64 * MB, "200M.bin": 200 * MB, "500M.bin": 500 * MB, "1G.bin": transfers.LARGE_SIZE}

    def file(self, name):
        """Returns the name of a file, which is made when it is first needed."""
        if name not in self.digests:
            self.make(name, self.sizes[name])
            os.sync()
        return name

    def get(self, name, url, server, contenders):
        """Downloads one file with each contender."""
        samples = {}
        for title in contenders:
            out = self.fresh("out")
            os.mkdir(out)
            program, _, number = title.partition(", ")
            if program == "curl":
                command = ["curl", "-s", "-o", f"{out}/{name}", url]
            elif program.startswith("aria2c"):
                option = program.removeprefix("aria2c -x")
                command = [
                    "aria2c", f"-x{option}", f"-s{option}", "-k1M", "--file-allocation=none",
                    "-d", out, "--quiet", url,
                ]
            else:
                command = [
                    self.tool, "get", "--store", self.fresh("store"), "--output-folder", out, url,
                ]
                if "URLSession" in program:
                    command += ["--transport", "urlsession"]
                count = number.split()[0]
                command += [
                    "--connections", count, "--per-host", count, "--max-concurrent", count,
                ]
            server.take_bytes()
            samples[title] = self.run([name], out, command)
            samples[title]["sent"] = server.take_bytes()
            # The largest files are removed already.
            if os.path.exists(os.path.join(out, name)):
                os.remove(os.path.join(out, name))
        return samples

    def limited(self, server):
        name = self.file(FILES["limited"])
        return self.get(
            name, server.url(f"limited/{name}"), server,
            [
                "aria2c -x8", "dlstore, 8 connections", "dlstore over URLSession, 8 connections",
                "dlstore, 4 connections", "dlstore, 1 connection",
            ],
        )

    def medium(self, server):
        name = self.file(FILES["medium"])
        return self.get(
            name, server.url(f"limited/{name}"), server,
            ["aria2c -x8", "dlstore, 8 connections", "dlstore, 4 connections"],
        )

    def delayed(self, server):
        name = self.file(FILES["delayed"])
        proxy = DelayingProxy(server.port)
        return self.get(
            name, proxy.url(name), server,
            [
                "aria2c -x8", "dlstore, 8 connections", "dlstore over URLSession, 8 connections",
                "dlstore, 4 connections",
            ],
        )

    def unlimited(self, server):
        name = self.file(FILES["unlimited"])
        return self.get(
            name, server.url(name), server,
            [
                "curl", "aria2c -x1", "dlstore, 4 connections", "dlstore, 1 connection",
                "dlstore over URLSession, 4 connections", "dlstore over URLSession, 1 connection",
            ],
        )

    def damaged(self, server):
        """Downloads a file, damages one byte of it, and repairs it."""
        name = self.file(FILES["damaged"])
        out, store = self.fresh("out"), self.fresh("store")
        path = os.path.join(out, name)
        subprocess.check_call(
            [self.tool, "get", "--quiet", "--store", store, "--output-folder", out, server.url(name)]
        )
        with open(path, "r+b") as file:
            offset = self.sizes[name] // 2
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 1]))
        server.take_bytes()
        command = [self.tool, "verify-file", "--repair", "--store", store, server.url(name)]
        sample = self.run([name], out, command)
        sample["sent"] = server.take_bytes()
        return {"dlstore verify-file --repair": sample}

    def memory(self, server):
        name = self.file(FILES["memory"])
        return self.get(name, server.url(f"limited/{name}"), server, ["dlstore, 16 connections"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default=".build/release/dlstore")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=TARGETS, action="append", help="a workload to run")
    parser.add_argument("--folder", help="the working folder; needs 4 GiB")
    parser.add_argument("--json", metavar="FILE", help="also write the results to a file")
    arguments = parser.parse_args()
    chosen = arguments.only or list(TARGETS)
    for program in (arguments.tool, "aria2c", "curl"):
        if not shutil.which(program):
            sys.exit(f"{program} is missing")
    titles = {
        "limited": "200 MB, 2 MB/s per connection",
        "medium": "64 MB, 2 MB/s per connection",
        "delayed": "500 MB, 80 ms and 12.5 MB/s per connection",
        "unlimited": "1 GiB, without a limit",
        "damaged": "1 GiB with one wrong byte",
        "memory": "200 MB over 16 connections of 2 MB/s",
    }
    work = Work(arguments)
    results = []
    try:
        with Nginx(work.folder, work.www) as server:
            for key in chosen:
                rounds = [getattr(work, key)(server) for _ in range(arguments.rounds)]
                result = transfers.summary(titles[key], key, rounds)
                for name, figures in result["contenders"].items():
                    size = work.sizes[FILES[key]]
                    figures["bytes"] = round(
                        statistics.median(one[name]["sent"] for one in rounds) / size, 4
                    )
                results.append(result)
    finally:
        shutil.rmtree(work.folder, ignore_errors=True)
    print(transfers.section(results), end="")
    for result in results:
        for name, figures in result["contenders"].items():
            print(f"{result['key']}: {name}: {figures['bytes']:.4f} of the bytes")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"workloads": results}, file, indent=1, ensure_ascii=False)
            file.write("\n")


if __name__ == "__main__":
    main()
