// Runs in every frame before the page's own scripts: notes which elements listen to mouse and keys,
// reads the page as lines and elements, and finds the point of an element that a click would reach.
(() => {
  "use strict";
  const KEY = Symbol.for("jitrl");
  if (window[KEY]) return;

  const MOUSE = new Set(
    "click dblclick mousedown mouseup pointerdown pointerup focus focusin".split(" "),
  );
  const POINTED = new Set(
    ("button link checkbox radio tab menuitem menuitemcheckbox menuitemradio option switch " +
      "treeitem slider gridcell").split(" "),
  );
  const NAMED_BY_CONTENT = new Set([...POINTED, "generic", "listitem", "cell", "row", "heading"]);
  const COMPOSITE = new Set("grid group listbox menu menubar radiogroup rowgroup table tablist toolbar tree".split(" "));
  const ALERTS = new Set(["alert", "status", "dialog", "alertdialog"]);
  const ENDS_LINE =
    "address article aside blockquote br center dd details dialog div dl dt fieldset figcaption " +
    "figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary " +
    "table tbody tfoot thead tr ul";
  const BLOCKS = new Set(ENDS_LINE.split(" "));
  const SILENT = new Set("script style noscript template head title meta link option optgroup".split(" "));
  const TYPED = new Set(
    ("text search email tel url password number date time month week datetime-local color").split(" "),
  );
  const LONGEST = 120;

  const later = window.setTimeout.bind(window);
  const listening = new WeakSet();
  const typing = new WeakSet();
  const roots = new WeakMap();

  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type) {
    if (MOUSE.has(type) && this instanceof Element) listening.add(this);
    if (/^key/.test(type) && this instanceof Element) typing.add(this);
    return listen.apply(this, arguments);
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function () {
    const root = attach.apply(this, arguments);
    roots.set(this, root);
    return root;
  };

  const plain = (text) => text.replace(/\s+/g, " ").trim();
  const short = (text) => (text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text);
  const brief = (text) => (text.length > 40 ? "" : text);
  const tag = (el) => el.localName.toLowerCase();
  const isControl = (el) => /^(input|select|textarea|button)$/.test(tag(el));
  const own = (el) => el.ownerDocument.defaultView?.[KEY];
  const shadow = (el) => el.shadowRoot || own(el)?.roots.get(el);

  const visible = (el) =>
    el.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    el.getAttribute("aria-hidden") !== "true";

  function* children(el) {
    if (tag(el) === "slot") {
      const given = el.assignedNodes({ flatten: true });
      yield* given.length ? given : el.childNodes;
    } else if (tag(el) === "iframe" || tag(el) === "frame") {
      const inside = el.contentDocument?.body;
      if (inside && own(inside)) yield inside;
    } else {
      yield* (shadow(el) || el).childNodes;
    }
  }

  // Visible text inside an element, apart from that of some elements.
  function text(el, without = () => false) {
    const parts = [];
    const collect = (node) => {
      if (node.nodeType === Node.TEXT_NODE) parts.push(node.data);
      if (node.nodeType !== Node.ELEMENT_NODE || SILENT.has(tag(node)) || !visible(node)) return;
      if (without(node)) return;
      if (BLOCKS.has(tag(node)) || /^t[dh]$/.test(tag(node))) parts.push(" ");
      const said = node.getAttribute("aria-label") || (tag(node) === "img" && node.alt);
      if (said) parts.push(said);
      else for (const child of children(node)) collect(child);
      if (BLOCKS.has(tag(node)) || /^t[dh]$/.test(tag(node))) parts.push(" ");
    };
    for (const child of children(el)) collect(child);
    return plain(parts.join(""));
  }

  function role(el) {
    const said = (el.getAttribute("role") || "").trim().split(/\s+/)[0];
    if (/^[a-z][a-z-]*$/.test(said) && said !== "none" && said !== "presentation") return said;
    const type = el.type;
    switch (tag(el)) {
      case "a":
      case "area":
        return el.hasAttribute("href") ? "link" : "generic";
      case "button":
      case "summary":
        return "button";
      case "input":
        if (/^(submit|button|reset|image|file)$/.test(type)) return "button";
        if (type === "checkbox" || type === "radio") return type;
        if (type === "range") return "slider";
        if (type === "number") return "spinbutton";
        return type === "search" ? "searchbox" : "textbox";
      case "textarea":
        return "textbox";
      case "select":
        return el.multiple || el.size > 1 ? "listbox" : "combobox";
      case "dialog":
        return "dialog";
      case "li":
        return "listitem";
      case "td":
      case "th":
        return "cell";
      case "img":
        return "img";
      default:
        return el.isContentEditable && !el.parentElement?.isContentEditable ? "textbox" : "generic";
    }
  }

  // Text right before a field: what a person takes for its label where none is tied to it.
  function before(el, up = 2) {
    for (let node = el.previousSibling; node; node = node.previousSibling) {
      if (node.nodeType === Node.TEXT_NODE && plain(node.data)) return brief(plain(node.data));
      if (node.nodeType !== Node.ELEMENT_NODE || SILENT.has(tag(node))) continue;
      if (isControl(node) || node.querySelector("input, select, textarea")) return "";
      if (tag(node) !== "br" && visible(node) && text(node)) return brief(text(node));
    }
    return up && el.parentElement ? before(el.parentElement, up - 1) : "";
  }

  const words = (name) => plain(name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[-_]+/g, " "));

  // An icon or shape without any text: what its drawing says, else its class or id.
  function drawn(el) {
    const said = el.querySelector?.("title, img[alt]");
    const named = said && (said.alt || plain(said.textContent));
    if (named) return named;
    if (el instanceof SVGElement && el.ownerSVGElement) {
      return plain(`${tag(el)} ${el.getAttribute("fill") || el.style.fill || ""}`);
    }
    const inner = el.querySelector?.("i[class], span[class], svg[class]");
    const classes = (node) => plain([...(node?.classList || [])].map(words).join(" "));
    return classes(el) || classes(inner) || words(el.id || "");
  }

  function label(el, kind, content) {
    const tree = el.getRootNode();
    const by = (el.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean);
    const named = plain(by.map((id) => tree.getElementById?.(id)?.textContent || "").join(" "));
    if (named) return named;
    const said = plain(el.getAttribute("aria-label") || "");
    if (said) return said;
    if (tag(el) === "input" && /^(submit|button|reset)$/.test(el.type)) {
      return plain(el.value) || { submit: "Submit", reset: "Reset" }[el.type] || "";
    }
    if (tag(el) === "img" || el.type === "image") return plain(el.alt || el.title || "");
    const labels = [...(el.labels || [])].map((one) => text(one, isControl)).filter(Boolean);
    if (labels.length) return labels.join(" ");
    if (content && NAMED_BY_CONTENT.has(kind)) {
      const inside = text(el);
      if (inside) return inside;
    }
    const hint = plain(el.title || el.getAttribute("placeholder") || "");
    if (hint || kind === "dialog" || kind === "alertdialog") return hint;
    if (/^(input|select|textarea)$/.test(tag(el))) {
      return before(el) || words(el.name || el.id || "");
    }
    return content ? drawn(el) : "";
  }

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

  // Resolves when nothing on the page has changed for `quiet` ms, or after `most` ms; says whether
  // the last click came down where it was aimed.
  function settle(quiet, most) {
    return new Promise((resolve) => {
      let last = performance.now();
      const start = last;
      const watch = new MutationObserver(() => (last = performance.now()));
      watch.observe(document, {
        subtree: true, childList: true, attributes: true, characterData: true,
      });
      const look = () => {
        const now = performance.now();
        if (now - last >= quiet || now - start >= most) {
          watch.disconnect();
          resolve(state.landed);
        } else {
          later(look, Math.max(1, quiet - (now - last)));
        }
      };
      later(look, quiet);
    });
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

  const state = {
    listening, typing, roots, nodes: [], nested: [], aim: null, landed: true, read, point, enter, choose, focus, checked, settle,
  };
  Object.defineProperty(window, KEY, { value: state });
})();
