// The page as a whole: a question goes to the server, its answer is shown, and the answer before lies beneath it.
import { Charts, Sequence } from "./charts.js";
import * as controls from "./controls.js";
import { $, ask, element, later } from "./dom.js";
import { Editor } from "./editor.js";
import * as lessons from "./lessons.js";
import { follow } from "./live.js";
import { Motion } from "./motion.js";
import { Network } from "./network.js";
import { pack, sheet, unpack } from "./share.js";
import * as tables from "./tables.js";

const state = { answer: null, before: null, held: null, anchor: null, running: false, waiting: null, flow: "", packs: 0 };
const network = new Network($("network"));
const motion = new Motion(network, () => ({ key: state.answer?.key, flow: state.answer?.sequence?.flow ?? state.flow }));
const charts = new Charts($("charts"), $("legend"), $("readout"), (t) => { network.fill(t); motion.at = t ?? motion.at; });
const sequence = new Sequence($("sequence"));
const editor = new Editor((text) => { state.anchor = null; run({ text }); });
const share = sheet($("share"), () => ({ ...state.answer, seed: seed(), panels: shownPanels() }));

function seed() { const n = Number($("seed").value); return Number.isSafeInteger(n) && n >= 0 ? n : 1; }

function shownPanels() {
  const shown = charts.range ?? [0, charts.end];
  return (state.answer?.charts ?? []).map((c) => ({ title: c.title, unit: c.unit, x: c.x, shown, series: c.series.filter((s) => !charts.hidden.has(s.name)) }));
}

// One question is under way at a time; what is asked meanwhile waits: the last text, and all changes after it.
async function run(question) {
  if (state.running) {
    const { text, changes = {}, fresh, seed: given } = question, old = text === undefined ? state.waiting : null;
    state.waiting = { text: text ?? old?.text, changes: { ...old?.changes, ...changes }, fresh: fresh ?? old?.fresh, seed: given ?? old?.seed };
    return;
  }
  state.running = true;
  document.body.classList.add("busy");
  const asked = { fresh: false, ...question, text: question.text ?? editor.text, typed: editor.text };
  try {
    const began = performance.now();
    const answer = await ask("run", { text: asked.text, changes: asked.changes ?? {}, seed: asked.fresh ? asked.seed ?? null : seed(), flow: state.flow });
    show(answer, asked, performance.now() - began);
  } catch (e) { failed(e); } finally {
    state.running = false;
    document.body.classList.remove("busy");
    const next = state.waiting;
    state.waiting = null;
    if (next) run(next);
  }
}

function failed(e) {
  $("status").className = "wrong";
  $("status").textContent = `Not run: ${e.path ? `${e.path}: ` : ""}${e.message}`;
  editor.wrong({ message: e.message, path: e.path, line: e.line });
}

function show(answer, asked, took) {
  const another = state.answer && (state.answer.text !== answer.text || state.answer.seed !== answer.seed);
  state.before = asked.fresh ? null : state.held ?? state.anchor ?? (another ? state.answer : state.before);
  state.answer = answer;
  motion.stop();
  document.title = `${answer.title} – Crosswind studio`;
  $("title").textContent = answer.title;
  $("status").className = "";
  $("status").textContent = `${answer.packets.toLocaleString("en")} packets in ${answer.ms} ms (${Math.round(took)} ms with the way here)${answer.warnings.map((w) => `; check: ${w}`).join("")}`;
  document.body.dataset.answer = answer.key;
  editor.wrong(null);
  $("seed").value = answer.seed;
  if (editor.text === asked.typed) editor.set(answer.text);
  controls.show($("controls"), answer.controls, change);
  $("flow").replaceChildren(...answer.flows.map((f) => element("option", { value: f, textContent: f, selected: f === answer.sequence?.flow })));
  sequence.show(answer.sequence);
  draw();
  if ($("share").closest("details").open) share.show();
  remember();
  $("differs").replaceChildren(element("p", { className: "note", textContent: state.before ? "Both runs are being repeated .." : "Move something." }));
  if (state.before) differs();
}

function draw() {
  const { answer } = state, before = $("overlay").checked ? state.before : null;
  if (!answer) return;
  charts.show(answer.charts, before?.charts, answer.charts.reduce((m, c) => Math.max(m, c.x.at(-1) ?? 0), 0) || answer.duration);
  network.show(answer.network, answer.charts);
  tables.show($("tables"), answer.tables, before?.tables);
}

// The address holds the scenario, so that it can be kept and sent.
const remember = later(300, async () => { const n = ++state.packs; const f = await pack(state.answer.text, seed()); if (n === state.packs) history.replaceState(null, "", f); });

const differs = later(700, async () => {
  const { answer, before } = state;
  if (!before || before.text === answer.text) {
    $("differs").replaceChildren(element("p", { className: "note", textContent: before ? "The same scenario with another seed: what differs is chance." : "Move something." }));
    return;
  }
  if (state.running) { differs(); return; }
  try {
    const told = await ask("differs", { text: answer.text, before: before.text, seed: seed() });
    if (state.answer !== answer) return;
    const list = told.sentences.slice(0, 8).map((s) => element("li", { className: s.clear ? "" : "unclear", textContent: s.text }));
    const how = told.random ? `Medians of ${told.n} repetitions before and after. The change and its interval are of the means, pair by pair, with the same random numbers.`
      : "Nothing in these scenarios is random: every repetition is the same, so there is no interval.";
    $("differs").replaceChildren(list.length ? element("ul", {}, ...list) : element("p", { textContent: "Nothing that can be seen." }), element("p", { className: "note", textContent: how }));
  } catch (e) { if (!e.superseded) $("differs").replaceChildren(element("p", { className: "error", textContent: e.message })); }
});

const changes = {};
// What is moved while a run is under way waits together (`run`), so the first move need not wait for a second one.
const sendChanges = later(0, () => { const all = { ...changes }; for (const k of Object.keys(changes)) delete changes[k]; run({ changes: all }); });
function change(path, value) { changes[path] = value; sendChanges(); }

function open(text, fresh = true, given = null) { editor.set(text); charts.places.clear(); charts.hidden.clear(); state.flow = ""; state.anchor = null; run({ text, fresh, seed: given }); }

$("redraw").addEventListener("click", () => { state.anchor = null; $("seed").value = 1 + Math.floor(Math.random() * 1e6); run({}); });
$("seed").addEventListener("change", () => run({}));
$("overlay").addEventListener("change", draw);
$("hold").addEventListener("click", () => { state.held = state.held ? null : state.answer; $("hold").setAttribute("aria-pressed", String(Boolean(state.held))); });
$("flow").addEventListener("change", () => { state.flow = $("flow").value; run({}); });
$("share").closest("details").addEventListener("toggle", (e) => { if (e.target.open) share.show(); });
// While a slider is held, everything is laid over the run before it was touched.
$("controls").addEventListener("pointerdown", () => { state.anchor = state.answer; });
$("controls").addEventListener("keydown", () => { state.anchor = null; });
$("controls").addEventListener("submit", (e) => e.preventDefault());

async function start() {
  const given = await ask("start");
  if (given.live) { follow(charts); return; }
  const choose = lessons.fill($("lesson"), $("lesson-text"), given.lessons, { open });
  if (given.lesson) choose(given.lesson);
  let text = given.text, drawn = null;
  try {
    const linked = await unpack(location.hash);
    if (linked) { text = linked.text; drawn = linked.seed; }
  } catch (e) { failed(e); $("text").value = text; editor.number(); return; }
  open(text, true, drawn);
}
start().catch(failed);
