// The participant's page: one question at a time, no answer lost, none counted twice.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const page = $("survey");
  const study = JSON.parse(page.dataset.study);
  const root = `${page.dataset.root}/`;
  const stage = $("stage");
  let choices = [...stage.querySelectorAll(".choice")]; // as many as the question has
  let buttons = choices.map((choice) => choice.querySelector("button.card"));
  const anchor = stage.querySelector(".anchor");

  // From a choice to the next question, in milliseconds: the choice stays marked, then the
  // places are empty. Together longer than the gap of a double click, whose second half must
  // not answer a question that nobody has seen.
  const MARKED = 250;
  const EMPTY = 120;
  const SLOW = 800; // then the page says that it waits
  const TOO_LONG = 20000; // then a call or a picture is tried again
  const TRIES = 4; // then a question without its picture is left out
  const HOPELESS = 120000; // then the participant gets the code for answers that were not stored

  let current = null; // what the server said last
  let state = ""; // loading, listening (to sounds), asking, saving, told (after practice)
  let turn = 0; // what was begun in an earlier turn must not touch this one
  let started = 0;
  const lost = new Set(); // addresses of pictures and sounds that did not come

  const say = (key, facts = {}) =>
    study.texts[key].replace(/\{(\w+)\}/g, (whole, name) => (name in facts ? facts[name] : whole));

  // --- what the browser keeps --------------------------------------------------------------

  const memory = {
    get(name) {
      try {
        return JSON.parse(localStorage.getItem(`trilens ${root} ${name}`));
      } catch {
        return null; // the browser keeps nothing: the page goes on without
      }
    },
    put(name, value) {
      try {
        localStorage.setItem(`trilens ${root} ${name}`, JSON.stringify(value));
      } catch {}
    },
  };

  // --- calls -------------------------------------------------------------------------------

  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

  const soon = (promise) =>
    Promise.race([promise, sleep(TOO_LONG).then(() => Promise.reject(new Error("late")))]);

  // Until the time is over, the network is back, or somebody is impatient.
  function rest(ms) {
    return new Promise((done) => {
      const over = () => {
        clearTimeout(timer);
        removeEventListener("online", over);
        $("retry").removeEventListener("click", over);
        done();
      };
      const timer = setTimeout(over, ms);
      addEventListener("online", over);
      $("retry").addEventListener("click", over);
    });
  }

  async function once(method, path, body) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), TOO_LONG);
    try {
      const answer = await fetch(root + path, {
        method,
        body: body && JSON.stringify(body),
        headers: body ? { "content-type": "application/json" } : {},
        cache: "no-store",
        keepalive: method === "POST", // also when the window is closed just now
        signal: stop.signal,
      });
      if (answer.status >= 500 || answer.status === 408 || answer.status === 429) {
        throw new Error(answer.status);
      }
      // whoever answers with something else than JSON stands between us and the server
      return { status: answer.status, data: await answer.json() };
    } finally {
      clearTimeout(timer);
    }
  }

  // The same call until the server has answered it; every call may be sent twice.
  async function surely(method, path, body) {
    const answering = Boolean(body && body.chosen);
    const slow = setTimeout(() => note(say(answering ? "saving" : "loading")), SLOW);
    const since = performance.now();
    for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
      try {
        const reply = await once(method, path, body);
        clearTimeout(slow);
        note("");
        return reply;
      } catch {
        clearTimeout(slow);
        const code = answering && current && current.failed_code;
        const hopeless = code && performance.now() - since > HOPELESS;
        if (hopeless) note(`${say("give_up")} ${code}`);
        else note(say(answering ? "offline" : "waiting"));
        await rest(wait);
      }
    }
  }

  async function latest() {
    const reply = await surely("GET", "api/question");
    return reply.status === 200 ? reply.data : { gone: true };
  }

  // --- what is seen ------------------------------------------------------------------------

  function note(text) {
    if ($("note").textContent !== text) $("note").textContent = text;
  }

  function enter(next) {
    state = next;
    page.dataset.state = next;
    stage.setAttribute("aria-busy", String(next === "loading"));
    for (const button of buttons) button.setAttribute("aria-disabled", String(next !== "asking"));
    count();
  }

  function screen(name) {
    if (document.body.dataset.screen === name) return;
    document.body.dataset.screen = name;
    for (const section of page.children) section.hidden = section.id !== name;
    const may = /^(question|break|form|part|failed|paused)$/.test(name);
    for (const button of document.querySelectorAll(".leave")) button.hidden = !may;
    $(name).querySelector("h1").focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  function show(reply) {
    turn += 1;
    current = reply;
    const receipt = reply.done ? null : memory.get("receipt");
    $("kept").hidden = !receipt || Boolean(reply.gone);
    $("kept").querySelector("code").textContent = receipt || "";
    $("test-run").hidden = !test;
    if (reply.token) {
      if (reply.instructions && introduced !== reply.token) introduce(reply);
      else ask(reply, turn);
      return;
    }
    enter("");
    if (reply.form) {
      showForm(reply);
    } else if (reply.round_done) {
      const over = reply.part_done ? "part_done" : "round_done_title";
      $("break-title").textContent = say(reply.practice ? "practice_done_title" : over, reply);
      $("rested").textContent = say(reply.practice ? "practice_done" : "round_done", reply);
      $("rounds").textContent = reply.practice ? "" : reply.may_finish ? say("enough") : roundOf(reply);
      $("another").textContent = say(
        reply.practice ? "begin" : reply.may_finish ? "another_round" : "continue",
      );
      $("another").classList.toggle("main", !reply.may_finish); // of two ways none is the better
      $("finish").hidden = !reply.may_finish;
      screen("break");
    } else if (reply.done) {
      const { code, url } = reply.completion;
      const back = /^https?:/i.test(url || "");
      $("way-back").hidden = !back;
      if (back) $("back").href = url;
      $("completion").hidden = !code;
      $("code").textContent = code || "";
      $("copy").hidden = !navigator.clipboard;
      $("copy").textContent = say("copy");
      $("receipt").textContent = reply.receipt || "";
      $("receipt-box").hidden = $("receipt-why").hidden = !reply.receipt;
      const left = reply.left && !reply.short;
      $("thanked").textContent = say(left ? "left_title" : "thanks_title");
      $("thanks-text").hidden = Boolean(reply.left || reply.short);
      $("left-text").hidden = !(reply.left || reply.short);
      $("left-text").textContent = say(
        reply.short ? "short" : reply.erased ? "left_erased" : "left_kept",
      );
      $("somebody").hidden = Boolean(person); // the platform sends each person by a link of theirs
      memory.put("receipt", null); // from now on the server shows it
      $("debriefed").innerHTML = reply.debriefing || "";
      screen(reply.debriefing ? "debriefing" : "thanks");
    } else {
      screen(reply.paused ? "paused" : "gone");
    }
  }
  onClick("after-pause", async () => show(await latest()));

  // What comes next; where the call was refused, the server is asked for it.
  async function showReply(reply) {
    show(reply.status === 200 ? reply.data : await latest());
  }

  // How many rounds there are matters to those who have to do several.
  function roundOf(reply) {
    const { needed } = study.rounds;
    if (reply.practice || reply.rounds < 2) return "";
    if (reply.parts) return say("part", reply);
    if (needed < 2 || reply.round > needed) return say("round_alone", reply);
    return say("round", { round: reply.round, rounds: needed });
  }

  // What stands before the first question of a part.
  let introduced = null;
  function introduce(question) {
    introduced = question.token;
    enter("");
    $("part-title").textContent = question.parts
      ? say("part", question)
      : say("instructions_title");
    $("part-text").innerHTML = question.instructions;
    screen("part");
  }

  // --- questions about the participant -----------------------------------------------------

  function showForm(reply) {
    $("form-title").textContent = say(reply.form === "before" ? "before_title" : "after_title");
    trilensForm.build($("items"), reply.items, say);
    document.body.dataset.screen = ""; // another form is another screen
    screen("form");
  }

  let sending = false;
  $("items").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending || !current || !current.form) return;
    sending = true;
    const { form, items } = current;
    const values = trilensForm.values($("items"), items);
    const reply = await surely("POST", "api/form", { form, values });
    sending = false;
    if (reply.status === 422 && reply.data.problems) {
      trilensForm.refuse($("items"), reply.data.problems, say);
    } else await showReply(reply);
  });

  // --- a question --------------------------------------------------------------------------

  async function ask(question, mine) {
    const since = performance.now();
    if (stage.contains(document.activeElement)) $("asked").focus({ preventScroll: true });
    for (const place of stage.querySelectorAll(".stimulus, .player")) place.replaceChildren();
    $("told").hidden = true;
    setOut(question);
    // the places as they will be: nothing moves when the pictures come
    stage.classList.toggle("pictures", question.stimuli.some((one) => one.form === "image"));
    stage.classList.toggle("sounds", question.stimuli.some((one) => one.form === "audio"));
    enter("loading");
    if (document.body.dataset.screen !== "failed") screen("question");
    const slow = setTimeout(() => note(say("loading")), SLOW);
    const parts = await loaded(question, mine);
    clearTimeout(slow);
    await sleep(EMPTY - (performance.now() - since));
    // a hidden page draws no frames: its clock starts when it is looked at
    requestAnimationFrame(() => {
      if (mine === turn) reveal(question, parts);
    });
  }

  // All of them, or nothing: a question of which a part is missing cannot be answered. What does
  // not come although the server answers is reported, and the question left out.
  async function loaded(question, mine) {
    const { objects, stimuli, token } = question;
    const left = stimuli.some((one) => lost.has(one.url)) ? 1 : TRIES;
    for (let tried = 0, wait = 1000; ; wait = Math.min(2 * wait, 15000)) {
      const parts = await Promise.allSettled(stimuli.map((one, i) => soon(load(one, i, tried))));
      const missing = objects.filter((_, i) => parts[i].status === "rejected");
      if (!missing.length) return parts.map((part) => part.value);
      const alive = await once("GET", "api/question").catch(() => null);
      if (mine !== turn) return null;
      note("");
      tried += Boolean(alive);
      if (tried >= left) {
        stimuli.forEach((one, i) => parts[i].status === "rejected" && lost.add(one.url));
        const reply = await surely("POST", "api/skip", { token, missing });
        if (reply.status !== 200) await sleep(wait);
        await showReply(reply);
        note(say("skipped"));
        return null;
      }
      screen("failed");
      await rest(wait);
      if (mine !== turn) return null;
    }
  }

  async function load(stimulus, index, again) {
    if (stimulus.form === "text") return document.createTextNode(stimulus.text);
    const address = root + stimulus.url;
    // what the browser has kept may be broken; phones load no sound before a touch
    const whole = await fetch(address, { cache: again ? "reload" : "default" });
    if (!whole.ok) throw new Error(whole.status);
    const held = await whole.blob();
    if (stimulus.form === "image") {
      // an <img> shows half of a damaged picture, and says nothing
      if (window.createImageBitmap && !/svg/.test(held.type)) (await createImageBitmap(held)).close();
      const image = new Image();
      image.decoding = "sync";
      image.draggable = false;
      const place = placeOf(index);
      const told = stimulus.alt && (place ? `${place}: ${stimulus.alt}` : stimulus.alt);
      image.alt = told || say("picture", { place }).trim(); // a file's name may say too much
      image.src = address;
      await image.decode().catch((error) => {
        // a browser that has the picture may still not like to decode it beforehand
        if (!image.complete || !image.naturalWidth) throw error;
      });
      return image;
    }
    const sound = new Audio(address);
    sound.title = stimulus.alt || "";
    const failed = new Promise((_, fail) => sound.addEventListener("error", fail));
    const known = new Promise((done) => sound.addEventListener("loadedmetadata", done));
    await Promise.race([failed, known, sleep(2000)]);
    return sound;
  }

  const hasAnchor = () => current.kind === "closer";
  // The anchor has no number: it cannot be chosen.
  const placeOf = (index) => (hasAnchor() ? index || "" : index + 1);
  // What a thing is called in a sentence.
  function nameOf(index) {
    const { form, text, alt } = current.stimuli[index];
    return text || alt || say(form === "audio" ? "sound" : "picture", { place: placeOf(index) });
  }
  const options = () => current.objects.slice(hasAnchor() ? 1 : 0);

  // As many places as there are things to choose from.
  function setOut(question) {
    const n = options().length;
    while (choices.length > n) choices.pop().remove();
    while (choices.length < n) {
      const place = choices[0].cloneNode(true);
      place.querySelector(".place").textContent = choices.length + 1;
      place.querySelector("button.card").dataset.place = choices.length + 1;
      stage.append(place);
      choices.push(place);
    }
    buttons = choices.map((choice) => choice.querySelector("button.card"));
    for (const button of buttons) {
      button.classList.remove("chosen", "right");
      if (several()) button.setAttribute("aria-pressed", "false");
      else button.removeAttribute("aria-pressed");
    }
    const grid = n > 3 || (hasAnchor() && n > 2);
    stage.classList.toggle("two", hasAnchor() && !grid);
    stage.classList.toggle("grid", grid);
    stage.classList.toggle("anchored", grid && hasAnchor());
    const wide = n < 5 ? n : n < 7 ? 3 : n < 9 ? 4 : n < 11 ? 5 : 6;
    stage.style.setProperty("--wide", wide);
    stage.style.setProperty("--middle", Math.min(wide, 4));
    stage.style.setProperty("--rows", Math.ceil(n / wide));
    stage.style.setProperty("--narrow", n < 5 ? 2 : n < 13 ? 3 : 4);
    anchor.hidden = !hasAnchor();
    $("asked").textContent = question.question;
    $("several").hidden = !several();
    const keys = several() ? "keys_confirm" : grid ? "keys_grid" : n === 2 ? "keys_two" : "keys";
    $("keys").textContent = n > 9 ? "" : say(keys);
  }

  // Where more than one is to be chosen, they are marked first and then confirmed.
  const several = () => Boolean(current && current.choose > 1);
  const marked = () => choices.flatMap((_, i) => (buttons[i].classList.contains("chosen") ? [i + 1] : []));
  function count() {
    if (!several() || !current.token) return;
    const n = marked().length;
    $("chosen").textContent = say("chosen_count", { n, k: current.choose });
    $("confirm").setAttribute("aria-disabled", String(state !== "asking" || n !== current.choose));
  }

  function reveal(question, parts) {
    if ($("note").textContent === say("loading")) note("");
    $("count").textContent = say(question.practice ? "practice" : "progress", question);
    $("bar").max = question.of;
    $("bar").value = question.number - 1;
    $("round").textContent = roundOf(question);
    const places = hasAnchor() ? [anchor, ...choices] : choices;
    const sounds = parts.filter((part) => part instanceof Audio);
    const unheard = new Set(sounds);
    parts.forEach((part, index) => put(part, places[index], placeOf(index), sounds, unheard));
    $("listen").hidden = !sounds.length;
    screen("question");
    scrollTo(0, 0);
    enter(sounds.length ? "listening" : "asking");
    started = performance.now();
    for (const address of question.prefetch) {
      if (sounds.length) fetch(root + address).catch(() => {});
      else new Image().src = root + address;
    }
  }

  function put(part, place, number, sounds, unheard) {
    const stimulus = place.querySelector(".stimulus");
    const button = place.querySelector("button.card");
    if (!(part instanceof Audio)) {
      (button || place).classList.toggle("paper", part instanceof Image);
      stimulus.replaceChildren(part);
      return;
    }
    const play = document.createElement("button");
    play.type = "button";
    play.className = "play";
    play.textContent = say("play", { place: number }).trim();
    if (part.title) play.setAttribute("aria-label", `${play.textContent}: ${part.title}`);
    play.addEventListener("click", () => {
      for (const other of sounds) other.pause();
      part.currentTime = 0;
      part.play().catch(() => note(say("failed_stimulus")));
    });
    part.addEventListener("playing", () => play.classList.add("playing"));
    part.addEventListener("pause", () => play.classList.remove("playing"));
    const mine = turn;
    part.addEventListener("ended", () => {
      play.classList.add("heard");
      unheard.delete(part);
      if (!unheard.size && mine === turn && state === "listening") {
        $("listen").hidden = true;
        enter("asking");
      }
    });
    if (button) {
      stimulus.replaceChildren(say("choose", { place: number }));
      place.querySelector(".player").replaceChildren(play);
    } else stimulus.replaceChildren(play);
  }

  function choose(place) {
    const chosen = state === "asking" && options()[place - 1];
    if (!chosen) return;
    if (several()) {
      const button = buttons[place - 1];
      if (!button.classList.contains("chosen") && marked().length >= current.choose) return;
      const on = button.classList.toggle("chosen");
      button.setAttribute("aria-pressed", String(on));
      count();
      return;
    }
    buttons[place - 1].classList.add("chosen");
    settle(chosen);
  }

  function confirmChoice() {
    const places = marked();
    if (state !== "asking" || !several() || places.length !== current.choose) return;
    settle(places.map((place) => options()[place - 1]));
  }

  function settle(chosen) {
    const seconds = Math.round(10 * (performance.now() - started)) / 1e4;
    enter("saving");
    const answer = { token: current.token, chosen, seconds };
    memory.put("answer", answer);
    send(answer);
  }

  async function send(answer) {
    const since = performance.now();
    const reply = await surely("POST", "api/answer?next=1", answer);
    memory.put("answer", null);
    // refused: answered in another window, or left by somebody else; the server knows what is next
    const next = reply.status === 200 ? reply.data.next : await latest();
    const { feedback } = reply.data;
    if (feedback && current && current.token === answer.token) await tell(feedback);
    else await sleep(MARKED - (performance.now() - since));
    show(next);
    if (reply.status === 409) note(say("elsewhere"));
  }

  // After a practice question: what would have been right, and why; until it is read.
  function tell(feedback) {
    enter("told");
    const right = options().indexOf(feedback.answer);
    if (right >= 0) buttons[right].classList.add("right");
    const answer = nameOf(current.objects.indexOf(feedback.answer));
    $("verdict").textContent = say(feedback.right ? "practice_right" : "practice_wrong", { answer });
    $("why").innerHTML = feedback.why;
    $("told").hidden = false;
    $("several").hidden = true;
    $("go-on").focus({ preventScroll: true });
    $("told").scrollIntoView({ block: "nearest" });
    return new Promise((done) => {
      $("go-on").addEventListener("click", done, { once: true });
    });
  }

  // Another window may have gone on while this one was not looked at.
  async function refresh() {
    const mine = turn;
    const before = state;
    if (document.hidden || !current || /^(saving|loading|told)$/.test(before)) return;
    const reply = await once("GET", "api/question").catch(() => null);
    if (!reply || reply.status !== 200 || mine !== turn || before !== state) return;
    const key = (said) => said.token || [said.form, said.round_done && said.round, said.done].join();
    if (key(reply.data) !== key(current)) show(reply.data);
  }

  // --- hands -------------------------------------------------------------------------------

  const [FORTH, BACK] = study.direction === "rtl" ? ["Left", "Right"] : ["Right", "Left"];
  const KEYS = {
    1: 1, 2: 2, 3: 3, [`Arrow${BACK}`]: 1, ArrowUp: 2, ArrowDown: 2, [`Arrow${FORTH}`]: 3,
  };
  const KEYS_TWO = { 1: 1, 2: 2, [`Arrow${BACK}`]: 1, [`Arrow${FORTH}`]: 2 };

  addEventListener("keydown", (event) => {
    if (event.repeat) {
      // Enter, held down on a button, would press it again and again
      if (event.target.closest("button")) event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (document.body.dataset.screen !== "question") return;
    // the digits' keys by their place too: on French keyboards they need no shift then
    const digit = /^Digit(\d)$/.exec(event.code);
    if (stage.classList.contains("grid")) {
      gridKey(event, digit ? digit[1] : event.key);
      return;
    }
    const place = (hasAnchor() ? KEYS_TWO : KEYS)[digit ? digit[1] : event.key];
    if (!place) return;
    const scrolls = document.documentElement.scrollHeight > innerHeight;
    if (scrolls && /Up|Down/.test(event.key)) return;
    event.preventDefault();
    choose(place);
  });

  // Digits choose, arrows walk about, Enter confirms what is complete.
  function gridKey(event, key) {
    const n = choices.length;
    if (/^[1-9]$/.test(key) && n < 10) {
      event.preventDefault();
      choose(Number(key));
      return;
    }
    const elsewhere = event.target.closest("a, button:not(.card)"); // these have an Enter of their own
    if (key === "Enter" && !elsewhere && several() && marked().length === current.choose) {
      event.preventDefault();
      confirmChoice();
      return;
    }
    const across = choices.filter((one) => one.offsetTop === choices[0].offsetTop).length;
    const step = { [`Arrow${FORTH}`]: 1, [`Arrow${BACK}`]: -1, ArrowDown: across, ArrowUp: -across }[key];
    if (!step || state !== "asking") return;
    const at = buttons.indexOf(document.activeElement);
    const next = at < 0 ? 0 : at + step;
    if (next < 0 || next >= n) return;
    event.preventDefault();
    buttons[next].focus();
  }

  stage.addEventListener("click", (event) => {
    const button = event.target.closest("button.card");
    // where several are marked, a second click takes the mark back
    if (button && (event.detail < 2 || several())) choose(Number(button.dataset.place));
  });

  // A button that does one thing at a time.
  function onClick(id, act) {
    let busy = false;
    $(id).addEventListener("click", async (event) => {
      if (busy || event.detail > 1) return;
      busy = true;
      try {
        await act();
      } finally {
        busy = false;
      }
    });
  }

  const given = new URLSearchParams(location.search);
  const signed = given.get("prolific_token"); // the id is inside, and the server checks it
  const id = study.platform_parameters.map((name) => given.get(name)).find(Boolean);
  const person = id || idIn(signed);

  function idIn(token) {
    try {
      const middle = token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
      return JSON.parse(atob(middle)).prolific.PROLIFIC_PID;
    } catch {
      return null;
    }
  }

  const test = given.get("test"); // of the researcher, who tries the study

  // Without cookies every call would come from a stranger: nothing is begun.
  function keepsCookies() {
    const probe = "trilens_probe=1; SameSite=Lax";
    document.cookie = probe;
    const kept = document.cookie.includes("trilens_probe");
    document.cookie = `${probe}; max-age=0`;
    return navigator.cookieEnabled && kept;
  }

  onClick("agree", () => {
    history.pushState("instructions", "");
    screen("instructions");
  });

  let joined = false;
  onClick("begin", async () => {
    if (joined || !keepsCookies()) {
      screen("cookies");
      return;
    }
    // the receipt that this browser has kept, should the cookie be lost
    const same = person && memory.get("person") === person && !test;
    const reply = await join(same ? memory.get("receipt") : null);
    await enterStudy(reply.status === 404 ? await join() : reply);
  });

  function join(receipt) {
    const { language } = study;
    const link = { key: given.get("key"), signature: given.get("signature") || signed };
    const body = { consent: true, language, platform_id: person, test, receipt, ...link };
    return surely("POST", "api/join", body);
  }

  async function enterStudy(reply) {
    if (reply.status !== 201) {
      const elsewhere = reply.data.code === "in_use";
      $("resume-why").hidden = !elsewhere;
      $("closed-title").textContent = say(reply.data.code === "link" ? "bad_link" : "closed");
      screen(elsewhere ? "resume" : "closed");
      return;
    }
    memory.put("person", person);
    memory.put("test", test);
    memory.put("language", study.language);
    memory.put("receipt", reply.data.receipt);
    memory.put("answer", null);
    const next = await latest();
    if (next.gone) {
      joined = true; // the server knows, and the browser does not: once is enough
      screen("cookies");
    } else show(next);
  }

  // Whoever has a receipt goes on here, also when the study is closed for others.
  onClick("have-receipt", () => {
    $("resume-why").hidden = true;
    screen("resume");
  });
  $("resume-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const reply = await join($("resume-receipt").value.trim() || "-");
    $("resume-wrong").hidden = reply.status === 201;
    $("resume-receipt").setAttribute("aria-invalid", String(reply.status !== 201));
    if (reply.status === 201) await enterStudy(reply);
    else $("resume-receipt").focus();
  });

  onClick("decline", () => screen("declined"));
  onClick("reconsider", () => screen("consent"));
  onClick("begin-part", () => ask(current, turn));
  onClick("confirm", confirmChoice);
  onClick("to-thanks", () => screen("thanks"));

  let before = ""; // the screen to which whoever stays goes back
  for (const button of document.querySelectorAll(".leave")) {
    button.addEventListener("click", () => {
      before = document.body.dataset.screen;
      if (state === "loading") turn += 1; // nothing comes between
      screen("leaving");
    });
  }
  onClick("stay", () => (state === "loading" ? show(current) : screen(before)));
  const leave = (keep) => async () => {
    const reply = await surely("POST", "api/leave", { keep });
    memory.put("answer", null);
    await showReply(reply);
  };
  onClick("leave-keep", leave(true));
  onClick("leave-erase", leave(false));

  const goOn = (path) => async () => showReply(await surely("POST", path));
  onClick("another", goOn("api/round"));
  onClick("finish", goOn("api/finish"));

  onClick("copy", async () => {
    await navigator.clipboard.writeText($("code").textContent);
    $("copy").textContent = say("copied");
  });

  function welcome() {
    current = null;
    // nobody reads a consent text in vain
    const incomplete = person ? /^\{\{.*\}\}$/.test(person) : study.needs_id;
    if (incomplete && !test) $("closed-title").textContent = say("bad_link");
    screen(test || (study.open && !incomplete) ? "consent" : "closed");
  }
  onClick("somebody", welcome);
  onClick("again", welcome);

  addEventListener("popstate", () => {
    // once there are questions, going back changes nothing
    if (!/^(consent|instructions)$/.test(document.body.dataset.screen)) return;
    screen(history.state === "instructions" ? "instructions" : "consent");
  });
  addEventListener("pageshow", (event) => event.persisted && refresh());
  document.addEventListener("visibilitychange", refresh);

  // --- begin -------------------------------------------------------------------------------

  const asked = given.has("lang") || given.has("language");
  // with the platform's parameters
  const inLanguage = (code) => {
    given.delete("language");
    given.set("lang", code);
    return `?${given}`;
  };
  for (const link of document.querySelectorAll("#languages a")) {
    link.href = inLanguage(link.lang);
    try {
      link.textContent = new Intl.DisplayNames(link.lang, { type: "language" }).of(link.lang);
    } catch {} // an old browser shows the code
  }

  (async () => {
    // whom the platform calls otherwise than the last one here is somebody else
    const known =
      page.dataset.joined === "yes" &&
      (!person || memory.get("person") === person) &&
      (memory.get("test") || null) === test;
    if (!known) {
      welcome();
      return;
    }
    // the things are shown in the language of the beginning: so is what stands around them
    const spoken = memory.get("language");
    if (!asked && spoken !== study.language && study.languages.includes(spoken)) {
      location.replace(inLanguage(spoken));
      return;
    }
    const unsent = memory.get("answer");
    enter("loading");
    screen("question");
    if (unsent && unsent.token) await send(unsent);
    else show(await latest());
  })();
})();
