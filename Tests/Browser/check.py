#!/usr/bin/env python3
"""Checks the pages of `dlstore serve` in a real browser: make browser-test.

A real store, a real engine in another process, and a server of its own that is slow, missing, refused
or hostile on request. Usage: check.py [--dlstore PATH] [--pictures FOLDER] [--only NAME]
"""

import argparse
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from playwright.sync_api import sync_playwright, expect

try:
    from axe_playwright_python.sync_playwright import Axe
except ImportError:
    Axe = None

HOSTILE = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
# The seconds after which a wait is a hang, and no slow machine.
LIMIT = 300
CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]


class Files(http.server.BaseHTTPRequestHandler):
    """Serves /slow/NAME at 256 KiB/s, which no check sees complete, /fast/NAME at once, /missing/NAME as 404, /refused/NAME as 403."""

    protocol_version = "HTTP/1.1"
    size = 1 << 30

    def do_GET(self):
        kind = self.path.split("/")[1]
        if kind == "page":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "15")
            self.end_headers()
            self.wfile.write(b"<!doctype html>")
            return
        if kind in ("missing", "refused", "busy"):
            status = {"missing": 404, "refused": 403, "busy": 503}[kind]
            self.send_response(status, HOSTILE.replace("\n", " ") if kind == "refused" else None)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = 0
        size = self.size if kind == "slow" else 4096
        match = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        end = size
        if match:
            start = int(match[1])
            end = int(match[2]) + 1 if match[2] else size
        self.send_response(206 if match else 200)
        if match:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - start))
        self.send_header("ETag", '"v1"')
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        step = 64 << 10
        try:
            while start < end:
                count = min(step, end - start)
                self.wfile.write(b"x" * count)
                start += count
                if kind == "slow":
                    time.sleep(0.25)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class World:
    """A store, a file server, a page server and a browser."""

    def __init__(self, dlstore, pictures):
        self.dlstore = dlstore
        self.pictures = pictures
        self.folder = tempfile.mkdtemp(prefix="dlstore-browser-")
        self.store = os.path.join(self.folder, "store")
        self.files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        self.files.daemon_threads = True
        threading.Thread(target=self.files.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.files.server_address[1]}"
        self.processes = []

    def run(self, *words, check=True):
        result = subprocess.run(
            [self.dlstore, *words, "--store", self.store], capture_output=True, text=True, timeout=LIMIT
        )
        if check and result.returncode not in (0, 1):
            raise AssertionError(f"{words}: {result.returncode} {result.stderr}")
        return result.stdout

    def start(self, *words):
        process = subprocess.Popen(
            [self.dlstore, *words, "--store", self.store],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )
        self.processes.append(process)
        return process

    def serve(self, *words):
        process = self.start("serve", "--json", "--port", "0", *words)
        line = process.stdout.readline()
        assert line, "dlstore serve has ended"
        return process, json.loads(line)

    def kill(self, process):
        """Kills a process with all that it has started, as a power cut would."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def records(self):
        return json.loads(self.run("list", "--format", "json"))

    def state(self, name):
        return next((r["state"] for r in self.records() if r["filename"] == name), None)

    def wait(self, what):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if what():
                return
            time.sleep(0.1)
        raise AssertionError(f"not within {LIMIT} s: {what}")

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)
        self.files.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def new_page(browser, **options):
    """A page of a new context, whose pages wait as long as this one."""
    context = browser.new_context(**options)
    context.set_default_timeout(LIMIT * 1_000)
    return context.new_page()


def row(page, name):
    return page.locator("tr[data-id]").filter(has=page.locator("th.name a", has_text=name)).first


def open_menu(page, name):
    row(page, name).locator("summary").click()


def press(page, name, text):
    row(page, name).get_by_role("button", name=re.compile(f"^{re.escape(text)}")).first.click()


def said(page, text):
    expect(page.locator("#notice")).to_contain_text(text)


def accessible(page, what):
    if Axe is None:
        return
    results = Axe().run(page).response
    found = [
        f"{v['id']}: {v['help']} ({v['nodes'][0]['html'][:160]})" for v in results["violations"]
    ]
    check(not found, f"{what}: axe has found {found}")


def no_overflow(page, what):
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(width <= 0, f"{what}: {width} px wider than the window")


def prepare(world):
    base = world.base
    world.run("add", f"{base}/slow/debian-13.iso", "--tag", "mirror", "--priority", "5")
    world.run("add", f"{base}/slow/planet-latest.osm.pbf", "--tag", "maps")
    world.run("add", f"{base}/slow/dataset-part-07.parquet", "--tag", "train", "--paused")
    world.run("add", f"{base}/missing/weather-2026-11-27.grib2", "--tag", "weather")
    world.run("add", f"{base}/refused/signed-archive.tar.zst?token=topsecret1234567890", "--tag", "nightly")
    world.run("add", f"{base}/missing/weather-2026-11-26.grib2", "--tag", "weather")
    for name in ("readme.txt", "checksums.txt", "notes.md"):
        world.run("add", f"{base}/fast/{name}", "--tag", "mirror")
    world.run(
        "add", f"{base}/missing/hostile?x=%3Cscript%3E", "--tag", HOSTILE, "--header", f"X-Note: {HOSTILE}"
    )
    world.run("set", f"{base}/missing/hostile?x=%3Cscript%3E", "--filename", HOSTILE.replace("/", "_"))


def views(world, page, address):
    """Each view renders, is accessible, fits the window and runs no text of a server."""
    ids = {r["filename"]: r["id"] for r in world.records()}
    store = f"{address}store/DownloadRecord"
    places = {
        "list": address,
        "failed": f"{address}?state=failed",
        "empty": f"{address}?text=nothing-has-this-name",
        "tags": f"{address}tags",
        "download": f"{address}downloads/{ids['debian-13.iso']}",
        "failure": f"{address}downloads/{ids['signed-archive.tar.zst']}",
        "hostile": f"{address}downloads/{next(i for n, i in ids.items() if 'onerror' in n)}",
        "remove": f"{address}remove?id={ids['notes.md']}",
        "change": f"{address}change?id={ids['notes.md']}",
        "store": f"{address}store",
        "model": f"{store}?where=state%3DfailedPermanent&sort=received:desc",
        "object": f"{store}?object=1",
    }
    problems = []
    for name, place in places.items():
        for width, scheme in ((320, "dark"), (1440, "light")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.goto(place)
            expect(page.locator("main h1")).to_be_visible()
            for test in (
                lambda: check(not page.evaluate("window.hacked"), f"{name}: a text was executed"),
                lambda: check("topsecret" not in page.content(), f"{name}: a secret is shown"),
                lambda: no_overflow(page, f"{name} at {width} px"),
                lambda: accessible(page, f"{name} at {width} px"),
            ):
                try:
                    test()
                except AssertionError as problem:
                    problems.append(str(problem))
            if world.pictures:
                page.screenshot(path=f"{world.pictures}/serve-{name}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")
    check(not problems, "; ".join(problems))


def actions(world, page, address):
    """Each command of the page changes the store, says so, and can be taken back where it can be."""
    page.goto(address)
    press(page, "planet-latest", "Pause")
    said(page, "Paused ‘planet-latest.osm.pbf’")
    check(world.state("planet-latest.osm.pbf") == "paused", "not paused")
    page.get_by_role("button", name="Undo: resume").click()
    said(page, "Resumed")
    check(world.state("planet-latest.osm.pbf") in ("waiting", "running"), "not resumed")
    for command, text, state in (
        ("Cancel", "Cancelled", "cancelled"), ("Download again", "Restarted", None),
    ):
        if command == "Cancel":
            open_menu(page, "planet-latest")
        press(page, "planet-latest", command)
        said(page, text)
        if state:
            world.wait(lambda: world.state("planet-latest.osm.pbf") == state)
            page.goto(f"{address}?state=cancelled")
    page.goto(address)
    open_menu(page, "dataset-part-07")
    press(page, "dataset-part-07", "Start now")
    said(page, "Put first")
    # Several rows at once.
    page.goto(f"{address}?tag=mirror")
    for name in ("readme.txt", "notes.md"):
        row(page, name).locator("input").check()
    expect(page.locator(".chosen")).to_be_visible()
    expect(page.locator("#chosen-count")).to_have_text("2")
    page.locator(".chosen").get_by_role("button", name="Change…").click()
    page.get_by_label("Add tags").fill("kept")
    page.get_by_role("button", name="Change", exact=True).click()
    said(page, "Changed 2 downloads")
    check("kept" in next(r for r in world.records() if r["filename"] == "notes.md")["tags"], "no tag")
    # Removal asks first.
    page.goto(address)
    open_menu(page, "notes.md")
    row(page, "notes.md").get_by_role("link", name="Remove…").click()
    expect(page.locator("h1")).to_have_text("Remove 1 download?")
    page.get_by_role("button", name="Remove").click()
    said(page, "Removed ‘notes.md’")
    # Adding a list, and a text that is none.
    page.locator("#add summary").click()
    page.locator("#add-text").fill(f"{world.base}/fast/added-1.bin\n# a comment\n{world.base}/fast/added-2.bin")
    page.locator("#add-tags").fill("new, kept")
    page.get_by_role("button", name="Add", exact=True).click()
    said(page, "Added 2 downloads")
    page.locator("#add summary").click()
    page.locator("#add-text").fill("no url at all")
    page.get_by_role("button", name="Add", exact=True).click()
    said(page, "is not an http or https URL")
    # A Metalink document.
    page.locator("#add summary").click()
    page.locator("#add-text").fill(
        '<?xml version="1.0" encoding="UTF-8"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">'
        f'<file name="from-metalink.bin"><url>{world.base}/fast/m.bin</url></file></metalink>'
    )
    page.get_by_role("button", name="Add", exact=True).click()
    said(page, "Added ‘from-metalink.bin’")
    # Dropped links.
    page.goto(address)
    page.evaluate(
        """url => {
          const data = new DataTransfer();
          data.setData("text/uri-list", url);
          document.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, cancelable: true }));
          document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }""",
        f"{world.base}/fast/dropped.bin",
    )
    expect(page.locator("#add-text")).to_have_value(f"{world.base}/fast/dropped.bin")
    # What failed, by reason, and again.
    expect(page.locator("#failures")).to_contain_text("The server has no such file")
    page.get_by_role("button", name="Retry all that failed").click()
    said(page, "Resumed")


def live(world, page, address):
    """The page follows an engine in another process, its kill, and commands in a terminal."""
    page.goto(address)
    expect(page.locator("#engine")).to_contain_text("No engine runs")
    engine = world.start("run")
    expect(page.locator("#engine")).to_contain_text("An engine runs")
    running = row(page, "debian-13.iso")
    expect(running.locator(".state")).to_contain_text("Running")
    link = running.locator("a").first
    link.focus()
    expect(running.locator('[data-field="speed"]')).to_contain_text("/s")
    before = running.locator('[data-field="received"]').inner_text()
    expect(running.locator('[data-field="received"]')).not_to_have_text(before)
    focused = page.evaluate("document.activeElement.textContent")
    check(focused == "debian-13.iso", f"the focus has gone to {focused!r}")
    # A command in a terminal.
    world.run("pause", f"{world.base}/slow/debian-13.iso")
    expect(row(page, "debian-13.iso").locator(".state")).to_contain_text("Paused")
    world.run("resume", f"{world.base}/slow/debian-13.iso")
    expect(row(page, "debian-13.iso").locator(".state")).to_contain_text("Running")
    # One download, with its chart.
    detail = page.context.new_page()
    detail.goto(f"{address}downloads/{next(r['id'] for r in world.records() if r['filename'] == 'debian-13.iso')}")
    expect(detail.locator("#chart .curve")).to_have_attribute("d", re.compile("L"))
    if world.pictures:
        detail.set_viewport_size({"width": 1440, "height": 900})
        detail.screenshot(path=f"{world.pictures}/serve-running-1440-light.png", full_page=True)
        page.screenshot(path=f"{world.pictures}/serve-live-1440-light.png", full_page=True)
    detail.close()
    world.kill(engine)
    expect(page.locator("#engine")).to_contain_text("No engine runs")
    expect(row(page, "debian-13.iso").locator(".state")).to_contain_text("Waiting")
    expect(page.locator("#failures")).to_contain_text("failed")


def tabs(world, page, address):
    """Ten tabs of a browser open, and one that was hidden shows what has changed meanwhile."""
    def hide(tab, hidden):
        # Without a window, every tab counts as shown.
        tab.evaluate(
            """hidden => {
              Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
              document.dispatchEvent(new Event("visibilitychange"));
            }""",
            hidden,
        )

    hide(page, True)
    opened = []
    for _ in range(10):
        tab = page.context.new_page()
        tab.goto(address)
        expect(tab.locator("[data-live]")).to_have_text("Live")
        hide(tab, True)
        opened.append(tab)
    world.run("pause", f"{world.base}/slow/debian-13.iso")
    hide(opened[0], False)
    expect(row(opened[0], "debian-13.iso").locator(".state")).to_contain_text("Paused")
    world.run("resume", f"{world.base}/slow/debian-13.iso")
    expect(row(opened[0], "debian-13.iso").locator(".state")).to_contain_text("Waiting")
    # A refresh that fails is repeated.
    answers = iter([lambda route: route.abort(), lambda route: route.fulfill(status=503)])
    opened[0].route(address, lambda route: next(answers, lambda route: route.continue_())(route))
    world.run("pause", f"{world.base}/slow/debian-13.iso")
    expect(row(opened[0], "debian-13.iso").locator(".state")).to_contain_text("Paused", timeout=60_000)
    check(next(answers, None) is None, "no refresh has failed")
    world.run("resume", f"{world.base}/slow/debian-13.iso")
    expect(row(opened[0], "debian-13.iso").locator(".state")).to_contain_text("Waiting")
    for tab in opened:
        tab.close()


def store(world, page, address):
    """The page of the store follows the commits of other processes, and a model can be exported."""
    page.goto(f"{address}store")
    last = page.locator("#store tbody tr[data-id]").first
    before = last.get_attribute("data-id")
    world.run("set", f"{world.base}/slow/debian-13.iso", "--priority", "6")
    expect(last).not_to_have_attribute("data-id", before)
    expect(last.get_by_role("link").first).to_contain_text("debian-13.iso")
    expect(last).to_contain_text("priority")
    expect(page.locator("#growth")).to_contain_text(re.compile(r"opened: [1-9]\d* commits"))
    page.goto(f"{address}store/DownloadRecord?where=filename%3Ddebian-13.iso")
    for name, ending in (("JSON Lines", "jsonl"), ("CSV", "csv")):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        check(download.value.suggested_filename == f"DownloadRecord.{ending}", "another name")
        with open(download.value.path()) as file:
            text = file.read()
        check("debian-13.iso" in text and "planet-latest" not in text, f"{name}: {text[:200]}")


def keyboard(world, page, address):
    """Every command can be reached without a mouse."""
    page.goto(address)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("Pause, resume or retry the row")
    accessible(page, "the shortcuts")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.evaluate("document.activeElement.closest('tr').dataset.id")
    page.keyboard.press("x")
    expect(page.locator(f'tr[data-id="{second}"] .pick input')).to_be_checked()
    page.keyboard.press("Escape")
    expect(page.locator(f'tr[data-id="{second}"] .pick input')).not_to_be_checked()
    page.keyboard.press("m")
    expect(page.locator(f'tr[data-id="{second}"] details')).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#filter-text")).to_be_focused()
    page.keyboard.type("debian")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-id]")).to_have_count(1)
    check("text=debian" in page.url, "the filter is not in the address")
    page.keyboard.press("j")
    page.keyboard.press("p")
    said(page, "‘debian-13.iso’")
    page.keyboard.press("a")
    expect(page.locator("#add-text")).to_be_focused()


def security(world, page, address):
    """Pages of other sites and other names of this host reach nothing."""
    place = urllib.parse.urlsplit(address)
    cookie = "; ".join(f"{c['name']}={c['value']}" for c in page.context.cookies())

    def status(method, path, headers, body=None):
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=LIMIT)
        connection.putrequest(method, path, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return connection.getresponse().status

    host = place.netloc
    form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
    check(status("GET", "/", {"Host": host, "Cookie": cookie}) == 200, "the cookie does not sign in")
    check(status("GET", "/", {"Host": host}) == 401, "no cookie is needed")
    check(status("GET", "/", {"Host": "evil.example", "Cookie": cookie}) == 403, "a rebinding host")
    for headers in (
        {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "same-site"},
    ):
        code = status("POST", "/commands", {"Host": host, **form, **headers}, b"do=pause")
        check(code == 403, f"a form of another site: {headers} {code}")
    # A real page of another origin, in the browser.
    other = page.context.new_page()
    other.goto(f"{world.base.replace('127.0.0.1', 'localhost')}/page")
    before = [r["state"] for r in world.records()]
    other.evaluate(
        """address => {
          const form = document.createElement("form");
          form.method = "post";
          form.action = address + "commands";
          form.innerHTML = '<input name="do" value="cancel"><input name="scope" value="state=waiting">';
          document.documentElement.append(form);
          form.submit();
        }""",
        address,
    )
    other.wait_for_load_state()
    time.sleep(0.3)
    check(before == [r["state"] for r in world.records()], "another site has changed the store")
    other.close()


def read_only(world, browser):
    """A server that changes nothing shows no command, and pages work without scripts."""
    process, server = world.serve()
    page = new_page(browser, java_script_enabled=False)
    page.goto(server["url"])
    expect(page.locator("footer")).to_contain_text("--allow-changes")
    check(page.locator("main button:not(:has-text('Apply'))").count() == 0, "a command is shown")
    page.locator("#filter-text").fill("debian")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("tr[data-id]")).to_have_count(1)
    page.context.close()
    world.kill(process)


def without_script(world, browser, url):
    """Commands work without scripts."""
    page = new_page(browser, java_script_enabled=False)
    page.goto(url)
    row(page, "dataset-part-07").locator("input").check()
    page.locator(".chosen").get_by_role("button", name="Pause").click()
    said(page, "‘dataset-part-07.parquet’")
    check(world.state("dataset-part-07.parquet") == "paused", "not paused")
    page.context.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlstore", default=".build/tests/release/dlstore")
    parser.add_argument("--pictures")
    parser.add_argument("--only")
    options = parser.parse_args()
    chromium = next((path for path in CHROMIUM if os.path.exists(path)), None)
    if chromium is None:
        sys.exit("check.py: no chromium is installed: run .ci/install browser")
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    world = World(os.path.abspath(options.dlstore), options.pictures)
    failed = 0
    try:
        prepare(world)
        _, server = world.serve("--allow-changes")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"], timeout=LIMIT * 1_000
            )
            page = new_page(browser, viewport={"width": 1440, "height": 900})
            expect.set_options(timeout=LIMIT * 1_000)
            errors = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
            page.goto(server["url"])
            address = urllib.parse.urljoin(page.url, "/")
            checks = [
                ("live", lambda: live(world, page, address)),
                ("tabs", lambda: tabs(world, page, address)),
                ("store", lambda: store(world, page, address)),
                ("views", lambda: views(world, page, address)),
                ("keyboard", lambda: keyboard(world, page, address)),
                ("actions", lambda: actions(world, page, address)),
                ("security", lambda: security(world, page, address)),
                ("read-only", lambda: read_only(world, browser)),
                ("without-script", lambda: without_script(world, browser, server["url"])),
            ]
            for name, body in checks:
                if options.only and options.only != name:
                    continue
                start = time.monotonic()
                try:
                    body()
                    check(not errors, f"the console has errors: {errors[:3]}")
                    print(f"ok      {name} ({time.monotonic() - start:.1f} s)", flush=True)
                except Exception as error:
                    failed += 1
                    errors.clear()
                    print(f"FAILED  {name}: {error}", flush=True)
                    if options.pictures:
                        page.screenshot(path=f"{options.pictures}/failed-{name}.png", full_page=True)
            browser.close()
    finally:
        world.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
