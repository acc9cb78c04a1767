// The participant's page: one question at a time, no answer lost, none counted twice.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const page = $("survey");
  const study = JSON.parse(page.dataset.study);
  const root = `${page.dataset.root}/`;
  const stage = $("stage");
  const choices = [...stage.querySelectorAll(".choice")];
  const buttons = choices.map((choice) => choice.querySelector("button.card"));
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
  let state = ""; // loading, listening (to sounds), asking, saving
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
  }

  function screen(name) {
    if (document.body.dataset.screen === name) return;
    document.body.dataset.screen = name;
    for (const section of page.children) section.hidden = section.id !== name;
    $(name).querySelector("h1").focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  function show(reply) {
    turn += 1;
    current = reply;
    const receipt = reply.done ? null : memory.get("receipt");
    $("kept").hidden = !receipt || Boolean(reply.gone);
    $("kept").querySelector("code").textContent = receipt || "";
    if (reply.token) {
      ask(reply, turn);
      return;
    }
    enter("");
    if (reply.round_done) {
      $("rested").textContent = say("round_done", reply);
      $("rounds").textContent = say("round", reply);
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
      $("receipt").textContent = reply.receipt;
      $("somebody").hidden = Boolean(person); // the platform sends each person by a link of theirs
      memory.put("receipt", null); // from now on the server shows it
      screen("thanks");
    } else {
      screen("gone");
    }
  }

  // --- a question --------------------------------------------------------------------------

  async function ask(question, mine) {
    const since = performance.now();
    if (stage.contains(document.activeElement)) $("asked").focus({ preventScroll: true });
    for (const place of stage.querySelectorAll(".stimulus, .player")) place.replaceChildren();
    for (const button of buttons) button.classList.remove("chosen");
    // the places as they will be: nothing moves when the pictures come
    stage.classList.toggle("pictures", question.stimuli.some((one) => one.form === "image"));
    stage.classList.toggle("sounds", question.stimuli.some((one) => one.form === "audio"));
    stage.classList.toggle("two", closer);
    anchor.hidden = !closer;
    choices[2].hidden = closer;
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
        show(reply.status === 200 ? reply.data : await latest());
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

  const closer = study.kind === "closer";
  // The anchor has no number: it cannot be chosen.
  const placeOf = (index) => (closer ? index || "" : index + 1);
  const options = () => current.objects.slice(closer ? 1 : 0);

  function reveal(question, parts) {
    if ($("note").textContent === say("loading")) note("");
    $("count").textContent = say("progress", question);
    $("bar").max = question.of;
    $("bar").value = question.number - 1;
    $("round").textContent = question.rounds > 1 ? say("round", question) : "";
    const places = closer ? [anchor, ...choices] : choices;
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
    const seconds = Math.round(10 * (performance.now() - started)) / 1e4;
    enter("saving");
    buttons[place - 1].classList.add("chosen");
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
    await sleep(MARKED - (performance.now() - since));
    show(next);
    if (reply.status === 409) note(say("elsewhere"));
  }

  // Another window may have gone on while this one was not looked at.
  async function refresh() {
    const mine = turn;
    const before = state;
    if (document.hidden || !current || before === "saving" || before === "loading") return;
    const reply = await once("GET", "api/question").catch(() => null);
    if (!reply || reply.status !== 200 || mine !== turn || before !== state) return;
    const key = (said) => said.token || [said.round_done && said.round, said.done].join();
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
    const place = (closer ? KEYS_TWO : KEYS)[digit ? digit[1] : event.key];
    if (!place) return;
    const scrolls = document.documentElement.scrollHeight > innerHeight;
    if (scrolls && /Up|Down/.test(event.key)) return;
    event.preventDefault();
    choose(place);
  });

  buttons.forEach((button) => {
    button.addEventListener("click", (event) => {
      if (event.detail < 2) choose(Number(button.dataset.place));
    });
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
  const person = study.platform_parameters.map((name) => given.get(name)).find(Boolean) || null;

  onClick("agree", () => {
    history.pushState("instructions", "");
    screen("instructions");
  });

  onClick("begin", async () => {
    const body = { consent: true, language: study.language };
    let reply = await surely("POST", "api/join", person ? { ...body, platform_id: person } : body);
    if (reply.status === 422) reply = await surely("POST", "api/join", body);
    if (reply.status !== 201) {
      screen("closed");
      return;
    }
    memory.put("person", person);
    memory.put("language", study.language);
    memory.put("receipt", reply.data.receipt);
    memory.put("answer", null);
    show(await latest());
  });

  onClick("another", async () => {
    const reply = await surely("POST", "api/round");
    show(reply.status === 200 ? reply.data : await latest());
  });

  onClick("finish", async () => {
    const reply = await surely("POST", "api/finish");
    show(reply.status === 200 ? reply.data : await latest());
  });

  onClick("copy", async () => {
    await navigator.clipboard.writeText($("code").textContent);
    $("copy").textContent = say("copied");
  });

  function welcome() {
    current = null;
    screen(study.open ? "consent" : "closed");
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
    const known = page.dataset.joined === "yes" && (!person || memory.get("person") === person);
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
