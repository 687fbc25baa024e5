// Carries out actions on elements that were read, and answers to whoever reads the page.

// Where to click on an element that was read, in the main frame's coordinates.
function point(place) {
  const given = state.nodes[place];
  if (!given?.isConnected) return { fault: "is no longer on the page" };
  const el = stand(given);
  if (disabled(given)) return { fault: "is disabled" };
  if (!visible(el)) return { fault: "is hidden" };
  let found = reach(el, state.nested[place]);
  if (!("x" in found)) {
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    found = reach(el, state.nested[place]);
    if (!("x" in found)) found = reach(el);
  }
  if (!("x" in found)) {
    const over = found.over && (short(text(found.over)) || tag(found.over));
    return { fault: over ? `is covered by '${over}'` : "cannot be brought into view" };
  }
  Object.assign(state, { aim: el, landed: false });
  let { x, y } = found;
  for (let view = el.ownerDocument.defaultView; view !== window; view = view.parent) {
    const frame = view.frameElement;
    const box = frame.getBoundingClientRect();
    x += box.left + frame.clientLeft;
    y += box.top + frame.clientTop;
  }
  return { x, y };
}

// Puts the cursor into a text field with all of its text marked; other fields are set at once.
function enter(place, value) {
  const el = state.nodes[place];
  if (!el?.isConnected) return { fault: "is no longer on the page" };
  if (disabled(el) || el.readOnly) return { fault: "cannot be changed" };
  el.scrollIntoView({ block: "nearest", behavior: "instant" });
  el.focus();
  if (tag(el) === "input" && !/^(text|search|email|tel|url|password|number)$/.test(el.type)) {
    const proto = Object.getPrototypeOf(el);
    Object.getOwnPropertyDescriptor(proto, "value").set.call(el, value);
    for (const type of ["input", "change"]) el.dispatchEvent(new Event(type, { bubbles: true }));
    return el.value === value ? { set: true } : { fault: `does not take '${value}'` };
  }
  if (el.select) el.select();
  else el.ownerDocument.getSelection().selectAllChildren(el);
  return { set: false, lines: tag(el) !== "input" };
}

function choose(place, wanted) {
  const el = state.nodes[place];
  if (!el?.isConnected) return { fault: "is no longer on the page" };
  if (tag(el) !== "select" || disabled(el)) return { fault: "is no list to select from" };
  const all = [...el.options];
  let found = all.filter((one) => plain(one.label) === wanted);
  if (found.length !== 1) found = all.filter((one) => one.value === wanted);
  if (found.length !== 1) return { fault: `has ${found.length || "no"} options '${wanted}'` };
  if (found[0].disabled) return { fault: `has option '${wanted}' disabled` };
  found[0].selected = el.multiple ? !found[0].selected : true;
  for (const type of ["input", "change"]) el.dispatchEvent(new Event(type, { bubbles: true }));
  return {};
}

function focus(place) {
  const el = state.nodes[place];
  if (!el?.isConnected) return { fault: "is no longer on the page" };
  el.focus();
  return {};
}

function checked(place) {
  const el = state.nodes[place];
  return Boolean(el?.checked ?? el?.getAttribute("aria-checked") === "true");
}

// Whether the mouse came down on what was aimed at; said to the main frame, which is asked.
const noted = (event) => {
  try {
    const main = window.top[KEY];
    const found = main.aim && hit(document, event.clientX, event.clientY);
    if (found && inside(main.aim, found)) main.landed = true;
  } catch {
    return; // a frame of another site
  }
};

listen.call(window, "pointerdown", noted, true);
listen.call(window, "beforeunload", () => (state.leaving = true), true);

const state = {
  listening, typing, roots, nodes: [], nested: [], aim: null, landed: true, leaving: false,
  read, point, enter, choose, focus, checked, settle, rested,
};
Object.defineProperty(window, KEY, { value: state });
