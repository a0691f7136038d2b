// The text of the scenario: numbers of lines, the line that is wrong, and the keys that fit.
import { $, ask, element, later } from "./dom.js";

export class Editor {
  constructor(changed) {
    this.area = $("text");
    this.bad = null;
    this.area.addEventListener("input", () => { this.number(); this.hideOffers(); });
    this.area.addEventListener("input", later(450, () => changed(this.area.value)));
    this.area.addEventListener("scroll", () => { $("gutter").scrollTop = this.area.scrollTop; });
    this.area.addEventListener("keydown", (e) => this.press(e));
    new ResizeObserver(() => { $("gutter").style.height = `${this.area.offsetHeight}px`; }).observe(this.area);
  }

  get text() { return this.area.value; }

  // Text that somebody is typing in is not taken away.
  set(text) {
    if (document.activeElement === this.area && this.area.value !== text) {
      const at = this.area.selectionStart;
      this.area.value = text;
      this.area.setSelectionRange(at, at);
    } else if (this.area.value !== text) this.area.value = text;
    this.number();
  }

  number() {
    const lines = this.area.value.split("\n").length;
    $("gutter").replaceChildren(...Array.from({ length: lines }, (_, i) =>
      element("span", { className: i + 1 === this.bad ? "bad" : "", textContent: `${i + 1}\n` })));
    $("gutter").scrollTop = this.area.scrollTop;
  }

  wrong(problem) {
    this.bad = problem?.line ?? null;
    $("text-error").hidden = !problem;
    $("text-error").textContent = problem ? `${problem.line ? `Line ${problem.line}: ` : ""}${problem.path ? `${problem.path}: ` : ""}${problem.message}` : "";
    this.area.setAttribute("aria-invalid", String(Boolean(problem)));
    this.number();
  }

  // The dotted path of the table that the cursor stands in, and the word before it.
  where() {
    const before = this.area.value.slice(0, this.area.selectionStart);
    const lines = before.split("\n");
    const line = lines.at(-1);
    const heads = lines.map((l) => /^\s*\[+([^\]]+)\]/.exec(l)?.[1].trim()).filter(Boolean);
    const inside = /([\w.-]+)\s*=\s*\{[^}]*$/.exec(line)?.[1];
    const word = /[\w-]*$/.exec(line)[0];
    if (/^\s*\[+[^\]]*$/.test(line)) return { path: /^\s*\[+(.*?)\.?[\w-]*$/.exec(line)[1], word };
    return { path: [heads.at(-1), inside].filter(Boolean).join("."), word };
  }

  async complete() {
    const { path, word } = this.where();
    const { names } = await ask("complete", { path }).catch(() => ({ names: [] }));
    const fitting = names.filter((n) => n.startsWith(word) && n !== word).slice(0, 40);
    if (fitting.length === 1) { this.insert(fitting[0].slice(word.length)); return; }
    const box = $("offers");
    box.replaceChildren(...fitting.map((n, i) => element("li", { role: "option", tabIndex: -1, id: `offer-${i}`, textContent: n, "aria-selected": String(i === 0),
      onclick: () => { this.insert(n.slice(word.length)); this.area.focus(); } })));
    box.hidden = !fitting.length;
  }

  hideOffers() { $("offers").hidden = true; }

  insert(text) { this.hideOffers(); this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end"); this.area.dispatchEvent(new Event("input")); }

  press(e) {
    if (e.ctrlKey && e.key === " ") { e.preventDefault(); this.complete(); return; }
    const box = $("offers");
    if (box.hidden) return;
    const all = [...box.children], now = all.findIndex((o) => o.getAttribute("aria-selected") === "true");
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[e.key];
    if (step) {
      e.preventDefault();
      all[now].setAttribute("aria-selected", "false");
      all[(now + step + all.length) % all.length].setAttribute("aria-selected", "true");
    } else if (e.key === "Enter" || e.key === "Tab") { e.preventDefault(); all[now].click(); }
    else if (e.key === "Escape") { e.preventDefault(); this.hideOffers(); }
  }
}
