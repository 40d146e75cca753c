# SPDX-License-Identifier: GPL-2.0
"""
Headless Chromium by the DevTools protocol over a pipe (--remote-debugging-pipe: file descriptors 3 and 4, each
message JSON and a NUL). Nothing listens anywhere, and nothing is fetched: all requests but those for the page
itself are refused, and remembered.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time


class Failed(Exception):
    pass


class Browser:
    def __init__(self, profile, width=1400, height=1000):
        program = shutil.which("chromium")
        if not program:
            raise Failed("there is no chromium; harness/deps reports installs it")
        shutil.rmtree(profile, ignore_errors=True)
        os.makedirs(profile)
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        # Out of the way of 3 and 4, which the shell then makes of them.
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_read, to_write)]
        os.close(to_read)
        os.close(to_write)
        command = [program, "--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio", "--hide-scrollbars",
                   "--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir=" + os.path.abspath(profile),
                   "--window-size=%d,%d" % (width, height)]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen(["bash", "-c", 'exec "$@" 3<&%d 4>&%d' % tuple(theirs), "-"] + command + ["about:blank"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=theirs,
                                        env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": "disabled:"})
        for fd in theirs:
            os.close(fd)
        self.number = 0
        self.buffer = b""
        self.session = None
        self.requests = []      # addresses that the page asked for
        self.errors = []        # of its script
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")
        self.call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        if self.process.poll() is None:
            try:
                os.write(self.to, b'{"id":0,"method":"Browser.close"}\0')
                self.process.wait(20)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def _send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self.number

    def _receive(self, end):
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise Failed("Chromium does not answer")
            more = os.read(self.back, 1 << 20)
            if not more:
                raise Failed("Chromium ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _event(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Fetch.requestPaused":
            url = params["request"]["url"]
            self.requests.append(url)
            if url.startswith("file:") or url.startswith("data:"):
                self._send("Fetch.continueRequest", requestId=params["requestId"])
            else:
                self._send("Fetch.failRequest", requestId=params["requestId"], errorReason="BlockedByClient")
        elif method == "Runtime.exceptionThrown":
            detail = params["exceptionDetails"]
            self.errors.append(detail.get("exception", {}).get("description", detail.get("text", "?")))
        elif method == "Runtime.consoleAPICalled" and params.get("type") == "error":
            self.errors.append(str(params.get("args")))

    def call(self, method, seconds=60, **params):
        number, end = self._send(method, **params), time.monotonic() + seconds
        while True:
            message = self._receive(end)
            if message.get("id") == number:
                if "error" in message:
                    raise Failed("%s: %s" % (method, message["error"].get("message")))
                return message.get("result", {})
            self._event(message)

    def open(self, path, fragment="", seconds=60):
        self.requests.clear()
        self.errors.clear()
        # From elsewhere: the same page with another fragment would not be loaded again.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        end = time.monotonic() + seconds
        while self.js("document.readyState") != "complete" or self.js("location.protocol") != "file:":
            if time.monotonic() > end:
                raise Failed("the page does not come to an end")
            time.sleep(0.05)

    def js(self, expression):
        """The value of an expression in the page; what it throws is raised here."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failed("%s: %s" % (expression, result["exceptionDetails"].get("exception", {}).get("description")))
        return result["result"].get("value")

    def click(self, selector):
        """A click of the mouse at the middle of an element, where whatever covers it would get it instead."""
        where = self.js("(() => { const e = document.querySelector(%s); if (!e) return null; e.scrollIntoView({ block: 'center' });"
                        "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2, r.width]; })()" % json.dumps(selector))
        if not where or not where[2]:
            raise Failed("nothing to click at " + selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], button="left", clickCount=1)

    def key(self, key, text=""):
        code = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}.get(key, 0)
        if key == "Enter":
            text = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def picture(self, path, clip=None):
        params = {"format": "png"}
        if clip:
            params["clip"] = {"x": clip[0], "y": clip[1], "width": clip[2], "height": clip[3], "scale": 1}
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", **params)["data"]))
