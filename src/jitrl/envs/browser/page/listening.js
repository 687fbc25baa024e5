// Notes which elements listen to mouse and keys, and shadow trees that are closed.

const MOUSE = new Set(
  "click dblclick mousedown mouseup pointerdown pointerup focus focusin".split(" "),
);

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
