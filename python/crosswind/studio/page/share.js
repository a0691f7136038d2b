// Saving and sharing: the file, a link that holds it, the command line, figures and tables.
import { element, offer } from "./dom.js";

const bytes = (stream) => new Response(stream).arrayBuffer().then((b) => new Uint8Array(b));
const through = (data, by) => bytes(new Blob([data]).stream().pipeThrough(by));

export async function pack(text, seed) {
  const small = await through(new TextEncoder().encode(JSON.stringify({ text, seed })), new CompressionStream("deflate"));
  let raw = "";
  for (const b of small) raw += String.fromCharCode(b);
  return `#s=${btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

const LONGEST = 400_000;

export async function unpack(fragment) {
  const found = /^#s=([\w-]+)$/.exec(fragment);
  if (!found) return null;
  if (found[1].length > LONGEST) throw new Error("the link holds more than a scenario");
  const raw = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
  const stream = new Blob([Uint8Array.from(raw, (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate"));
  // Read bit by bit: a small link may stand for a very large text.
  const reader = stream.getReader(), parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw new Error("the link is damaged"); });
    if (done) break;
    size += value.length;
    if (size > LONGEST) { await reader.cancel(); throw new Error("the link holds more than a scenario"); }
    parts.push(value);
  }
  const told = JSON.parse(await new Blob(parts).text());
  if (typeof told?.text !== "string") throw new Error("the link holds no scenario");
  return { text: told.text, seed: Number.isSafeInteger(told.seed) && told.seed >= 0 ? told.seed : null };
}

async function copied(button, text) {
  const before = button.textContent;
  try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch { button.textContent = "mark and copy it by hand"; }
  setTimeout(() => { button.textContent = before; }, 1500);
}

export function sheet(box, now) {
  const command = element("code", { id: "command", tabIndex: 0 });
  const link = element("code", { id: "link", tabIndex: 0 });
  const said = element("p", { className: "note", role: "status" });
  const table = element("select", { "aria-label": "Table", id: "export-table" });
  const press = (text, f, id) => element("button", { type: "button", textContent: text, id: id ?? "", onclick: (e) => f(e.currentTarget) });
  const figure = async (kind) => {
    said.textContent = "drawing…";
    const { panels, command: made, name } = now();
    const response = await fetch("api/figure", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ kind, panels, command: made }) });
    if (response.headers.get("content-type").startsWith("application/json")) { said.textContent = (await response.json()).error; return; }
    offer(`${name}.${kind}`, await response.blob());
    said.textContent = "";
  };
  const data = (kind) => {
    const a = element("a", { href: `export/${now().key}/${table.value}.${kind}`, download: `${table.value}.${kind}` });
    document.body.append(a); a.click(); a.remove();
  };
  box.replaceChildren(
    element("div", { className: "row" }, press("Save scenario (TOML)", () => offer(now().file, new Blob([now().text], { type: "application/toml" })), "save")),
    element("div", { className: "row" }, "Charts as shown:", press("SVG", () => figure("svg"), "save-svg"), press("PNG", () => figure("png"), "save-png")),
    element("div", { className: "row" }, "Table", table, press("CSV", () => data("csv"), "save-csv"), press("Parquet", () => data("parquet"), "save-parquet")),
    element("div", {}, "The same on the command line:", command, press("Copy", (b) => copied(b, command.textContent))),
    element("div", {}, "The scenario in a line, for another studio. The address of this page holds it too, but also this studio's token:", link, press("Copy", (b) => copied(b, link.textContent))), said);
  return {
    async show() {
      const { text, seed, command: made, there } = now();
      command.textContent = made;
      link.textContent = `crosswind studio '${await pack(text, seed)}'`;
      const chosen = table.value;
      table.replaceChildren(...there.map((t) => element("option", { value: t, textContent: t, selected: t === chosen })));
    },
  };
}
