// Reads the page as lines and elements, which are remembered by their places.

const ALERTS = new Set(["alert", "status", "dialog", "alertdialog"]);
const TYPED = new Set(
  ("text search email tel url password number date time month week datetime-local color").split(" "),
);

function shown(el, kind) {
  const more = {};
  const name = tag(el);
  if ((name === "input" && (TYPED.has(el.type) || el.type === "range")) || name === "textarea") {
    if (el.value) more.value = el.type === "password" ? "•".repeat(el.value.length) : el.value;
  } else if (name === "select") {
    const chosen = [...el.selectedOptions].map((one) => plain(one.label));
    if (chosen.length) more.value = chosen.join(", ");
  } else if (kind === "textbox") {
    const inside = text(el);
    if (inside) more.value = inside;
  }
  if (name === "input" && (el.type === "checkbox" || el.type === "radio")) {
    if (el.checked) more.checked = "true";
  }
  if (name === "summary" && el.parentElement?.open) more.expanded = "true";
  for (const what of ["checked", "selected", "pressed", "expanded", "valuetext", "valuenow"]) {
    const value = el.getAttribute(`aria-${what}`);
    const key = what.startsWith("value") ? "value" : what;
    if (value && value !== "false" && !(key in more)) more[key] = plain(value);
  }
  if (disabled(el)) more.disabled = "true";
  for (const key of Object.keys(more)) more[key] = short(more[key]);
  return more;
}

function read(hide, onSite) {
  const out = [];
  const nodes = [];
  const nested = [];
  let line = [];
  const end = () => {
    const said = plain(line.join(""));
    if (said && said !== "|") out.push(said.replace(/^\|\s*|\s*\|$/g, ""));
    line = [];
  };
  const put = (el, kind, name, uses, more) => {
    end();
    out.push({ node: nodes.push(el) - 1, role: kind, label: short(name), more, uses });
    return out[out.length - 1];
  };
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      line.push(node.data);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || SILENT.has(tag(node))) return;
    if (hide && node.matches(hide)) return;
    const el = node;
    const control = /^(input|select|textarea)$/.test(tag(el));
    const drawer = control ? stand(el) : el;
    if (!visible(drawer)) {
      const contents = getComputedStyle(el).display === "contents";
      if (!contents) return;
    }
    const kind = role(el);
    if (control || kind === "textbox") {
      if (el.type === "hidden") return;
      const uses = disabled(el) || covered(drawer) ? [] : controlled(el, kind);
      put(el, kind, label(el, kind, true), uses, shown(el, kind));
      return;
    }
    if (ALERTS.has(kind)) {
      const name = label(el, kind, false) || (kind === "dialog" ? "" : text(el));
      if (name) put(el, kind, name, [], {});
      if (kind !== "dialog" && kind !== "alertdialog" && !el.querySelector("a, button, input")) return;
    }
    if (kind === "img") {
      const name = label(el, kind, true);
      if (name && !pointed(el, kind)) line.push(` ${name} `);
      if (!pointed(el, kind)) return;
    }
    if (pointed(el, kind) && !ALERTS.has(kind)) {
      end();
      const first = out.length;
      const start = nodes.length;
      const place = put(el, kind, "", [], shown(el, kind));
      for (const child of children(el)) walk(child);
      end();
      const within = out.slice(first + 1).filter((one) => one.uses);
      const held = new Set(within.filter((one) => one.uses.length).map((one) => nodes[one.node]));
      const bare = text(el, (one) => held.has(one));
      const single = within.length === 1 && within[0].uses.length && !bare;
      if (!held.size || (single && POINTED.has(kind))) {
        out.length = first + 1; // what it holds is itself, or the text of its label
        nodes.length = start + 1;
        held.clear();
      } else if (!bare || (kind === "generic" && held.size > 4)) {
        out.splice(first, 1); // it hears of clicks on what it holds
        return;
      } else {
        out.splice(first + 1, out.length, ...within);
      }
      nested[place.node] = [...held];
      place.label = short((held.size && bare) || label(el, kind, true));
      const away = el.href && /^(https?|file):/.test(el.href) && !onSite.test(el.href);
      if (!disabled(el) && !away && !covered(el)) place.uses = [["click"], ...unfolds(el)];
      return;
    }
    if (tag(el) === "label" && el.control) {
      for (const control of el.querySelectorAll("input, select, textarea, button")) walk(control);
      return;
    }
    const block = BLOCKS.has(tag(el));
    if (block) end();
    if (/^t[dh]$/.test(tag(el)) && line.length) line.push(" | ");
    if (tag(el) === "iframe" && !el.contentDocument) out.push("(a frame of another site)");
    for (const child of children(el)) walk(child);
    if (block) end();
  };
  if (document.body) walk(document.body);
  end();
  state.nodes = nodes;
  state.nested = nested;
  return { title: plain(document.title), lines: out };
}
