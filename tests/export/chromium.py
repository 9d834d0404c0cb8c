"""Drive a headless Chromium through its own protocol, by pipes and without packages."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
from contextlib import contextmanager

import pytest

__all__ = ["Page", "find_chromium"]

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip


# Seconds to wait for an answer.
PATIENCE = 60


def find_chromium():
    """Return the path of a Chromium, or skip the test."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("needs Chromium")


class Page:
    """One page of one browser.

    Every request that the page sends anywhere but to files is kept in ``requests``, and
    what it complains of in ``errors``.
    """

    def __init__(self, width=1400, height=900):
        self.folder = tempfile.mkdtemp()
        read, self._out = os.pipe()
        self._in, write = os.pipe()

        def hand_over():
            # The browser reads from its descriptor 3 and writes to 4.
            kept = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        flags = [*FLAGS, f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(
            [find_chromium(), *flags],
            preexec_fn=hand_over,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._pending = b""
        self._last = 0
        self.session = None
        self.requests, self.errors = [], []
        self._loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # The protocol.

    def call(self, method, **params):
        """Send a command and return its result."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _read(self):
        while b"\0" not in self._pending:
            if not select.select([self._in], [], [], PATIENCE)[0]:
                raise RuntimeError("the browser does not answer")
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self._pending += part
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("exception"))

    # What a person does.

    def open(self, path):
        self.visit(path.resolve().as_uri())

    def visit(self, address):
        """Open an address, and wait until it is there."""
        with self.loading():
            self.call("Page.navigate", url=address)

    @contextmanager
    def loading(self):
        """Wait for the page that is opened inside."""
        self._loaded = False
        yield
        while not self._loaded:
            self._note(self._read())

    def run(self, script):
        """Return the value of an expression in the page."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def resize(self, width, height, *, mobile=False, scale=1):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=mobile,
        )

    def prefer(self, scheme):
        """Choose "light" or "dark"."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def press(self, key, *, text=None, shift=False):
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38}
        codes |= {"ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "Tab": 9}
        code = codes.get(key, ord(key[0].upper()))
        event = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
        if len(key) == 1 or text:
            event["text"] = text or key
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', inline: 'center'});"
            "const r = e.getBoundingClientRect();"
            "return [r.left + r.width / 2, r.top + r.height / 2]; })()"
        )
        event = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **event)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **event)

    def screenshot(self, path, *, full=False):
        options = {"captureBeyondViewport": True} if full else {}
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self):
        """Return the page as it would be printed."""
        printed = self.call("Page.printToPDF", printBackground=True)["data"]
        return base64.b64decode(printed)
