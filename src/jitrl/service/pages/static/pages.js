// Charts of the pages, and the few things that need more than a form. No dependency but uPlot.
(() => {
  "use strict";
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const charts = new Map();

  const LARGE = 1e7; // from there on with an exponent, as in the tables
  const fixed = (value) => {
    if (value === null || value === undefined) return "–";
    return Math.abs(value) < LARGE ? value.toFixed(3) : value.toExponential(3);
  };

  function tip(data) {
    let box;
    return {
      hooks: {
        init: (u) => {
          box = document.createElement("div");
          box.className = "tip";
          box.hidden = true;
          u.over.appendChild(box);
          u.over.addEventListener("mouseleave", () => { box.hidden = true; });
        },
        setCursor: (u) => {
          const { left, top, idx } = u.cursor;
          if (idx === null || idx === undefined || left < 0) { box.hidden = true; return; }
          box.replaceChildren();
          const head = document.createElement("b");
          head.textContent = `${data.axis} ${data.x[idx]}`;
          box.appendChild(head);
          for (const line of data.lines) {
            if (line.mean[idx] === null) continue;
            const row = document.createElement("div");
            row.className = `c${line.color}`;
            const ends = line.low[idx] === null ? "" : ` [${fixed(line.low[idx])}, ${fixed(line.high[idx])}]`;
            const n = line.n[idx] === null ? "" : `, n = ${line.n[idx]}`;
            const label = document.createElement("bdi");
            label.textContent = line.label;
            row.append(label, `: ${fixed(line.mean[idx])}${ends}${n}`);
            box.appendChild(row);
          }
          box.hidden = false;
          const right = left + box.offsetWidth + 24 > u.over.clientWidth;
          box.style.left = `${Math.max(0, right ? left - box.offsetWidth - 12 : left + 12)}px`;
          box.style.top = `${Math.max(0, Math.min(top, u.over.clientHeight - box.offsetHeight))}px`;
        },
      },
    };
  }

  function draw(element) {
    const data = JSON.parse(element.dataset.chart);
    const old = charts.get(element);
    if (old) old.destroy();
    const series = [{}], bands = [], columns = [data.x];
    for (const line of data.lines) {
      const shade = line.color < 0 ? color("--grey") : color(`--c${line.color % 10}`);
      const few = data.x.length <= 30;
      columns.push(line.mean);
      series.push({
        label: line.label, stroke: shade, width: 2, spanGaps: true,
        dash: line.dashed ? [6, 5] : undefined,
        points: { show: few && !line.dashed, size: 7, fill: color("--page"), stroke: shade },
      });
      if (line.low.some((v) => v !== null)) {
        // undefined, where the line has no point, is drawn across; null, a point without, is a gap
        const edges = (ends) => ends.map((v, i) => (line.mean[i] === null ? undefined : v));
        columns.push(edges(line.high), edges(line.low));
        const at = series.length;
        const edge = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: false };
        series.push({ ...edge, label: `${line.label} ↑` }, { ...edge, label: `${line.label} ↓` });
        bands.push({ series: [at, at + 1], fill: `${shade}26` });
      }
    }
    const values = data.lines.flatMap((l) => [...l.mean, ...l.low, ...l.high]).filter((v) => v !== null);
    const low = Math.min(0, ...values), high = Math.max(1, ...values);
    const pad = (high - low) * 0.04;
    const axis = {
      stroke: color("--muted"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
      grid: { stroke: color("--rule"), width: 1 }, ticks: { show: false },
    };
    const whole = data.x.every(Number.isInteger);
    const first = data.x[0], last = data.x[data.x.length - 1];
    charts.set(element, new uPlot({
      width: element.clientWidth, height: element.clientWidth < 600 ? 260 : 340,
      scales: { x: { time: false, range: first === last ? [first - 1, last + 1] : [first - (last - first) / 50, last + (last - first) / 50] },
                y: { range: [low - pad, high + pad] } },
      axes: [{ ...axis, label: data.axis, labelSize: 22, size: 28, incrs: whole ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] : undefined },
             { ...axis, label: data.score, labelSize: 20, size: 46,
                values: high < LARGE ? undefined : (_, at) => at.map((v) => v.toExponential(0)) }],
      legend: { show: false },
      cursor: { y: false, points: { size: 8 } },
      padding: [10, 14, 0, 0],
      series, bands, plugins: [tip(data)],
    }, columns, element));
  }

  function drawAll() {
    for (const element of [...charts.keys()]) {
      if (!element.isConnected) { charts.get(element).destroy(); charts.delete(element); }
    }
    for (const element of document.querySelectorAll("[data-chart]")) draw(element);
  }

  function ready(root) {
    for (const sign of root.querySelectorAll("[data-ready]")) {
      const form = document.getElementById(sign.dataset.ready);
      if (form) for (const button of form.querySelectorAll("button")) button.disabled = false;
    }
  }

  document.addEventListener("change", (event) => {
    const name = event.target.dataset && event.target.dataset.all;
    if (!name) return;
    for (const box of document.querySelectorAll(`input[type=checkbox][name="${name}"]:not(:disabled)`)) {
      box.checked = event.target.checked;
    }
  });
  document.addEventListener("htmx:afterSwap", () => { drawAll(); ready(document); });
  let waiting;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 120); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  const start = () => {
    drawAll();
    ready(document);
    const here = document.querySelector(".tabs [aria-current]");
    if (here) here.parentElement.parentElement.parentElement.scrollLeft = here.offsetLeft - 40;
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
