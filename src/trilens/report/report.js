"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const { tips, about, kind, unit } = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const tip = document.getElementById("tip");

  // ---- the box that tells about an object -------------------------------------------------
  let shownBy = null;

  function picture(i) {
    const image = document.getElementById("p" + i);
    if (!image) return null;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${image.getAttribute("width")} ${image.getAttribute("height")}`);
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", "#p" + i);
    svg.append(use);
    return svg;
  }

  function show(element) {
    const i = Number(element.dataset.i);
    if (!tips[i]) return;
    const [name, ...lines] = tips[i];
    const title = document.createElement("strong");
    title.textContent = name;
    const parts = lines.map((line) => {
      const row = document.createElement("div");
      row.textContent = line;
      return row;
    });
    tip.replaceChildren(...[picture(i), title, ...parts].filter(Boolean));
    tip.hidden = false;
    const at = (element.querySelector("circle,.frame,.mark") || element).getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    const gap = 12;
    let left = at.right + gap;
    if (left + box.width > innerWidth - 4) left = at.left - gap - box.width;
    left = Math.max(4, Math.min(left, innerWidth - box.width - 4));
    const top = Math.max(4, Math.min(at.top + at.height / 2 - box.height / 2, innerHeight - box.height - 4));
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    light(i);
    shownBy = element;
  }

  function hide() {
    tip.hidden = true;
    shownBy = null;
    light(-1);
  }

  let lit = [];
  function light(i) {
    lit.forEach((element) => element.classList.remove("lit"));
    lit = i < 0 ? [] : all(`.pt[data-i="${i}"],.dot[data-i="${i}"]`);
    lit.forEach((element) => element.classList.add("lit"));
  }

  const object = (target) => (target.closest ? target.closest("[data-i]") : null);
  document.addEventListener("pointerover", (event) => {
    const element = object(event.target);
    if (element && !dragging) show(element);
    else if (shownBy && !shownBy.contains(document.activeElement)) hide();
  });
  document.addEventListener("focusin", (event) => {
    const element = object(event.target);
    if (element && element === event.target) show(element);
    else hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const element = object(event.target);
    if (element === event.target && element && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      open(Number(element.dataset.i));
    }
  });
  // a drag ends in a click that is none
  let moved = false;
  document.addEventListener("click", (event) => {
    const element = object(event.target);
    if (element && !moved && !panel.contains(element)) open(Number(element.dataset.i));
  });

  // ---- the panel of one object: what is near, what was asked, who saw it otherwise --------
  const panel = document.getElementById("panel");

  function make(tag, text, css) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (css) element.className = css;
    return element;
  }

  function short(name) {
    return name.length <= 40 ? name : name.slice(0, 20) + "…" + name.slice(-19);
  }

  function named(i) {
    const element = make("bdi");
    element.textContent = tips[i] ? short(tips[i][0]) : "";
    return element;
  }

  function goTo(i) {
    const button = make("button", undefined, "chip");
    button.type = "button";
    const shown = picture(i);
    button.append(...[shown, named(i)].filter(Boolean));
    button.addEventListener("click", () => open(i));
    return button;
  }

  // the three objects of a question as a sentence about them
  function question({ objects: [a, b, c], given, answers }) {
    const row = make("li");
    const said = { central: " is the most central, with ", odd: " is the odd one out, beside ", closer: " is closer to " };
    row.append(goTo(a), said[kind], goTo(b), kind === "closer" ? " than to " : " and ", goTo(c));
    row.append(make("small", answers === 1 ? " (one answer)" : ` (${given} of ${answers} answers)`));
    return row;
  }

  function open(i) {
    if (!tips[i] || !panel.showModal) return;
    hide();
    const [name, ...lines] = tips[i];
    const close = make("button", "Close", "close");
    close.type = "button";
    close.addEventListener("click", () => panel.close());
    const head = make("h2");
    head.id = "panel-name";
    const whole = make("bdi", name.length <= 200 ? name : name.slice(0, 100) + "…" + name.slice(-99));
    head.append(whole);
    const parts = [close, picture(i), head, ...lines.map((line) => make("p", line))];
    const known = about[i];
    if (known) {
      const near = make("div", undefined, "near");
      near.append(...known.nearest.map(goTo));
      parts.push(make("h3", "Nearest on the map"), near);
      if (known.asked.length) {
        const list = make("ul");
        list.append(...known.asked.map(question));
        const all = known.questions === known.asked.length;
        parts.push(make("h3", all ? "The questions it stood in" : `${known.asked.length} of the ${known.questions.toLocaleString("en")} questions it stood in`));
        if (!all) parts.push(make("p", "Those that people disagree about, then those whose answer is the least expected.", "note"));
        parts.push(list);
      }
      if (known.raters.length) {
        const list = make("ul");
        list.append(...known.raters.map(({ rater, against, answers }) => {
          const row = make("li");
          row.append(make("bdi", short(rater)), `: ${against} of ${answers} answers about it differ from the map`);
          return row;
        }));
        parts.push(make("h3", `Which ${unit}s see it otherwise`), list);
      }
    }
    panel.replaceChildren(...parts.filter(Boolean));
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    close.focus();
  }
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
  addEventListener("scroll", () => { if (shownBy && !shownBy.matches(":focus")) hide(); }, { passive: true });

  // ---- arrow keys go from object to object: one stop for Tab ------------------------------
  function focus(group, element) {
    all("[tabindex='0'][data-i]", group).forEach((other) => other.setAttribute("tabindex", "-1"));
    element.setAttribute("tabindex", "0");
    element.focus({ preventScroll: false });
  }

  const DIRECTION = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function centre(element) {
    const box = (element.querySelector("circle") || element).getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }

  function nearest(from, members, [dx, dy]) {
    const [x, y] = centre(from);
    let best = null, least = Infinity;
    for (const element of members) {
      if (element === from) continue;
      const [u, v] = centre(element);
      const along = (u - x) * dx + (v - y) * dy;
      const aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
      if (along > 0.5 && along + 2 * aside < least) { least = along + 2 * aside; best = element; }
    }
    return best;
  }

  all("[data-roving]").forEach((group) => {
    const members = all("[data-i]", group);
    group.addEventListener("keydown", (event) => {
      const from = object(event.target);
      if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
      let next = null;
      const at = members.indexOf(from);
      if (event.key === "Home") next = members[0];
      else if (event.key === "End") next = members[members.length - 1];
      else if (!(event.key in DIRECTION)) return;
      else if (group.dataset.roving === "plane") next = nearest(from, members, DIRECTION[event.key]);
      else next = members[at + (event.key === "ArrowRight" || event.key === "ArrowUp" ? 1 : -1)];
      event.preventDefault();
      if (next) focus(group, next);
    });
  });

  // ---- the map: zoom, move, edges, colours ------------------------------------------------
  const figure = document.querySelector("figure.map");
  const area = figure.querySelector(".map-area");
  const plane = figure.querySelector(".plane");
  const edges = figure.querySelector(".edges");
  const places = all(".at", plane).map((element) => ({
    element,
    point: element.firstElementChild,
    x: parseFloat(element.getAttribute("x")),
    y: parseFloat(element.getAttribute("y")),
  }));
  // who comes first where there is no room for all names
  const order = [...places].sort((a, b) => a.point.dataset.rank - b.point.dataset.rank);
  // of many, few are named until a part of the map is looked into, and these lie on top
  const many = places.length > 250;
  if (many) [...order].reverse().forEach(({ element }) => plane.append(element));
  const lines = all("line", edges).map((element) => ({
    element,
    at: ["x1", "y1", "x2", "y2"].map((name) => parseFloat(element.getAttribute(name))),
  }));
  const view = { scale: 1, x: 0, y: 0 };
  const pictured = Boolean(plane.querySelector(".frame"));
  let dragging = false;

  const across = (x) => (x - 50) * view.scale + 50 + view.x;
  const down = (y) => (y - 50) * view.scale + 50 + view.y;

  function draw() {
    for (const { element, x, y } of places) {
      element.setAttribute("x", across(x).toFixed(3) + "%");
      element.setAttribute("y", down(y).toFixed(3) + "%");
    }
    if (!edges.hasAttribute("hidden")) for (const { element, at } of lines) {
      element.setAttribute("x1", across(at[0]).toFixed(2) + "%");
      element.setAttribute("y1", down(at[1]).toFixed(2) + "%");
      element.setAttribute("x2", across(at[2]).toFixed(2) + "%");
      element.setAttribute("y2", down(at[3]).toFixed(2) + "%");
    }
    area.classList.toggle("zoomed", view.scale > 1);
    const dots = plane.classList.contains("dots");
    const named = !pictured || dots;
    plane.classList.toggle("no-names", !named);
    plane.classList.toggle("names", dots && named);
    declutter();
  }

  // pictures that would hide others become dots until there is room; names that would overlap wait
  function declutter() {
    const { width, height } = area.getBoundingClientRect();
    if (!width) return;
    const shrink = width < 560 ? 0.62 : 1;
    const placed = [], written = [];
    const names = !plane.classList.contains("no-names");
    let left = many ? 60 * view.scale ** 2 : Infinity;
    for (const { point, x, y } of order) {
      const u = (across(x) / 100) * width, v = (down(y) / 100) * height;
      const frame = point.querySelector(".frame");
      if (frame && !plane.classList.contains("dots")) {
        const w = frame.width.baseVal.value * shrink, h = frame.height.baseVal.value * shrink;
        const hidden = placed.some((p) => Math.abs(p.u - u) < 0.55 * w && Math.abs(p.v - v) < 0.55 * h);
        point.classList.toggle("far", hidden);
        if (!hidden) placed.push({ u, v });
      } else if (names) {
        const label = point.querySelector(".label");
        if (u < 0 || u > width || v < 0 || v > height) {
          point.classList.add("crowded");
          continue;
        }
        const w = (shrink < 1 ? 10.4 : 7.2) * shrink * label.textContent.length + 6;
        // at the rim a name turns inwards
        label.style.textAnchor = u < w / 2 ? "start" : u > width - w / 2 ? "end" : "middle";
        const crowded = left-- <= 0 || written.some((p) => Math.abs(p.u - u) < (p.w + w) / 2 && Math.abs(p.v - v) < (shrink < 1 ? 20 * shrink : 15));
        point.classList.toggle("crowded", crowded);
        if (!crowded) written.push({ u, v, w });
      }
    }
  }

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function zoom(factor, x = 50, y = 50) {
    const scale = Math.min(40, Math.max(1, view.scale * factor));
    const ratio = scale / view.scale;
    // the place under the pointer stays where it is
    view.x = (x - 50) * (1 - ratio) + view.x * ratio;
    view.y = (y - 50) * (1 - ratio) + view.y * ratio;
    view.scale = scale;
    if (scale === 1) view.x = view.y = 0;
    redraw();
  }

  function reset() {
    Object.assign(view, { scale: 1, x: 0, y: 0 });
    redraw();
  }

  function within(event) {
    const box = area.getBoundingClientRect();
    return [(100 * (event.clientX - box.left)) / box.width, (100 * (event.clientY - box.top)) / box.height];
  }

  area.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300), ...within(event));
  }, { passive: false });
  area.addEventListener("dblclick", (event) => zoom(2, ...within(event)));
  let from = null;
  area.addEventListener("pointerdown", (event) => {
    moved = false;
    if (event.button === 0) from = { at: within(event), x: view.x, y: view.y, id: event.pointerId };
  });
  addEventListener("pointermove", (event) => {
    if (!from || event.pointerId !== from.id) return;
    const [x, y] = within(event);
    if (!dragging && Math.hypot(x - from.at[0], y - from.at[1]) < 0.8) return;
    if (event.pointerType === "touch" && view.scale === 1) return;
    dragging = moved = true;
    hide();
    plane.classList.add("drag");
    view.x = from.x + x - from.at[0];
    view.y = from.y + y - from.at[1];
    redraw();
  });
  const drop = () => { from = null; dragging = false; plane.classList.remove("drag"); };
  addEventListener("pointerup", drop);
  addEventListener("pointercancel", drop);
  plane.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0") reset();
    else return;
    event.preventDefault();
  });

  const control = (selector, kind, act) => {
    const element = figure.querySelector(selector);
    if (element) element.addEventListener(kind, () => act(element));
  };
  control("[data-zoom=in]", "click", () => zoom(1.6));
  control("[data-zoom=out]", "click", () => zoom(1 / 1.6));
  control("[data-zoom=reset]", "click", reset);
  control("[data-edges]", "change", (box) => { edges.toggleAttribute("hidden", !box.checked); draw(); });
  control("[data-pictures]", "change", (box) => {
    plane.classList.toggle("dots", !box.checked);
    draw();
  });
  control("select[data-by]", "change", (choice) => { figure.dataset.by = choice.value; });
  control("[data-find]", "input", (field) => {
    const wanted = field.value.trim().toLowerCase();
    const found = wanted && (places.find(({ point }) => tips[point.dataset.i][0].toLowerCase() === wanted)
      || places.find(({ point }) => tips[point.dataset.i][0].toLowerCase().includes(wanted)));
    if (!found) return hide();
    found.element.parentNode.append(found.element);
    show(found.point);
  });
  const list = document.getElementById("object-names");
  list.append(...Object.values(tips).slice(0, 2000).map(([name]) => new Option(name, name)));
  new ResizeObserver(redraw).observe(area);
  all(".tools,.scripted").forEach((element) => element.removeAttribute("hidden"));

  // ---- tables sort by a click on a heading ------------------------------------------------
  const number = (text) => {
    const value = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(value) ? null : value;
  };
  all("table.sortable").forEach((table) => {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        const keys = new Map(rows.map((row) => [row, row.cells[column].textContent.trim()]));
        const numeric = head.classList.contains("n") || rows.every((row) => /^[\d.,]+$/.test(keys.get(row)));
        rows.sort((a, b) => {
          const [s, t] = [keys.get(a), keys.get(b)];
          const order = numeric
            ? (number(s) ?? -Infinity) - (number(t) ?? -Infinity)
            : s.localeCompare(t, undefined, { numeric: true });
          return down ? -order : order;
        });
        table.tBodies[0].append(...rows);
      });
    });
  });

  // ---- on paper everything is open and at rest --------------------------------------------
  addEventListener("beforeprint", () => {
    all("details").forEach((element) => { element.open = true; });
    hide();
    Object.assign(view, { scale: 1, x: 0, y: 0 });
    draw();
  });
  draw();
})();
