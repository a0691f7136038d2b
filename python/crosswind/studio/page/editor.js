// The text of the scenario: numbers of lines, the line that is wrong, and the keys that fit.
import { $, ask, element, later } from "./dom.js";

export class Editor {
  constructor(changed) {
    this.area = $("text");
    this.bad = this.offered = null;
    // What is offered follows what is typed.
    this.area.addEventListener("input", () => { this.number(); if (this.offered) this.complete(false); });
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

  // The dotted path of what the cursor stands in, the word before it, and for a value the mark that it still needs.
  where() {
    const before = this.area.value.slice(0, this.area.selectionStart);
    const lines = before.split("\n");
    const line = lines.at(-1);
    const heads = lines.map((l) => /^\s*\[+([^\]]+)\]/.exec(l)?.[1].trim()).filter(Boolean);
    const inside = [];
    for (const [, key] of line.matchAll(/([\w.-]+)\s*=\s*\{|\}/g)) { if (key) inside.push(key); else inside.pop(); }
    const word = /[\w-]*$/.exec(line)[0];
    if (/^\s*\[+[^\]]*$/.test(line)) return { path: /^\s*\[+(.*?)\.?[\w-]*$/.exec(line)[1], word, mark: "" };
    const value = /([\w.-]+)\s*=\s*("?)([^"={}[\]]*)$/.exec(line);
    const path = [heads.at(-1), ...inside, value?.[1]].filter(Boolean).join(".");
    return value ? { path, word: value[3], mark: value[2] ? "" : '"', value: true } : { path, word, mark: "" };
  }

  // `takes`: a single name that fits is written at once.
  async complete(takes = true) {
    const { path, word, mark, value = false } = this.where(), asked = this.offered = {};
    const { names } = await ask("complete", { path, value }).catch(() => ({ names: [] }));
    if (this.offered !== asked) return;
    const fitting = names.filter((n) => n.startsWith(word) && n !== word).slice(0, 40);
    const take = (n) => this.insert(mark + n.slice(word.length) + mark);
    if (fitting.length === 1 && takes) { take(fitting[0]); return; }
    const box = $("offers");
    box.setAttribute("aria-label", value ? "Values that fit here" : "Keys that fit here");
    box.replaceChildren(...fitting.map((n, i) => element("li", { role: "option", tabIndex: -1, id: `offer-${i}`, textContent: n, "aria-selected": String(i === 0),
      onclick: () => { take(n); this.area.focus(); } })));
    box.hidden = !fitting.length;
    if (fitting.length) this.area.setAttribute("aria-activedescendant", "offer-0"); else this.hideOffers();
  }

  hideOffers() { this.offered = null; $("offers").hidden = true; this.area.removeAttribute("aria-activedescendant"); }

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
      const next = all[(now + step + all.length) % all.length];
      next.setAttribute("aria-selected", "true");
      this.area.setAttribute("aria-activedescendant", next.id);
    } else if (e.key === "Enter" || e.key === "Tab") { e.preventDefault(); all[now].click(); }
    else if (e.key === "Escape") { e.preventDefault(); this.hideOffers(); }
  }
}
