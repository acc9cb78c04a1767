"""The participant's page in a browser, and studies to try it with."""

from __future__ import annotations

import json
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from browser import Browser
from studies import LONGEST, Client, edit, short_study
from trilens.report import draw_stimuli
from trilens_survey.languages import UNREVIEWED

ASKING = """
const page = document.getElementById("survey"), bar = document.getElementById("bar");
return page && page.dataset.state === "asking" && bar.value === arguments[0] - 1;
"""
SCREEN = "return document.body && document.body.dataset.screen === arguments[0];"


def names_of(folder: Path) -> list[str]:
    lines = (folder / "objects.csv").read_text().splitlines()[1:]
    return [line.split(",")[0] for line in lines]


def with_shapes(folder: Path) -> Path:
    """Drawn shapes in place of the words."""
    points = np.random.default_rng(4).random((14, 3))
    draw_stimuli(points, folder / "pictures", names_of(folder))
    return edit(folder, ("objects: objects.csv", "objects: pictures"))


def with_sounds(folder: Path) -> Path:
    """A moment of silence in place of the words."""
    (folder / "sounds").mkdir()
    for name in names_of(folder):
        with wave.open(str(folder / "sounds" / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes(bytes(800))
    return edit(folder, ("objects: objects.csv", "objects: sounds"))


_AROUND = """
title: Fruit and other food
kind: closer
languages: [{languages}]
objects: pictures
instructions: |
  Choose those that are **most similar** to the first.

  - Take your time.
  - There is no right or wrong.
consent:
  version: "1"
  text: |
    Taking part is voluntary. [Read more](https://example.org/).

    We store your choices and how long each one took.
contact: researcher@example.org
grid: {{of: 8, choose: 2}}
rounds: {{length: 2, minimum: 1, most: 2, needed: 1}}
shared: 0
repeated: 0
practice:
  - objects: [orange, lemon, potato, walnut, bread, carrot, apple, tomato, banana]
    answer: lemon
    why: Both are fruit that grow on trees.
before:
  - {{name: age, type: number, ask: "How old are you?", least: 18, most: 120, whole: true}}
  - {{name: cooks, type: choice, ask: "Do you cook?", options: [never, sometimes, often]}}
  - {{name: buys, type: choice, several: true, required: false, ask: Buy what, options: [a, b]}}
after:
  - {{name: hard, type: scale, ask: "How hard was it?", ends: [very easy, very hard]}}
  - {{name: remarks, type: text, ask: "Any remarks?", required: false}}
blocks:
  - {{name: all, rounds: 2, instructions: Choose **two** of eight.}}
debriefing: This study is about **what goes with what**.
thanks: Your answers have been saved.
completion: {{code: THANKS}}
"""


def study_with_everything(folder: Path, languages: str = "en") -> Path:
    """Questions before and after, instructions, practice, a grid of pictures, a debriefing."""
    with_shapes(short_study(folder))
    text = _AROUND.format(languages=languages)
    if languages in UNREVIEWED:
        text += f"not_reviewed: [{languages}]\n"
    (folder / "study.yaml").write_text(text)
    return folder


def every_screen(page: Page, look: Callable[[str], None]) -> None:
    """Take part from the first page to the last, and look at each screen on the way."""

    def go(button: str, screen: str, name: str) -> None:
        page.click(button)
        page.screen(screen)
        look(name)

    def answer(number: int) -> None:
        page.asking(number)
        page.choose(1)
        page.choose(3)
        look("grid marked")
        page.click("#confirm")

    send = "#form button[type=submit]"
    page.open("")
    page.screen("consent")
    look("consent")
    go("#decline", "declined", "declined")
    page.click("#reconsider")
    go("#agree", "instructions", "instructions")
    go("#begin", "form", "form before")
    page.click(send)
    page.wait("return document.querySelectorAll('.wrong:not([hidden])').length === 2;")
    look("form refused")
    page.find("[name=age]").send_keys("33")
    page.click("[name=cooks][value=often]")
    go(send, "part", "part")
    assert page.text("#part-text") == "Choose two of eight."
    page.click("#begin-part")
    page.asking(1)
    look("practice")
    answer(1)
    page.wait("return !document.getElementById('told').hidden;")
    look("practice told")
    go("#go-on", "break", "practice done")
    page.click("#another")
    page.asking(1)
    look("question")
    page.browser.run("document.querySelector('.leave').click();")
    page.screen("leaving")
    look("leaving")
    page.click("#stay")
    answer(1)
    answer(2)
    page.screen("break")
    look("break")
    go("#finish", "form", "form after")
    page.click("[name=hard][value='4']")
    go(send, "debriefing", "debriefing")
    go("#to-thanks", "thanks", "thanks")
    for name in ("failed", "closed", "paused", "resume", "gone", "cookies"):
        page.show(name)
        look(name)


class Page:
    """What a participant does and sees."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        self.driver = browser.driver
        self.url = url

    def open(self, query: str = "?language=en") -> None:
        self.browser.open(f"{self.url}/{query}")

    def agree(self, query: str = "?language=en") -> None:
        """From the first page to the instructions, by mouse."""
        self.open(query)
        self.screen("consent")
        self.click("#agree")
        self.screen("instructions")

    def start(self, query: str = "?language=en") -> None:
        """The same, to where the study begins."""
        self.agree(query)
        self.click("#begin")

    def begin(self, query: str = "?language=en") -> None:
        """The same, to the first question."""
        self.start(query)
        self.asking(1)

    # --- eyes ---

    def wait(self, script: str, *arguments: Any) -> Any:
        waiting = WebDriverWait(self.driver, LONGEST, poll_frequency=0.05)
        return waiting.until(lambda _: self.browser.run(script, *arguments), script)

    def screen(self, name: str) -> None:
        self.wait(SCREEN, name)

    def show(self, name: str) -> None:
        """Another screen, whatever the study says."""
        self.browser.run(
            "document.body.dataset.screen = arguments[0];"
            "for (const one of document.getElementById('survey').children)"
            "  one.hidden = one.id !== arguments[0];",
            name,
        )

    def asking(self, number: int) -> None:
        """Until the question of this number can be answered."""
        self.wait(ASKING, number)

    def until(self, selector: str, text: str) -> None:
        """Until this is the text of an element."""
        self.wait(
            "const one = document.querySelector(arguments[0]);"
            "return one && one.textContent === arguments[1];",
            selector,
            text,
        )

    def says(self, text: str) -> None:
        """Until the page's note is this."""
        self.until("#note", text)

    def text(self, selector: str) -> str:
        return str(self.browser.run(
            "return document.querySelector(arguments[0]).textContent.trim();", selector
        ))  # fmt: skip

    def shown(self) -> list[str]:
        """The three things, in the order shown: addresses of pictures, or texts."""
        return list(self.browser.run(
            "return [...document.querySelectorAll('.choice .stimulus')]"
            ".map((e) => e.querySelector('img') ? e.querySelector('img').src : e.textContent);"
        ))  # fmt: skip

    def kept(self) -> Any:
        """The answer that the browser keeps until it is stored."""
        found = self.browser.run(
            "return Object.entries(localStorage).find(([key]) => key.endsWith(' answer'));"
        )
        return json.loads(found[1]) if found else None

    def server(self) -> Client:
        """The same participant, asking the server without the page."""
        client = Client(base_url=self.url)
        for cookie in self.driver.get_cookies():
            client.cookies.set(cookie["name"], cookie["value"])
        return client

    def question(self) -> dict[str, Any]:
        """What the server would ask now."""
        with self.server() as client:
            return client.question()

    def stands(self, asked: dict[str, Any], place: int) -> bool:
        """Whether this is the stored answer: the same again is acknowledged, another refused."""
        with self.server() as client:
            chosen, other = asked["objects"][place - 1], asked["objects"][place % 3]
            return (
                client.answer(asked["token"], other).status_code == 409
                and client.answer(asked["token"], chosen).status_code == 200
            )

    def fits(self) -> bool:
        """Whether nothing has to be scrolled."""
        return bool(self.browser.run(
            "const e = document.documentElement;"
            "return e.scrollHeight <= innerHeight && e.scrollWidth <= innerWidth;"
        ))  # fmt: skip

    def alike(self, *buttons: str) -> bool:
        """Whether buttons look alike, none of them in focus."""
        looks = self.browser.run(
            "document.activeElement.blur();"
            "return arguments[0].map((id) => { const e = document.getElementById(id);"
            "const s = getComputedStyle(e), b = e.getBoundingClientRect();"
            "return [s.backgroundColor, s.color, s.borderColor, Math.round(b.width),"
            " Math.round(b.height)].join(); });",
            buttons,
        )
        return len(set(looks)) == 1

    # --- hands ---

    def find(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector: str) -> None:
        self.find(selector).click()

    def choose(self, place: int) -> None:
        self.click(f"button.card[data-place='{place}']")

    def double_click(self, selector: str) -> None:
        ActionChains(self.driver, duration=0).double_click(self.find(selector)).perform()

    def press(self, key: str, code: str, repeated: bool = False, modifiers: int = 0) -> None:
        """A key goes down, or sends itself again because it is held."""
        self.browser.devtools(
            "Input.dispatchKeyEvent",
            type="rawKeyDown", key=key, code=code, autoRepeat=repeated, modifiers=modifiers,
        )  # fmt: skip

    def tap(self, selector: str) -> None:
        """A finger, in the middle of the element."""
        x, y = self.browser.run(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'nearest'});"
            "const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2];",
            selector,
        )
        touch = self.browser.devtools
        touch("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        touch("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def cut(self, offline: bool) -> None:
        """The network goes, or comes back."""
        self.browser.devtools(
            "Network.emulateNetworkConditions",
            offline=offline, latency=0, downloadThroughput=-1, uploadThroughput=-1,
        )  # fmt: skip
