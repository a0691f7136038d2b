// Packets of one flow on their way, slower than they were. What a packet took longer than lines alone take, it is shown waiting
// in front of the slowest line of its way.
import { $, ask, svg } from "./dom.js";

const SHOWN_MAX = 300, GONE_FOR = 0.4, BACK = 0.02;

export class Motion {
  constructor(network, chosen) {
    Object.assign(this, { network, chosen, at: 0, film: null, drawn: 0 });
    $("motion").addEventListener("click", () => (this.film ? this.stop() : this.begin(this.at ?? 0)));
  }

  async begin(at) {
    const mine = this.film = {};
    $("motion").setAttribute("aria-pressed", "true");
    try {
      const { key, flow } = this.chosen();
      const told = await ask("packets", { key, flow, at });
      if (this.film !== mine) return;
      Object.assign(mine, told, { now: Math.max(at, told.packets[0][0] - BACK), last: null });
      requestAnimationFrame((t) => this.step(mine, t));
    } catch (e) { if (this.film === mine) { this.stop(); $("moving").textContent = e.message; } }
  }

  stop() {
    this.film = null;
    $("motion").setAttribute("aria-pressed", "false");
    $("moving").textContent = "";
    this.network.packets?.replaceChildren();
  }

  step(film, clock) {
    if (this.film !== film) return;
    const slower = Number($("slower").value);
    if (film.last !== null) film.now += Math.min(0.1, (clock - film.last) / 1000) / slower;
    film.last = clock;
    const after = GONE_FOR / slower;
    const there = film.packets.filter(([left, ended, how]) => left <= film.now && film.now < ended + (how === "receive" ? 0 : after));
    const next = film.packets.find(([left]) => left > film.now);
    if (!there.length && next) film.now = Math.max(film.now, next[0] - BACK / slower);  // nobody waits for silence
    if (!there.length && !next) { if (film.more) this.begin(film.now); else this.stop(); return; }
    this.draw(film, there.slice(0, SHOWN_MAX));
    $("moving").textContent = `${film.flow} at ${film.now.toFixed(4)} s: ${there.length} on their way`;
    requestAnimationFrame((t) => this.step(film, t));
  }

  draw(film, there) {
    let waiting = 0;
    this.network.packets.replaceChildren(...there.map(([left, ended, how, again]) => {
      const [x, y, waits] = place(film, this.network.ways, left, ended, how);
      const shift = waits ? 5 * waiting++ : 0;
      const gone = how !== "receive" && film.now >= ended;
      return svg("circle", { cx: x - waits * shift, cy: y, r: gone ? 5 : 3.5, class: gone ? "gone" : again ? "again" : "on" });
    }));
  }
}

// Where a packet is, and on which side of it others wait behind it: 0 when it does not wait.
function place(film, ways, left, ended, how) {
  const alone = film.path.reduce((sum, [, , s]) => sum + s, 0), before = film.path.slice(0, film.waits).reduce((sum, [, , s]) => sum + s, 0);
  // What is dropped ends in front of the line where it would have waited.
  const wait = how === "receive" ? Math.max(0, ended - left - alone) : Math.max(0, ended - left - before);
  const pace = how === "receive" && ended - left < alone ? (ended - left) / alone : 1;  // a line that was faster then
  let t = film.now - left;
  for (let i = 0; i < film.path.length; i++) {
    const [name, back, seconds] = film.path[i], way = ways.get(name);
    if (!way) return [-9, -9, 0];
    const [a, b] = back ? [way[1], way[0]] : way;
    if (i === film.waits) {
      if (t <= wait || how !== "receive") return [...between(a, b, 0.3), Math.sign(b[0] - a[0]) || 1];
      t -= wait;
    }
    const share = t / (seconds * pace);
    if (share < 1 || i === film.path.length - 1) return [...between(a, b, i === film.waits ? 0.3 + 0.7 * Math.min(1, share) : share), 0];
    t -= seconds * pace;
  }
  return [-9, -9, 0];
}

const between = ([ax, ay], [bx, by], share) => [ax + (bx - ax) * Math.min(1, share), ay + (by - ay) * Math.min(1, share)];
