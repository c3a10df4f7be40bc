#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""browser.py PROFILE FILE: drives a real chromium, over the pipe of its DevTools, as a person would.

Reads a command a line and prints the answer of each that has one:

    eval EXPRESSION         its value as JSON
    wait EXPRESSION         until it is true
    key KEY [shift]         a key of the keyboard, by its name: "ArrowUp", "/", "Enter"
    type TEXT
    click SELECTOR          the middle of the first such element
    drag SELECTOR SELECTOR  from one to the other
    dark | light            what the system prefers
    size WIDTH HEIGHT
    screenshot FILE

At the end it prints what went to the console as a warning or an error, and what the page's policy
refused, and fails if there was any.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys

profile, page = sys.argv[1:3]
problems = []


class Browser:
    def __init__(self):
        to_read, self.to = os.pipe()
        self.out, to_write = os.pipe()
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                 "--disable-background-networking", "--window-size=1300,900", f"--user-data-dir={profile}", "about:blank"]

        def pass_on():  # chromium reads 3 and writes 4
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, close_fds=False,
                                        preexec_fn=pass_on)
        os.close(to_read)
        os.close(to_write)
        self.n, self.rest, self.session = 0, b"", None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.send("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.out, 1 << 16)
            if not piece:
                sys.exit("chromium has gone")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, m):
        p = m.get("params", {})
        if m.get("method") == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            problems.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif m.get("method") == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            problems.append("exception: " + d.get("exception", {}).get("description", d["text"]))
        elif m.get("method") == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            problems.append(f"log: {p['entry']['text']}")
        elif m.get("method") == "Network.requestWillBeSent" and not p["request"]["url"].startswith("file:"):
            problems.append(f"network: {p['request']['url']}")

    def send(self, method, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            m = self.read()
            if m.get("id") == self.n:
                if "error" in m:
                    sys.exit(f"{method}: {m['error']}")
                return m["result"]
            self.note(m)

    def evaluate(self, expression):
        r = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            sys.exit(f"{expression}: {r['exceptionDetails']['exception'].get('description')}")
        return r["result"].get("value")

    def wait(self, expression):
        for _ in range(600):
            if self.evaluate(f"!!({expression})"):
                return
            self.evaluate("0")
            subprocess.run(["sleep", "0.1"], check=True)
        sys.exit(f"never true: {expression}")

    def middle(self, selector):
        box = self.evaluate(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            if (!e) return null;
            e.scrollIntoView({{ block: 'center' }});
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        if not box:
            sys.exit(f"there is no {selector}")
        return {"x": box[0], "y": box[1]}

    def mouse(self, kind, at, buttons):
        self.send("Input.dispatchMouseEvent", type=kind, button="left", buttons=buttons, clickCount=1, **at)

    def drag(self, a, b):
        at = self.middle(a)
        self.mouse("mouseMoved", at, 0)
        self.mouse("mousePressed", at, 1)
        if b:
            at = self.middle(b)
            self.mouse("mouseMoved", at, 1)
        self.mouse("mouseReleased", at, 0)

    def key(self, name, shift=""):
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
        event = {"key": name, "modifiers": 8 if shift else 0, "windowsVirtualKeyCode": codes.get(name, 0)}
        if len(name) == 1:
            event["text"] = name
        elif name == "Enter":
            event["text"] = "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", **event)
        event.pop("text", None)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)


browser = Browser()
browser.send("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
browser.wait("document.readyState === 'complete' && location.protocol === 'file:'")
for line in sys.stdin:
    verb, _, rest = line.strip().partition(" ")
    if verb == "eval":
        print(json.dumps(browser.evaluate(rest)), flush=True)
    elif verb == "wait":
        browser.wait(rest)
    elif verb == "key":
        browser.key(*rest.split())
    elif verb == "type":
        browser.send("Input.insertText", text=rest)
    elif verb == "click":
        browser.drag(rest, None)
    elif verb == "drag":
        a, b = rest.split(" -> ")
        browser.drag(a, b)
    elif verb in ("dark", "light"):
        browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": verb}])
    elif verb == "size":
        width, height = map(int, rest.split())
        browser.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    elif verb == "screenshot":
        shot = browser.send("Page.captureScreenshot", captureBeyondViewport=False)
        pathlib.Path(rest).write_bytes(base64.b64decode(shot["data"]))
    elif verb:
        sys.exit(f"unknown command: {verb}")
browser.evaluate("0")
browser.process.terminate()
browser.process.wait()
for p in problems:
    print(p)
sys.exit(bool(problems))
