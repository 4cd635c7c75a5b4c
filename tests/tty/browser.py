"""A headless Chromium, told what to do through a pair of pipes (the DevTools protocol)."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page of the given size in CSS pixels, without a network."""

    def __init__(self, width=1200, height=800):
        # Children of the browser may still write while it ends.
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self.write = os.pipe()
        self.read, from_child = os.pipe()
        plumbing = f"exec 3<&{to_child} 4>&{from_child}; exec \"$@\""
        self.child = subprocess.Popen(
            ["bash", "-c", plumbing, "browser", PROGRAM, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.folder.name}",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.data, self.count, self.session, self.problems = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.size(width, height)

    def _message(self, timeout=300):
        end = time.time() + timeout
        while b"\0" not in self.data:
            assert time.time() < end, "the browser does not answer"
            if select.select([self.read], [], [], 1)[0]:
                data = os.read(self.read, 1 << 20)
                assert data, "the browser ended"
                self.data += data
        line, self.data = self.data.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(answer["params"]))
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)

    def open(self, path, state=""):
        # A change behind the # alone would not load the page again.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + "#" + state)
        end = time.time() + 300
        while self.ask("document.readyState + location.protocol") != "completefile:":
            assert time.time() < end, "the page does not load"
            time.sleep(0.05)

    def ask(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def key(self, name):
        text = {"text": " "} if name == " " else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name,
                      code="Space" if name == " " else name, **(text if kind == "keyDown" else {}))

    def point(self, selector, click=False):
        """Moves the pointer to the middle of an element."""
        x, y = self.ask(f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
                        ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2];"
                        " })()")
        for kind in ["mouseMoved"] + ["mousePressed", "mouseReleased"] * click:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=int(kind != "mouseMoved"))

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.child.terminate()
        self.child.wait()
        os.close(self.write)
        os.close(self.read)
        self.folder.cleanup()
