"""A headless Chromium, to read pages as a reader would."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from selenium.webdriver import ActionChains, Chrome, ChromeOptions, ChromeService, Keys
from selenium.webdriver.common.by import By

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
TAB, ENTER, ESCAPE, SPACE = Keys.TAB, Keys.ENTER, Keys.ESCAPE, Keys.SPACE
LEFT, UP, RIGHT, DOWN = Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ARROW_DOWN


class Browser:
    """One Chromium behind one chromedriver; use as a context manager."""

    def __init__(self) -> None:
        driver = shutil.which("chromedriver")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        if driver is None or chromium is None:
            raise RuntimeError("the report is tested in chromium: install chromium and its driver")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        options = ChromeOptions()
        options.binary_location = chromium
        for argument in (*_ARGUMENTS, f"--user-data-dir={self._profile.name}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = Chrome(options, ChromeService(driver))
        # a script may wait for what a busy machine takes long to do
        self.driver.set_script_timeout(300)
        # the start page's own requests are none of ours
        self.open("about:blank")
        self.requests()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()
        self._profile.cleanup()

    def open(self, page: Path | str) -> None:
        self.driver.get(page if isinstance(page, str) else page.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a function body returns."""
        return self.driver.execute_script(script, *arguments)

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def resize(self, width: int, height: int = 900) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def scheme(self, dark: bool) -> None:
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def keys(self, *keys: str) -> None:
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def hover(self, selector: str) -> None:
        # the pointer moves when the page has come to rest
        self.run(
            """
            document.querySelector(arguments[0])
              .scrollIntoView({block: 'center', behavior: 'instant'});
            return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            """,
            selector,
        )
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        ActionChains(self.driver, duration=0).move_to_element(element).perform()

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
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that the browser asked for since the last call, but for embedded data."""
        log = self.driver.get_log("performance")
        events = [json.loads(entry["message"])["message"] for entry in log]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
            and not event["params"]["request"]["url"].startswith("data:")
        ]
