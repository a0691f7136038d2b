// Charts over time: their axes follow what is looked at, they share their axis of time and their cursor, and the run before
// lies below in a lighter line.
import { css, element, fitting, look, short, whenColoursChange } from "./dom.js";

const BEFORE = "before";

export class Charts {
  constructor(box, legend, readout, moved) {
    Object.assign(this, { box, legend, readout, moved, panels: new Map(), hidden: new Set(), places: new Map(), range: null, log: new Set(), first: 0 });
    whenColoursChange(() => this.draw());
    this.key = uPlot.sync("time");
  }

  place(name) {
    // Flows and directions of links are counted apart: hardly a chart shows both.
    const kind = name.includes("/") ? "link" : "flow";
    if (!this.places.has(name)) this.places.set(name, [...this.places].filter(([n]) => n.includes("/") === (kind === "link")).length);
    return this.places.get(name);
  }

  // What is shown: the charts of an answer and, below them, those of another one.
  show(charts, before, end) {
    this.charts = charts;
    this.before = before;
    if (this.end !== end && !this.first) this.range = null;  // another run; a live one goes on
    this.end = end > this.first ? end : this.first + 1;
    for (const c of charts) for (const s of c.series) this.place(s.name);
    this.draw();
  }

  draw() {
    if (!this.charts) return;
    const wanted = new Set(this.charts.map((c) => c.key));
    for (const [key, p] of this.panels) if (!wanted.has(key)) { p.destroy(); this.panels.delete(key); }
    for (const c of this.charts) {
      if (!this.panels.has(c.key)) this.panels.set(c.key, new Panel(this, c.key));
      this.panels.get(c.key).show(c, this.before?.find((b) => b.key === c.key));
    }
    this.box.append(...this.charts.map((c) => this.panels.get(c.key).section));
    this.drawLegend();
  }

  drawLegend() {
    const names = [...new Set(this.charts.flatMap((c) => c.series.map((s) => s.name)))];
    this.legend.replaceChildren(...names.map((name) => {
      const { colour, dash } = look(this.place(name));
      const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      for (const [k, v] of [["d", "M0 4H18"], ["stroke", colour], ["stroke-width", "2.5"], ["stroke-dasharray", dash.join(" ")]]) path.setAttribute(k, v);
      line.setAttribute("viewBox", "0 0 18 8");
      line.setAttribute("aria-hidden", "true");
      line.append(path);
      const toggle = element("button", { type: "button", "aria-pressed": String(!this.hidden.has(name)) }, line, name);
      toggle.addEventListener("click", () => {
        if (!this.hidden.delete(name)) this.hidden.add(name);
        toggle.setAttribute("aria-pressed", String(!this.hidden.has(name)));
        this.draw();
      });
      return toggle;
    }));
  }

  look(min, max) {
    const whole = min <= this.first && max >= this.end;
    this.range = whole || !(max > min) ? null : [Math.max(this.first, min), Math.min(this.end, max)];
    for (const p of this.panels.values()) p.look();
  }

  zoom(by, middle) {
    const [a, b] = this.range ?? [this.first, this.end];
    const at = middle ?? (a + b) / 2;
    this.look(at - (at - a) / by, at + (b - at) / by);
  }
}

const values = (s, factor) => s.y.map((v) => (v === null ? null : v / factor));

class Panel {
  constructor(all, key) {
    Object.assign(this, { all, key });
    this.heading = element("h3");
    this.frame = element("div", { className: "frame", tabIndex: 0, role: "group", "aria-describedby": "how" });
    this.section = element("section", { className: "panel", dataset: { key } }, this.heading, this.frame);
    this.frame.addEventListener("keydown", (e) => this.press(e));
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.frame);
  }

  destroy() { this.watch.disconnect(); this.u?.destroy(); this.section.remove(); }

  size() {
    const width = Math.max(240, Math.floor(this.frame.clientWidth || 320));
    return { width, height: Math.round(Math.min(300, Math.max(170, width * 0.5))) };
  }

  fit() {
    const { width, height } = this.size();
    if (this.u && (width !== this.u.width || height !== this.u.height)) this.u.setSize({ width, height });
  }

  show(chart, before) {
    this.chart = chart;
    const shown = chart.series.filter((s) => !this.all.hidden.has(s.name));
    const beneath = (before?.series ?? []).filter((s) => !this.all.hidden.has(s.name));
    const top = [...shown, ...beneath].reduce((m, s) => s.y.reduce((n, v) => (v > n ? v : n), m), 0);
    const [factor, unit] = fitting(chart.unit, top);
    Object.assign(this, { factor, unit });
    const more = chart.hidden ? `, the ${chart.series.length} largest of ${chart.series.length + chart.hidden}` : "";
    this.heading.textContent = `${chart.title} (${unit})${more}`;
    this.frame.setAttribute("aria-label", `${chart.title} in ${unit} over time`);
    const tables = [[chart.x, ...shown.map((s) => values(s, factor))]];
    if (beneath.length) tables.push([before.x, ...beneath.map((s) => values(s, factor))]);
    const data = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const line = (s, old) => {
      const { colour, dash } = look(this.all.place(s.name));
      return { label: old ? `${s.name} ${BEFORE}` : s.name, stroke: old ? `${colour}66` : colour, width: old ? 1.2 : 1.6,
        dash: dash.length ? dash : undefined, spanGaps: true, points: { show: false } };
    };
    this.names = [...shown.map((s) => s.name), ...beneath.map((s) => `${s.name} ${BEFORE}`)];
    this.series = [{ label: "time" }, ...shown.map((s) => line(s, false)), ...beneath.map((s) => line(s, true))];
    this.data = data;
    this.make();
  }

  make() {
    const log = this.all.log.has(this.key);
    const grid = { stroke: css("--grid"), width: 1 };
    const axis = { stroke: css("--ink"), grid, ticks: { ...grid, size: 5 }, font: "11px system-ui, sans-serif" };
    const range = log ? undefined : (u, low, high) => [Math.min(0, low ?? 0), (high || 1) * 1.05];
    const wide = (u, v) => 18 + 7 * Math.max(2, ...(v ?? []).map((t) => String(t ?? "").length));
    const data = log ? [this.data[0], ...this.data.slice(1).map((y) => y.map((v) => (v > 0 ? v : null)))] : this.data;
    this.u?.destroy();
    this.u = new uPlot({
      ...this.size(), legend: { show: false }, series: this.series,
      scales: { x: { time: false, range: () => this.all.range ?? [this.all.first, this.all.end] }, y: { distr: log ? 3 : 1, range } },
      axes: [{ ...axis, size: 30, values: (u, v) => v.map((t) => `${t} s`) }, { ...axis, size: wide }],
      cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 6 },
        bind: { dblclick: () => () => this.all.look(this.all.first, this.all.end) } },
      hooks: { draw: [(u) => Object.assign(this.section.dataset, { top: u.scales.y.max, from: u.scales.x.min, to: u.scales.x.max })], setCursor: [(u) => this.moved(u)], setSelect: [(u) => this.selected(u)] },
    }, data, this.frame);
  }

  look() { const [min, max] = this.all.range ?? [this.all.first, this.all.end]; this.u.setScale("x", { min, max }); }

  selected(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const [a, b] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.all.look(a, b);
  }

  moved(u) {
    const { idx, left } = u.cursor;
    if (!this.frame.matches(":hover, :focus")) return;
    if (idx === null || idx === undefined || left < 0) { this.all.readout.textContent = ""; this.all.moved(null); return; }
    const t = u.data[0][idx];
    const said = this.names.map((n, i) => `${n} ${short(this.near(i + 1, idx))}`);
    this.all.readout.textContent = `${this.chart.title} at ${short(t)} s: ${said.join(", ")} ${this.unit}`;
    this.all.moved(t);
  }

  near(series, idx) {
    const y = this.u.data[series];
    for (let k = idx; k >= 0; k--) if (y[k] !== null && y[k] !== undefined) return y[k];
    return null;
  }

  press(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const u = this.u, last = u.data[0].length - 1, step = e.shiftKey ? 10 : 1;
    let idx = u.cursor.idx ?? -1;
    const middle = u.cursor.idx === null || u.cursor.idx === undefined ? undefined : u.data[0][u.cursor.idx];
    if (e.key === "ArrowRight") idx = Math.min(last, idx + step);
    else if (e.key === "ArrowLeft") idx = Math.max(0, idx - step);
    else if (e.key === "Home") idx = 0;
    else if (e.key === "End") idx = last;
    else if (e.key === "+" || e.key === "=") { e.preventDefault(); this.all.zoom(1.5, middle); return; }
    else if (e.key === "-") { e.preventDefault(); this.all.zoom(1 / 1.5, middle); return; }
    else if (e.key === "0") { e.preventDefault(); this.all.look(this.all.first, this.all.end); return; }
    else if (e.key === "l") { e.preventDefault(); this.logarithmic(); return; }
    else if (e.key === "Escape") { u.setCursor({ left: -10, top: -10 }); return; }
    else return;
    e.preventDefault();
    u.setCursor({ left: u.valToPos(u.data[0][idx], "x"), top: u.over.clientHeight / 2 });
  }

  logarithmic() {
    if (!this.all.log.delete(this.key)) this.all.log.add(this.key);
    this.make();
  }
}

// The time-sequence graph of one flow: the line of acknowledgements, and a mark for every segment.
const KINDS = { line: ["#0072B2", 0], send: ["#8b93a1", 2], retransmit: ["#D55E00", 5], drop: ["#CC79A7", 7], lost: ["#CC79A7", 7], mark: ["#E69F00", 6], timeout: ["#009E73", 8] };

export class Sequence {
  constructor(box) {
    this.box = box;
    this.frame = element("div", { className: "frame", tabIndex: 0, role: "group" });
    this.frame.addEventListener("keydown", (e) => this.press(e));
    this.said = element("p", { className: "note" });
    box.append(this.said, this.frame);
    whenColoursChange(() => this.show(this.shown));
    new ResizeObserver(() => this.u?.setSize(this.size())).observe(this.frame);
  }

  size() { const width = Math.max(240, Math.floor(this.frame.clientWidth || 320)); return { width, height: Math.min(380, Math.max(220, Math.round(width * 0.42))) }; }

  show(shown) {
    this.shown = shown;
    this.u?.destroy();
    this.u = null;
    if (!shown?.series.length) { this.said.textContent = "No segments were recorded: choose a flow over TCP."; return; }
    const counts = shown.series.filter((s) => s.count).map((s) => `${s.count} ${s.name}`).join(", ");
    this.said.textContent = `Flow ${shown.flow}: ${counts || "nothing sent"}. Drag to look closer, double-click to see all; keys: +, −, arrows, 0.`;
    const top = shown.series.reduce((m, s) => s.y.reduce((n, v) => Math.max(n, v), m), 1);
    const [factor, unit] = fitting("B", top);
    const data = uPlot.join(shown.series.map((s) => [rising(s.x), s.y.map((v) => v / factor)]));
    const grid = { stroke: css("--grid"), width: 1 };
    const axis = { stroke: css("--ink"), grid, ticks: { ...grid, size: 5 }, font: "11px system-ui, sans-serif" };
    const series = shown.series.map((s) => {
      const [colour, size] = KINDS[s.kind] ?? KINDS.send;
      if (s.kind === "line") return { label: s.name, stroke: colour, width: 1.2, spanGaps: true, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } };
      return { label: s.name, stroke: colour, paths: () => null, points: { show: true, size, fill: colour, width: 0 } };
    });
    this.frame.setAttribute("aria-label", `Segment by segment. ${this.said.textContent}`);
    this.u = new uPlot({ ...this.size(), series: [{ label: "time (s)" }, ...series], scales: { x: { time: false } },
      axes: [{ ...axis, size: 30, values: (u, v) => v.map((t) => `${t} s`) }, { ...axis, label: `sequence number (${unit})`, labelSize: 20, labelFont: "11px system-ui, sans-serif", size: 56 }],
      hooks: { draw: [(u) => Object.assign(this.frame.dataset, { from: u.scales.x.min, to: u.scales.x.max })] }, legend: { live: false } }, data, this.frame);
  }

  press(e) {
    if (!this.u || e.ctrlKey || e.metaKey || e.altKey) return;
    const { min, max } = this.u.scales.x, x = this.u.data[0], wide = max - min;
    const [from, to] = { "+": [min + wide / 6, max - wide / 6], "=": [min + wide / 6, max - wide / 6], "-": [min - wide / 4, max + wide / 4],
      ArrowRight: [min + wide / 8, max + wide / 8], ArrowLeft: [min - wide / 8, max - wide / 8], 0: [x[0], x.at(-1)] }[e.key] ?? [];
    if (from === undefined) return;
    e.preventDefault();
    this.u.setScale("x", { min: Math.max(x[0], from), max: Math.min(x.at(-1), to) });
  }
}

// A chart has room for one value of a series at each place.
function rising(x) {
  let last = -Infinity;
  return x.map((v) => { last = v > last ? v : last + 1e-9 * Math.max(1, Math.abs(last)); return last; });
}
