"""A real browser in tests: Chromium without a window, spoken to in its DevTools protocol over two pipes.

No package is needed. What a page did that it must not (errors, words on the console, refused resources, dialogs) is kept in `complaints`.
"""
import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 60.0


class Browser:
    def __init__(self, program):
        to_browser, self.send_to = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in os.pipe())
        self.read_from, from_browser = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in os.pipe())
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

        def pipes():
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
                 f"--user-data-dir={self.profile.name}"]
        self.process = subprocess.Popen([program, *flags], preexec_fn=pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser), os.close(from_browser)
        self.buffer, self.next_id, self.session, self.complaints = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.profile.cleanup()

    def call(self, method, **parameters):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.send_to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            answer = self.receive(end)
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.watch(answer)
        sys.exit(f"{method}: the browser does not answer")

    def receive(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_from], [], [], max(0.0, end - time.monotonic()))
            more = os.read(self.read_from, 1 << 16) if ready else b""
            if not more:
                sys.exit("the browser has ended, or hangs")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def watch(self, event):
        method, about = event.get("method", ""), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(f"threw: {about['exceptionDetails'].get('exception', {}).get('description', about)}")
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console: {about['args']}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {about['message']}")
            self.next_id += 1  # nobody waits for the answer
            closing = {"id": self.next_id, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}, "sessionId": self.session}
            os.write(self.send_to, json.dumps(closing).encode() + b"\0")
        elif method == "Log.entryAdded" and about["entry"]["source"] != "network":
            self.complaints.append(f"log: {about['entry']['text']}")  # such as what the content security policy stops

    def run(self, script):
        """The value of an expression, awaited, or a failure."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"{script}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def until(self, script):
        """Waits until the expression is true."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self.run(script):
                return
            time.sleep(0.05)
        sys.exit(f"never came true: {script}; complaints: {self.complaints}")

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def click(self, selector):
        """With the mouse, where the element is: what lies over it is what gets it."""
        at = self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: "nearest"}});
            const box = e.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key):
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowRight": 39}[key]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
