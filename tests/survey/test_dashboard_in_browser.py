"""The dashboard as a researcher sees it, while answers come in."""

from __future__ import annotations

from browser import Browser
from studies import Running
from trilens_survey.auth import make_first_key

#: Resolves when the page shows what it should; the page changes by itself.
UNTIL = """
const [text, selector] = arguments;
return new Promise((done) => {
  const look = () => {
    const element = document.querySelector(selector);
    if (element && element.textContent === text) { watch.disconnect(); done(true); }
  };
  const watch = new MutationObserver(look);
  watch.observe(document.body, {childList: true, subtree: true, characterData: true});
  look();
});
"""


def test_the_first_password_then_results_that_grow(app: Running, browser: Browser) -> None:
    key = app.survey.writer.submit(make_first_key).result()
    browser.resize(1280, 900)
    browser.console(), browser.requests()  # those of other tests
    browser.open(f"{app.url}/researcher/first?key={key}")
    browser.run(
        "document.querySelector('#password').value = arguments[0];"
        "document.querySelector('form').requestSubmit();",
        "a long enough one",
    )
    assert browser.run(UNTIL, "0", "#n-answers")
    rater = app.participant()
    rater.join()
    question = rater.question()
    rater.answer(question["token"], question["objects"][0])
    assert browser.run(UNTIL, "1", "#n-answers")
    assert browser.run(UNTIL, "1", "#analysed")
    rater.round()
    # an opened list stays open while the numbers change
    browser.run("document.querySelector('details').open = true")
    assert browser.run(UNTIL, "20", "#n-answers")
    assert browser.run("return document.querySelector('details').open")
    browser.run("document.querySelector('#report').open = true")
    assert browser.run("return document.querySelector('#report iframe').src").endswith("answers=1")
    assert browser.run("return document.querySelectorAll('.bar').length") >= 2
    assert browser.console() == []
    assert all(address.startswith(app.url) for address in browser.requests())
    # signed out elsewhere: the page notices by itself
    browser.run("document.querySelector('header form').requestSubmit();")
    assert browser.run(UNTIL, "Sign in", "h1")


def test_no_page_scrolls_sideways_on_a_phone(app: Running, browser: Browser) -> None:
    key = app.survey.writer.submit(make_first_key).result()
    rater = app.participant()
    rater.join()
    rater.round()
    browser.resize(360, 740)
    browser.open(f"{app.url}/researcher/first?key={key}")
    wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not browser.run(wide)
    browser.run(
        "document.querySelector('#password').value = arguments[0];"
        "document.querySelector('form').requestSubmit();",
        "a long enough one",
    )
    assert browser.run(UNTIL, "20", "#n-answers")
    assert not browser.run(wide)
