// How a chart answers: values under the pointer, zoom by dragging, wheel, fingers and keys, new widths, printing.
// Charts in one group share their view and their pointer. Nothing moves by itself.
"use strict";
const Pointing = (() => {
  const { make, real, clamp, bisect, draw } = Charts;
  const all = [];

  function full(group) {
    return [Math.min(...group.charts.map((c) => c.x.domain[0])), Math.max(...group.charts.map((c) => c.x.domain[1]))];
  }

  function look(group, view) {
    const [low, high] = full(group);
    if (view) {
      const span = clamp(view[1] - view[0], Math.min(group.least, high - low), high - low);
      const start = clamp((view[0] + view[1] - span) / 2, low, high - span);
      view = span > (high - low) * 0.999 ? null : [start, start + span];
    }
    group.view = view;
    for (const chart of group.charts) draw(chart);
    unpoint(group);
  }

  function zoom(group, factor, about) {
    const [low, high] = group.view || full(group);
    const centre = real(about) ? about : (low + high) / 2;
    look(group, [centre - (centre - low) * factor, centre + (high - centre) * factor]);
  }

  function unpoint(group) {
    group.index = null;
    for (const chart of group.charts) {
      if (chart.overlay) chart.overlay.replaceChildren();
      chart.tip.hidden = true;
    }
  }

  function point(chart, index, speak) {
    const group = chart.group, x = chart.points.x[index];
    unpoint(group);
    chart.index = group.index = index;
    for (const other of group.charts) {
      const s = other.scale, i = other === chart ? index : bisect(other.points.x, x - 1e-9);
      if (!s || other.points.x[i] === undefined || (other !== chart && Math.abs(other.points.x[i] - x) > 1e-6)) continue;
      const px = s.x(x), py = s.y(other.points.y[i]);
      if (px < s.left - 1 || px > s.right + 1) continue;
      if (other.zoomable) make("path", { class: "cursor", d: `M${px} ${s.top}V${s.bottom}` }, other.overlay);
      if (real(other.points.y[i])) make("circle", { class: "mark", cx: px, cy: clamp(py, s.top, s.bottom), r: 4 }, other.overlay);
      if (other === chart) showTip(chart, i, px, py, speak);
    }
  }

  function showTip(chart, index, px, py, speak) {
    const { head, rows } = chart.points.tip(index);
    chart.tip.replaceChildren();
    const title = document.createElement("b");
    title.textContent = head;
    chart.tip.append(title);
    for (const [name, value] of rows) {
      const line = document.createElement("div"), word = document.createElement("span");
      word.textContent = name;
      line.append(word, value);
      chart.tip.append(line);
    }
    chart.tip.hidden = false;
    const scale = chart.plot.clientWidth / chart.size[0];
    const wide = chart.tip.offsetWidth, space = chart.figure.clientWidth;
    const x = chart.plot.offsetLeft + px * scale, y = real(py) ? py * scale : 0;
    const left = x + 14 + wide <= space ? x + 14 : x - 14 - wide;
    chart.tip.style.left = `${clamp(left, 0, Math.max(0, space - wide))}px`;
    chart.tip.style.top = `${chart.plot.offsetTop + clamp(y - chart.tip.offsetHeight - 12, 0, chart.plot.clientHeight)}px`;
    if (speak) document.getElementById("spoken").textContent = [head, ...rows.map((row) => row.join(" "))].join(", ");
  }

  function nearest(chart, px, py) {
    const { x, y } = chart.points, s = chart.scale;
    if (chart.points.sorted) {
      const value = s.value(px), i = clamp(bisect(x, value), 0, x.length - 1);
      return i > 0 && value - x[i - 1] < x[i] - value ? i - 1 : i;
    }
    let best = null, least = 900; // within 30 pixels
    for (let i = 0; i < x.length; i++) {
      const distance = (chart.points.byRow ? 0 : (s.x(x[i]) - px) ** 2) + (s.y(y[i]) - py) ** 2;
      if (distance < least) { least = distance; best = i; }
    }
    return best;
  }

  function listen(chart) {
    const { plot, figure, group } = chart;
    const fingers = new Map();
    let start = null, pinch = null;
    const where = (event) => {
      const box = plot.getBoundingClientRect(), scale = chart.size[0] / box.width;
      return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    };
    const over = (event) => {
      const [px, py] = where(event), index = nearest(chart, px, py);
      if (index === null) unpoint(group); else point(chart, index);
    };
    plot.addEventListener("pointerleave", () => { if (start === null) unpoint(group); });
    plot.addEventListener("pointermove", (event) => {
      const [px] = where(event), s = chart.scale;
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, px);
      if (pinch && fingers.size === 2) {
        // the values under the two fingers stay under them
        const [a, b] = [...fingers.values()].sort((p, q) => p - q);
        if (b - a < 10) return;
        const unit = (pinch[1] - pinch[0]) / (b - a);
        look(group, [pinch[0] - (a - s.left) * unit, pinch[1] + (s.right - b) * unit]);
      } else if (start !== null) {
        const [a, b] = [clamp(Math.min(start, px), s.left, s.right), clamp(Math.max(start, px), s.left, s.right)];
        unpoint(group);
        make("rect", { class: "pick", x: a, y: s.top, width: b - a, height: s.bottom - s.top }, chart.overlay);
      } else over(event);
    });
    plot.addEventListener("pointerdown", (event) => {
      const [px] = where(event);
      if (event.pointerType === "touch") {
        fingers.set(event.pointerId, px);
        pinch = fingers.size === 2 && chart.zoomable ? [...fingers.values()].sort((p, q) => p - q).map(chart.scale.value) : null;
        if (fingers.size === 1) over(event);
      } else if (event.button === 0 && chart.zoomable) {
        start = px;
        plot.setPointerCapture(event.pointerId);
      }
    });
    const release = (event) => {
      fingers.delete(event.pointerId);
      if (fingers.size < 2) pinch = null;
      if (start === null) return;
      const [px] = where(event), s = chart.scale, from = start;
      start = null;
      if (event.type === "pointerup" && Math.abs(px - from) > 6) {
        look(group, [Math.min(px, from), Math.max(px, from)].map((p) => s.value(clamp(p, s.left, s.right))));
      } else chart.overlay.replaceChildren();
    };
    plot.addEventListener("pointerup", release);
    plot.addEventListener("pointercancel", release);
    figure.addEventListener("blur", () => unpoint(group));
    figure.addEventListener("keydown", (event) => keys(chart, event));
    if (!chart.zoomable) return;
    plot.addEventListener("dblclick", () => look(group, null));
    plot.addEventListener("wheel", (event) => {
      // a plain wheel scrolls the page, unless this chart was clicked first; with Ctrl, or pinching a pad, it zooms
      if (!(event.ctrlKey || event.metaKey || document.activeElement === figure)) return;
      if (event.deltaY > 0 && !group.view) return;
      event.preventDefault();
      zoom(group, Math.exp(clamp(event.deltaY, -120, 120) / 400), chart.scale.value(where(event)[0]));
    }, { passive: false });
  }

  function keys(chart, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { group, points } = chart, last = points.x.length - 1;
    const [low, high] = group.view || chart.x.domain, at = group.index;
    const first = points.sorted ? bisect(points.x, low) : 0;
    let end = points.sorted ? clamp(bisect(points.x, high) - 1, 0, last) : last;
    if (points.x[end + 1] <= high) end += 1; // the one on the very edge
    const sideways = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (sideways && event.shiftKey && chart.zoomable && group.view) {
      const step = sideways * (high - low) / 5;
      look(group, [low + step, high + step]);
    } else if (sideways) point(chart, clamp(at === null ? (sideways > 0 ? first : end) : at + sideways, first, end), true);
    else if (event.key === "Home") point(chart, first, true);
    else if (event.key === "End") point(chart, end, true);
    else if (chart.zoomable && (event.key === "+" || event.key === "=")) zoom(group, 0.6, at === null ? null : points.x[at]);
    else if (chart.zoomable && event.key === "-") zoom(group, 1 / 0.6, at === null ? null : points.x[at]);
    else if (chart.zoomable && (event.key === "0" || event.key === "Escape")) look(group, null);
    else return;
    event.preventDefault();
  }

  function mount(chart) {
    chart.plot = chart.figure.querySelector(".plot");
    chart.group = chart.group || { charts: [], view: null, index: null, least: 0 };
    chart.group.charts.push(chart);
    chart.tip = document.createElement("div");
    chart.tip.className = "tip";
    chart.tip.hidden = true;
    chart.figure.append(chart.tip);
    if (chart.zoomable) {
      chart.plot.classList.add("zoomable");
      chart.button = document.createElement("button");
      Object.assign(chart.button, { className: "reset", textContent: "Show all", tabIndex: -1, hidden: true });
      chart.button.addEventListener("click", () => look(chart.group, null));
      chart.figure.append(chart.button);
    }
    draw(chart);
    if (chart.points) {
      chart.figure.tabIndex = 0;
      listen(chart);
    }
    all.push(chart);
  }

  // Width and height on paper, whatever they are on the screen.
  function paper(chart) {
    if (chart.plot.matches(".square")) return [400, 400];
    if (chart.figure.closest(".pair, .checks")) return [330, 170];
    return [680, chart.plot.style.height ? parseFloat(chart.plot.style.height) : chart.plot.matches(".tall") ? 300 : 190];
  }

  function keepDrawn() {
    let printing = false;
    const observer = new ResizeObserver((entries) => {
      for (const entry of entries) {
        const chart = all.find((c) => c.plot === entry.target);
        if (!printing && (!chart.size || Math.abs(chart.size[0] - chart.plot.clientWidth) >= 1)) draw(chart);
      }
    });
    for (const chart of all) observer.observe(chart.plot);
    const closed = () => document.querySelectorAll("details:not([open], .search)");
    let opened = [];
    addEventListener("beforeprint", () => {
      printing = true;
      opened = [...closed()];
      for (const part of opened) part.open = true;
      for (const chart of all) draw(chart, ...paper(chart));
    });
    addEventListener("afterprint", () => {
      printing = false;
      for (const part of opened) part.open = false;
      for (const chart of all) draw(chart);
    });
  }

  return { mount, keepDrawn };
})();
