// Figures answer to pointer and keyboard: nearest point with its values, series on and off, a larger view, and a closer
// look: the buttons, + - and 0, or Ctrl and the wheel; what is closer can be dragged.
// Without script they are still complete pictures.
"use strict";
for (const figure of document.querySelectorAll("figure")) {
  const source = figure.querySelector("script.points");
  const svg = figure.querySelector("svg");
  if (!source || !svg) continue;
  const data = JSON.parse(source.textContent);
  const box = figure.querySelector(".drawing");
  const readout = document.createElement("output");
  readout.className = "readout";
  readout.setAttribute("aria-live", "polite");
  figure.querySelector("figcaption").before(readout);
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("r", "5");
  ring.setAttribute("class", "ring");
  svg.append(ring);
  const hidden = new Set();
  let at = [0, -1];

  const { x, y, width, height } = svg.viewBox.baseVal;
  const whole = { x, y, width, height };
  const view = { ...whole };
  const isClose = () => view.width < whole.width * 0.999;
  const look = () => {
    view.x = Math.min(Math.max(view.x, whole.x), whole.x + whole.width - view.width);
    view.y = Math.min(Math.max(view.y, whole.y), whole.y + whole.height - view.height);
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    box.style.cursor = isClose() ? "grab" : "";
    box.style.touchAction = isClose() ? "none" : "";
  };
  const zoom = (by, p) => {
    const times = Math.min(Math.max((whole.width / view.width) * by, 1), 40);
    const [w, h] = [whole.width / times, whole.height / times];
    p ||= { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    view.x = p.x - ((p.x - view.x) / view.width) * w;
    view.y = p.y - ((p.y - view.y) / view.height) * h;
    [view.width, view.height] = [w, h];
    look();
  };
  const point = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let held = null;
  box.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    zoom(e.deltaY < 0 ? 1.25 : 0.8, point(e));
  }, { passive: false });
  box.addEventListener("pointerdown", (e) => {
    if (!isClose() || e.button) return;
    held = point(e);
    box.setPointerCapture?.(e.pointerId);
  });
  const letGo = () => { held = null; };
  box.addEventListener("pointerup", letGo);
  box.addEventListener("pointercancel", letGo);

  const show = (s, i) => {
    const line = data.series[s];
    const [px, py, x, y] = line.at[i];
    at = [s, i];
    ring.setAttribute("cx", px);
    ring.setAttribute("cy", py);
    ring.style.stroke = line.colour;
    ring.style.display = "inline";
    const name = [line.panel, line.label].filter(Boolean).join(", ");
    const where = typeof x === "string" ? x : `${data.x || "x"} ${x}`;
    readout.textContent = `${name ? name + ": " : ""}${where}, ${data.y || "y"} ${y}`;
  };
  const clear = () => { ring.style.display = "none"; readout.textContent = ""; };

  box.addEventListener("pointermove", (e) => {
    const p = point(e);
    if (held) {
      view.x += held.x - p.x;
      view.y += held.y - p.y;
      look();
      return;
    }
    let best = [0, 0, Infinity];
    data.series.forEach((line, s) => {
      if (hidden.has(s)) return;
      line.at.forEach(([px, py], i) => {
        const d = (px - p.x) ** 2 + (py - p.y) ** 2;
        if (d < best[2]) best = [s, i, d];
      });
    });
    if (best[2] < 900) show(best[0], best[1]); else clear();
  });
  box.addEventListener("pointerleave", clear);
  box.addEventListener("keydown", (e) => {
    const closer = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 0 }[e.key];
    if (closer !== undefined && !e.ctrlKey && !e.metaKey) { e.preventDefault(); zoom(closer); return; }
    const visible = data.series.map((_, s) => s).filter((s) => !hidden.has(s));
    if (!visible.length) return;
    let [s, i] = at;
    if (hidden.has(s)) s = visible[0];
    const last = data.series[s].at.length - 1;
    const step = e.shiftKey ? 10 : 1;
    if (e.key === "ArrowRight") i = Math.min(last, i + step);
    else if (e.key === "ArrowLeft") i = Math.max(0, i - step);
    else if (e.key === "Home") i = 0;
    else if (e.key === "End") i = last;
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      const n = visible.length, turn = e.key === "ArrowDown" ? 1 : n - 1;
      s = visible[(visible.indexOf(s) + turn) % n];
    } else if (e.key === "Escape") { clear(); return; } else return;
    e.preventDefault();
    show(s, Math.max(0, Math.min(i, data.series[s].at.length - 1)));
  });

  const bar = document.createElement("div");
  bar.className = "toggles";
  const larger = document.createElement("button");
  larger.type = "button";
  larger.textContent = "larger";
  larger.setAttribute("aria-pressed", "false");
  larger.addEventListener("click", () => larger.setAttribute("aria-pressed", String(figure.classList.toggle("large"))));
  bar.append(larger);
  for (const [text, name, by] of [["+", "closer", 1.5], ["\u2212", "less close", 1 / 1.5], ["whole", "the whole figure", 0]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", name);
    button.addEventListener("click", () => zoom(by));
    bar.append(button);
  }
  const labels = [...new Set(data.series.map((l) => l.label).filter(Boolean))];
  if (labels.length > 1) for (const label of labels) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.setAttribute("aria-pressed", "true");
    button.style.borderColor = data.series.find((l) => l.label === label).colour;
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") === "false";
      button.setAttribute("aria-pressed", String(on));
      data.series.forEach((line, s) => {
        if (line.label !== label) return;
        if (on) hidden.delete(s); else hidden.add(s);
        const drawn = svg.querySelector(`[id="${figure.id.slice(4)}-${line.id}"]`);
        if (drawn) drawn.style.display = on ? "" : "none";
      });
      clear();
    });
    bar.append(button);
  }
  readout.after(bar);
}
