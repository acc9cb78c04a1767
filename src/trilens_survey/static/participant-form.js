// Questions about the participant: choices, numbers, texts and scales.
"use strict";

const trilensForm = (() => {
  const make = (name, facts = {}, ...inside) => {
    const element = Object.assign(document.createElement(name), facts);
    element.append(...inside);
    return element;
  };
  const text = (said) => make("span", { dir: "auto" }, said);
  const isChoice = (item) => item.type === "choice" || item.type === "scale";

  function option(item, type, value, said) {
    const input = make("input", { type, name: item.name, value });
    return make("label", { className: "option" }, input, text(said));
  }

  function scale(item) {
    const points = [];
    for (let at = item.least; at <= item.most; at += 1) points.push(option(item, "radio", at, at));
    const [low, high] = item.ends;
    // said with the first and the last point too, for those who do not see where these stand
    const name = (point, said) =>
      said && point.querySelector("input").setAttribute("aria-label", `${point.textContent}: ${said}`);
    name(points[0], low);
    name(points[points.length - 1], high);
    const ends = make("p", { className: "ends small" }, text(low || ""), text(high || ""));
    ends.setAttribute("aria-hidden", "true");
    return [make("div", { className: "scale" }, ...points), ends];
  }

  function question(item, index, say) {
    const id = `item-${index}`;
    const wrong = make("p", { className: "wrong", id: `${id}-wrong`, hidden: true });
    const asked = [text(item.ask)];
    if (!item.required) asked.push(" ", make("span", { className: "small" }, `(${say("optional")})`));
    let box;
    if (isChoice(item)) {
      box = make("fieldset", {}, make("legend", {}, ...asked));
      const type = item.several ? "checkbox" : "radio";
      if (item.type === "scale") box.append(...scale(item));
      else box.append(...item.options.map((one) => option(item, type, one.value, one.text)));
      box.setAttribute("aria-describedby", wrong.id);
    } else {
      const long = item.type === "text" && (item.most || Infinity) > 100;
      const field = make(long ? "textarea" : "input", { id, name: item.name });
      if (item.type === "number") Object.assign(field, { type: "number", step: "any" });
      if (long) field.rows = 3;
      field.setAttribute("aria-describedby", wrong.id);
      box = make("div", {}, make("label", { htmlFor: id }, ...asked), field);
    }
    box.className = "item";
    box.dataset.name = item.name;
    box.append(wrong);
    return box;
  }

  function value(form, item) {
    const fields = [...form.elements].filter((field) => field.name === item.name);
    if (isChoice(item)) {
      const chosen = fields.filter((field) => field.checked).map((field) => field.value);
      if (item.type === "scale") return chosen.length ? Number(chosen[0]) : null;
      return item.several ? chosen : chosen[0] || null;
    }
    const [field] = fields;
    if (item.type === "text") return field.value;
    if (field.validity.badInput) return "?"; // something that is no number
    return field.value === "" ? null : field.valueAsNumber;
  }

  return {
    build(form, items, say) {
      form.replaceChildren(...items.map((item, index) => question(item, index, say)));
    },
    values: (form, items) => Object.fromEntries(items.map((item) => [item.name, value(form, item)])),
    // Says what is wrong beside each question, and goes to the first.
    refuse(form, problems, say) {
      let first = null;
      for (const box of form.children) {
        const problem = problems[box.dataset.name];
        const wrong = box.querySelector(".wrong");
        wrong.hidden = !problem;
        wrong.textContent = problem ? say(problem.text, problem) : "";
        for (const field of box.querySelectorAll("input, textarea")) {
          field.setAttribute("aria-invalid", String(Boolean(problem)));
          if (problem) first = first || field;
        }
      }
      if (first) first.focus();
    },
  };
})();
