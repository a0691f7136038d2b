// Controls as the server made them out of the schema. Moving one says which path gets which value.
import { element, fitting } from "./dom.js";

const open = new Map();
let held = false, waiting = null;
addEventListener("pointerdown", (e) => { held = e.target.matches?.("#controls input[type=range]") ?? false; });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = false; waiting?.(); waiting = null; });

// A slider that is held is not taken away: the controls are made anew when it is let go.
export function show(form, groups, change) {
  if (held) { waiting = () => show(form, groups, change); return; }
  const focused = document.activeElement?.dataset?.path;
  const part = document.activeElement?.dataset?.part;
  form.replaceChildren(...groups.filter((g) => g.controls.length).map((g) => group(g, change)));
  if (focused) [...form.querySelectorAll("[data-path]")].find((e) => e.dataset.path === focused && e.dataset.part === part)?.focus();
}

function group(g, change) {
  const main = g.controls.filter((c) => !c.more), more = g.controls.filter((c) => c.more);
  const box = element("fieldset", {}, element("legend", { textContent: g.title }), ...main.map((c) => control(c, change)));
  if (more.length) {
    const details = element("details", { open: open.get(g.title) ?? false }, element("summary", { textContent: `${more.length} more` }), ...more.map((c) => control(c, change)));
    details.addEventListener("toggle", () => open.set(g.title, details.open));
    box.append(details);
  }
  return box;
}

function control(c, change) {
  const id = `c-${c.path}`;
  const label = element("label", { for: id, textContent: c.label, title: `${c.help ?? ""}\n${c.path}`.trim() });
  const of = (part) => ({ dataset: { path: c.path, part }, title: c.help ?? "" });
  const box = element("div", { className: "control" }, label);
  if (c.kind === "choice") {
    const select = element("select", { id, ...of("choice") }, ...c.options.map(([value, words]) =>
      element("option", { value, textContent: value && words !== value ? `${value}: ${words}` : words, selected: value === c.value })));
    select.addEventListener("change", () => change(c.path, select.value === "" ? null : select.value));
    box.append(select);
  } else if (c.kind === "text") {
    const input = element("input", { id, type: "text", className: "alone", value: c.value, ...of("text") });
    input.addEventListener("change", () => change(c.path, typed(input.value, c.value)));
    box.append(input);
  } else box.append(slider(c, id, of, change));
  return box;
}

function typed(text, before) {
  if (text.trim() === "") return null;
  return typeof before === "number" || /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
}

function slider(c, id, of, change) {
  const share = c.kind === "share";
  const steps = share ? 40 : c.steps;
  // A share grows with the square of the place, so that small ones can be chosen; the others are logarithmic.
  const value = (k) => (share ? c.high * (k / steps) ** 2 : round(c.low * (c.high / c.low) ** (k / steps), c.unit));
  const place = (v) => (share ? steps * Math.sqrt(Math.min(1, v / c.high)) : steps * Math.log(Math.max(c.low, v) / c.low) / Math.log(c.high / c.low));
  const say = (v) => (share ? `${Number((100 * v).toPrecision(3))} %` : said(v, c.unit));
  const now = share ? c.value : c.number;
  const range = element("input", { id, type: "range", min: 0, max: steps, step: 1, value: Math.round(place(now)), ...of("range") });
  const text = element("input", { type: "text", value: share ? say(now) : c.value, "aria-label": `${c.label}, as text`, ...of("exact") });
  range.setAttribute("aria-valuetext", text.value);
  range.addEventListener("input", () => {
    const v = value(Number(range.value));
    text.value = say(v);
    range.setAttribute("aria-valuetext", text.value);
    change(c.path, share ? Number(v.toPrecision(3)) : c.unit === "" ? v : text.value);
  });
  text.addEventListener("change", () => {
    if (share) change(c.path, Number.parseFloat(text.value) / (text.value.includes("%") ? 100 : 1));
    else change(c.path, c.unit === "" ? Number(text.value) : text.value.trim());
  });
  return element("div", { className: "row" }, range, text);
}

function round(v, unit) {
  return unit === "" || unit === "packets" ? Math.max(1, Math.round(Number(v.toPrecision(2)))) : Number(v.toPrecision(2));
}

function said(v, unit) {
  if (unit === "") return String(v);
  if (unit === "packets") return `${v} packets`;
  const [factor, name] = fitting(unit, v);
  return `${Number((v / factor).toPrecision(2))} ${name === "µs" ? "us" : name}`;
}
