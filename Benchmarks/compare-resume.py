#!/usr/bin/env python3
"""Resumes interrupted downloads with several programs, from servers that answer in many ways.

Each program downloads a file of 32 MiB from a server on this machine. After 24 MiB the server sends
nothing more, and the program gets SIGINT. Then the server answers in the way of its row, and the
program is started again with its usual options for resuming. Its result is one of

    right   the exit code is 0, and the file is the wanted one; or, where no right file can be had,
            the exit code is not 0, and a third start completes the file without the bytes that
            were on disk
    fails   the exit code is not 0 although the right file could be had, or the bytes were lost
    wrong   the exit code is 0, and the file is another one

The number beside it is what the server has sent in all, divided by the size of the file. Nothing
depends on time: a slow machine makes the comparison slow, and not different.

    Benchmarks/compare-resume.py [--readme]     prints the table; also writes it into README.md
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20
SIZE = 32 * MIB
CUT = 24 * MIB
# huggingface_hub writes blocks of 10 MB.
ON_DISK = 20_000_000
LIMIT = 300

OLD = random.Random(1).randbytes(SIZE)
NEW = random.Random(2).randbytes(SIZE)
SHORT = NEW[: 8 * MIB]
PAGE = b"<!doctype html><title>Welcome</title><p>Please accept the terms of this network.</p>"
MONDAY, TUESDAY = "Mon, 02 Jun 2025 10:00:00 GMT", "Tue, 03 Jun 2025 10:00:00 GMT"


# The servers


@dataclass
class Reply:
    """A response; the connection is closed after `ends` bytes of the body, if it has more."""

    status: int
    fields: dict
    body: bytes = b""
    ends: int | None = None


def tag(text):
    return {"ETag": text}


def date(text):
    return {"Last-Modified": text}


@dataclass
class Version:
    """A version of the file, with its validators, as a correct server sends it."""

    body: bytes
    fields: dict = field(default_factory=dict)
    evaluates_if_range: bool = True
    ranges: bool = True

    def __call__(self, request):
        fields = {"Content-Type": "application/octet-stream"} | self.fields
        wanted = self.wanted(request)
        if wanted is None:
            return Reply(200, fields, self.body)
        first, last = wanted
        if first >= len(self.body):
            return Reply(416, fields | {"Content-Range": f"bytes */{len(self.body)}"})
        fields["Content-Range"] = f"bytes {first}-{last}/{len(self.body)}"
        return Reply(206, fields, self.body[first : last + 1])

    def wanted(self, request):
        """Returns the first and the last requested byte; None for the whole file."""
        text = request.get("Range")
        if not text or not self.ranges:
            return None
        condition = request.get("If-Range")
        if condition and self.evaluates_if_range:
            # A weak tag identifies no bytes (RFC 9110, 13.1.5).
            known = [value for value in self.fields.values() if not value.startswith("W/")]
            if condition not in known:
                return None
        first, _, last = text.removeprefix("bytes=").partition("-")
        return int(first), min(int(last or len(self.body)), len(self.body) - 1)


def edges(request, counter=itertools.count()):
    """A content delivery network whose edges state another tag each."""
    return Version(OLD, tag(f'"edge-{next(counter)}"'))(request)


def login(request):
    return Reply(200, {"Content-Type": "text/html; charset=utf-8"}, PAGE)


def redirect_to_login(request):
    if request.path.startswith("/login"):
        return login(request)
    return Reply(302, {"Location": "/login"})


def faulty(version, change):
    """Changes the partial responses of a server; it sends the whole file correctly."""

    def answer(request):
        reply = version(request)
        return change(reply) if reply.status == 206 else reply

    return answer


def another_range(reply):
    start = 1000
    part = OLD[start : start + len(reply.body)]
    span = f"bytes {start}-{start + len(part) - 1}/{SIZE}"
    return replace(reply, fields=reply.fields | {"Content-Range": span}, body=part)


def longer_body(reply):
    return replace(reply, body=reply.body + NEW[:MIB])


def not_satisfiable(reply):
    return Reply(416, {"Content-Range": f"bytes */{SIZE}"})


def smaller_total(reply):
    span = reply.fields["Content-Range"].split("/")[0]
    first = int(span.split()[1].split("-")[0])
    span = f"bytes {first}-{first + MIB - 1}/{first + MIB}"
    return replace(reply, fields=reply.fields | {"Content-Range": span}, body=reply.body[:MIB])


def without_validators(reply):
    fields = {name: reply.fields[name] for name in ("Content-Type", "Content-Range")}
    return replace(reply, fields=fields)


def ends_early():
    """The first response is closed a mebibyte before its declared end."""
    count = itertools.count()

    def change(reply):
        return replace(reply, ends=len(reply.body) - MIB) if next(count) == 0 else reply

    return change


@dataclass
class Row:
    """A server, and the file that is right: the old one, the new one, or none."""

    title: str
    before: Callable
    after: Callable
    right: bytes | None
    path: str = "/file.bin"
    # Whether the bytes on disk can be kept if there is no right file.
    keeps: bool = True


def rows():
    strong, weak = Version(OLD, tag('"1"')), Version(OLD, tag('W/"1"'))
    dated, bare = Version(OLD, date(MONDAY)), Version(OLD)
    ignoring = {"evaluates_if_range": False}
    changed = Version(NEW, tag('"2"'))
    return [
        Row("the same file, a strong entity tag", strong, strong, OLD),
        Row("the same file, a weak entity tag", weak, weak, OLD),
        Row("the same file, a date", dated, dated, OLD),
        Row("the same file, no validator", bare, bare, OLD),
        Row("another file, a strong entity tag", strong, changed, NEW),
        Row("another file, a weak entity tag", weak, Version(NEW, tag('W/"2"')), NEW),
        Row("another file, a date", dated, Version(NEW, date(TUESDAY)), NEW),
        Row("another file, no validator", bare, Version(NEW), NEW),
        Row(
            "another file, a tag, `If-Range` ignored", strong,
            Version(NEW, tag('"2"'), **ignoring), NEW,
        ),
        Row(
            "another file, a tag that ranges omit, `If-Range` ignored", strong,
            faulty(Version(NEW, tag('"2"'), **ignoring), without_validators), NEW,
        ),
        Row(
            "another file, a date, `If-Range` ignored", dated,
            Version(NEW, date(TUESDAY), **ignoring), NEW,
        ),
        Row(
            "another file, shorter than the bytes on disk", strong,
            Version(SHORT, tag('"2"'), **ignoring), SHORT,
        ),
        Row("ranges ignored", strong, Version(OLD, tag('"1"'), ranges=False), OLD),
        Row("another range than the requested one", strong, faulty(strong, another_range), OLD),
        Row("a body longer than its range", strong, faulty(strong, longer_body), OLD),
        Row("another entity tag from each edge", edges, edges, OLD),
        Row("a login page", strong, login, None),
        Row(
            "a redirect to a login page, a name without an extension", dated, redirect_to_login,
            None, path="/files/7",
        ),
        Row("a login page, no validator before", bare, login, None, keeps=False),
        Row("416 for a range inside the file", strong, faulty(strong, not_satisfiable), OLD),
        Row("a range that ends before its declared length", strong, faulty(strong, ends_early()), OLD),
        Row("a total that is too small", strong, faulty(strong, smaller_total), OLD),
    ]


class Server(ThreadingHTTPServer):
    """A server whose answers can be exchanged, and which counts the bytes of bodies."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        # Bytes in a buffer of the system count as sent.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def begin(self, answer, budget=None):
        """Answers with a function from now on, and stalls after a number of bytes in all."""
        with self.lock:
            self.answer, self.budget = answer, budget
            self.is_over = threading.Event()

    def end(self):
        """Closes the connections that have stalled."""
        self.is_over.set()

    def take(self, count):
        """Returns how many of the bytes may be sent."""
        with self.lock:
            if self.budget is None:
                allowed = count
            else:
                allowed = min(count, self.budget)
                self.budget -= allowed
            self.sent += allowed
            return allowed

    def handle_error(self, request, client_address):
        # A program that was interrupted has closed its connection.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        server = self.server
        with server.lock:
            answer, is_over = server.answer, server.is_over
        request = Request(self.path, self.headers)
        reply = answer(request)
        self.send_response(reply.status)
        for name, value in reply.fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        body = memoryview(reply.body)[: reply.ends]
        while body:
            block = body[: server.take(min(len(body), 1 << 16))]
            if not block:
                is_over.wait()
                self.close_connection = True
                return
            self.wfile.write(block)
            body = body[len(block) :]
        if reply.ends is not None:
            self.close_connection = True

    def log_message(self, *arguments):
        pass


@dataclass
class Request:
    path: str
    fields: object

    def get(self, name):
        return self.fields.get(name)


# The programs

# As `hf_hub_download` does: the tag of a HEAD request names the partial file, and its length is the
# size that the file must have.
HUGGING_FACE = """
import hashlib, os, sys, urllib.request
from huggingface_hub.file_download import http_get
url, path = sys.argv[1:]
with urllib.request.urlopen(urllib.request.Request(url, method="HEAD")) as head:
    tag, size = head.headers["ETag"] or "", int(head.headers["Content-Length"])
partial = f"{path}.{hashlib.sha256(tag.encode()).hexdigest()}.incomplete"
with open(partial, "ab") as file:
    http_get(url, file, resume_size=file.tell(), expected_size=size)
os.replace(partial, path)
"""


@dataclass
class Program:
    title: str
    # The command that prints the version; then the version.
    version: list | str
    command: Callable


def programs(tool, python):
    """Returns the programs that are installed, and a line for each one that is not."""

    def dlstore(url, folder, name):
        return [
            tool, "get", "--quiet", "--max-attempts", "3", "--retry-wait", "100ms",
            "--store", folder + "/store", "--output-folder", folder, url,
        ]

    def aria2c(url, folder, name):
        return ["aria2c", "--quiet", "-c", "--max-tries=3", "-d", folder, "-o", name, url]

    def curl(url, folder, name):
        return ["curl", "--silent", "--fail", "-L", "-C", "-", "-o", f"{folder}/{name}", url]

    def curl_again(url, folder, name):
        return ["curl", "--silent", "--fail", "-L", "-o", f"{folder}/{name}", url]

    def wget(url, folder, name):
        return ["wget", "--quiet", "-c", "--tries=3", "--waitretry=1", "-P", folder, url]

    def hub(url, folder, name):
        return [python, "-c", HUGGING_FACE, url, f"{folder}/{name}"]

    found = []
    for program in [
        Program("dlstore", [tool, "--version"], dlstore),
        Program("aria2c -c", ["aria2c", "--version"], aria2c),
        Program("wget -c", ["wget", "--version"], wget),
        Program("curl -C -", ["curl", "--version"], curl),
        Program("curl", ["curl", "--version"], curl_again),
        Program(
            "huggingface_hub",
            [python, "-c", "import huggingface_hub as h; print(f'huggingface_hub {h.__version__}')"],
            hub,
        ),
    ]:
        try:
            text = subprocess.run(program.version, capture_output=True, text=True, check=True)
            program.version = re.search(r"\d+(\.\d+)+", text.stdout)[0]
            found.append(program)
        except (OSError, subprocess.CalledProcessError):
            print(f"{program.title} is not installed, and left out", file=sys.stderr)
    return found


# The comparison


def allocated(folder):
    """Returns the number of bytes that the files of a folder occupy on disk."""
    count = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                count += os.stat(os.path.join(parent, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return count


def run(program, url, folder, name, until=None):
    """Runs a program to its end, or interrupts it; returns its exit code."""
    process = subprocess.Popen(
        program.command(url, folder, name), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True,
        env=os.environ | {"HF_HUB_DISABLE_PROGRESS_BARS": "1"},
    )
    deadline = time.monotonic() + LIMIT
    try:
        if until:
            while not until():
                if process.poll() is not None or time.monotonic() > deadline:
                    text = process.stderr.read().decode(errors="replace")
                    raise SystemExit(f"{program.title} has not received the first bytes: {text}")
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
        return process.returncode
    except subprocess.TimeoutExpired:
        return -1
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def has(path, body):
    return os.path.isfile(path) and pathlib.Path(path).read_bytes() == body


def compare(server, program, row, parent):
    """Returns the result of a program with a server, and what the server has sent."""
    folder = tempfile.mkdtemp(dir=parent)
    name = row.path.rsplit("/", 1)[1]
    path = f"{folder}/{name}"
    url = f"http://127.0.0.1:{server.server_port}{row.path}"
    server.sent = 0
    server.begin(row.before, CUT)
    start = allocated(folder)
    run(program, url, folder, name, lambda: not server.budget and allocated(folder) - start > ON_DISK)
    server.end()
    server.begin(row.after)
    code = run(program, url, folder, name)
    if row.right is not None:
        result = "fails" if code else "right" if has(path, row.right) else "wrong"
    elif code == 0:
        result = "wrong"
    else:
        # The server is well again.
        before = server.sent
        server.begin(row.before)
        code = run(program, url, folder, name)
        is_short = not row.keeps or server.sent - before < SIZE - ON_DISK + 2 * MIB
        result = "right" if code == 0 and has(path, OLD) and is_short else "fails"
        if code == 0 and not has(path, OLD):
            result = "wrong"
    shutil.rmtree(folder)
    return result, server.sent / len(row.right or OLD)


def table(results, found):
    """Returns the table in Markdown."""
    right = {OLD: "the old file", NEW: "the new file", SHORT: "the new file", None: "none: exit code"}
    lines = [
        "| the server then has, or answers with | right is | " + " | ".join(f"`{one.title}`" for one in found) + " |",
        "|---|---|" + "---|" * len(found),
    ]
    for row, cells in results:
        texts = [
            (f"**{result}**" if result == "wrong" else result) + f" {sent:.2f}"
            for result, sent in cells
        ]
        lines.append(f"| {row.title} | {right[row.right]} | " + " | ".join(texts) + " |")
    sums = []
    for column in range(len(found)):
        all_results = [cells[column][0] for _, cells in results]
        sums.append("/".join(str(all_results.count(one)) for one in ("right", "fails", "wrong")))
    lines.append("| **right/fails/wrong** | | " + " | ".join(f"**{one}**" for one in sums) + " |")
    return "\n".join(lines)


def write(text):
    """Replaces the table in README.md."""
    page = ROOT / "README.md"
    start, end = "<!-- begin compare-resume -->\n", "<!-- end compare-resume -->\n"
    before, _, rest = page.read_text().partition(start)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"{page}: there is no place for the table")
    page.write_text(f"{before}{start}\n{text}\n\n{end}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default=".build/release/dlstore")
    parser.add_argument("--python", default=sys.executable, help="a Python with huggingface_hub")
    parser.add_argument("--only", metavar="WORD", help="the rows whose titles contain the word")
    parser.add_argument("--program", metavar="TITLE", help="one of the programs")
    parser.add_argument("--folder", help="the working folder; needs 200 MB")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    arguments = parser.parse_args()
    found = programs(os.path.abspath(arguments.tool), arguments.python)
    found = [one for one in found if arguments.program in (None, one.title)]
    server, results = Server(), []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as parent:
        for row in rows():
            if arguments.only and arguments.only not in row.title:
                continue
            cells = [compare(server, program, row, parent) for program in found]
            results.append((row, cells))
            print(row.title, *(f"{one[0]} {one[1]:.2f}" for one in cells), sep="; ", flush=True)
    text = table(results, found)
    versions = dict.fromkeys(f"{one.title.split()[0]} {one.version}" for one in found)
    text += "\n\nMeasured with " + ", ".join(versions) + "."
    print("\n" + text)
    if arguments.readme:
        write(text)
    if any(cells[0][0] != "right" for _, cells in results):
        sys.exit("dlstore was not right everywhere")


if __name__ == "__main__":
    main()
