"""A headless Chromium, driven by its own protocol: keys and pointer as a person has them, and what it asks others for.

`Browser(folder)` starts one; `page.eval(script)` is a value of the page, `page.until(script)` waits for it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium")
QUIET = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
]
# A bound, and no pause: on a machine with other work a browser takes its time.
WAIT_s = 120.0
KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Space": (" ", 32, " "),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "Escape": ("Escape", 27, ""),
}


class Browser:
    """One browser with one page."""

    def __init__(self, folder: Path, width: int = 1400, height: int = 1000) -> None:
        self.loop = asyncio.new_event_loop()
        command = [str(CHROMIUM), *QUIET, f"--user-data-dir={folder}", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        address = self._address()
        self.number = 0
        self.answers: dict[int, dict[str, Any]] = {}
        self.requests: list[str] = []
        #: Names and ports of servers that a test means the page to ask.
        self.ours: set[str] = set()
        self.complaints: list[str] = []
        self.downloads = folder / "downloads"
        self.loop.run_until_complete(self._connect(address))
        for domain in ("Page", "Network", "Runtime", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def _address(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line):
                return f"http://127.0.0.1:{found[1]}"
        raise AssertionError("the browser did not start")

    async def _connect(self, address: str) -> None:
        self.session = aiohttp.ClientSession()
        async with self.session.get(f"{address}/json") as response:
            pages = await response.json()
        url = next(p["webSocketDebuggerUrl"] for p in pages if p["type"] == "page")
        self.socket = await self.session.ws_connect(url, max_msg_size=0)

    def close(self) -> None:
        async def end() -> None:
            await self.socket.close()
            await self.session.close()

        self.loop.run_until_complete(end())
        self.loop.close()
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stderr is not None
        self.process.stderr.close()

    async def _hear(self, wait_s: float) -> None:
        try:
            message = json.loads((await self.socket.receive(wait_s)).data)
        except TimeoutError:
            return
        if "id" in message:
            self.answers[message["id"]] = message
        method, of = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(of["exceptionDetails"])[:600])
        elif method == "Log.entryAdded" and of["entry"]["level"] == "error":
            self.complaints.append(f"{of['entry']['text']} {of['entry'].get('url', '')}")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A call of the protocol. Raises AssertionError with what it complains about."""
        self.number += 1
        mine = self.number

        async def ask() -> None:
            await self.socket.send_json({"id": mine, "method": method, "params": params})
            end = time.monotonic() + WAIT_s
            while mine not in self.answers and time.monotonic() < end:
                await self._hear(1.0)

        self.loop.run_until_complete(ask())
        answer = self.answers.pop(mine)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def eval(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str, why: str = "") -> Any:
        """Waits until the value of a script is true, and returns it."""
        end = time.monotonic() + WAIT_s
        while time.monotonic() < end:
            if value := self.eval(script):
                return value
            time.sleep(0.05)
        raise AssertionError(f"{why or script}: not within {WAIT_s} s; {self.complaints}")

    def go(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def key(self, name: str, times: int = 1, modifiers: int = 0) -> None:
        key, code, text = KEYS.get(name, (name, ord(name[0].upper()), name))
        of = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        of["code"] = name if name in KEYS else f"Key{name.upper()}"
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown", **of, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **of)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def drag(self, selector: str, start: float, end: float) -> None:
        """Drags the pointer along an element, from one share of its width to another."""
        found = f"const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
        box = "const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height];"
        x, y, width, height = self.eval(f"(() => {{ {found} {box} }})()")
        places = [start + (end - start) * k / 6 for k in range(7)]
        mouse = {"button": "left", "y": y + height / 2}
        self.call(
            "Input.dispatchMouseEvent", type="mousePressed", clickCount=1, buttons=1, x=x + width * start, **mouse
        )
        for p in places:
            self.call("Input.dispatchMouseEvent", type="mouseMoved", buttons=1, x=x + width * p, **mouse)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", clickCount=1, x=x + width * end, **mouse)

    def downloaded(self, name: str) -> bytes:
        """Waits until a file has been saved, whole, and returns it."""
        path = self.downloads / name
        end = time.monotonic() + WAIT_s
        while time.monotonic() < end:
            if path.exists() and not list(self.downloads.glob("*.crdownload")):
                return path.read_bytes()
            self.eval("0")
            time.sleep(0.05)
        raise AssertionError(f"{name} was not saved within {WAIT_s} s; {self.complaints}")

    def look(self, width: int, height: int, scheme: str) -> None:
        """Takes another width, height and scheme of colours; below 500 pixels it is a phone."""
        phone = width < 500
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        drawn = "new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => f(true))))"
        dark = "matchMedia('(prefers-color-scheme: dark)').matches"
        self.until(f"innerWidth === {width} && {dark} === {str(scheme == 'dark').lower()} && {drawn}", "another look")

    def screenshot(self, path: Path) -> None:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def unnamed(self) -> list[str]:
        """Roles of what can be operated and has no name for people who do not see it."""
        operable = {"button", "checkbox", "combobox", "link", "slider", "spinbutton", "textbox", "listbox", "menuitem"}
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        bare = [n for n in nodes if not n.get("ignored") and n.get("role", {}).get("value") in operable]
        return [n["role"]["value"] for n in bare if not n.get("name", {}).get("value")]
