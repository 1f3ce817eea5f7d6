#!/usr/bin/env python3
"""Measures the first paint of the pages of `dlstore serve`, and what open tabs cost a transfer.

    make bench-serve
    .build/browser/bin/python3 Benchmarks/serve-page.py --only paint --downloads 100000

`paint`: a store of a million downloads, each page in a new browser without a cache; also the time of its
last byte, because rows follow the frame. `tabs`: an engine that downloads a file from a local nginx, alone,
with ten clients that follow the events, and with ten tabs of a browser, in turns; the tabs also take time
from the same processors. Prints medians and fails if a page needs 300 ms or more, or ten clients slow the
transfer by more than 2 %.
"""

import argparse
import datetime
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from playwright.sync_api import sync_playwright, expect

import transfers

PAINT_LIMIT = 0.3
TAB_LIMIT = 0.02
TABS = 10
PAGES = [
    "", "?state=paused", "?text=999999", "?sort=name", "tags", "downloads/ID", "store",
    "store/DownloadRecord", "store/DownloadRecord?where=state%3Dpaused",
]
# A paint may be reported after the page has loaded.
PAINT = """new Promise(done => new PerformanceObserver(list => {
  for (const entry of list.getEntriesByName("first-contentful-paint")) done(entry.startTime / 1000);
}).observe({ type: "paint", buffered: true }))"""
COMPLETE = 'performance.getEntriesByType("navigation")[0].responseEnd / 1000'


class Server:
    """`dlstore serve` on a store, for the duration of the block."""

    def __init__(self, tool, store, *words):
        self.command = [tool, "serve", "--json", "--port", "0", "--store", store, *words]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.start = json.loads(self.process.stdout.readline())["url"]
        self.address = urllib.parse.urlsplit(self.start)
        self.token = self.start.split("token=")[1]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def url(self, path):
        return f"http://{self.address.netloc}/{path}"

    def first_download(self):
        """Returns the id of a download."""
        connection = http.client.HTTPConnection(self.address.netloc)
        path = "/api/v1/downloads?limit=1"
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        return json.load(connection.getresponse())["downloads"][0]["id"]

    def follow(self):
        """Follows the events as a tab does, until the server ends."""
        connection = http.client.HTTPConnection(self.address.netloc)
        connection.request("GET", "/events", headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        try:
            while answer.readline():
                pass
        except (OSError, http.client.HTTPException):
            pass


def paint(options, folder, browser):
    """Prints the first paint of each page; returns whether all are in time."""
    store, urls = os.path.join(folder, "million"), os.path.join(folder, "urls")
    for part in ("waiting", "paused"):
        with open(urls, "w") as file:
            for number in range(options.downloads // 2):
                file.write(f"http://h{number % 1000}.example/{part}/file-{number}.bin\n")
        flags = ["--paused"] if part == "paused" else []
        words = ["--input-file", urls, "--tag", part, *flags, "--store", store]
        subprocess.run([options.tool, "add", "--quiet", *words], check=True, stdout=subprocess.DEVNULL)
    good = True
    with Server(options.tool, store, "--allow-changes") as server:
        identifier = server.first_download()
        for path in (path.replace("ID", identifier) for path in PAGES):
            times, ends = [], []
            for _ in range(options.rounds):
                context = browser.new_context(viewport={"width": 1440, "height": 900})
                context.set_extra_http_headers({"Authorization": f"Bearer {server.token}"})
                page = context.new_page()
                page.goto(server.url(path))
                times.append(page.evaluate(PAINT))
                ends.append(page.evaluate(COMPLETE))
                context.close()
            median = statistics.median(times)
            good &= median < PAINT_LIMIT
            print(
                f"paint /{path:45} {median * 1000:6.0f} ms, at most {max(times) * 1000:.0f} ms, "
                f"complete after {statistics.median(ends) * 1000:.0f} ms",
                flush=True,
            )
    return good


def transfer(options, folder, number, url, browser, kind):
    """Returns the seconds that an engine with tabs of a kind needs for the file."""
    store = os.path.join(folder, f"store-{number}")
    with Server(options.tool, store, "--run", "--allow-changes") as server:
        contexts = []
        for number in range(TABS):
            if kind == "clients":
                threading.Thread(target=server.follow, daemon=True).start()
            if kind == "tabs":
                # A browser without a window shows all tabs, and has six connections for those of a context.
                if number % 5 == 0:
                    contexts.append(browser.new_context())
                page = contexts[-1].new_page()
                page.goto(server.start)
                expect(page.locator("[data-live]")).to_have_text("Live")
        time.sleep(1)
        run = lambda *words: subprocess.run(
            [options.tool, *words, "--store", store], check=True, capture_output=True, text=True
        ).stdout
        run("add", url)
        while True:
            time.sleep(0.5)
            record = json.loads(run("list", "--format", "json"))[0]
            if record["state"] == "failed":
                sys.exit(f"the download failed: {record['lastError']}")
            if record["state"] == "completed":
                break
        for context in contexts:
            context.close()
    os.unlink(record["localPath"])
    added, completed = (
        datetime.datetime.fromisoformat(record[name].replace("Z", "+00:00"))
        for name in ("createdAt", "completedAt")
    )
    return (completed - added).total_seconds()


def tabs(options, folder, browser):
    """Prints the time of a transfer with each kind of tabs; returns whether clients cost little."""
    os.chmod(folder, 0o755)
    www = os.path.join(folder, "www")
    os.mkdir(www)
    with open(os.path.join(www, "large.bin"), "wb") as file:
        file.truncate(options.megabytes << 20)
    times = {"none": [], "clients": [], "tabs": []}
    with transfers.Nginx(folder, www) as nginx:
        for number in range(options.rounds):
            for kind, found in times.items():
                name = f"{number}-{kind}"
                found.append(transfer(options, folder, name, nginx.url("large.bin"), browser, kind))
    base = statistics.median(times["none"])
    for kind, found in times.items():
        median = statistics.median(found)
        print(f"transfer of {options.megabytes} MiB, {kind:8} {median:6.2f} s ({median / base - 1:+.1%})", flush=True)
    return statistics.median(times["clients"]) / base - 1 <= TAB_LIMIT


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tool", default=".build/release/dlstore")
    parser.add_argument("--downloads", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=["paint", "tabs"])
    options = parser.parse_args()
    options.tool = os.path.abspath(options.tool)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        results = [
            measure(options, folder, browser) for measure in (paint, tabs)
            if options.only in (None, measure.__name__)
        ]
        browser.close()
    sys.exit(not all(results))


main()
