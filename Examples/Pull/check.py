#!/usr/bin/env python3
"""Tests the example with a registry: check.py PULL

An image is pulled by two processes at a time through a proxy whose tokens expire, with 20 kills
at moments when a blob is under way. Then every blob must have its digest, and only few bytes may
have been sent twice. Needs docker-registry.
"""

import hashlib
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kills import LIMIT, Handler, Server, kill_often, wait_until  # noqa: E402

PULL = os.path.abspath(sys.argv[1])
REGISTRY_CONFIG = """
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {folder}}}}}
http: {{addr: 127.0.0.1:{port}}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Registry:
    """Debian's docker-registry with one image for two platforms."""

    def __init__(self, work):
        self.port = free_port()
        config = os.path.join(work, "registry.yml")
        with open(config, "w") as file:
            file.write(REGISTRY_CONFIG.format(folder=os.path.join(work, "registry"), port=self.port))
        environment = dict(os.environ, OTEL_TRACES_EXPORTER="none")
        self.process = subprocess.Popen(
            ["docker-registry", "serve", config],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
        )
        wait_until(self.responds, "the registry does not start")

    def responds(self):
        try:
            return self.request("GET", "/v2/").status == 200
        except OSError:
            return False

    def request(self, method, path, body=None, content_type="application/octet-stream"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        connection.request(method, path, body, {"Content-Type": content_type})
        response = connection.getresponse()
        response.read()
        return response

    def push_blob(self, data):
        upload = self.request("POST", "/v2/tool/blobs/uploads/").getheader("Location")
        parts = urllib.parse.urlsplit(upload)
        query = f"{parts.query}&digest={urllib.parse.quote(digest(data))}"
        assert self.request("PUT", f"{parts.path}?{query}", data).status == 201
        return {"digest": digest(data), "size": len(data)}

    def push_manifest(self, reference, content):
        data = json.dumps(content).encode()
        path = f"/v2/tool/manifests/{reference or digest(data)}"
        assert self.request("PUT", path, data, content["mediaType"]).status == 201
        return {"mediaType": content["mediaType"], "digest": digest(data), "size": len(data)}

    def push(self):
        """Pushes the image, and returns the size of its blobs."""
        layers = [self.push_blob(secrets.token_bytes(size)) for size in [6 << 20] * 4 + [1_000, 0]]
        config = self.push_blob(b'{"architecture": "any", "os": "linux"}')
        oci = "application/vnd.oci.image"
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{oci}.manifest.v1+json",
            "config": {"mediaType": f"{oci}.config.v1+json", **config},
            "layers": [{"mediaType": f"{oci}.layer.v1.tar", **layer} for layer in layers],
        }
        pushed = self.push_manifest(None, manifest)
        platforms = [{"architecture": name, "os": "linux"} for name in ["amd64", "arm64"]]
        self.push_manifest("latest", {
            "schemaVersion": 2,
            "mediaType": f"{oci}.index.v1+json",
            "manifests": [{**pushed, "platform": platform} for platform in platforms],
        })
        return sum(layer["size"] for layer in layers) + config["size"]


class Proxy(Server):
    """Forwards requests with tokens that expire half a second after their first use; limits the rate."""

    def __init__(self, registry):
        self.registry = registry
        # The time at which each token was used first, and how often each request was refused in a row.
        self.tokens = {}
        self.refusals = {}
        self.token_count = 0
        self.blob_bytes = 0
        super().__init__(Forwarder)

    def accepts(self, token, request):
        """Whether a token has not expired.

        A slow machine may use one token for several requests, and send some of them late. The puller gets
        three tokens for a request, so no request is refused more than twice.
        """
        now = time.monotonic()
        with self.lock:
            if token in self.tokens:
                self.tokens[token] = self.tokens[token] or now
                if now < self.tokens[token] + 0.5 or self.refusals.get(request, 0) >= 2:
                    self.refusals.pop(request, None)
                    return True
            self.refusals[request] = self.refusals.get(request, 0) + 1
            return False


class Forwarder(Handler):
    def do_GET(self):
        server = self.server
        if self.path.startswith("/token"):
            token = secrets.token_hex(8)
            with server.lock:
                server.tokens[token] = None
                server.token_count += 1
            return self.reply(200, json.dumps({"token": token}).encode())
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not server.accepts(token, (self.path, self.headers.get("Range"))):
            realm = f'http://127.0.0.1:{server.server_port}/token'
            challenge = f'Bearer realm="{realm}",service="test",scope="repository:tool:pull"'
            return self.reply(401, b"{}", [("WWW-Authenticate", challenge)])
        self.forward()

    def forward(self):
        names = ["Accept", "Range", "If-Range"]
        fields = {name: self.headers[name] for name in names if name in self.headers}
        port = self.server.registry.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
        connection.request("GET", self.path, headers=fields)
        response = connection.getresponse()
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ["connection", "date", "transfer-encoding"]:
                self.send_header(name, value)
        self.end_headers()
        while piece := response.read(32_768):
            self.wfile.write(piece)
            if "/blobs/" in self.path:
                with self.server.lock:
                    self.server.blob_bytes += len(piece)
                time.sleep(0.03)


def check_layout(folder):
    blobs = os.path.join(folder, "blobs", "sha256")
    names = sorted(os.listdir(blobs))
    # The index, the manifest, the configuration and six layers.
    assert len(names) == 9, names
    for name in names:
        with open(os.path.join(blobs, name), "rb") as file:
            assert hashlib.sha256(file.read()).hexdigest() == name, name
    with open(os.path.join(folder, "index.json")) as file:
        assert json.load(file)["manifests"][0]["digest"].removeprefix("sha256:") in names


def main():
    with tempfile.TemporaryDirectory() as work:
        registry = Registry(work)
        pulls = []
        try:
            size = registry.push()
            proxy = Proxy(registry)
            folder = os.path.join(work, "image")
            log = open(os.path.join(work, "log"), "w+b")
            command = [PULL, f"http://127.0.0.1:{proxy.server_port}/tool:latest", folder]

            def pull():
                return subprocess.Popen(command, stdout=log, stderr=log)

            pulls = [pull(), pull()]
            kills = kill_often(pulls, pull, lambda: proxy.blob_bytes, size)
            for one in pulls:
                status = one.wait(LIMIT)
                log.seek(0)
                assert status == 0, log.read().decode()[-4000:]
            check_layout(folder)
            # A thread that sends to a killed client ends only when it notices that.
            wait_until(lambda: proxy.connections == 0, "a connection does not end")
            sent, tokens = proxy.blob_bytes, proxy.token_count
            assert subprocess.run(command, stdout=log, stderr=log, timeout=LIMIT).returncode == 0
            assert proxy.blob_bytes == sent, "a complete image was requested again"
            print(f"{kills} kills, {tokens} tokens, {size} bytes, {sent - size} of them sent again")
        finally:
            for process in pulls + [registry.process]:
                process.kill()
                process.wait()


main()
