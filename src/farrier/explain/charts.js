// How a chart is drawn, as inline SVG: axes, lines, bands, dots, stems.
// A chart is a plain object {figure, plot, x, y, layers, points, group}: x and y say what the axes are, layers what
// lies between them, from the back to the front. pointing.js makes it answer, report.js says what each one shows.
"use strict";
const Charts = (() => {
  // the namespace of SVG, asked of the browser itself
  const NS = document.createRange().createContextualFragment("<svg></svg>").firstChild.namespaceURI;
  const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const DAY = 86400000;
  let ids = 0;

  const real = (value) => typeof value === "number" && Number.isFinite(value);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  function make(name, attributes, parent, text) {
    const node = document.createElementNS(NS, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }

  const PLAIN = { useGrouping: "min2" }; // 1950 and 9999 as in the text, 10,000 with its comma

  function number(value, digits = 4) {
    if (!real(value)) return "–";
    const size = Math.abs(value);
    const text = size !== 0 && (size < 1e-4 || size >= 1e9)
      ? value.toExponential(digits - 2)
      : value.toLocaleString("en-GB", { ...PLAIN, maximumSignificantDigits: size >= 1000 ? Math.max(digits, 6) : digits });
    return text.replace("-", "−");
  }

  // Ticks -----------------------------------------------------------------------------------------------------------

  function numberTicks(low, high, count) {
    const rough = (high - low) / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    let step = power * [1, 2, 5, 10].find((k) => k * power >= rough * 0.999);
    if (Math.floor(high / step) - Math.ceil(low / step) < 2) step = step / power === 5 ? step / 2.5 : step / 2;
    const decimals = clamp(-Math.floor(Math.log10(step) + 1e-9), 0, 12);
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
      const at = k * step + 0; // never minus zero
      const plain = at === 0 || (Math.abs(at) < 1e7 && step >= 1e-4);
      const text = plain
        ? at.toLocaleString("en-GB", { ...PLAIN, minimumFractionDigits: decimals, maximumFractionDigits: decimals })
        : at.toExponential(1);
      ticks.push({ at, text: text.replace("-", "−") });
    }
    return ticks;
  }

  // Years and months, of decimal years or of days since 1970; `month` counts months since year 0.
  function calendarTicks(kind, low, high, count) {
    const years = kind === "years";
    const place = (month) => years ? month / 12 : Date.UTC(Math.floor(month / 12), month % 12, 1) / DAY;
    const months = (years ? (high - low) * 12 : (high - low) / 30.44) / Math.max(count, 1);
    if (months < 0.6) return years ? numberTicks(low, high, Math.min(count, 4)) : dayTicks(low, high, count);
    const step = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000].find((k) => k >= months * 0.999) || 60000;
    const first = years ? low * 12 : new Date(low * DAY).getUTCFullYear() * 12 + new Date(low * DAY).getUTCMonth();
    const ticks = [];
    for (let month = Math.floor(first / step) * step; place(month) <= high; month += step) {
      if (place(month) < low) continue;
      const year = Math.floor(month / 12), name = MONTHS[((month % 12) + 12) % 12];
      const text = month % 12 === 0 ? String(year) : ticks.length ? name : `${name} ${year}`;
      ticks.push({ at: place(month), text });
    }
    return ticks;
  }

  function dayTicks(low, high, count) {
    const rough = (high - low) / Math.max(count, 1);
    const steps = [1 / 86400, 1 / 17280, 1 / 5760, 1 / 1440, 1 / 288, 1 / 96, 1 / 48, 1 / 24, 1 / 8, 1 / 4, 1 / 2, 1, 2, 7, 14];
    const step = steps.find((k) => k >= rough * 0.999) || 28;
    const shift = step >= 7 ? 4 : 0; // weeks begin on a Monday
    const ticks = [];
    for (let k = Math.ceil((low - shift) / step - 1e-9); k * step + shift <= high; k++) {
      const at = k * step + shift, date = new Date(Math.round(at * DAY));
      const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
      const clock = date.toISOString().slice(11, step < 1 / 1440 ? 19 : 16);
      const midnight = date.getUTCHours() + date.getUTCMinutes() + date.getUTCSeconds() === 0;
      const text = step >= 1 || midnight ? day : ticks.length ? clock : `${day} ${clock}`;
      ticks.push({ at, text: ticks.length || step < 1 ? text : `${day} ${date.getUTCFullYear()}` });
    }
    return ticks;
  }

  // For values that are logarithms to base 10.
  function logTicks(low, high) {
    const ticks = [];
    for (let power = Math.floor(low); power <= high; power++) {
      for (const digit of [1, 2, 5]) {
        const at = power + Math.log10(digit);
        if (at >= low && at <= high) ticks.push({ at, text: number(digit * 10 ** power) });
      }
    }
    return ticks;
  }

  function axisTicks(kind, low, high, count) {
    if (kind === "log") return logTicks(low, high);
    return kind === "years" || kind === "days" ? calendarTicks(kind, low, high, count) : numberTicks(low, high, count);
  }

  // Drawing ---------------------------------------------------------------------------------------------------------

  function extent(columns, from = 0, to = Infinity) {
    let low = Infinity, high = -Infinity;
    for (const column of columns) {
      for (let i = from; i < Math.min(to, column.length); i++) {
        if (!real(column[i])) continue;
        if (column[i] < low) low = column[i];
        if (column[i] > high) high = column[i];
      }
    }
    return [low, high];
  }

  function bisect(sorted, value) {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  }

  // Indices in view, one beyond on either side so that lines run to the edge.
  function inView(layer, view, beyond = 1) {
    if (!layer.sorted) return [0, layer.x.length];
    return [Math.max(0, bisect(layer.x, view[0]) - beyond), Math.min(layer.x.length, bisect(layer.x, view[1]) + beyond)];
  }

  function yDomain(chart, view) {
    if (chart.y.domain) return chart.y.domain;
    let [low, high] = extent([chart.y.include || []]);
    for (const layer of chart.layers) {
      if (!layer.x) continue;
      const [from, to] = inView(layer, view, 0);
      const [a, b] = extent([layer.y, layer.low, layer.high].filter(Boolean), from, to);
      low = Math.min(low, a); high = Math.max(high, b);
    }
    if (!(low <= high)) return [0, 1];
    if (low === high) { low -= Math.abs(low) / 10 || 1; high += Math.abs(high) / 10 || 1; }
    const pad = 0.05 * (high - low);
    return [low - pad, high + pad];
  }

  // One pixel column of a long series keeps its lowest and highest value: the picture is the same, the file light.
  function thinned(layer, from, to, width) {
    const step = Math.ceil((to - from) / (2 * width));
    if (step < 2 || !layer.sorted) return null;
    const rows = [];
    for (let i = from; i < to; i += step) rows.push([i, Math.min(i + step, to)]);
    return rows;
  }

  // Where rows are missing nothing is drawn: a line across would look like a fit. A gap is many typical steps wide.
  function gapOf(layer) {
    if (layer.gap === undefined) {
      const steps = layer.sorted ? layer.x.slice(1).map((x, i) => x - layer.x[i]).sort((a, b) => a - b) : [];
      layer.gap = steps.length > 2 ? 8 * steps[steps.length >> 1] || Infinity : Infinity;
    }
    return layer.gap;
  }

  function shapeLine(layer, from, to, s) {
    let d = "", pen = "M", before = -Infinity;
    const put = (x, y) => {
      if (x - before > gapOf(layer)) pen = "M";
      d += `${pen}${s.x(x).toFixed(1)} ${s.y(y).toFixed(1)}`;
      pen = "L"; before = x;
    };
    const rows = thinned(layer, from, to, s.width);
    if (rows) {
      for (const [a, b] of rows) {
        const [low, high] = extent([layer.y], a, b);
        if (low > high) { pen = "M"; continue; }
        put(layer.x[a], low); put(layer.x[a], high);
        before = layer.x[b - 1];
      }
      return d;
    }
    for (let i = from; i < to; i++) {
      if (real(layer.y[i])) put(layer.x[i], layer.y[i]); else pen = "M";
    }
    return d;
  }

  function shapeBand(layer, from, to, s) {
    let d = "", above = [], below = [], before = -Infinity;
    const close = () => {
      if (above.length) d += `M${above.join("L")}L${below.reverse().join("L")}Z`;
      above = []; below = [];
    };
    for (const [a, b] of thinned(layer, from, to, s.width) || Array.from({ length: to - from }, (_, k) => [from + k, from + k + 1])) {
      const [low] = extent([layer.low], a, b), high = extent([layer.high], a, b)[1];
      if (!real(low) || !real(high)) { close(); continue; }
      if (layer.x[a] - before > gapOf(layer)) close();
      before = layer.x[b - 1];
      const x = s.x(layer.x[a]).toFixed(1);
      above.push(`${x} ${s.y(high).toFixed(1)}`); below.push(`${x} ${s.y(low).toFixed(1)}`);
    }
    close();
    return d;
  }

  function shapeDots(layer, from, to, s) {
    let d = "";
    for (let i = from; i < to; i++) {
      if (real(layer.x[i]) && real(layer.y[i])) d += `M${s.x(layer.x[i]).toFixed(1)} ${s.y(layer.y[i]).toFixed(1)}h0`;
    }
    return d;
  }

  function shapeStems(layer, from, to, s) {
    let d = "";
    for (let i = from; i < to; i++) {
      if (real(layer.y[i])) d += `M${s.x(layer.x[i]).toFixed(1)} ${s.y(layer.base).toFixed(1)}V${s.y(layer.y[i]).toFixed(1)}`;
    }
    return d;
  }

  const SHAPES = { line: [shapeLine, "l"], band: [shapeBand, "b"], dots: [shapeDots, "d"], stems: [shapeStems, "s"] };

  function drawLayer(layer, inside, view, s) {
    if (layer.kind === "shade") {
      const x = clamp(s.x(layer.from), s.left, s.right);
      make("rect", { class: "later", x, y: s.top, width: s.right - x, height: s.bottom - s.top }, inside);
      make("path", { class: "edge", d: `M${s.x(layer.from)} ${s.top}V${s.bottom}` }, inside);
    } else if (layer.kind === "level") {
      make("path", { class: layer.look, d: `M${s.left} ${s.y(layer.at)}H${s.right}` }, inside);
    } else if (layer.kind === "diagonal") {
      make("path", { class: "base", d: `M${s.x(view[0])} ${s.y(view[0])}L${s.x(view[1])} ${s.y(view[1])}` }, inside);
    } else {
      const [shape, look] = SHAPES[layer.kind];
      const [from, to] = inView(layer, view);
      const node = make("path", { class: `${look} ${layer.look}`, d: shape(layer, from, to, s) }, inside);
      // dots never so large that neighbours in time melt into one
      if (layer.kind === "dots") node.style.strokeWidth = layer.sorted ? clamp(0.8 * s.width / (to - from), 1.5, 5) : 4;
    }
  }

  // An SVG with its axes; `s` is what maps values to pixels.
  function frame(chart, width, height, view, [low, high]) {
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", focusable: "false" });
    const top = chart.y.label ? 26 : 8, bottom = height - (chart.x.label ? 40 : 24), right = width - 10;
    const rows = chart.y.ticks || numberTicks(low, high, clamp((bottom - top) / 42, 2, 7));
    const gutter = Math.max(...rows.map((tick) => tick.text.length), 2) * 7 + 12;
    const left = Math.min(gutter, width * 0.4);
    const s = {
      left, right, top, bottom, width: right - left,
      x: (value) => left + (value - view[0]) / (view[1] - view[0]) * (right - left),
      y: (value) => bottom - (value - low) / (high - low) * (bottom - top),
      value: (pixel) => view[0] + (pixel - left) / (right - left) * (view[1] - view[0]),
    };
    const grid = make("g", {}, svg);
    for (const tick of rows) {
      const y = s.y(tick.at).toFixed(1);
      make("path", { class: "gridline", d: `M${left} ${y}H${right}` }, grid);
      make("text", { x: left - 8, y: +y + 4, "text-anchor": "end" }, grid, tick.text);
    }
    const columns = axisTicks(chart.x.kind, view[0], view[1], clamp((right - left) / (chart.x.kind === "number" ? 70 : 62), 2, 14));
    make("path", { class: "axis", d: `M${left} ${bottom}H${right}` }, grid);
    let reached = -Infinity; // no label over its neighbour
    for (const tick of columns) {
      const x = s.x(tick.at), half = tick.text.length * 3.4;
      make("path", { class: "axis", d: `M${x.toFixed(1)} ${bottom}v5` }, grid);
      const middle = clamp(x, half, width - half);
      if (middle - half < reached + 6) continue;
      reached = middle + half;
      make("text", { x: middle.toFixed(1), y: bottom + 18, "text-anchor": "middle" }, grid, tick.text);
    }
    if (chart.x.label) make("text", { x: right, y: height - 4, "text-anchor": "end" }, grid, chart.x.label);
    if (chart.y.label) make("text", { x: 0, y: 12 }, grid, chart.y.label);
    return { svg, s };
  }

  function drawXY(chart, width, height) {
    const view = chart.group.view || chart.x.domain;
    const { svg, s } = frame(chart, width, height, view, yDomain(chart, view));
    const id = `clip${++ids}`;
    const clip = make("clipPath", { id }, svg);
    make("rect", { x: s.left, y: s.top - 4, width: Math.max(0, s.right - s.left + 4), height: s.bottom - s.top + 4 }, clip);
    const inside = make("g", { "clip-path": `url(#${id})` });
    for (const layer of chart.layers) drawLayer(layer, inside, view, s);
    svg.append(inside);
    chart.scale = s;
    chart.overlay = make("g", {}, svg);
    return svg;
  }

  function draw(chart, width, height) {
    width = Math.round(width || chart.plot.clientWidth);
    height = Math.round(height || chart.plot.clientHeight);
    if (!width || !height) return;
    chart.size = [width, height];
    chart.plot.replaceChildren((chart.draw || drawXY)(chart, width, height));
    if (chart.button) chart.button.hidden = !chart.group.view;
  }

  return { make, number, real, clamp, extent, bisect, frame, draw };
})();
