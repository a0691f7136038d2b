// Draws the charts of a page: axes rescale when one looks closer, figures over time share their axis and their cursor.
"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const ink = () => css("--ink");
// Black lines would vanish on a dark page.
const shade = (colour) => (/^#(000000|16191f)$/i.test(colour) ? ink() : colour);
const short = (v) => (v === null || v === undefined ? "–" : Number(v.toPrecision(5)).toString());
const live = [];

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [k, v] of Object.entries(properties)) {
    if (k.startsWith("aria-") || k === "role") made.setAttribute(k, v); else made[k] = v;
  }
  made.append(...children);
  return made;
}

function button(text, label, press) {
  const made = element("button", { type: "button", textContent: text });
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", press);
  return made;
}

// The values of all series at all places of any of them; where one has none there is a gap that lines pass over.
const joined = (panel) => uPlot.join(panel.series.map((s) => [s.x, s.y]));

function whiskers(panel) {
  return (u) => {
    const { ctx } = u;
    panel.series.forEach((s, i) => {
      if (!s.low || !u.series[i + 1].show) return;
      ctx.save();
      ctx.strokeStyle = shade(s.colour);
      ctx.globalAlpha = 0.6;
      ctx.lineWidth = 2 * devicePixelRatio;
      s.x.forEach((x, k) => {
        if (s.low[k] === null || s.high[k] === null || x < u.scales.x.min || x > u.scales.x.max) return;
        const px = u.valToPos(x, "x", true);
        ctx.beginPath();
        ctx.moveTo(px, u.valToPos(s.low[k], "y", true));
        ctx.lineTo(px, u.valToPos(s.high[k], "y", true));
        ctx.stroke();
      });
      ctx.restore();
    });
  };
}

function verticals(panel) {
  return (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    for (const v of panel.verticals) {
      if (v.x < u.scales.x.min || v.x > u.scales.x.max) continue;
      const px = u.valToPos(v.x, "x", true);
      ctx.strokeStyle = shade(v.colour);
      ctx.beginPath();
      ctx.moveTo(px, bbox.top);
      ctx.lineTo(px, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

function seriesOf(s) {
  const drawn = { label: s.label || "value", stroke: () => shade(s.colour), spanGaps: true, width: 1.6 };
  if (s.kind === "points") {
    return { ...drawn, paths: () => null, points: { show: true, size: 5, fill: () => shade(s.colour) } };
  }
  if (s.kind === "steps") drawn.paths = uPlot.paths.stepped({ align: 1 });
  return { ...drawn, dash: s.dashes.map((d) => 1.5 * d), points: { show: s.x.length < 25, size: 5 } };
}

// Panels of one figure have equal axes until somebody looks closer.
function extremes(panels, of) {
  const all = panels.flatMap((p) => p.series.flatMap(of)).filter((v) => v !== null && v !== undefined);
  return all.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
}

function scalesOf(panel, ylog) {
  const edge = panel.names.length - 0.5;
  const y = { distr: ylog ? 3 : 1 };
  if (!ylog) y.range = (u, low, high) => {
    const [least, most] = panel.close ? [low, high] : [panel.ends[2], panel.ends[3]];
    const room = 0.05 * ((most ?? 1) - (least ?? 0) || 1);
    return [panel.floor || least >= 0 && least < most / 2 ? Math.min(0, least ?? 0) : (least ?? 0) - room, (most ?? 1) + room];
  };
  const x = { time: false, distr: panel.xlog ? 3 : 1 };
  if (panel.names.length) x.range = () => [-0.5, edge];
  return { x, y };
}

function axesOf(panel) {
  const look = { stroke: ink, grid: { stroke: () => css("--grid"), width: 1 }, ticks: { stroke: () => css("--grid") },
    font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 22, labelGap: 2 };
  const x = { ...look, label: panel.x, size: 34 };
  if (panel.names.length) {
    x.splits = () => panel.names.map((_, i) => i);
    x.values = () => panel.names;
    x.grid = { show: false };
  }
  const wide = (u, values) => 22 + 7 * Math.max(2, ...(values ?? []).map((v) => String(v ?? "").length));
  return [x, { ...look, label: panel.y, size: wide }];
}

class Chart {
  constructor(panel, box, say) {
    Object.assign(this, { panel, box, say, ylog: panel.ylog, at: [0, -1] });
    this.overTime = /^time/.test(panel.x);
    this.frame = element("div", { className: "chart", tabIndex: 0, role: "group" });
    this.frame.setAttribute("aria-describedby", "how-to-read");
    this.frame.setAttribute("aria-label", `${panel.title || panel.y} against ${panel.x}`);
    box.append(this.frame);
    this.draw();
    this.frame.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.fit()).observe(this.frame);
    live.push(this);
  }

  size() {
    const width = Math.max(240, this.frame.clientWidth);
    return { width, height: Math.round(Math.min(460, Math.max(200, width * 0.56))) };
  }

  fit() {
    const { width, height } = this.size();
    if (width !== this.u.width || height !== this.u.height) this.u.setSize({ width, height });
  }

  draw(shown = []) {
    this.u?.destroy();
    const { panel } = this;
    const sync = this.overTime ? { key: "time", setSeries: false } : undefined;
    this.u = new uPlot({
      ...this.size(), title: panel.title, legend: { show: false }, scales: scalesOf(panel, this.ylog),
      axes: axesOf(panel), series: [{ label: panel.x }, ...panel.series.map((s, i) => ({ ...seriesOf(s), show: shown[i] ?? true }))],
      cursor: { sync, drag: { x: !panel.names.length, y: false, setScale: false }, bind: { dblclick: () => () => this.whole() } },
      hooks: { draw: [whiskers(panel), verticals(panel)], setCursor: [(u) => this.moved(u)], setSelect: [(u) => this.selected(u)] },
    }, joined(panel), this.frame);
    if (!panel.names.length) this.look(...(panel.close ?? this.ends()));
  }

  selected(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const range = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.together(...range);
  }

  ends() { return this.panel.ends.slice(0, 2); }
  whole() { this.together(...this.ends()); }

  // All figures over time show the same stretch of it, and so do the panels of one figure.
  together(low, high) {
    const [a, b] = this.ends();
    for (const c of live) if (c.box === this.box || (this.overTime && c.overTime)) {
      const [first, last] = c.ends();
      if (low <= a && high >= b) c.look(first, last); else c.look(Math.max(first, low), Math.min(last, high));
    }
  }

  look(min, max) {
    if (!(max > min)) return;
    const [a, b] = this.ends();
    this.panel.close = min <= a && max >= b ? undefined : [min, max];
    this.u.setScale("x", { min, max });
  }

  zoom(by) {
    if (this.panel.names.length) return;
    const { min, max } = this.u.scales.x, [a, b] = this.ends();
    const { idx } = this.u.cursor;
    const middle = idx === null || idx === undefined ? (min + max) / 2 : this.u.data[0][idx];
    this.together(Math.max(a, middle - (middle - min) / by), Math.min(b, middle + (max - middle) / by));
  }

  log() { this.ylog = !this.ylog; this.draw(this.u.series.slice(1).map((s) => s.show)); }
  show(label, on) { this.panel.series.forEach((s, i) => { if (s.label === label) this.u.setSeries(i + 1, { show: on }); }); }
  canLog() { return this.panel.series.every((s) => s.y.some((v) => v > 0)); }

  moved(u) {
    const { idx } = u.cursor;
    if (idx === null || idx === undefined || u.cursor.left < 0) return;
    if (!this.frame.matches(":hover, :focus-within, :focus")) return;
    const where = this.panel.names.length ? this.panel.names[Math.round(u.data[0][idx])] : `${this.panel.x} ${short(u.data[0][idx])}`;
    const values = this.panel.series.map((s, i) => [s, i + 1]).filter(([, i]) => u.series[i].show)
      .map(([s, i]) => `${s.label ? s.label + " " : ""}${short(this.near(i, idx))}`);
    this.say(`${this.panel.title ? this.panel.title + ", " : ""}${where}: ${values.join(", ")}; ${this.panel.y}`);
  }

  // Series are sampled at places of their own: the last value at or before the cursor is what a step line shows.
  near(series, idx) {
    const y = this.u.data[series];
    for (let k = idx; k >= 0; k--) if (y[k] !== null && y[k] !== undefined) return y[k];
    return null;
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const u = this.u, last = u.data[0].length - 1, step = e.shiftKey ? 10 : 1;
    let idx = u.cursor.idx ?? -1;
    if (e.key === "ArrowRight") idx = Math.min(last, idx + step);
    else if (e.key === "ArrowLeft") idx = Math.max(0, idx - step);
    else if (e.key === "Home") idx = u.valToIdx(u.scales.x.min);
    else if (e.key === "End") idx = u.valToIdx(u.scales.x.max);
    else if (e.key === "+" || e.key === "=") { e.preventDefault(); this.zoom(1.5); return; }
    else if (e.key === "-") { e.preventDefault(); this.zoom(1 / 1.5); return; }
    else if (e.key === "0") { e.preventDefault(); this.whole(); return; }
    else if (e.key === "l" && this.canLog()) { e.preventDefault(); this.log(); return; }
    else if (e.key === "Escape") { u.setCursor({ left: -10, top: -10 }); this.say(""); return; }
    else return;
    e.preventDefault();
    const y = this.panel.series.map((_, i) => this.near(i + 1, idx)).find((v) => v !== null);
    u.setCursor({ left: u.valToPos(u.data[0][idx], "x"), top: y === undefined ? 0 : u.valToPos(y, "y") });
  }
}

for (const figure of document.querySelectorAll("figure")) {
  const source = figure.querySelector("script.chart-data");
  if (!source) continue;
  const panels = JSON.parse(source.textContent);
  const ends = [...extremes(panels, (s) => s.x), ...extremes(panels, (s) => [...s.y, ...(s.low ?? []), ...(s.high ?? [])])];
  panels.forEach((p) => { p.ends = ends; });
  const box = figure.querySelector(".charts");
  box.removeAttribute("role");
  box.classList.toggle("several", panels.length > 1);
  const readout = element("output", { className: "readout", "aria-live": "polite" });
  const charts = panels.map((p) => new Chart(p, box, (text) => { readout.textContent = text; }));
  const bar = element("div", { className: "toggles" });
  const larger = button("larger", "", () => larger.setAttribute("aria-pressed", String(figure.classList.toggle("large"))));
  larger.setAttribute("aria-pressed", "false");
  bar.append(larger);
  if (!panels.some((p) => p.names.length)) {
    bar.append(button("+", "closer", () => charts[0].zoom(1.5)), button("\u2212", "less close", () => charts[0].zoom(1 / 1.5)),
      button("whole", "the whole figure", () => charts[0].whole()));
  }
  if (charts.every((c) => c.canLog())) {
    const log = button("log", "logarithmic axis", () => { charts.forEach((c) => c.log()); log.setAttribute("aria-pressed", String(charts[0].ylog)); });
    log.setAttribute("aria-pressed", String(charts[0].ylog));
    bar.append(log);
  }
  const all = panels.flatMap((p) => p.series);
  const labels = [...new Set(all.map((s) => s.label).filter(Boolean))];
  if (labels.length > 1) for (const label of labels) {
    const toggle = button(label, "", () => {
      const on = toggle.getAttribute("aria-pressed") === "false";
      toggle.setAttribute("aria-pressed", String(on));
      charts.forEach((c) => c.show(label, on));
    });
    toggle.setAttribute("aria-pressed", "true");
    toggle.style.setProperty("--series", shade(all.find((s) => s.label === label).colour));
    toggle.className = "series";
    bar.append(toggle);
  }
  box.after(readout, bar);
}
dark.addEventListener("change", () => live.forEach((c) => c.draw(c.u.series.slice(1).map((s) => s.show))));

// A click on the head of a column sorts the table by it; numbers by what they mean, whatever their unit.
const FACTORS = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, kB: 1e3, MB: 1e6, GB: 1e9,
  "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "%": 0.01 };
const meaning = (text) => {
  const found = /^(-?[\d.]+(?:e[+-]?\d+)?)\s*(\S+)?/i.exec(text.trim());
  return found ? Number(found[1]) * (FACTORS[found[2]] ?? 1) : text.trim() === "-" ? -Infinity : NaN;
};
for (const table of document.querySelectorAll("table.data")) {
  const heads = [...table.querySelectorAll("thead th")];
  if (table.tBodies[0].rows.length < 3) continue;
  heads.forEach((head, column) => {
    const sort = button(head.textContent, "", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const cell = (row) => row.cells[column].textContent;
      const order = (a, b) => {
        const [x, y] = [meaning(cell(a)), meaning(cell(b))];
        return Number.isNaN(x) || Number.isNaN(y) ? cell(a).localeCompare(cell(b), undefined, { numeric: true }) : x - y || 0;
      };
      const rows = [...table.tBodies[0].rows].sort(order);
      table.tBodies[0].append(...(up ? rows : rows.reverse()));
    });
    head.replaceChildren(sort);
  });
}
