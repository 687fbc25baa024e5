// What can be done with an element.

const COMPOSITE = new Set("grid group listbox menu menubar radiogroup rowgroup table tablist toolbar tree".split(" "));

// Whether a click on this very element is likely to do something.
function pointed(el, kind) {
  if (/^(html|body|label)$/.test(tag(el)) || COMPOSITE.has(kind)) return false;
  if (POINTED.has(kind) || own(el)?.listening.has(el) || el.onclick || el.onmousedown) return true;
  if (el.hasAttribute("onclick") || tag(el) === "summary") return true;
  if (getComputedStyle(el).cursor !== "pointer") return false;
  const parent = el.parentElement;
  return !parent || getComputedStyle(parent).cursor !== "pointer";
}

// A menu may open under the pointer, and take a click for a choice.
function unfolds(el) {
  const holder = el.closest("[aria-haspopup]") || el.querySelector("[aria-haspopup]");
  const has = (holder?.getAttribute("aria-haspopup") || "false") !== "false";
  return has && (holder === el || el.contains(holder)) ? [["hover"]] : [];
}

function disabled(el) {
  return (el.matches(":disabled") || el.getAttribute("aria-disabled") === "true") ?? false;
}

// The options of a list by texts that tell them apart: the label, or the value of one of a kind.
function options(el) {
  const all = [...el.options];
  const count = (key, value) => all.filter((one) => key(one) === value).length;
  const name = (one) => plain(one.label);
  return all
    .filter((one) => !one.disabled && (el.multiple || !one.selected))
    .map((one) => (count(name, name(one)) === 1 ? name(one) : one.value))
    .filter((text, i, texts) => texts.indexOf(text) === i);
}

// What can be done with a form control.
function controlled(el, kind) {
  if (tag(el) === "select") return options(el).map((text) => ["select_option", text]);
  if (el.type === "checkbox" || el.type === "radio") {
    return el.type === "radio" && el.checked ? [] : [["click"]];
  }
  if (/^(submit|button|reset|image)$/.test(el.type)) return [["click"]];
  if (el.type === "file") return [];
  const uses = [];
  if (el.readOnly || own(el)?.listening.has(el) || el.onclick || el.onfocus) uses.push(["click"]);
  if (el.readOnly || el.type === "range") return uses;
  uses.push(["fill", tag(el) === "input" ? el.type : "text", el.value ?? text(el)]);
  if (kind === "spinbutton") uses.push(["press", "ArrowUp"], ["press", "ArrowDown"]);
  const heard = el.form || own(el)?.typing.has(el) || el.onkeydown || el.onkeyup;
  if (tag(el) === "input" && el.value && heard) uses.push(["press", "Enter"]);
  return uses;
}
