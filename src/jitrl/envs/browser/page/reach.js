// Which point of an element a click would reach, and what lies over it.

function inside(el, node) {
  for (let up = node; up; up = up.assignedSlot || up.parentNode || up.host) {
    if (up === el) return true;
  }
  return false;
}

function hit(doc, x, y) {
  let found = doc.elementFromPoint(x, y);
  for (;;) {
    const deeper = found && shadow(found)?.elementFromPoint(x, y);
    if (!deeper || deeper === found) return found;
    found = deeper;
  }
}

// A point of an element in its own frame that a click there would reach, or what is in the way.
function reach(el, others = []) {
  let over = null;
  let seen = false;
  const view = el.ownerDocument.defaultView;
  for (const box of el.getClientRects()) {
    if (box.width < 1 || box.height < 1) continue;
    for (const [across, down] of [[0.5, 0.5], [0.1, 0.5], [0.9, 0.5], [0.5, 0.15], [0.5, 0.85]]) {
      const x = box.left + box.width * across;
      const y = box.top + box.height * down;
      if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight) continue;
      seen = true;
      const found = hit(el.ownerDocument, x, y);
      const mine = found && (inside(el, found) || [...(el.labels || [])].some((l) => inside(l, found)));
      if (mine && !others.some((other) => inside(other, found))) return { x, y };
      if (!mine) over = found;
    }
  }
  return { over, seen };
}

// Whether something lies over an element for good: what is scrolled out of sight can be reached.
function covered(el) {
  const found = reach(el);
  if ("x" in found || !found.seen) return false;
  const box = el.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  for (let up = el.parentElement; up; up = up.parentElement) {
    if (getComputedStyle(up).overflow === "visible") continue;
    const frame = up.getBoundingClientRect();
    if (x < frame.left || x > frame.right || y < frame.top || y > frame.bottom) return false;
  }
  return true;
}

// A control that is drawn by its label alone.
const stand = (el) => {
  if (!el.labels || (visible(el) && el.getBoundingClientRect().width > 1)) return el;
  return [...el.labels].find(visible) || el;
};
