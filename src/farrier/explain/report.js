// Which chart shows what. Every <figure data-chart="..."> names a builder below; the numbers come from the story.
"use strict";
(() => {
  const story = JSON.parse(document.getElementById("farrier-story").textContent);
  const { make, number, real, extent } = Charts;
  const series = story.series || {};
  const parts = story.components || [];
  const axis = (story.axes || [])[0] || {};
  const groups = {};
  const some = (list) => Array.isArray(list) && list.length > 0;
  const range = (low, high) => `${number(low)} to ${number(high)}`;
  const endOfData = some(series.x) ? series.x[series.x.length - 1] : null;

  function domain(...columns) {
    const [low, high] = extent(columns.filter(some));
    return low < high ? [low, high] : real(low) ? [low - 1, low + 1] : [0, 1];
  }

  function padded([low, high], part = 0.04) {
    return [low - part * (high - low), high + part * (high - low)];
  }

  const head = (labels, x) => (i) => (some(labels) && labels[i] !== undefined ? String(labels[i]) : number(x[i]));

  // All pictures of one component zoom and point together.
  function group(name) {
    const least = Math.max((axis.spacing || 0) * 4, 0);
    return (groups[name] = groups[name] || { charts: [], view: null, index: null, least });
  }

  function overTime(figure, name, x, more) {
    const label = axis.kind === "years" || axis.kind === "days" ? "" : [axis.name, axis.unit].filter(Boolean).join(", ");
    return {
      figure, group: group(name), zoomable: true,
      x: { kind: axis.kind || "number", domain: domain(x), label },
      y: { label: figure.dataset.y }, ...more,
    };
  }

  function fit(figure) {
    const future = series.future || {}, ahead = some(future.x);
    const fitted = some(series.median) ? series.median : series.mean, expected = some(future.median) ? future.median : future.mean;
    const x = series.x.concat(ahead ? future.x : []), n = series.x.length;
    const last = (list) => (some(list) ? [list[n - 1]] : []);
    const layers = [];
    if (ahead) layers.push({ kind: "shade", from: endOfData });
    if (some(series.low)) layers.push({ kind: "band", sorted: true, x: series.x, low: series.low, high: series.high, look: "fit" });
    if (ahead) {
      if (some(future.low95)) {
        const low = last(series.low).concat(future.low95), high = last(series.high).concat(future.high95);
        layers.push({ kind: "band", sorted: true, x: x.slice(-low.length), low, high, look: "forecast" });
      }
      if (some(future.low80)) layers.push({ kind: "band", sorted: true, x: future.x, low: future.low80, high: future.high80, look: "forecast" });
    }
    if (some(fitted)) layers.push({ kind: "line", sorted: true, x: series.x, y: fitted, look: "fit" });
    if (ahead) {
      const y = last(fitted).concat(expected);
      layers.push({ kind: "line", sorted: true, x: x.slice(-y.length), y, look: "forecast" });
    }
    layers.push({ kind: "dots", sorted: true, x: series.x, y: series.y, look: "data" });
    const label = head((series.label || []).concat(future.label || []), x);
    const tip = (i) => {
      const k = i - n, rows = [];
      if (k < 0) {
        rows.push(["observed", number(series.y[i])]);
        if (some(fitted)) rows.push(["fit", number(fitted[i])]);
        if (some(series.low)) rows.push(["95 % band", range(series.low[i], series.high[i])]);
      } else {
        rows.push(["forecast", number(expected[k])]);
        if (some(future.low80)) rows.push(["80 % band", range(future.low80[k], future.high80[k])]);
        if (some(future.low95)) rows.push(["95 % band", range(future.low95[k], future.high95[k])]);
      }
      return { head: label(i), rows };
    };
    const y = series.y.map((value, i) => (real(value) ? value : (fitted || [])[i])).concat(ahead ? expected : []);
    return overTime(figure, "fit", x, { layers, points: { sorted: true, x, y, tip } });
  }

  function alone(figure) {
    const i = +figure.dataset.component, part = parts[i], base = +figure.dataset.base;
    const layers = [];
    if (endOfData !== null && part.x[part.x.length - 1] > endOfData) layers.push({ kind: "shade", from: endOfData });
    layers.push({ kind: "level", at: base, look: "base" });
    if (some(part.low)) layers.push({ kind: "band", sorted: true, x: part.x, low: part.low, high: part.high, look: "part" });
    layers.push({ kind: "line", sorted: true, x: part.x, y: part.mean, look: "part" });
    const label = head(part.label, part.x);
    const tip = (k) => ({
      head: label(k),
      rows: [["adds", number(part.mean[k])], ...(some(part.low) ? [["95 % band", range(part.low[k], part.high[k])]] : [])],
    });
    const chart = overTime(figure, `part${i}`, part.x, { layers, points: { sorted: true, x: part.x, y: part.mean, tip } });
    chart.y.include = [base];
    return chart;
  }

  function running(figure) {
    const i = +figure.dataset.component, part = parts[i], y = part.running;
    const x = (y.length === (series.x || []).length ? series.x : part.x).slice(0, y.length);
    const seen = figure.dataset.observed === "y" ? series.y : (part.residual || []).map((left, k) => left + y[k]);
    const layers = [
      { kind: "dots", sorted: true, x: x.slice(0, seen.length), y: seen, look: "data" },
      { kind: "line", sorted: true, x, y, look: "fit" },
    ];
    const label = head(part.label, x);
    const tip = (k) => ({ head: label(k), rows: [["running sum", number(y[k])], ["observed", number(seen[k])]] });
    return overTime(figure, `part${i}`, x, { layers, points: { sorted: true, x, y, tip } });
  }

  function residual(figure) {
    const i = +figure.dataset.component, part = parts[i], base = +figure.dataset.base, y = part.residual;
    const x = (y.length === (series.x || []).length ? series.x : part.x).slice(0, y.length);
    const far = Math.max(...extent(parts.map((p) => p.residual || [])).map((value) => Math.abs(value - base))) * 1.06 || 1;
    const layers = [
      { kind: "level", at: base, look: "base" },
      { kind: "stems", sorted: true, x, y, base, look: "left" },
    ];
    const label = head(part.label, x);
    const tip = (k) => ({ head: label(k), rows: [["left over", number(y[k])]] });
    const chart = overTime(figure, `part${i}`, x, { layers, points: { sorted: true, x, y, tip } });
    chart.y.domain = [base - far, base + far];
    return chart;
  }

  // Rows of a table: what was seen over what was fitted; classes lie in strips, spread a little to be told apart.
  function scatter(figure) {
    const { y, mean } = series, strips = story.kind === "classes";
    const classes = strips ? [...new Set(y)].sort((a, b) => (a > b ? 1 : -1)) : [];
    const spread = (i) => ((i * 0.618034) % 1 - 0.5) * 0.55;
    const height = strips ? y.map((value, i) => classes.indexOf(value) + spread(i)) : y;
    const both = padded(domain(y, mean));
    const layers = [{ kind: "dots", x: mean, y: height, look: "data" }];
    if (!strips) layers.unshift({ kind: "diagonal" });
    const tip = (i) => ({ head: `row ${i + 1}`, rows: [["observed", strips ? String(y[i]) : number(y[i])], ["fitted", number(mean[i])]] });
    return {
      figure, layers, points: { x: mean, y: height, tip },
      x: { kind: "number", domain: strips ? padded(domain(mean)) : both, label: figure.dataset.x },
      y: strips
        ? { label: figure.dataset.y, domain: [-0.6, classes.length - 0.4], ticks: classes.map((name, at) => ({ at, text: String(name) })) }
        : { label: figure.dataset.y, domain: both },
    };
  }

  function effect(figure) {
    const curve = parts[+figure.dataset.component].effect;
    if (curve.z) return heat(figure, curve);
    if (curve.lines) return byLevel(figure, curve);
    const layers = [{ kind: "level", at: +figure.dataset.base, look: "base" }];
    if (some(curve.low)) layers.push({ kind: "band", sorted: true, x: curve.x, low: curve.low, high: curve.high, look: "part" });
    layers.push({ kind: "line", sorted: true, x: curve.x, y: curve.mean, look: "part" });
    const tip = (i) => ({
      head: `${curve.column} ${number(curve.x[i])}`,
      rows: [["adds", number(curve.mean[i])], ...(some(curve.low) ? [["95 % band", range(curve.low[i], curve.high[i])]] : [])],
    });
    return {
      figure, layers, zoomable: true, points: { sorted: true, x: curve.x, y: curve.mean, tip },
      x: { kind: figure.dataset.kind || "number", domain: domain(curve.x), label: figure.dataset.x }, y: { label: figure.dataset.y, include: [+figure.dataset.base] },
    };
  }

  // A curve for each level of a category.
  function byLevel(figure, { column, x, lines }) {
    const looks = ["fit", "forecast", "part", "left", "plain"];
    const layers = [{ kind: "level", at: +figure.dataset.base, look: "base" }];
    lines.forEach((line, k) => layers.push({ kind: "line", sorted: true, x, y: line.mean, look: looks[k % looks.length] }));
    const tip = (i) => ({ head: `${column} ${number(x[i])}`, rows: lines.map((line) => [line.name, number(line.mean[i])]) });
    return {
      figure, layers, zoomable: true, points: { sorted: true, x, y: lines[0].mean, tip },
      x: { kind: "number", domain: domain(x), label: figure.dataset.x }, y: { label: figure.dataset.y, include: [+figure.dataset.base] },
    };
  }

  // A pair of inputs: z[i][j] belongs to x[j] and y[i]; warm adds, cold takes away, pale does neither.
  function heat(figure, { columns, x, y, z }) {
    const base = +figure.dataset.base, far = Math.max(...extent(z).map((value) => Math.abs(value - base))) || 1;
    const edges = (list) => {
      const inner = list.slice(1).map((value, i) => (value + list[i]) / 2);
      return [list[0], ...inner, list[list.length - 1]];
    };
    const draw = (chart, width, height) => {
      const { svg, s } = Charts.frame(chart, width, height, chart.x.domain, chart.y.domain);
      const [across, up] = [edges(x).map(s.x), edges(y).map(s.y)];
      z.forEach((row, i) => row.forEach((value, j) => {
        if (!real(value)) return;
        make("rect", {
          class: value > base ? "warm" : "cold", "fill-opacity": (0.04 + 0.9 * Math.abs(value - base) / far).toFixed(3),
          "shape-rendering": "crispEdges", x: across[j].toFixed(2), width: (across[j + 1] - across[j]).toFixed(2),
          y: up[i + 1].toFixed(2), height: (up[i] - up[i + 1]).toFixed(2),
        }, svg);
      }));
      chart.scale = s;
      chart.overlay = make("g", {}, svg);
      return svg;
    };
    const cells = z.flatMap((row, i) => row.map((_, j) => [j, i]));
    const tip = (k) => {
      const [j, i] = cells[k];
      return { head: `${columns[0]} ${number(x[j])}, ${columns[1]} ${number(y[i])}`, rows: [["adds", number(z[i][j])]] };
    };
    return {
      figure, draw, points: { x: cells.map(([j]) => x[j]), y: cells.map(([, i]) => y[i]), tip },
      x: { kind: "number", domain: domain(x), label: figure.dataset.x }, y: { domain: domain(y), label: figure.dataset.y },
    };
  }

  function check(figure) {
    const plot = story.checks[+figure.dataset.check].plot, kind = plot.kind;
    const order = plot.x.map((_, i) => i).filter((i) => real(plot.x[i])).sort((i, j) => plot.x[i] - plot.x[j]);
    const [said, y, low, high] = [plot.x, plot.y, plot.low, plot.high].map((column) => order.map((i) => (column || [])[i]));
    const bounds = some(plot.low) && some(plot.high), periods = kind === "periodogram" && said[0] > 0;
    const x = periods ? said.map(Math.log10) : said; // periods span decades
    const layers = [], chart = { figure, layers, y: { label: figure.dataset.y } };
    chart.x = { kind: periods ? "log" : "number", domain: padded(domain(x)), label: figure.dataset.x };
    if (bounds) layers.push({ kind: "band", sorted: true, x, low, high, look: "plain" });
    if (kind === "acf") {
      layers.push({ kind: "level", at: 0, look: "base" }, { kind: "stems", sorted: true, x, y, base: 0, look: "fit" });
      chart.y.include = [0];
    } else if (kind === "qq" || kind === "calibration") {
      layers.push({ kind: "diagonal" }, { kind: "dots", x, y, look: "fit" });
    } else {
      layers.push({ kind: "line", sorted: true, x, y, look: "fit" });
      chart.y.include = [0];
    }
    const tip = (i) => ({
      head: `${figure.dataset.x} ${number(said[i])}`,
      rows: [[figure.dataset.y, number(y[i])], ...(bounds ? [["by chance", range(low[i], high[i])]] : [])],
    });
    chart.points = { sorted: true, x, y, tip };
    return chart;
  }

  function weights(figure) {
    const order = (a, b) => Number(b.kept || false) - Number(a.kept || false) || (b.after || 0) - (a.after || 0);
    const rows = [...story.weights].sort(order);
    const [, centre] = extent([rows.map((row) => row.after), rows.map((row) => row.before)]);
    const [, tail] = extent([rows.map((row) => row.high)]);
    const most = Math.max(Math.min(tail, 1.6 * centre), centre) * 1.04 || 1;
    const names = rows.map((row, i) => ({ at: rows.length - i - 0.5, text: String(row.formula) }));
    const draw = (chart, width, height) => {
      const room = Math.floor(width * 0.4 / 7) - 2;
      const ticks = names.map(({ at, text }) => ({ at, text: text.length > room ? `${text.slice(0, room - 1)}…` : text }));
      const { svg, s } = Charts.frame({ x: chart.x, y: { ticks } }, width, height, [0, most], [0, rows.length]);
      svg.querySelectorAll("text[text-anchor=end]").forEach((text, i) => {
        if (i < rows.length) text.setAttribute("class", rows[i].kept ? "code strong" : "code");
      });
      const clip = (value) => s.x(Math.min(Math.max(value, 0), most));
      rows.forEach((row, i) => {
        const y = s.y(names[i].at).toFixed(1), look = row.kept ? " kept" : "";
        if (real(row.before) && real(row.after)) make("path", { class: "w-move", d: `M${clip(row.before)} ${y}H${clip(row.after)}` }, svg);
        if (real(row.low) && real(row.high)) make("path", { class: `w-range${look}`, d: `M${clip(row.low)} ${y}H${clip(row.high)}` }, svg);
        if (real(row.before)) make("circle", { class: "w-before", cx: clip(row.before), cy: y, r: 3.5 }, svg);
        if (real(row.after)) make("circle", { class: `w-after${look}`, cx: clip(row.after), cy: y, r: row.kept ? 5 : 3.5 }, svg);
      });
      chart.scale = s;
      chart.overlay = make("g", {}, svg);
      return svg;
    };
    const tip = (i) => ({
      head: names[i].text + (rows[i].kept ? " (kept)" : ""),
      rows: [["before", number(rows[i].before)], ["after", number(rows[i].after)], ["95 % interval", range(rows[i].low, rows[i].high)]],
    });
    return {
      figure, draw, points: { x: rows.map((row) => Math.min(row.after || 0, most)), y: names.map(({ at }) => at), tip, byRow: true },
      x: { kind: "number", domain: [0, most], label: figure.dataset.x }, y: {},
    };
  }

  // Forecasts from past origins over the values that came true.
  function past(figure) {
    const { x, y, label, forecasts } = story.backtest, layers = [], at = new Map();
    for (const one of forecasts) {
      layers.push({ kind: "band", sorted: true, x: one.x, low: one.low_95, high: one.high_95, look: "forecast" });
      layers.push({ kind: "band", sorted: true, x: one.x, low: one.low_80, high: one.high_80, look: "forecast" });
    }
    for (const one of forecasts) {
      layers.push({ kind: "line", sorted: true, x: one.x, y: one.median, look: "forecast" });
      one.x.forEach((value, k) => at.set(value, [one, k]));
    }
    layers.push({ kind: "dots", sorted: true, x, y, look: "data" });
    const tip = (i) => {
      const rows = [["observed", number(y[i])]], [one, k] = at.get(x[i]) || [];
      if (one) {
        rows.push(["forecast", number(one.median[k])], ["80 % band", range(one.low_80[k], one.high_80[k])]);
        rows.push(["95 % band", range(one.low_95[k], one.high_95[k])], ["known until", one.origin]);
      }
      return { head: String(label[i]), rows };
    };
    return overTime(figure, "past", x, { layers, points: { sorted: true, x, y, tip } });
  }

  // Mean absolute errors by step ahead, one line for each method.
  function bystep(figure) {
    const errors = Object.entries(story.backtest.errors), looks = ["forecast", "fit", "plain", "part"];
    const x = errors[0][1].map((_, i) => i + 1);
    const layers = errors.map(([, y], i) => ({ kind: "line", sorted: true, x, y, look: looks[i] })).reverse();
    layers.push({ kind: "dots", x, y: errors[0][1], look: "forecast" });
    const tip = (i) => ({ head: `step ${x[i]}`, rows: errors.map(([name, y]) => [name, number(y[i])]) });
    return {
      figure, layers, points: { sorted: true, x, y: errors[0][1], tip },
      x: { kind: "number", domain: padded(domain(x)), label: figure.dataset.x }, y: { label: figure.dataset.y, include: [0] },
    };
  }

  const builders = { fit, alone, running, residual, scatter, effect, check, weights, past, bystep };
  let failures = 0;
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    try {
      Pointing.mount(builders[figure.dataset.chart](figure));
    } catch (error) {
      failures += 1;
      const words = document.createElement("p");
      words.textContent = `This chart could not be drawn (${error.message}). Its numbers are in the file as JSON.`;
      figure.querySelector(".plot").replaceChildren(words);
    }
  }
  Pointing.keepDrawn();
  document.documentElement.dataset.failures = failures;
})();
