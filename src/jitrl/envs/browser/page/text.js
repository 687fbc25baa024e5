// The visible text of a page, through shadow trees, slots and frames of the same site.

const ENDS_LINE =
  "address article aside blockquote br center dd details dialog div dl dt fieldset figcaption " +
  "figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary " +
  "table tbody tfoot thead tr ul";
const BLOCKS = new Set(ENDS_LINE.split(" "));
const SILENT = new Set("script style noscript template head title meta link option optgroup".split(" "));
const LONGEST = 120;

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
