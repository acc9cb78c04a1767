"""A small WebDriver client: a headless Chromium to read pages as a reader would."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
#: WebDriver's names for keys.
TAB, ENTER, ESCAPE, SPACE = "\ue004", "\ue007", "\ue00c", " "
LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"


class Browser:
    """One Chromium behind one chromedriver; use as a context manager."""

    def __init__(self, scripts: bool = True) -> None:
        driver = shutil.which("chromedriver")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        if driver is None or chromium is None:
            raise RuntimeError("the report is tested in chromium: install chromium and its driver")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._driver = subprocess.Popen(
            [driver, f"--port={port}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        # the driver says so when it listens: nothing sleeps
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if "started successfully" in line:
                break
        self._base = f"http://127.0.0.1:{port}"
        options = {
            "binary": chromium,
            "args": [*_ARGUMENTS, f"--user-data-dir={self._profile.name}"],
        }
        if not scripts:
            options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        wanted = {
            "alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
        }
        session = self._call("POST", "/session", {"capabilities": wanted})
        self._base += f"/session/{session['sessionId']}"
        # the start page's own requests are none of ours
        self.open("about:blank")
        self.requests()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._call("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=10)
            if self._driver.stdout is not None:
                self._driver.stdout.close()
            self._profile.cleanup()

    def open(self, page: Path | str) -> None:
        self._call("POST", "/url", {"url": page if isinstance(page, str) else page.as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a function body returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command: str, **parameters: Any) -> Any:
        body = {"cmd": command, "params": parameters}
        return self._call("POST", "/goog/cdp/execute", body)

    def resize(self, width: int, height: int = 900) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def scheme(self, dark: bool) -> None:
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def keys(self, *keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        body = {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}
        self._call("POST", "/actions", body)

    def hover(self, selector: str) -> None:
        # the pointer moves when the page has come to rest
        x, y = self.run(
            """
            const e = document.querySelector(arguments[0]);
            e.scrollIntoView({block: 'center', behavior: 'instant'});
            return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
              const box = e.getBoundingClientRect();
              done([box.left + box.width / 2, box.top + box.height / 2]);
            })));
            """,
            selector,
        )
        move = {"type": "pointerMove", "duration": 0, "origin": "viewport"}
        mouse = {"type": "pointer", "id": "mouse", "actions": [{**move, "x": int(x), "y": int(y)}]}
        self._call("POST", "/actions", {"actions": [mouse]})

    def screenshot(self, path: Path, whole: bool = True) -> None:
        taken = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self, outline: bool = False) -> bytes:
        """The page on paper; with an outline, its headings stand in the file as plain text."""
        printed = self.devtools(
            "Page.printToPDF",
            printBackground=True,
            generateTaggedPDF=outline,
            generateDocumentOutline=outline,
        )
        return base64.b64decode(printed["data"])

    def console(self) -> list[str]:
        """Errors and warnings that the page caused so far, and was not asked for before."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Addresses that the browser asked for since the last call, but for embedded data."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
            and not event["params"]["request"]["url"].startswith("data:")
        ]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        return self._call("POST", "/se/log", {"type": kind})

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._base + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None
