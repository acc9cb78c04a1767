"""Fixtures of the participant's page: one browser, and servers with short studies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from participant_page import Page, with_shapes, with_sounds

from browser import Browser
from studies import Running, running, short_study


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Running]]:
    """Servers of this process, each started when it is first wanted."""
    begun: dict[str, Running] = {}
    with ExitStack() as stack:

        def get(name: str) -> Running:
            if name not in begun:
                folder = tmp_path_factory.mktemp(name) / "study"
                short_study(folder, "closer" if "closer" in name else "central")
                if "no example" in name:
                    file = folder / "study.yaml"
                    file.write_text(re.sub(r"(?ms)^example:.*?(?=^consent:)", "", file.read_text()))
                for part, change in (("shapes", with_shapes), ("sounds", with_sounds)):
                    if part in name:
                        change(folder)
                begun[name] = stack.enter_context(running(folder))
            return begun[name]

        yield get


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """A browser that knows nothing yet, at 1280 x 720."""
    browser.open("about:blank")
    browser.driver.delete_all_cookies()
    browser.devtools("Network.enable")
    browser.devtools("Network.clearBrowserCookies")
    browser.devtools("Network.clearBrowserCache")
    browser.resize(1280, 720)
    browser.console()
    yield lambda url: Page(browser, url)
    for undo in (
        ("Network.setBlockedURLs", {"urls": []}),
        ("Emulation.setTouchEmulationEnabled", {"enabled": False}),
        ("Emulation.setEmulatedMedia", {"features": []}),
    ):
        browser.devtools(undo[0], **undo[1])
    Page(browser, "").cut(False)


@pytest.fixture
def page(visit: Callable[[str], Page], studies: Callable[[str], Running]) -> Page:
    """The short study of words."""
    return visit(studies("words").url)


@pytest.fixture
def shapes(visit: Callable[[str], Page], studies: Callable[[str], Running]) -> Page:
    """The short study of pictures."""
    return visit(studies("shapes").url)
