#!/usr/bin/env python3
"""Measures what slow and hostile clients cost `dlstore serve`, and that it drops them.

    Benchmarks/serve-limits.py [--tool .build/release/dlstore] [--connections 1000]

Prints a line per case: the memory of the server, and how long the clients were kept. Fails if the
server does not answer another client meanwhile or afterwards.
"""

import argparse
import json
import os
import pathlib
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
arguments.add_argument("--tool", default=".build/release/dlstore")
arguments.add_argument("--connections", type=int, default=1000)
options = arguments.parse_args()

folder = tempfile.TemporaryDirectory()
os.environ["DLSTORE_STORE"] = str(pathlib.Path(folder.name) / "store")
server = subprocess.Popen(
    [options.tool, "serve", "--allow-changes", "--json", "--port", "0"],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
)
address = json.loads(server.stdout.readline())
port = address["port"]
token = address["url"].split("token=")[1]
authorization = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"


def memory():
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def connect(text=""):
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    if text:
        client.sendall(text.encode())
    return client


def answers(limit=60):
    """The seconds until another client has its answer."""
    start = time.monotonic()
    with connect(f"GET /api/v1/stats HTTP/1.1\r\n{authorization}Connection: close\r\n\r\n") as client:
        client.settimeout(limit)
        reply = client.recv(100)
    if b" 200 " not in reply:
        sys.exit(f"the server answers {reply!r}")
    return time.monotonic() - start


def wait_for_end(clients, limit):
    """The seconds until the server has closed all connections; those that it has not are counted."""
    start = time.monotonic()
    selector = selectors.DefaultSelector()
    for client in clients:
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
    while selector.get_map() and time.monotonic() - start < limit:
        for key, _ in selector.select(0.5):
            try:
                if key.fileobj.recv(65536):
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
    return time.monotonic() - start, len(selector.get_map())


def report(case, clients, meanwhile, limit=150):
    high = memory()
    seconds, left = wait_for_end(clients, limit)
    for client in clients:
        client.close()
    after = answers()
    print(f"{case:<44} {high:6.1f} MiB  other client {meanwhile:5.2f} s  dropped after {seconds:5.1f} s"
          f"  left {left}  afterwards {after:.2f} s", flush=True)
    if left:
        sys.exit(f"{left} connections were not dropped")


print(f"idle: {memory():.1f} MiB, an answer in {answers() * 1000:.0f} ms")
report("200 connections that send nothing", [connect() for _ in range(200)], answers())
report("200 halves of a request", [connect("GET / HTTP/1.1\r\nHost: l") for _ in range(200)], answers())
head = f"POST /api/v1/downloads HTTP/1.1\r\n{authorization}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
report("100 bodies that never end", [connect(head) for _ in range(100)], answers())
huge = f"GET / HTTP/1.1\r\nHost: localhost\r\nX: {'x' * 1000000}"
clients = []
for _ in range(50):
    try:
        clients.append(connect(huge))
    except OSError:
        pass
report("50 headers of 1 MB", clients, answers())
body = json.dumps({"requests": [{"url": f"http://localhost:9/{n}", "paused": True} for n in range(1000)]})
with connect(f"POST /api/v1/downloads HTTP/1.1\r\n{authorization}Connection: close\r\n"
             f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}") as client:
    if b" 201 " not in client.recv(100):
        sys.exit("the downloads were not added")
many = f"GET /api/v1/downloads?limit=1000 HTTP/1.1\r\n{authorization}\r\n" * 50
clients = [connect(many) for _ in range(20)]
time.sleep(30)
report("20 clients that read none of 1000 MB", clients, answers())
flood = [connect() for _ in range(options.connections)]
report(f"{options.connections} connections at once", flood, answers(120), 300)
with connect(f"GET /events HTTP/1.1\r\n{authorization}\r\n") as events:
    events.settimeout(60)
    if b"event-stream" not in events.recv(4096):
        sys.exit("the events do not begin")
server.terminate()
print(f"exit code {server.wait(20)}")
