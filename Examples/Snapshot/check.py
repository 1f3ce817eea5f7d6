#!/usr/bin/env python3
"""Tests the example with a small hub: check.py SNAPSHOT

A model is downloaded by two processes at a time, with 20 kills at moments when a file is under way.
The hub redirects large files to URLs of another server, which expire half a second after their first
use. Then each file of the snapshot must have its digest, and the snapshot must be found without the hub.
"""

import hashlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kills import LIMIT, Handler, Server, kill_often  # noqa: E402

SNAPSHOT = os.path.abspath(sys.argv[1])
TOKEN = "hf_test"
COMMIT = hashlib.sha1(b"commit").hexdigest()


def git_oid(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Entry:
    def __init__(self, path, data, is_large):
        self.path, self.data, self.is_large = path, data, is_large
        self.oid = git_oid(data)
        self.sha256 = hashlib.sha256(data).hexdigest()

    def listed(self):
        entry = {"type": "file", "path": self.path, "size": len(self.data), "oid": self.oid}
        if self.is_large:
            entry["lfs"] = {"oid": self.sha256, "size": len(self.data), "pointerSize": 134}
        return entry


class Hub(Handler):
    def do_GET(self):
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.reply(401)
        path = urllib.parse.unquote(self.path.split("?")[0])
        if path == "/api/models/org/model/revision/main":
            return self.reply(200, json.dumps({"sha": COMMIT}).encode())
        if path == f"/api/models/org/model/tree/{COMMIT}":
            folder = {"type": "directory", "path": "sub", "size": 0, "oid": git_oid(b"")}
            entries = [entry.listed() for entry in self.server.entries]
            return self.reply(200, json.dumps([folder] + entries).encode())
        name = path.removeprefix(f"/org/model/resolve/{COMMIT}/")
        entry = next((one for one in self.server.entries if one.path == name), None)
        if entry is None:
            return self.reply(404)
        if not entry.is_large:
            return self.reply(200, entry.data, [("ETag", f'"{entry.oid}"')])
        location = f"{self.server.files.url}/{entry.sha256}?signature={secrets.token_hex(8)}"
        fields = [
            ("Location", location), ("X-Linked-Size", str(len(entry.data))),
            ("X-Linked-Etag", f'"{entry.sha256}"'),
        ]
        self.reply(302, b"", fields)


class Files(Handler):
    def do_GET(self):
        server = self.server
        if "Authorization" in self.headers:
            server.has_seen_token = True
        parts = urllib.parse.urlsplit(self.path)
        # Not since the redirect: a slow machine may follow it late.
        now = time.monotonic()
        with server.lock:
            first_use = server.uses.setdefault(parts.query, now)
        if now > first_use + 0.5:
            return self.reply(403)
        data = next(one.data for one in server.entries if one.sha256 == parts.path[1:])
        tag, size = f'"{parts.path[1:]}"', len(data)
        first, last = 0, size - 1
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range", tag) == tag:
            start, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(start), min(int(end or last), last)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        else:
            self.send_response(200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        for start in range(first, last + 1, 32_768):
            piece = data[start:min(start + 32_768, last + 1)]
            self.wfile.write(piece)
            with server.lock:
                server.sent += len(piece)
            time.sleep(0.03)


def check_snapshot(folder, entries):
    for entry in entries:
        path = os.path.join(folder, entry.path)
        assert os.path.islink(path) and not os.path.isabs(os.readlink(path)), entry.path
        with open(path, "rb") as file:
            assert file.read() == entry.data, entry.path


def main():
    weights = secrets.token_bytes(6 << 20)
    entries = [
        Entry("config.json", b'{"layers": 3}', False),
        Entry("empty.txt", b"", False),
        Entry("sub/folder/caf\u00e9 1.txt", b"text", False),
        Entry("weights-1.bin", weights, True),
        # The same contents under another name.
        Entry("sub/weights.bin", weights, True),
        Entry("weights-2.bin", secrets.token_bytes(6 << 20), True),
        Entry("weights-3.bin", secrets.token_bytes(6 << 20), True),
    ]
    size = 3 * (6 << 20)
    hub, files = Server(Hub), Server(Files)
    hub.entries = files.entries = entries
    hub.files = files
    files.sent, files.uses, files.has_seen_token = 0, {}, False
    with tempfile.TemporaryDirectory() as work:
        log = open(os.path.join(work, "log"), "w+b")
        cache = os.path.join(work, "cache")
        environment = dict(os.environ, HF_TOKEN=TOKEN)
        command = [SNAPSHOT, f"{hub.url}/org/model", cache]

        def snapshot():
            return subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True
            )

        pair = [snapshot(), snapshot()]
        try:
            kills = kill_often(pair, snapshot, lambda: files.sent, size)
            folders = set()
            for one in pair:
                output, _ = one.communicate(timeout=LIMIT)
                log.seek(0)
                assert one.returncode == 0, output + log.read().decode()[-4000:]
                folders.add(output.strip())
            [folder] = folders
            check_snapshot(folder, entries)
            assert not files.has_seen_token, "the token was sent to the server of the files"
            sent = files.sent
            hub.shutdown()
            offline = [SNAPSHOT, "--offline", f"{hub.url}/org/model", cache]
            run = subprocess.run(offline, capture_output=True, text=True, timeout=LIMIT)
            assert (run.returncode, run.stdout.strip()) == (0, folder), run
            print(f"{kills} kills, {size} bytes, {sent - size} of them sent again")
        finally:
            for process in pair:
                process.kill()


main()
