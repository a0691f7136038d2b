// The network: nodes, links with rate, delay and queue, and how full each queue is at the cursor, or at most.
import { element, svg, written } from "./dom.js";

export class Network {
  constructor(box) { this.box = box; this.fills = []; }

  show(net, charts) {
    const [w, h] = net.box;
    this.queues = charts.find((c) => c.key === "queue");
    this.fills = [];
    const at = new Map(net.nodes.map((n) => [n.name, [n.x + w / 2, n.y + h / 2]]));
    const said = net.links.map((l) => `${l.name} from ${l.from} to ${l.to}: ${[l.rate, l.delay, l.queue].filter(Boolean).join(", ")}`).join("; ");
    const root = svg("svg", { viewBox: `0 0 ${net.width} ${net.height + (net.links.some((l) => l.back) ? 6 : -8)}`, width: Math.min(1100, net.width * 1.6), role: "img", "aria-label": `Network. ${said}` });
    this.ways = new Map(net.links.map((l) => [l.name, [at.get(l.from), at.get(l.to)]]));
    this.packets = svg("g", { "aria-hidden": "true" });
    for (const l of net.links) root.append(...this.link(l, at.get(l.from), at.get(l.to)));
    for (const n of net.nodes) {
      root.append(svg("rect", { x: n.x, y: n.y, width: w, height: h, rx: 6, class: "node" }));
      const name = svg("text", { x: n.x + w / 2, y: n.y + h / 2 + 4, "text-anchor": "middle", class: "name" });
      name.textContent = n.name.length > 16 ? `${n.name.slice(0, 15)}…` : n.name;
      root.append(name, this.titled(n.name, name));
    }
    root.append(this.packets);
    const flows = net.flows.map((f) => `${f.name}${f.count > 1 ? ` ×${f.count}` : ""}: ${f.from} → ${f.to}`).join("; ");
    this.note = element("p", { className: "note" });
    this.box.replaceChildren(root, element("p", { className: "note", textContent: `Flows: ${flows}` }), this.note);
    this.fill(null);
  }

  titled(text, node) { const t = svg("title"); t.textContent = text; node.append(t); return ""; }

  link(l, [ax, ay], [bx, by]) {
    const middle = [(ax + bx) / 2, (ay + by) / 2];
    const out = [svg("path", { d: `M${ax} ${ay}L${bx} ${by}`, class: "link", "stroke-width": l.count > 1 ? 4 : 2 })];
    const arrow = l.back ? (ax <= bx ? ["→ ", "← "] : ["← ", "→ "]) : ["", ""];
    const texts = [[`${l.name}${l.count > 1 ? ` ×${l.count}` : ""}`, -10], [arrow[0] + [l.rate, l.delay].filter(Boolean).join(", "), 16],
      [[l.kind === "wire" ? "" : l.kind, l.queue].filter(Boolean).join(" "), 29], [l.back ? arrow[1] + l.back : "", 44]];
    for (const [text, dy] of texts) {
      const t = svg("text", { x: middle[0], y: middle[1] + dy, "text-anchor": "middle", "font-weight": dy < 0 ? 600 : 400 });
      t.textContent = text.length > 44 ? `${text.slice(0, 43)}…` : text;
      out.push(t);
    }
    // A bar at the end where packets wait: forward at the beginning of the link, reverse at its end.
    const way = ax <= bx ? 1 : -1;
    for (const [direction, end, grow] of [["forward", ax, way], ["reverse", bx, -way]]) {
      const d = l[direction];
      if (!d || !(d.max_bytes > 0)) continue;
      const x = end + 58 * grow, left = grow > 0 ? x : x - 40, y = middle[1] - 4 + (by - ay) * (direction === "forward" ? -0.25 : 0.25);
      const bar = svg("rect", { x: left, y, width: 40, height: 8, class: "queue" });
      const inside = svg("rect", { x: left, y, width: 0, height: 8, class: "fill" });
      const tip = svg("title");
      tip.textContent = `queue of ${d.entity}: mean ${written(d.mean_bytes ?? 0, "B")}, at most ${written(d.max_bytes, "B")}, ${d.drops} dropped, ${d.marks} marked`;
      bar.append(tip);
      out.push(bar, inside);
      this.fills.push({ d, inside, left, grow });
    }
    return out;
  }

  // How full the queues are at a time; without one, on average over the run. Full is the longest that this run saw.
  fill(time) {
    if (!this.note) return;
    const said = [];
    for (const { d, inside, left, grow } of this.fills) {
      const series = this.queues?.series.find((s) => s.name === d.entity);
      let share = d.max_bytes > 0 ? (d.mean_bytes ?? 0) / d.max_bytes : 0;
      if (time !== null && series) {
        const k = nearest(this.queues.x, time);
        const top = series.y.reduce((m, v) => Math.max(m, v ?? 0), 0);
        share = top > 0 ? (series.y[k] ?? 0) / top : 0;
        said.push(`${d.entity} ${series.y[k] ?? 0} packets`);
      } else if (d.used !== null) said.push(`${d.entity} used ${(100 * d.used).toFixed(0)} %, ${d.drops} dropped, ${d.marks} marked`);
      const width = 40 * Math.min(1, share);
      inside.setAttribute("width", width);
      inside.setAttribute("x", grow > 0 ? left : left + 40 - width);
    }
    this.note.textContent = said.length ? `${time === null ? "Over the run" : `At ${Number(time.toPrecision(4))} s`}: ${said.join("; ")}` : "";
  }
}

function nearest(x, t) {
  let low = 0, high = x.length - 1;
  while (high - low > 1) { const m = (low + high) >> 1; if (x[m] > t) high = m; else low = m; }
  return t - x[low] < x[high] - t ? low : high;
}
