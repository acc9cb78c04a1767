"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const { tips, about, kind, unit } = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  document.documentElement.classList.add("scripted");
  all(".live").forEach((element) => { element.hidden = false; });

  function make(tag, text, css) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (css) element.className = css;
    return element;
  }

  function draw(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  const short = (name) => (name.length <= 40 ? name : name.slice(0, 20) + "…" + name.slice(-19));

  function picture(i) {
    const image = document.getElementById("p" + i);
    if (!image) return null;
    const box = `0 0 ${image.getAttribute("width")} ${image.getAttribute("height")}`;
    const svg = draw("svg", { viewBox: box, "aria-hidden": "true" });
    svg.append(draw("use", { href: "#p" + i }));
    return svg;
  }

  // ---- the box that tells about an object -------------------------------------------------
  const tip = document.getElementById("tip");
  const object = (target) => (target.closest ? target.closest("[data-i]") : null);
  let shownBy = null, lit = [];

  function show(element) {
    const i = Number(element.dataset.i);
    if (!tips[i]) return;
    const [name, ...lines] = tips[i];
    const near = about[i] ? about[i].nearest.slice(0, 3).map((j) => short(tips[j][0])).join(", ") : "";
    if (near) lines.push("nearest: " + near);
    tip.replaceChildren(...[picture(i), make("strong", name), ...lines.map((line) => make("div", line))].filter(Boolean));
    tip.hidden = false;
    const at = (all(".frame,.mark,circle", element).find((e) => e.getClientRects().length) || element).getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    let left = at.right + 12;
    if (left + box.width > innerWidth - 4) left = at.left - 12 - box.width;
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

  function light(i) {
    lit.forEach((element) => element.classList.remove("lit"));
    lit = i < 0 ? [] : all(`.pt[data-i="${i}"],.dot[data-i="${i}"]`);
    lit.forEach((element) => element.classList.add("lit"));
    link(i);
  }

  document.addEventListener("pointerover", (event) => {
    const element = object(event.target);
    if (element && !dragging && event.pointerType !== "touch") show(element);
    else if (shownBy && !element && !shownBy.contains(document.activeElement)) hide();
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
  // a drag ends in a click that is none; the first tap on an object tells, the second tells more
  let moved = false;
  document.addEventListener("click", (event) => {
    const element = object(event.target);
    if (!element || moved || panel.contains(element)) return;
    if (event.pointerType === "touch" && tapped !== element) show(tapped = element);
    else open(Number(element.dataset.i));
  });
  let tapped = null;
  addEventListener("scroll", () => { if (shownBy && !shownBy.matches(":focus")) hide(); }, { passive: true });

  // ---- the panel of one object: what is near, what was asked, who saw it otherwise --------
  const panel = document.getElementById("panel");

  function goTo(i) {
    const button = make("button");
    button.type = "button";
    button.append(...[picture(i), make("bdi", tips[i] ? short(tips[i][0]) : "")].filter(Boolean));
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

  function rater({ rater: who, against, answers }) {
    const row = make("li");
    row.append(make("bdi", short(who)), `: ${against} of ${answers} answers about it differ from the map`);
    return row;
  }

  function list(title, made) {
    if (!made.length) return [];
    const rows = make("ul");
    rows.append(...made);
    return [make("h3", title), rows];
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
    head.append(make("bdi", name.length <= 200 ? name : name.slice(0, 100) + "…" + name.slice(-99)));
    const parts = [close, picture(i), head, ...lines.map((line) => make("p", line))];
    const known = about[i];
    if (known) {
      const near = make("div", undefined, "near");
      near.append(...known.nearest.map(goTo));
      parts.push(make("h3", "Nearest on the map"), near);
      const some = known.questions === known.asked.length ? "" : `${known.asked.length} of `;
      parts.push(...list(`${some}${known.questions.toLocaleString("en")} questions it appeared in, the most disputed first`, known.asked.map(question)));
      parts.push(...list(`Which ${unit}s see it differently`, known.raters.map(rater)));
    }
    panel.replaceChildren(...parts.filter(Boolean));
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    close.focus();
  }
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });

  // ---- arrow keys go from object to object: one stop for Tab ------------------------------
  const DIRECTION = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function center(element) {
    const box = (element.querySelector("circle,text") || element).getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }

  function nearest(from, members, [dx, dy]) {
    const [x, y] = center(from);
    let best = null, least = Infinity;
    for (const element of members) {
      if (element === from) continue;
      const [u, v] = center(element);
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
      if (event.key === "Home") next = members[0];
      else if (event.key === "End") next = members[members.length - 1];
      else if (!(event.key in DIRECTION)) return;
      else next = nearest(from, members, DIRECTION[event.key]);
      event.preventDefault();
      if (!next) return;
      members.forEach((other) => other.setAttribute("tabindex", "-1"));
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  });

  // ---- the map: fitted to its frame, zoomed and moved ---------------------------------------
  const figure = document.querySelector("figure.map");
  const area = figure.querySelector(".map-area");
  const plane = figure.querySelector(".plane");
  const links = figure.querySelector(".links");
  const ratio = parseFloat(area.dataset.ratio);
  const places = all(".at", plane).map((element) => ({
    element,
    point: element.firstElementChild,
    u: parseFloat(element.getAttribute("x")) * ratio,
    v: parseFloat(element.getAttribute("y")),
  }));
  const placeOf = new Map(places.map((place) => [Number(place.point.dataset.i), place]));
  // who comes first where there is no room for all names
  const order = [...places].sort((a, b) => a.point.dataset.rank - b.point.dataset.rank);
  // of many, few are named until a part of the map is looked into
  const many = places.length > 250;
  // who comes first lies on top, so that no mark covers the name
  [...order].reverse().forEach(({ element }) => plane.append(element));
  const ends = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = ends(places.map(({ u }) => u)), [top, bottom] = ends(places.map(({ v }) => v));
  const pictured = Boolean(plane.querySelector(".frame"));
  // how far the next object is
  if (pictured) for (const one of places) {
    one.alone = Math.min(...places.map((other) => (other === one ? Infinity : Math.hypot(one.u - other.u, one.v - other.v))));
  }
  if (pictured) plane.append(...all(".at:has(.best)", plane));
  const view = { scale: 1, x: 0, y: 0 };
  let dragging = false;

  function fit() {
    const { width, height } = area.getBoundingClientRect();
    if (!width) return;
    const room = pictured ? 44 : 26;
    const fitting = [(width - 2 * room - (pictured ? 0 : 40)) / Math.max(right - left, 1e-6), (height - 2 * room) / Math.max(bottom - top, 1e-6)];
    const scale = Math.min(...fitting) * view.scale;
    for (const place of places) {
      place.x = width / 2 + (place.u - (left + right) / 2) * scale + view.x;
      place.y = height / 2 + (place.v - (top + bottom) / 2) * scale + view.y;
      place.element.setAttribute("x", ((100 * place.x) / width).toFixed(3) + "%");
      place.element.setAttribute("y", ((100 * place.y) / height).toFixed(3) + "%");
      if (place.ellipse) {
        const [a, b, turn] = place.spread;
        place.ellipse.setAttribute("rx", Math.max(a * scale, 1));
        place.ellipse.setAttribute("ry", Math.max(b * scale, 1));
        place.ellipse.setAttribute("transform", `rotate(${turn})`);
      }
    }
    area.classList.toggle("zoomed", view.scale > 1);
    declutter(width, height, scale);
    link(lit.length ? Number(lit[0].dataset.i) : -1);
  }

  // where objects are crowded their pictures are small, or dots; names that would overlap wait
  function declutter(width, height, scale) {
    const shrink = width < 560 ? 0.8 : 1;
    const placed = [], written = [];
    const dots = plane.classList.contains("dots");
    let room = many ? 60 * view.scale ** 2 : Infinity;
    for (const { point, x, y, alone } of order) {
      const frame = dots ? null : point.querySelector(".frame");
      if (frame) {
        const wide = frame.width.baseVal.value * shrink;
        const least = point.classList.contains("best") ? 0.7 : 0.4;
        const size = Math.min(1, Math.max((1.6 * alone * scale) / wide, least));
        const hidden = placed.some((p) => Math.hypot(p.x - x, p.y - y) < 0.3 * size * wide);
        point.querySelector(".face").setAttribute("transform", `scale(${size.toFixed(3)})`);
        point.classList.toggle("far", hidden);
        if (!hidden) placed.push({ x, y });
        continue;
      }
      const label = point.querySelector(".label");
      const w = 7.2 * shrink * label.textContent.length + 6;
      // at the rim a name turns inwards
      label.style.textAnchor = x < w / 2 ? "start" : x > width - w / 2 ? "end" : "middle";
      const away = x < 0 || x > width || y < 0 || y > height;
      const hides = !many && !point.classList.contains("best") && order.some((p) => p.point !== point && Math.abs(p.x - x) < w / 2 && p.y < y && p.y > y - 26 * shrink);
      const crowded = away || room-- <= 0 || hides || written.some((p) => Math.abs(p.x - x) < (p.w + w) / 2 && Math.abs(p.y - y) < 15 * shrink);
      point.classList.toggle("crowded", crowded);
      if (!crowded) written.push({ x, y, w });
    }
  }

  // lines from an object to those nearest to it
  function link(i) {
    const from = placeOf.get(i);
    const near = from && about[i] ? about[i].nearest.slice(0, 3).map((j) => placeOf.get(j)).filter(Boolean) : [];
    links.replaceChildren(...near.map((to) => draw("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y })));
  }

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; fit(); });
  }

  function zoom(factor, x = area.clientWidth / 2, y = area.clientHeight / 2) {
    const scale = Math.min(40, Math.max(1, view.scale * factor));
    const by = scale / view.scale;
    // the place under the pointer stays where it is
    view.x = (x - area.clientWidth / 2) * (1 - by) + view.x * by;
    view.y = (y - area.clientHeight / 2) * (1 - by) + view.y * by;
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
    return [event.clientX - box.left, event.clientY - box.top];
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
    if (!dragging && Math.hypot(x - from.at[0], y - from.at[1]) < 5) return;
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

  const control = (selector, event, act) => {
    const element = figure.querySelector(selector);
    if (element) element.addEventListener(event, () => act(element));
  };
  control("[data-zoom=in]", "click", () => zoom(1.6));
  control("[data-zoom=out]", "click", () => zoom(1 / 1.6));
  control("[data-zoom=reset]", "click", reset);
  control("[data-color]", "change", (choice) => { figure.dataset.by = choice.value; });
  control("[data-pictures]", "change", (box) => { plane.classList.toggle("dots", !box.checked); fit(); });
  control("[data-uncertain]", "change", (box) => {
    for (const place of places) {
      if (!box.checked) { place.ellipse?.remove(); place.ellipse = null; }
      else if (place.point.dataset.spread) {
        place.spread = place.point.dataset.spread.split(" ").map(Number);
        place.ellipse = draw("ellipse", { class: "spread" });
        place.point.prepend(place.ellipse);
      }
    }
    fit();
  });
  control("[data-find]", "input", (field) => {
    const wanted = field.value.trim().toLowerCase();
    const name = ({ point }) => tips[point.dataset.i][0].toLowerCase();
    const found = wanted && (places.find((place) => name(place) === wanted) || places.find((place) => name(place).includes(wanted)));
    if (!found) return hide();
    plane.append(found.element);
    show(found.point);
  });
  document.getElementById("object-names").append(...Object.values(tips).slice(0, 2000).map(([name]) => new Option(name, name)));
  new ResizeObserver(redraw).observe(area);

  // ---- a finding shows its objects on the map -----------------------------------------------
  const cards = all(".card").filter((card) => card.dataset.show);
  function highlight(card) {
    const shown = new Set(card ? card.dataset.show.split(" ").map(Number) : []);
    plane.classList.toggle("focused", shown.size > 0);
    for (const { point, element } of places) {
      point.classList.toggle("shown", shown.has(Number(point.dataset.i)));
      if (shown.has(Number(point.dataset.i))) plane.append(element);
    }
  }
  const pressed = () => cards.find((card) => card.classList.contains("on"));
  cards.forEach((card) => {
    card.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") highlight(card); });
    card.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") highlight(pressed()); });
    card.addEventListener("click", (event) => {
      if (event.target.closest("a")) return;
      const on = !card.classList.contains("on");
      cards.forEach((other) => {
        other.classList.toggle("on", on && other === card);
        other.querySelector("button").setAttribute("aria-pressed", on && other === card);
      });
      highlight(pressed());
    });
  });

  // ---- figures as files ---------------------------------------------------------------------
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

  // a drawing that needs no page: with its styles, its pictures and a background
  function standalone(svg) {
    const { width, height } = svg.getBoundingClientRect();
    const copy = svg.cloneNode(true), copies = [copy, ...all("*", copy)];
    [svg, ...all("*", svg)].forEach((element, i) => {
      const style = getComputedStyle(element);
      if (style.display === "none") return copies[i].remove();
      STYLES.forEach((name) => copies[i].setAttribute(name, style.getPropertyValue(name)));
      if (style.transform !== "none") copies[i].setAttribute("transform", style.transform);
      if (element.tagName === "svg") copies[i].setAttribute("overflow", style.overflow);
      ["tabindex", "role", "class", "aria-label", "style"].forEach((name) => copies[i].removeAttribute(name));
    });
    all("use", copy).forEach((use) => {
      const image = document.querySelector(use.getAttribute("href")).cloneNode();
      image.removeAttribute("id");
      use.replaceWith(image);
    });
    const { x, y } = svg.viewBox.baseVal || { x: 0, y: 0 };
    copy.prepend(draw("rect", { x, y, width: "100%", height: "100%", fill: getComputedStyle(figure).backgroundColor }));
    Object.entries({ xmlns: SVG, width: Math.round(width), height: Math.round(height) }).forEach(([name, value]) => copy.setAttribute(name, value));
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }

  function save(name, href) {
    const link = make("a");
    Object.assign(link, { href, download: name });
    link.click();
  }

  function png(name, { text, width, height }) {
    const image = new Image();
    image.onload = () => {
      const canvas = make("canvas");
      Object.assign(canvas, { width: 2 * width, height: 2 * height });
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
      save(name, canvas.toDataURL("image/png"));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }

  all("figure.fig").forEach((drawn) => {
    const { name } = drawn.dataset, bar = make("span", undefined, "save");
    const drawing = () => standalone(drawn.querySelector(".plane") || drawn.querySelector(":scope > svg"));
    for (const [kind_, act] of [["SVG", () => save(`${name}.svg`, "data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawing().text))], ["PNG", () => png(`${name}.png`, drawing())]]) {
      const button = make("button", kind_);
      button.type = "button";
      button.setAttribute("aria-label", `Save ${name} as ${kind_}`);
      button.addEventListener("click", act);
      bar.append(button);
    }
    drawn.querySelector("figcaption").append(bar);
  });

  // ---- tables sort by a click on a heading ------------------------------------------------
  const number = (text) => {
    const value = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(value) ? -Infinity : value;
  };
  all("table.sortable").forEach((table) => {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = make("button");
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
          const order = numeric ? number(s) - number(t) || 0 : s.localeCompare(t, undefined, { numeric: true });
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
    highlight(null);
    Object.assign(view, { scale: 1, x: 0, y: 0 });
    fit();
  });
  fit();
})();
