"""The page, opened and used as a reader would."""

from __future__ import annotations

import re
import zlib

import pytest

from browser import DOWN, ENTER, ESCAPE, LEFT, RIGHT, SPACE, TAB, Browser
from nasty import NAMES
from trilens.report import load_pictures, render, write_report

HEADINGS = [
    "What was collected",
    "The most central object",
    "Outliers",
    "The map and the groups",
    "Classes",
    "How it was computed",
]

CONTRAST = """
const luminance = (rgb) => {
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const [r, g, b] = rgb.map((v) => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const parse = (c) => c.match(/[\\d.]+/g).map(Number);
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3);
  }
  return [255, 255, 255];
};
let worst = [99, ""];
const read = "h1,h2,h3,p,td,th,dt,dd,summary,figcaption,small,label,code,.chip,#tip,a";
for (const e of document.querySelectorAll(read)) {
  if (!e.textContent.trim() || !e.getClientRects().length) continue;
  const a = luminance(parse(getComputedStyle(e).color).slice(0, 3)), b = luminance(behind(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, e.tagName + " " + e.textContent.slice(0, 40)];
}
return worst;
"""


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
    write_report(
        facts,
        folder / "report.html",
        load_pictures(pictures, [row["object"] for row in facts["objects"]]),
    )
    return folder / "report.html"


@pytest.fixture
def opened(browser, page):
    browser.scheme(dark=False)
    browser.resize(1440)
    browser.open("about:blank")
    browser.console()
    browser.requests()
    browser.open(page)
    return browser


def test_no_error_no_request_and_no_name_runs(opened, page):
    assert opened.run("return window.hacked") is None
    assert opened.console() == []
    assert opened.requests() == [page.as_uri()]
    assert [h.split(" ", 1)[-1].strip() for h in opened.run(
        "return [...document.querySelectorAll('section h2')].map((h) => h.textContent)"
    )][:6] == HEADINGS  # fmt: skip


def test_names_are_shown_as_text(opened):
    text = opened.run("return document.querySelector('#objects').textContent")
    titles = opened.run(
        "return [...document.querySelectorAll('#objects [title]')].map((e) => e.title)"
    )
    for name in NAMES:
        visible = re.sub(r"[\x00-\x1f]", "\N{REPLACEMENT CHARACTER}", name)
        # what is cut stands whole in its title
        assert visible in (text if len(visible) <= 60 else titles)
    assert opened.run("return document.title").startswith("<script>")
    assert opened.run("return document.querySelectorAll('bdi *').length") == 0


def test_injected_script_is_stopped_by_the_policy(opened):
    opened.run(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 8';"
        "document.body.append(s);"
        "const d = document.createElement('div');"
        "d.innerHTML = '<img src=x onerror=\"window.hacked = 8\">';"
        "document.body.append(d);"
    )
    assert opened.run("return window.hacked") is None
    assert "Content Security Policy" in " ".join(opened.console())


def test_hover_shows_the_object(opened, facts):
    for place in ('.plane .pt[data-i="16"] .frame', '.depths .dot[data-i="16"] circle'):
        opened.hover(place)
        shown = opened.run(
            "const t = document.getElementById('tip'); return [t.hidden, t.innerText]"
        )
        assert shown[0] is False
        row = facts["objects"][16]
        assert row["object"] in shown[1]
        assert f"centrality {100 * row['depth']:.1f}%" in shown[1]
    assert (
        opened.run("return document.querySelector('#tip svg use').getAttribute('href')") == "#p16"
    )
    opened.keys(ESCAPE)
    assert opened.run("return document.getElementById('tip').hidden") is True


def test_keyboard_reaches_everything(opened):
    reached = []
    where = """
      const e = document.activeElement;
      if (e === document.body) return null;
      return [e.tagName.toLowerCase(), e.className.baseVal ?? e.className,
        e.getAttribute('aria-label') || e.textContent.trim().slice(0, 30),
        e.matches(':focus-visible')];
    """
    for _ in range(120):
        opened.keys(TAB)
        found = opened.run(where)
        if found is None:
            break
        reached.append(found)
    seen = " | ".join(f"{tag} {css} {label}" for tag, css, label, _ in reached)
    assert all(visible for *_, visible in reached)
    for wanted in [
        "a  What was collected",
        "g dot",
        "g pt",
        "Zoom in",
        "Reset",
        "Table of all objects",
        "Raters, one by one",
        "centrality",
    ]:
        assert wanted in seen, wanted
    for tag in ("input", "select", "summary", "button"):
        assert any(found[0] == tag for found in reached), tag
    controls = opened.run(
        "return [...document.querySelectorAll('a[href],button,select,input,summary')]"
        ".filter((e) => e.checkVisibility()).length"
    )
    assert (
        sum(found[0] in {"a", "button", "select", "input", "summary"} for found in reached)
        == controls
    )


def test_arrow_keys_visit_every_object(opened, facts):
    n = len(facts["objects"])
    opened.run("document.querySelector('.depths .dot').focus()")
    for _ in range(n - 1):
        opened.keys(RIGHT)
    last = opened.run("return document.activeElement.dataset.i")
    deepest = max(facts["objects"], key=lambda row: row["depth"])
    assert facts["objects"][int(last)]["depth"] == deepest["depth"]
    assert facts["objects"][int(last)]["object"].strip()[:20] in opened.run(
        "return document.getElementById('tip').innerText"
    )
    opened.keys(LEFT)
    assert opened.run("return document.activeElement.dataset.i") != last
    opened.run("document.querySelector('.plane .pt').focus()")
    first = opened.run("return document.activeElement.dataset.i")
    opened.keys(RIGHT, RIGHT, DOWN, LEFT)
    assert opened.run("return document.activeElement.closest('.plane') !== null")
    assert opened.run("return document.activeElement.dataset.i") != first
    assert opened.run("return document.querySelectorAll('.plane [tabindex=\"0\"]').length") == 1


def test_map_zooms_moves_and_shows_edges(opened):
    spread = """
      const places = [...document.querySelectorAll('.plane .at')];
      const xs = places.map((e) => parseFloat(e.getAttribute('x')));
      return Math.max(...xs) - Math.min(...xs);
    """
    waited = (
        "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    before = opened.run(spread)
    opened.run("document.querySelector('[data-zoom=in]').focus()")
    opened.keys(ENTER)
    opened.run(waited)
    assert opened.run(spread) == pytest.approx(1.6 * before, rel=0.01)
    opened.run("document.querySelector('.plane .pt').focus()")
    opened.keys("0")
    opened.run(waited)
    assert opened.run(spread) == pytest.approx(before, rel=0.01)
    edges = "return document.querySelector('.edges line').getClientRects().length > 0"
    assert opened.run(edges) is False
    opened.run("document.querySelector('[data-edges]').focus()")
    opened.keys(SPACE)
    assert opened.run(edges) is True
    by = "return getComputedStyle(document.querySelector('.plane .pt[data-i=\"16\"] .frame')).fill"
    one = opened.run(by)
    opened.run(
        "const s = document.querySelector('select[data-by]'); s.value = 'cluster';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert isinstance(one, str)
    assert opened.run("return document.querySelector('figure.map').dataset.by") == "cluster"


def test_tables_sort(opened):
    column = """
      const rows = [...document.querySelectorAll('#objects tbody tr')];
      return rows.map((r) => parseFloat(r.cells[2].textContent));
    """
    opened.run("document.querySelectorAll('#objects thead button')[2].focus()")
    opened.keys(ENTER)
    values = opened.run(column)
    assert values == sorted(values)
    opened.keys(ENTER)
    assert opened.run(column) == sorted(values, reverse=True)


@pytest.mark.parametrize("width", [360, 1440])
def test_readable_at_this_width(opened, width):
    opened.resize(width)
    assert opened.run("return document.documentElement.scrollWidth") <= width
    smallest = opened.run("""
      let least = 99;
      const read = 'p,td,th,dt,dd,small,.ticks text,.scale span,a';
      for (const e of document.querySelectorAll(read)) {
        if (!e.getClientRects().length || !e.textContent.trim()) continue;
        least = Math.min(least, parseFloat(getComputedStyle(e).fontSize));
      }
      return least;
    """)
    assert smallest >= 11
    tall = opened.run(
        "return Math.max(...[...document.querySelectorAll('#objects tbody tr')]"
        ".filter((r) => r.textContent.includes('shape-'))"
        ".map((r) => r.getBoundingClientRect().height))"
    )
    assert tall < (230 if width < 640 else 120)  # on a phone a row is a block of facts
    outside = opened.run(
        "const a = document.querySelector('.map-area').getBoundingClientRect();"
        "return [...document.querySelectorAll('.plane .pt')].filter((e) => {"
        "const b = e.querySelector('.mark,.frame').getBoundingClientRect();"
        "return b.width && (b.left < a.left - 1 || b.right > a.right + 1); }).length"
    )
    assert outside == 0


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast(opened, dark):
    opened.scheme(dark)
    opened.hover('.plane .pt[data-i="16"]')
    ratio, where = opened.run(CONTRAST)
    assert ratio >= 4.5, where
    shade = opened.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", shade)[:3])) < 200) is dark


def test_prints_without_losing_a_section(opened, facts):
    pdf = opened.pdf(outline=True)
    assert pdf.startswith(b"%PDF")
    inflated = b"\n".join(
        _inflate(part)
        for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, flags=re.DOTALL)
    )
    for heading in [*HEADINGS, "All objects"]:
        as_text, as_utf16 = heading.encode(), heading.encode("utf-16-be")
        assert any(text in pdf + inflated for text in (as_text, as_utf16)), heading
    opened.devtools("Emulation.setEmulatedMedia", media="print")
    try:
        opened.run("window.dispatchEvent(new Event('beforeprint'))")
        cut = opened.run("""
          return [...document.querySelectorAll('.scroll,details')].filter((e) =>
            e.scrollHeight > e.clientHeight + 2 || (e.tagName === 'DETAILS' && !e.open)).length;
        """)
        assert cut == 0
        rows = opened.run(
            "return [...document.querySelectorAll('#objects tbody tr')]"
            ".filter((r) => r.checkVisibility()).length"
        )
        assert rows == len(facts["objects"])
    finally:
        opened.devtools("Emulation.setEmulatedMedia", media="")


def _inflate(part: bytes) -> bytes:
    try:
        return zlib.decompress(part)
    except zlib.error:
        return b""


def test_without_scripts_everything_is_still_there(page, facts):
    with Browser(scripts=False) as quiet:
        quiet.open(page)
        assert quiet.run("return document.querySelector('.tools').checkVisibility()") is False
        drawn = quiet.run("return document.querySelectorAll('.plane .pt').length")
        assert drawn == len(facts["objects"])
        area = quiet.run("return document.querySelector('.plane').getBoundingClientRect().height")
        assert area > 200
        rows = quiet.run("return document.querySelectorAll('#objects tbody tr').length")
        assert rows == len(facts["objects"])
        assert quiet.console() == []


def test_page_of_many_objects_is_light(facts):
    many = dict(facts)
    row = facts["objects"][-1]
    many["objects"] = [
        *facts["objects"],
        *(
            {**row, "object": f"further {i}", "x": i / 7000, "y": (i % 83) / 83}
            for i in range(8000)
        ),
    ]
    html = render(many)
    assert len(html.encode()) < 5_000_000
    assert "further 7999" not in html.split('id="data"')[0].split('id="objects"')[1]
    assert "objects are not drawn" in html


def test_nothing_is_cut_off_on_a_phone(opened):
    opened.resize(400)
    assert opened.run("return document.documentElement.scrollWidth") <= 400
    cut = opened.run("""
      return [...document.querySelectorAll('.scroll,.panel,.group,.card,.caution,.tools,nav,pre')]
        .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
        .map((e) => e.className + ' ' + (e.getAttribute('aria-label') || ''));
    """)
    assert cut == []


def test_one_colour_means_one_thing(opened):
    fills = """
      const fill = (css) =>
        [...document.querySelectorAll(css)].map((e) => getComputedStyle(e).fill);
      return [fill('.key.c1 .mark,.key.c2 .mark,.key.c3 .mark'),
        fill('.key.k1 .mark,.key.k2 .mark,.key.k3 .mark'),
        fill('.bars rect,.dot:not(.out) circle,.meter rect,.interval circle,'
          + '.rel-rater:not(.out) circle')];
    """
    for dark in (False, True):
        opened.scheme(dark)
        groups, classes, data = map(set, opened.run(fills))
        assert len(groups) == len(classes) == 3
        assert len(data) == 1
        assert not groups & classes
        assert not (groups | classes) & data
    seen = """
      return [...document.querySelectorAll('.plane .pt[data-i="1"] .mark')]
        .filter((e) => getComputedStyle(e).display !== 'none')
        .map((e) => [e.getAttribute('d'), getComputedStyle(e).fill]);
    """
    choose = (
        "const s = document.querySelector('select[data-by]'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('change'))"
    )
    for by, kinds in (("class", classes), ("cluster", groups)):
        opened.run(choose, by)
        (_, fill), *more = opened.run(seen)
        assert more == []
        assert fill in kinds


def test_the_most_typical_member_of_a_group_comes_first(opened, facts):
    for group in facts["cluster"]["groups"]:
        assert group["objects"][0] == group["medoid"]
    first = opened.run(
        "return [...document.querySelectorAll('.group')].map((g) =>"
        "[g.querySelector('.card').dataset.i, g.querySelector('.members [data-i]').dataset.i])"
    )
    assert first
    assert all(card == member for card, member in first)


def test_a_caution_says_what_it_is_about(opened, facts):
    cards = opened.run(
        "return [...document.querySelectorAll('.caution:not(#picture-caution)')]"
        ".map((c) => c.querySelector('.about').textContent)"
    )
    assert len(cards) == len(facts["reliability"]["cautions"]) > 0
    assert all(card.startswith("About the ") for card in cards)
    brief = opened.run("return document.querySelector('.brief p').textContent")
    assert "caution" in brief.lower()
    assert ":" in brief


def test_the_text_is_in_words_and_the_terms_in_the_notes(opened):
    text = opened.run("""
      const page = document.querySelector('main').cloneNode(true);
      page.querySelectorAll('.note,#how').forEach((e) => e.remove());
      return page.textContent;
    """)
    for term in ("lens depth", "silhouette", "Jaccard", "k-RNG", "medoid", "resample", "n_neigh"):
        assert term not in text, term
    notes = opened.run(
        "return [...document.querySelectorAll('.note,#how')].map((e) => e.textContent).join(' ')"
    )
    for term in ("lens depth", "silhouette", "Jaccard", "medoid"):
        assert term in notes, term


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
    named = (
        "return [...document.querySelectorAll('.plane .label')]"
        ".filter((e) => getComputedStyle(e).display !== 'none').length"
    )
    waited = (
        "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    whole = browser.run(named)
    assert 15 < whole < 200
    inside = (
        "const a = document.querySelector('.map-area').getBoundingClientRect();"
        "return document.querySelectorAll('.plane .pt').length"
    )
    assert browser.run(inside) == len(many["objects"])
    share = (
        "const a = document.querySelector('.map-area').getBoundingClientRect();"
        "const seen = [...document.querySelectorAll('.plane .pt')].filter((e) => {"
        "const b = e.querySelector('.mark').getBoundingClientRect();"
        "return b.left >= a.left && b.right <= a.right && b.top >= a.top && b.bottom <= a.bottom});"
        "return seen.filter((e) => !e.classList.contains('crowded')).length / seen.length"
    )
    before = browser.run(share)
    for _ in range(3):
        browser.run("document.querySelector('[data-zoom=in]').click()")
        browser.run(waited)
    assert browser.run(share) > 1.5 * before
    browser.run("document.querySelector('[data-zoom=reset]').click()")
    browser.run(waited)
    assert browser.run(named) == whole


def _panel(browser):
    return browser.run("const p = document.getElementById('panel'); return [p.open, p.innerText]")


def test_an_object_opens_by_mouse_and_by_keyboard(opened, facts):
    about = facts["about_objects"][16]
    opened.hover('.plane .pt[data-i="16"]')
    opened.run(
        "document.querySelector('.plane .pt[data-i=\"16\"] .frame')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    is_open, text = _panel(opened)
    assert is_open
    assert text.split("\n")[1].strip() == facts["objects"][16]["object"]
    assert "Nearest on the map" in text
    assert f"of the {about['questions']:,} questions it stood in" in text
    near = opened.run(
        "return [...document.querySelectorAll('#panel .near button')].map((e) => e.innerText)"
    )
    assert len(near) == len(about["nearest"]) == 6
    big = opened.run("return document.querySelector('#panel > svg').getBoundingClientRect().width")
    assert big > 300
    opened.keys(ESCAPE)
    assert _panel(opened)[0] is False
    opened.run("document.querySelector('.plane .pt[data-i=\"3\"]').focus()")
    opened.keys(ENTER)
    assert _panel(opened)[0] is True
    # a neighbour is one key further
    opened.keys(TAB, ENTER)
    nearest = facts["about_objects"][3]["nearest"][0]
    name = opened.run("return document.querySelector('#panel h2').textContent")
    assert name[:90] == facts["objects"][nearest]["object"][:90]
    opened.keys(ESCAPE)
    assert opened.run("return document.activeElement.dataset.i") == "3"
    assert opened.console() == []


def test_the_panel_says_who_sees_an_object_otherwise(opened, facts):
    i = next(i for i, each in enumerate(facts["about_objects"]) if each["raters"])
    opened.run(f"document.querySelector('.plane .pt[data-i=\"{i}\"]').focus()")
    opened.keys(SPACE)
    told = facts["about_objects"][i]["raters"][0]
    text = _panel(opened)[1]
    line = f"{told['rater']}: {told['against']} of {told['answers']} answers about it differ"
    assert line in text
    assert "Which raters see it otherwise" in text
    opened.keys(ESCAPE)


def test_a_drag_opens_nothing(opened):
    opened.run("document.querySelector('.map-area').scrollIntoView({block: 'center'})")
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


@pytest.mark.parametrize("width", [360, 1440])
def test_long_names_never_fill_a_screen(opened, width):
    opened.resize(width)
    tall = opened.run("""
      return [...document.querySelectorAll('bdi,.label,.named')].filter((e) => e.checkVisibility())
        .map((e) => [e.getBoundingClientRect().height, e.parentElement.outerHTML.slice(0, 90)])
        .sort((a, b) => b[0] - a[0])[0];
    """)
    assert tall[0] < 190, tall
