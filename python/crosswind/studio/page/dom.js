// Small things that every part of the page needs. Text from scenarios only ever becomes text, never markup.
export const $ = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [k, v] of Object.entries(properties)) {
    if (k.startsWith("aria-") || k === "role" || k === "for") made.setAttribute(k, v);
    else if (k === "dataset") Object.assign(made.dataset, v);
    else if (k.startsWith("on")) made.addEventListener(k.slice(2), v);
    else made[k] = v;
  }
  made.append(...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, v);
  made.append(...children);
  return made;
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Okabe and Ito's palette without its yellow, as in the reports; dashes tell apart what shares a colour.
const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const DASHES = [[], [7, 3], [4, 2, 1, 2], [2, 2], [9, 2, 2, 2, 2, 2]];
const dark = matchMedia("(prefers-color-scheme: dark)");
export const look = (place) => {
  const colour = PALETTE[place % PALETTE.length];
  return { colour: colour === "#000000" ? css("--ink") : colour, dash: DASHES[Math.floor(place / PALETTE.length) % DASHES.length] };
};
export const whenColoursChange = (f) => dark.addEventListener("change", f);

const SCALES = {
  "bit/s": [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]],
  B: [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]],
};
// The unit in which a number of this size is written: its factor and its name.
export function fitting(unit, top) {
  const scales = SCALES[unit];
  return scales ? scales.find(([f]) => top >= f) ?? scales.at(-1) : [1, unit];
}
export const short = (v) => (v === null || v === undefined ? "–" : Number(v.toPrecision(4)).toString());
export function written(value, unit) {
  const [factor, name] = fitting(unit, Math.abs(value));
  return `${Number((value / factor).toPrecision(3))}${name ? ` ${name}` : ""}`;
}

export async function ask(name, question = {}) {
  const response = await fetch(`api/${name}`, { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question) });
  const told = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok || told.error) throw Object.assign(new Error(told.error ?? "something went wrong"), told);
  return told;
}

export function later(wait, f) {
  let timer = 0;
  return (...of) => { clearTimeout(timer); timer = setTimeout(() => f(...of), wait); };
}

export function offer(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
