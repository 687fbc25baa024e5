// What an element is, and what it is called.

const POINTED = new Set(
  ("button link checkbox radio tab menuitem menuitemcheckbox menuitemradio option switch " +
    "treeitem slider gridcell").split(" "),
);
const NAMED_BY_CONTENT = new Set([...POINTED, "generic", "listitem", "cell", "row", "heading"]);

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
