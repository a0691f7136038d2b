// An emulation that runs: a look every half second, drawn as it comes.
import { $, ask, element, written } from "./dom.js";

const EVERY_MS = 500, LOOKS_MAX = 240;
const PANELS = [
  ["throughput", "Throughput", "bit/s", (now, old, dt) => (now.sent_bytes - old.sent_bytes) * 8 / dt],
  ["queue", "Queue", "packets", (now) => now.queue_packets],
  ["wait", "Wait behind the queue, at the rate of the link", "s", (now) => (now.rate_bps ? now.queue_bytes * 8 / now.rate_bps : null)],
  ["drops", "Drops", "packets/s", (now, old, dt) => (now.drops - old.drops) / dt],
  ["lost", "Lost on the link", "packets/s", (now, old, dt) => (now.lost - old.lost) / dt],
  ["marks", "Marks", "packets/s", (now, old, dt) => (now.marks - old.marks) / dt],
];

export function follow(charts) {
  document.body.classList.add("live");
  $("title").textContent = document.title = "An emulation, now";
  const said = element("ul");
  const change = element("input", { id: "live-text", type: "text", placeholder: "last-hop.rate=32 kbit/s", spellcheck: false });
  const form = element("form", { id: "live-change" }, element("label", { for: "live-text", textContent: "Change a link" }), change,
    element("button", { type: "submit", textContent: "Change" }));
  const done = element("p", { className: "note", role: "status" });
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    try { done.textContent = (await ask("control", { change: change.value })).done.join("; "); } catch (wrong) { done.textContent = wrong.message; }
  });
  $("live").append(said, form, done);
  $("live").hidden = false;
  const looks = [];
  const look = async () => {
    try {
      const now = await ask("live");
      if (now.time_s > (looks.at(-1)?.time_s ?? -1)) looks.push(now);
      if (looks.length > LOOKS_MAX) looks.shift();
      show(charts, looks, said);
      document.body.dataset.answer = String(looks.length);
      setTimeout(look, EVERY_MS);
    } catch (e) {
      $("status").className = "wrong";
      $("status").textContent = `The emulation is over, or cannot be seen: ${e.message}`;
    }
  };
  look();
}

function show(charts, looks, said) {
  const now = looks.at(-1), names = [...new Set(looks.flatMap((l) => l.links.map((v) => v.name)))].sort();
  $("status").textContent = `${now.time_s.toFixed(1)} s`;
  said.replaceChildren(...now.links.map((v) => element("li", { textContent: `${v.name}: ${v.rate_bps ? `rate ${written(v.rate_bps, "bit/s")}, ` : ""}${v.delay ? `delay ${v.delay}, ` : ""}${v.queue_packets} packets in the queue, ${v.drops} dropped, ${v.lost} lost, ${v.marks} marked; so far 95 % waited ${written(v.waited_p95_s, "s")} at most` })),
    ...now.notes.map((n) => element("li", { textContent: `changed at ${n}` })));
  if (looks.length < 3) return;
  const x = looks.slice(1).map((l) => l.time_s);
  const line = (name, of) => looks.slice(1).map((l, i) => {
    const v = l.links.find((o) => o.name === name), old = looks[i].links.find((o) => o.name === name);
    return v && old ? of(v, old, Math.max(1e-3, l.time_s - looks[i].time_s)) : null;
  });
  const panels = PANELS.map(([key, title, unit, of]) => ({ key, title, unit, x, hidden: 0, series: names.map((name) => ({ name, y: line(name, of) })) }));
  const told = panels.filter((p) => ["throughput", "queue", "wait"].includes(p.key) || p.series.some((s) => s.y.some((v) => v > 0)));
  charts.first = x[0];
  charts.show(told, null, x.at(-1));
}
