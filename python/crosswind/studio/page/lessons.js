// Lessons: a question, a scenario, what to move and what to see.
import { element } from "./dom.js";

export function fill(select, box, all, act) {
  for (const l of all) select.append(element("option", { value: l.name, textContent: l.title }));
  select.addEventListener("change", () => {
    const lesson = all.find((l) => l.name === select.value);
    box.hidden = !lesson;
    if (!lesson) return;
    const steps = lesson.steps.map((s) => element("li", {},
      element("button", { type: "button", textContent: s.move, onclick: () => act.open(s.text, false) }), ` ${s.see}`));
    box.replaceChildren(element("h2", { textContent: lesson.title }), element("p", {}, element("strong", { textContent: lesson.question })),
      ...lesson.paragraphs.map((p) => element("p", { textContent: p })),
      element("h3", { textContent: "Move and see" }), element("ol", { className: "steps" }, ...steps));
    act.open(lesson.text);
  });
}
