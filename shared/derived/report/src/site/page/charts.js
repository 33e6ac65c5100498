// Charts. Each is a picture with a name, and a table of its numbers for whoever does not see it.

/** Returns a chart with its numbers. */
function chartOf(chart) {
  const numbers = chart.kind === "bars" ? barNumbers(chart) : overTimeNumbers(chart);
  const picture = numbers.rows.length === 0 ? element("p", { class: "quiet" }, "Nothing to show.")
    : chart.kind === "bars" ? barsOf(chart) : overTimeOf(chart);
  const table = folded(element("span", { class: "name" }, `${chart.title}: the numbers`), () => tableOf(chart.title, numbers));
  return element("div", {}, [element("h3", {}, chart.title), element("p", { class: "quiet" }, chart.about), ...[picture].flat(), table]);
}

function picture(name, about, width, height, children) {
  const title = drawn("title", {}, name);
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}. ${about}` }, [title, ...children]);
}

function barNumbers({ bars, unit }) {
  const columns = [{ id: "title", title: "Name", unit: "text" }, { id: "value", title: "Number", unit }];
  return { columns, rows: bars, rows_all: bars.length };
}

function barsOf({ title, about, bars, unit }) {
  const [width, row, label, end] = [560, 26, 170, 90];
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const parts = bars.flatMap((bar, place) => {
    const y = place * row + 8;
    const long = Math.max(1, ((width - label - end) * bar.value) / most);
    return [
      drawn("text", { x: label - 10, y: y + 14, "text-anchor": "end" }, bar.title),
      drawn("rect", { x: label, y, width: long, height: row - 8, rx: 2, class: `fill-${bar.shade}` }),
      drawn("text", { x: label + long + 6, y: y + 14, class: "quiet" }, worded(bar.value, unit)),
    ];
  });
  return picture(title, about, width, bars.length * row + 12, parts);
}

function overTimeNumbers({ series, start_at: start, step_ms: step }) {
  const columns = [{ id: "at", title: "From", unit: "time" }, ...series.map(({ title }, place) => ({ id: `s${place}`, title, unit: "count" }))];
  const steps = Math.max(0, ...series.map(({ values }) => values.length));
  const rows = Array.from({ length: steps }, (_, place) => {
    const at = new Date(Date.parse(start) + place * step).toISOString();
    return Object.fromEntries([["at", at], ...series.map(({ values }, of) => [`s${of}`, values[place] ?? 0])]);
  });
  return { columns, rows, rows_all: rows.length };
}

function overTimeOf({ title, about, series, step_ms: step }) {
  const [width, height, foot] = [1100, 260, 28];
  const steps = Math.max(1, ...series.map(({ values }) => values.length));
  const sums = Array.from({ length: steps }, (_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0));
  const most = Math.max(1, ...sums);
  const wide = (width - 60) / steps;
  const parts = [
    drawn("line", { x1: 50, y1: height - foot, x2: width - 10, y2: height - foot, class: "axis" }),
    drawn("text", { x: 44, y: 18, "text-anchor": "end", class: "quiet" }, count(most)),
    drawn("text", { x: 44, y: height - foot, "text-anchor": "end", class: "quiet" }, "0"),
    drawn("text", { x: 50, y: height - 8, class: "quiet" }, "start"),
    drawn("text", { x: width - 10, y: height - 8, "text-anchor": "end", class: "quiet" }, `after ${duration(steps * step)}; each column is ${duration(step)}`),
  ];
  for (let place = 0; place < steps; place += 1) {
    let y = height - foot;
    for (const { values, shade } of series) {
      const tall = ((height - foot - 12) * (values[place] ?? 0)) / most;
      y -= tall;
      if (tall > 0) parts.push(drawn("rect", { x: 50 + place * wide, y, width: Math.max(.5, wide - (wide > 3 ? 1 : 0)), height: tall, class: `fill-${shade}` }));
    }
  }
  const legend = element("ul", { class: "legend" }, series.map(({ title: name, shade, values }) => {
    const colour = drawn("svg", { viewBox: "0 0 8 8", "aria-hidden": "true" }, drawn("rect", { width: 8, height: 8, class: `fill-${shade}` }));
    return element("li", {}, [colour, `${name}: ${count(values.reduce((sum, value) => sum + value, 0))}`]);
  }));
  return [picture(title, about, width, height, parts), legend];
}
