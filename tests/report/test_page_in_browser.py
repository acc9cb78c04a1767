"""The page, opened and used as a reader would."""

from __future__ import annotations

import re
import zlib

import pytest
from axe_core_python.selenium import Axe

from browser import DOWN, ENTER, ESCAPE, LEFT, RIGHT, SPACE, TAB
from nasty import NAMES
from trilens.analysis import analyze
from trilens.report import load_pictures, write_report
from trilens.simulate import study

HEADINGS = [
    "Most central",
    "Outliers",
    "Groups",
    "Classes",
    "Raters",
    "How good the answers are",
    "All objects",
    "Methods and citation",
]
REST = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def page(facts, tmp_path_factory):
    from PIL import Image

    folder = tmp_path_factory.mktemp("page")
    pictures = folder / "pictures"
    pictures.mkdir()
    for i, row in enumerate(facts["objects"]):
        if row["object"].startswith("shape-"):
            Image.new("RGB", (320, 200), (10 * i, 90, 120)).save(pictures / f"{row['object']}.png")
    (pictures / "🦊 fox 👩‍👩‍👧.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="window.hacked = 6">'
        "<script>window.hacked = 7</script><rect width='9' height='9' fill='red'/>"
        "<image href='http://example.invalid/x.png'/></svg>"
    )
    names = [row["object"] for row in facts["objects"]]
    write_report(facts, folder / "report.html", load_pictures(pictures, names))
    return folder / "report.html"


@pytest.fixture(scope="module")
def sixty(tmp_path_factory):
    """The page of sixty shapes."""
    made = study(n_objects=60, n_statements=1500, random_state=1)
    path = tmp_path_factory.mktemp("sixty") / "report.html"
    analyze(made.statements, made.half_labelled(), title="Sixty shapes").write(path)
    return path


@pytest.fixture
def opened(browser, page):
    browser.scheme(dark=False)
    browser.resize(1440)
    browser.open("about:blank")
    browser.console()
    browser.requests()
    browser.open(page)
    return browser


def _each(browser, selector, what, *arguments):
    """What holds for each element of a selector, ``e``, as a JavaScript expression says it."""
    script = f"return [...document.querySelectorAll(arguments[0])].map((e) => {what})"
    return browser.run(script, selector, *arguments)


def _shown(browser, selector):
    """How many of these lie whole inside the window."""
    inside = "b.height && b.top >= 0 && b.bottom <= innerHeight && b.left >= 0"
    what = f"{{const b = e.getBoundingClientRect(); return {inside} && b.right <= innerWidth}}"
    return sum(map(bool, _each(browser, selector, what)))


def _visible(browser, selector):
    return sum(_each(browser, selector, "e.checkVisibility()"))


@pytest.mark.parametrize(
    ("width", "height", "map_width", "map_height", "most_high"),
    [(1200, 800, 700, 480, 4500), (390, 844, 340, 270, 9000)],
)
def test_sixty_objects_make_a_short_page_whose_first_screen_has_the_map_and_four_findings(
    browser, sixty, width, height, map_width, map_height, most_high
):
    browser.resize(width, height)
    browser.open(sixty)
    browser.run(REST)
    assert _shown(browser, "h1") == _shown(browser, ".headline") == 1
    assert _shown(browser, ".card") == 4
    assert _shown(browser, ".map-area") == 1
    assert _shown(browser, ".map-area .mark:not([style])") >= 60
    (area,) = _each(browser, ".map-area", "e.getBoundingClientRect()")
    assert area["width"] >= map_width
    assert area["height"] >= map_height
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run("return document.documentElement.scrollHeight") <= most_high
    assert browser.run("return document.body.innerText.split(/\\s+/).length") <= 1500
    assert {"auto", "scroll"} & {
        *_each(browser, "main *", "getComputedStyle(e).overflowY")
    } == set()


def test_names_are_shown_as_text_and_nothing_runs_or_is_asked_for(opened, page):
    assert opened.run("return window.hacked") is None
    assert opened.console() == []
    assert opened.requests() == [page.as_uri()]
    assert _each(opened, "section h2", "e.textContent") == HEADINGS
    (text,) = _each(opened, "#objects", "e.textContent")
    titles = _each(opened, "#objects [title]", "e.title")
    for name in NAMES:
        visible = re.sub(r"[\x00-\x1f]", "\N{REPLACEMENT CHARACTER}", name)
        # what is cut stands whole in its title
        assert visible in (text if len(visible) <= 60 else titles)
    assert opened.run("return document.title").startswith("<script>")
    assert _each(opened, "bdi *", "e.tagName") == []
    # and what were to come in is stopped by the policy
    opened.run(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 8';"
        "document.body.append(s);"
        "const d = document.createElement('div');"
        "d.innerHTML = '<img src=x onerror=\"window.hacked = 8\">';"
        "document.body.append(d);"
    )
    assert opened.run("return window.hacked") is None
    assert "Content Security Policy" in " ".join(opened.console())


def _tip(browser):
    return browser.run("const t = document.getElementById('tip'); return [t.hidden, t.innerText]")


def _panel(browser):
    return browser.run("const p = document.getElementById('panel'); return [p.open, p.innerText]")


def test_hover_or_a_tap_tells_of_the_object_and_a_second_tap_more(opened, facts):
    row = facts["objects"][16]
    near = facts["objects"][facts["about_objects"][16]["nearest"][0]]["object"]
    for place in ('.plane .pt[data-i="16"] .frame', '.chart .dot[data-i="16"] circle'):
        opened.hover(place)
        hidden, text = _tip(opened)
        assert not hidden
        assert row["object"] in text
        assert f"centrality {100 * row['depth']:.1f}%" in text
        assert f"group {row['cluster'] + 1}" in text
        assert f"in {row['appearances']} answers" in text
        assert f"nearest: {near[:15]}" in text
    assert _each(opened, "#tip svg use", "e.getAttribute('href')") == ["#p16"]
    assert len(_each(opened, ".links line", "e.id")) == 3
    opened.keys(ESCAPE)
    assert _tip(opened)[0] is True
    tap = (
        "const at = document.querySelector('.plane .pt[data-i=\"16\"] .frame');"
        "at.dispatchEvent(new PointerEvent('click', {bubbles: true, pointerType: 'touch'}))"
    )
    opened.run(tap)
    assert row["object"] in _tip(opened)[1]
    assert _panel(opened)[0] is False
    opened.run(tap)
    assert _panel(opened)[0] is True
    opened.keys(ESCAPE)


def test_a_finding_highlights_its_objects(opened, facts):
    shown = ".pt.shown", "Number(e.dataset.i)"
    card = ".card:has(a[href='#medoid'])"
    opened.run(f'document.querySelector("{card} button").focus()')
    opened.keys(ENTER)
    place = {row["object"]: i for i, row in enumerate(facts["objects"])}
    assert {*_each(opened, *shown)} == {place[name] for name in facts["medoid"]["candidates"]}
    assert _each(opened, f"{card} button", "e.getAttribute('aria-pressed')") == ["true"]
    assert max(_each(opened, ".pt:not(.shown)", "Number(getComputedStyle(e).opacity)")) < 0.5
    opened.keys(ENTER)
    assert _each(opened, *shown) == []
    opened.hover(f"{card} .sure")
    assert _each(opened, *shown)


def test_keyboard_reaches_everything(opened):
    reached = []
    where = """
      const e = document.activeElement;
      if (e === document.body) return null;
      return [e.tagName.toLowerCase(), e.className.baseVal ?? e.className,
        e.getAttribute('aria-label') || e.textContent.trim().slice(0, 30),
        e.matches(':focus-visible')];
    """
    for _ in range(140):
        opened.keys(TAB)
        found = opened.run(where)
        if found is None:
            break
        reached.append(found)
    seen = " | ".join(f"{tag} {css} {label}" for tag, css, label, _ in reached)
    assert all(visible for *_, visible in reached)
    for wanted in ("Most central", "g dot", "g pt", "Zoom in", "Raters, one by one", "Save map as"):
        assert wanted in seen, wanted
    tags = {"a", "button", "select", "input", "summary"}
    controls = _visible(opened, "a[href],button,select,input,summary")
    assert sum(found[0] in tags for found in reached) == controls


def test_arrow_keys_go_from_object_to_object(opened, facts):
    n = len(facts["objects"])
    opened.run("document.querySelector('.chart .dot').focus()")
    for _ in range(n - 1):
        opened.keys(RIGHT)
    last = opened.run("return document.activeElement.dataset.i")
    assert facts["objects"][int(last)]["object"].strip()[:20] in _tip(opened)[1]
    opened.keys(LEFT)
    assert opened.run("return document.activeElement.dataset.i") != last
    opened.run("document.querySelector('.plane .pt').focus()")
    first = opened.run("return document.activeElement.dataset.i")
    opened.keys(RIGHT, RIGHT, DOWN, LEFT)
    assert opened.run("return document.activeElement.closest('.plane') !== null")
    assert opened.run("return document.activeElement.dataset.i") != first
    assert len(_each(opened, '.plane [tabindex="0"]', "e.id")) == 1


def test_map_zooms_and_shows_uncertainty_and_colors(opened):
    def spread():
        xs = _each(opened, ".plane > .at", "parseFloat(e.getAttribute('x'))")
        return max(xs) - min(xs)

    before = spread()
    opened.run("document.querySelector('[data-zoom=in]').focus()")
    opened.keys(ENTER)
    opened.run(REST)
    assert spread() == pytest.approx(1.6 * before, rel=0.01)
    opened.run("document.querySelector('.plane .pt').focus()")
    opened.keys("0")
    opened.run(REST)
    assert spread() == pytest.approx(before, rel=0.01)
    wide = ".plane ellipse", "e.rx.baseVal.value"
    assert _each(opened, *wide) == []
    opened.run("document.querySelector('[data-uncertain]').focus()")
    opened.keys(SPACE)
    assert len(_each(opened, *wide)) == 20
    assert 1 <= _each(opened, *wide)[0] < 400
    for by in ("group", "class", "centrality"):
        opened.run(
            "const s = document.querySelector('[data-color]'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('change'));",
            by,
        )
        assert 2 <= len({*_each(opened, ".plane .frame", "getComputedStyle(e).fill")}) <= 7


def test_tables_sort(opened):
    column = "#objects tbody tr", "parseFloat(e.cells[2].textContent)"
    opened.run("document.querySelector('#objects details').open = true")
    opened.run("document.querySelectorAll('#objects thead button')[2].focus()")
    opened.keys(ENTER)
    values = _each(opened, *column)
    assert values == sorted(values)
    opened.keys(ENTER)
    assert _each(opened, *column) == sorted(values, reverse=True)


@pytest.mark.parametrize(("width", "dark"), [(360, False), (1440, True)])
def test_readable_at_this_width(opened, width, dark):
    opened.resize(width)
    opened.scheme(dark)
    opened.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    assert opened.run("return document.documentElement.scrollWidth") <= width
    sizes = _each(
        opened,
        "p,td,th,dt,dd,small,li,summary,.rows text",
        "e.getClientRects().length && e.textContent.trim() ?"
        " parseFloat(getComputedStyle(e).fontSize) : 99",
    )
    assert min(sizes) >= 11
    cut = _each(
        opened,
        ".card,.caution,.tools,nav,pre,section",
        "e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.className + ' ' + e.id",
    )
    assert [each for each in cut if each] == []
    # of what is not shown the height is 0
    names = "[e.getBoundingClientRect().height, e.parentElement.outerHTML.slice(0, 90)]"
    tallest = max(_each(opened, "bdi,.label,.named", names))
    assert tallest[0] < 190, tallest
    found = Axe().run(opened.driver, options={"resultTypes": ["violations"]})
    serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_prints_in_order_without_losing_a_section(opened, facts):
    pdf = opened.pdf(outline=True)
    inflated = b"\n".join(
        _inflate(part)
        for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, flags=re.DOTALL)
    )
    for heading in HEADINGS:
        as_text, as_utf16 = heading.encode(), heading.encode("utf-16-be")
        assert any(text in pdf + inflated for text in (as_text, as_utf16)), heading
    opened.devtools("Emulation.setEmulatedMedia", media="print")
    try:
        opened.run("window.dispatchEvent(new Event('beforeprint'))")
        assert all(_each(opened, "details", "e.open"))
        parts = (".headline", ".findings", ".map", "#medoid", "#objects", "#methods")
        tops = [_each(opened, part, "e.getBoundingClientRect().top")[0] for part in parts]
        assert tops == sorted(tops)
        assert _visible(opened, "#objects tbody tr") == len(facts["objects"])
        assert _visible(opened, ".tools") == 0
    finally:
        opened.devtools("Emulation.setEmulatedMedia", media="")


def _inflate(part: bytes) -> bytes:
    try:
        return zlib.decompress(part)
    except zlib.error:
        return b""


def test_without_scripts_everything_is_still_there(browser, page, facts):
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.resize(1200, 800)
        browser.open(page)
        assert _visible(browser, ".tools,.save,.card button") == 0
        assert _visible(browser, ".card") == 4
        assert _visible(browser, ".plane .pt") == len(facts["objects"])
        assert len(_each(browser, "#objects tbody tr", "e.id")) == len(facts["objects"])
        assert _each(browser, ".plane", "e.getBoundingClientRect().height")[0] > 200
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_figures_are_saved_from_the_page(opened):
    names = _each(opened, "figure.fig", "e.dataset.name")
    assert {"map", "candidates", "centrality", "classes", "raters", "answers"} <= set(names)
    saved = opened.run(
        """
        const buttons = [...document.querySelectorAll('.save button')];
        const seen = ([name, href]) => new Promise((done) => {
          const image = new Image();
          image.onload = () => done([name, image.naturalWidth, href]);
          image.onerror = () => done([name, 0, href]);
          image.src = href;
        });
        return new Promise((done) => {
          const made = [];
          HTMLAnchorElement.prototype.click = function () {
            made.push([this.download, this.href]);
            if (made.length === buttons.length) done(Promise.all(made.map(seen)));
          };
          buttons.forEach((e) => e.click());
        });
        """
    )
    assert {name for name, *_ in saved} == {f"{n}.{kind}" for n in names for kind in ("svg", "png")}
    assert all(width > 100 for _, width, _ in saved)
    drawn = next(href for name, _, href in saved if name == "map.svg")
    assert "data%3Aimage%2Fpng" in drawn or "data%3Aimage%2Fjpeg" in drawn  # with its pictures
    assert opened.console() == []


def test_one_color_means_one_thing(opened):
    drawn = (
        ".key.g1 .mark,.key.g2 .mark,.key.g3 .mark",
        ".key.k1 .mark,.key.k2 .mark,.key.k3 .mark",
        ".dot:not(.out) circle,.row:not(.out) circle",
    )
    for dark in (False, True):
        opened.scheme(dark)
        groups, classes, data = ({*_each(opened, css, "getComputedStyle(e).fill")} for css in drawn)
        assert len(groups) == len(classes) == 3
        assert len(data) == 1
        assert not groups & classes
        assert not (groups | classes) & data


def test_names_appear_on_a_large_map_when_it_is_looked_into(browser, facts, tmp_path):
    many = dict(facts)
    row = facts["objects"][-1]
    spread = [(i % 18, i // 18) for i in range(306)]
    many["objects"] = [
        *facts["objects"],
        *({**row, "object": f"more {i}", "x": x, "y": y} for i, (x, y) in enumerate(spread)),
    ]
    write_report(many, tmp_path / "many.html")
    browser.resize(1200)
    browser.open(tmp_path / "many.html")
    share = (
        "const a = document.querySelector('.map-area').getBoundingClientRect();"
        "const seen = [...document.querySelectorAll('.plane .pt')].filter((e) => {"
        "const b = e.querySelector('.mark.by-group').getBoundingClientRect();"
        "return b.left >= a.left && b.right <= a.right && b.top >= a.top && b.bottom <= a.bottom});"
        "return seen.filter((e) => !e.classList.contains('crowded')).length / seen.length"
    )
    before = browser.run(share)
    assert 0.05 < before < 0.6
    for _ in range(3):
        browser.run("document.querySelector('[data-zoom=in]').click()")
        browser.run(REST)
    assert browser.run(share) > 1.5 * before
    browser.run("document.querySelector('[data-zoom=reset]').click()")
    browser.run(REST)
    assert browser.run(share) == before


def test_an_object_opens_by_mouse_and_by_keyboard_and_not_by_a_drag(opened, facts):
    about = facts["about_objects"][16]
    opened.run(
        "document.querySelector('.plane .pt[data-i=\"16\"] .frame')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    is_open, text = _panel(opened)
    assert is_open
    assert facts["objects"][16]["object"] in text
    assert "Nearest on the map" in text
    assert f"of {about['questions']:,} questions it appeared in" in text
    assert len(_each(opened, "#panel .near button", "e.id")) == len(about["nearest"]) == 6
    opened.keys(ESCAPE)
    assert _panel(opened)[0] is False
    opened.run("document.querySelector('.plane .pt[data-i=\"3\"]').focus()")
    opened.keys(ENTER)
    # a neighbor is one key further
    opened.keys(TAB, ENTER)
    nearest = facts["about_objects"][3]["nearest"][0]
    (name,) = _each(opened, "#panel h2", "e.textContent")
    assert name[:90] == facts["objects"][nearest]["object"][:90]
    opened.keys(ESCAPE)
    assert opened.run("return document.activeElement.dataset.i") == "3"
    # and says who sees an object differently
    i = next(i for i, each in enumerate(facts["about_objects"]) if each["raters"])
    opened.run(f"document.querySelector('.plane .pt[data-i=\"{i}\"]').focus()")
    opened.keys(SPACE)
    told = facts["about_objects"][i]["raters"][0]
    text = _panel(opened)[1]
    line = f"{told['rater']}: {told['against']} of {told['answers']} answers about it differ"
    assert line in text
    assert "Which raters see it differently" in text
    opened.keys(ESCAPE)
    opened.run("""
      const area = document.querySelector('.map-area'), box = area.getBoundingClientRect();
      const at = (x) => ({bubbles: true, pointerId: 1, button: 0, clientX: box.left + x,
        clientY: box.top + 50});
      const point = document.querySelector('.plane .pt');
      point.dispatchEvent(new PointerEvent('pointerdown', at(50)));
      dispatchEvent(new PointerEvent('pointermove', at(120)));
      dispatchEvent(new PointerEvent('pointerup', at(120)));
      point.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    """)
    assert _panel(opened)[0] is False
    assert opened.console() == []
