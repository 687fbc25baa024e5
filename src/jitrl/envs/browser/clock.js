// Runs in every frame before the page's own scripts: time stands still until it is moved on, and
// chance is the same at each load.
(() => {
  "use strict";
  const KEY = Symbol.for("jitrl.clock");
  if (window[KEY]) return;

  const START = Date.UTC(2025, 0, 6, 9);
  const FRAME = 16;
  const MOST = 20000;
  const timers = new Map();
  const RealDate = Date;
  const later = window.setTimeout.bind(window);
  let passed = 0;
  let ids = 0;

  const put = (call, wait, rest, every) => {
    const at = passed + Math.max(1, Number(wait) || 0);
    timers.set(++ids, { call, at, rest, every: every && Math.max(1, Number(wait) || 0) });
    return ids;
  };
  const drop = (id) => void timers.delete(Number(id));

  window.setTimeout = (call, wait, ...rest) => put(call, wait, rest, false);
  window.setInterval = (call, wait, ...rest) => put(call, wait, rest, true);
  window.requestAnimationFrame = (call) => put(() => call(passed), FRAME, [], false);
  window.requestIdleCallback = (call) =>
    put(() => call({ didTimeout: false, timeRemaining: () => 10 }), 1, [], false);
  window.clearTimeout = window.clearInterval = drop;
  window.cancelAnimationFrame = window.cancelIdleCallback = drop;
  performance.now = () => passed;
  window.Date = new Proxy(RealDate, {
    apply: () => new RealDate(START + passed).toString(),
    construct: (target, given, kind) =>
      Reflect.construct(target, given.length ? given : [START + passed], kind),
    get: (target, name) => (name === "now" ? () => START + passed : Reflect.get(target, name)),
  });

  let seed = 1;
  Math.random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  // Lets `ms` pass: timers that come due run in their order, one after the other.
  async function pass(ms) {
    const until = passed + ms;
    for (let calls = 0; calls < MOST; calls++) {
      let next = null;
      for (const [id, timer] of timers) {
        if (timer.at <= until && (!next || timer.at < timers.get(next).at)) next = id;
      }
      if (next === null) break;
      const timer = timers.get(next);
      passed = Math.max(passed, timer.at);
      if (timer.every) timer.at = passed + timer.every;
      else timers.delete(next);
      try {
        if (typeof timer.call === "function") timer.call(...timer.rest);
        else window.eval(String(timer.call));
      } catch (error) {
        console.error(error);
      }
      await null;
    }
    passed = until;
    // Pictures that come with new elements are asked for now, so that they can be waited for.
    document.documentElement.getBoundingClientRect();
    await new Promise((done) => later(done, 5));
  }

  Object.defineProperty(window, KEY, { value: { pass } });
})();
