// Lessons: a question, a scenario, what to move and what to see.
import { element } from "./dom.js";

export function fill(select, box, all, act) {
  for (const l of all) select.append(element("option", { value: l.name, textContent: l.title }));
  const choose = (open) => {
    const lesson = all.find((l) => l.name === select.value);
    box.hidden = !lesson;
    if (!lesson) return;
    const steps = lesson.steps.map((s) => element("li", {},
      element("button", { type: "button", textContent: s.move, onclick: () => act.open(s.text, false) }), ` ${s.see}`));
    box.replaceChildren(element("h2", { textContent: lesson.title }), element("p", {}, element("strong", { textContent: lesson.question })),
      ...lesson.paragraphs.map((p) => element("p", { textContent: p })),
      element("p", {}, element("button", { type: "button", textContent: "From the beginning", onclick: () => act.open(lesson.text) })),
      element("h3", { textContent: "Move and see" }), element("ol", { className: "steps" }, ...steps),
      element("details", { className: "claims" }, element("summary", { textContent: "What holds (tests check it)" }),
        element("ul", {}, ...lesson.claims.map((c) => element("li", { textContent: c })))));
    if (open) act.open(lesson.text);
  };
  select.addEventListener("change", () => choose(true));
  return (name) => { select.value = name; choose(false); };
}
