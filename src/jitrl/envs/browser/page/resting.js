// Waits until nothing on the page changes.

const later = window.setTimeout.bind(window);

// Resolves when nothing on the page has changed for `quiet` ms, or after `most` ms; says what
// `rested` says.
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
        resolve(rested());
      } else {
        later(look, Math.max(1, quiet - (now - last)));
      }
    };
    later(look, quiet);
  });
}

// Whether the mouse came down on what was aimed at, and whether the page has begun to go since.
function rested() {
  const { landed, leaving } = state;
  state.leaving = false;
  return { landed, leaving };
}
