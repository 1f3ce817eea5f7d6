"""What the checks of the pullers share: a quiet server, and two processes that are killed."""

import http.server
import random
import signal
import threading
import time

KILLS = 20
# A hang, and no slow machine.
LIMIT = 600


class Server(http.server.ThreadingHTTPServer):
    """Serves on a free port in threads of its own."""

    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.lock = threading.Lock()
        self.connections = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, request, client_address):
        with self.lock:
            self.connections += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.connections -= 1

    def handle_error(self, request, client_address):
        pass  # A killed client.


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def reply(self, status, body=b"", fields=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def wait_until(condition, message):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, message
        time.sleep(0.005)


def kill_often(pair, start, sent, size):
    """Kills one of two processes and starts it again, each time that some more bytes were sent.

    Returns the number of kills. Both may end before the last one, on a machine that is slow to start
    processes.
    """
    kills = 0

    def have_ended():
        return all(one.poll() is not None for one in pair)

    while kills < KILLS and not have_ended():
        seen = sent()
        wait_until(lambda: sent() > seen + size // KILLS or have_ended(), "no progress")
        victim = random.randrange(2)
        pair[victim].send_signal(signal.SIGKILL)
        pair[victim].communicate()
        pair[victim] = start()
        kills += 1
    return kills
