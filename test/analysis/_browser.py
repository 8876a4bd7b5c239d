# SPDX-License-Identifier: GPL-3.0-or-later
"""Headless Chromium, driven through a pipe, behind a proxy that counts who wants to leave.

    with Browser() as browser:
        seen = browser.open(path, width=360, dark=True)
        seen.evaluate("document.title"), seen.requests, browser.calls
"""
import base64
import fcntl
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading

PROGRAM = shutil.which("chromium")


class Page:
    """One page as it was shown: its requests, and what it answers."""

    def __init__(self, browser, session, requests):
        self.browser, self.session, self.requests = browser, session, requests

    def evaluate(self, expression):
        answer = self.browser.call("Runtime.evaluate", self.session, expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", expression))
        return answer["result"].get("value")

    def screenshot(self, whole=False):
        """A PNG of the first screen, or of the whole page."""
        answer = self.browser.call("Page.captureScreenshot", self.session, captureBeyondViewport=whole, **(
            {"clip": {"x": 0, "y": 0, "scale": 1,
                      "width": self.evaluate("document.documentElement.clientWidth"),
                      "height": self.evaluate("document.documentElement.scrollHeight")}} if whole else {}))
        return base64.b64decode(answer["data"])

    def pdf(self):
        answer = self.browser.call("Page.printToPDF", self.session, printBackground=True)
        return base64.b64decode(answer["data"])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


class Browser:
    """A browser of its own profile; `calls` are the first lines that reached its proxy."""

    def __init__(self):
        self.calls = []
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.proxy = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._count, daemon=True).start()
        into, self.write = self._pipe()
        self.read, out = self._pipe()

        def hand_over():
            os.dup2(into, 3)
            os.dup2(out, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
             "--disable-default-apps", "--disable-domain-reliability", "--hide-scrollbars", "--mute-audio",
             "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication",
             f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe",
             f"--proxy-server=http://127.0.0.1:{self.proxy.getsockname()[1]}", "--proxy-bypass-list=<-loopback>",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=hand_over, close_fds=False, env=dict(os.environ, HOME=self.folder.name))
        os.close(into)
        os.close(out)
        self.number, self.rest, self.events = 0, b"", []

    @staticmethod
    def _pipe():
        """Ends above 9, so that none of them is in the way of 3 and 4."""
        ends = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
        for end in ends:
            os.close(end)
        return high

    def _count(self):
        """Notes whoever comes, and refuses."""
        while True:
            try:
                connection, _ = self.proxy.accept()
                with connection:
                    self.calls.append(connection.recv(4096).split(b"\r\n")[0].decode("latin-1"))
                    connection.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            except OSError:
                return

    def _message(self):
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has gone")
            self.rest += more
        first, self.rest = self.rest.split(b"\0", 1)
        return json.loads(first)

    def call(self, method, session=None, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if session:
            asked["sessionId"] = session
        text = json.dumps(asked).encode() + b"\0"
        while text:
            text = text[os.write(self.write, text):]
        while True:
            message = self._message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def _wait_for(self, session, name):
        """Up to the event `name` of a session; returns the requests of the page until then."""
        while not any(e.get("method") == name and e.get("sessionId") == session for e in self.events):
            self.events.append(self._message())
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("sessionId") == session and e.get("method") == "Network.requestWillBeSent"]

    def open(self, path, width=1400, height=900, dark=False):
        """Shows the file; returns it once it has loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable", session)
        self.call("Emulation.setDeviceMetricsOverride", session, width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", session,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        self.call("Page.navigate", session, url=pathlib.Path(path).resolve().as_uri())
        page = Page(self, session, self._wait_for(session, "Page.loadEventFired"))
        page.target = target
        return page

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            self.process.kill()
        self.process.wait()
        self.proxy.close()
        os.close(self.read)
        os.close(self.write)
        self.folder.cleanup()
