// The dashboard while answers come in: the live part is fetched again and put in place.
"use strict";

const live = document.getElementById("live");
const report = document.getElementById("report");
const stale = document.getElementById("stale");

// The report is loaded when somebody opens it, and again when there is a newer one.
let shown = null;
function showReport() {
  const analyzed = live.querySelector("#analyzed");
  if (!report.open || !analyzed || analyzed.textContent === shown) return;
  shown = analyzed.textContent;
  const frame = report.querySelector("iframe");
  frame.src = `${frame.dataset.from}?answers=${encodeURIComponent(shown)}`;
}
report.addEventListener("toggle", showReport);

async function refresh() {
  if (document.hidden) return;
  const opened = [...live.querySelectorAll("details")].map((e) => e.open);
  try {
    const answer = await fetch(live.dataset.from, { redirect: "manual" });
    if (answer.type === "opaqueredirect") {
      location.reload();  // signed out meanwhile
      return;
    }
    if (!answer.ok) throw new Error(answer.status);
    // from our own server, where every name in it was escaped
    live.innerHTML = await answer.text();
    live.querySelectorAll("details").forEach((e, i) => { e.open = Boolean(opened[i]); });
    showReport();
    stale.hidden = true;
  } catch {
    stale.hidden = false;
  }
}

(async function again() {
  await new Promise((done) => setTimeout(done, 2000));
  await refresh();
  again();
})();
