// Tables of results; with the run before, cells that changed name what they were.
import { element } from "./dom.js";

const wordy = (rows, i) => i === 0 || rows.some((r) => /^\p{L}/u.test(r[i] ?? ""));

export function show(box, tables, before) {
  box.replaceChildren(...tables.map((t) => {
    const old = before?.find((b) => b.title === t.title);
    const words = t.heads.map((_, i) => wordy(t.rows, i));
    const lead = Math.max(1, words.findIndex((w) => !w));
    const key = (row) => row.slice(0, lead).join("/");
    const were = new Map((old?.rows ?? []).map((r) => [key(r), r]));
    const cell = (row, i) => {
      const was = were.get(key(row))?.[old?.heads.indexOf(t.heads[i])];
      const made = element(i < lead ? "th" : "td", { className: words[i] ? "word" : "", textContent: row[i] });
      if (i < lead) made.scope = "row";
      if (i >= lead && was !== undefined && was !== row[i]) { made.classList.add("moved"); made.append(element("span", { className: "was", textContent: `was ${was}` })); }
      return made;
    };
    const head = element("tr", {}, ...t.heads.map((h, i) => element("th", { textContent: h, scope: "col", className: words[i] ? "word" : "" })));
    const body = t.rows.map((row) => element("tr", {}, ...row.map((_, i) => cell(row, i))));
    const table = element("table", {}, element("caption", { textContent: t.title }), element("thead", {}, head), element("tbody", {}, ...body));
    const wide = element("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": `${t.title}, table` }, table);
    return element("div", { className: "card tablebox" }, wide, ...(t.note ? [element("p", { className: "note", textContent: t.note })] : []));
  }));
}
