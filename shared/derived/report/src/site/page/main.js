// The page: each part of the report in its place.

const report = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const into = (id, children) => at(id).querySelector("div, dl").append(...children);

const WORST_FIRST = ["error", "warning", "notice"];

function head() {
  at("crawl").append(said(report.crawl));
  const ended = report.ended_at === null ? "it goes on" : `until ${moment(report.ended_at)}`;
  at("when").textContent = `Iteration ${report.iteration}, crawled from ${moment(report.began_at)}, ${ended}`;
  at("starts").append("Starts: ", ...report.starts.flatMap((url, place) => (place === 0 ? [link(url)] : [", ", link(url)])));
  at("starts").hidden = report.starts.length === 0;
  at("made").textContent = `Made by ${report.program} at ${moment(report.made_at)}. Findings are of the site as it was then; tables show the first rows, and the numbers count all.`;
  at("contents").append(...[...document.querySelectorAll("main > section")].map((section) =>
    element("li", {}, element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent))));
}

function figures() {
  into("figures", report.figures.map(({ title, value, unit }) =>
    element("div", {}, [element("dt", {}, title), element("dd", {}, value === null ? "unknown" : worded(value, unit))])));
}

function findings() {
  const found = report.findings.filter(({ count: number }) => number > 0);
  found.sort((a, b) => WORST_FIRST.indexOf(a.severity) - WORST_FIRST.indexOf(b.severity));
  const passed = report.findings.filter(({ count: number }) => number === 0);
  into("findings", found.map((finding) => {
    const details = folded([
      element("span", { class: `badge is-${finding.severity}` }, finding.severity),
      element("span", { class: "name" }, finding.title),
      element("span", { class: "number" }, `${count(finding.count)} ${finding.of}`),
    ], () => [element("p", {}, finding.about), ...tableOf(finding.title, finding)]);
    details.id = `finding-${finding.id}`;
    return details;
  }));
  if (found.length === 0) into("findings", [element("p", {}, "Nothing was found that should be changed.")]);
  into("findings", report.not_checked.map((line) => element("p", {}, line)));
  if (passed.length === 0) return;
  const names = passed.map(({ title }) => element("li", {}, title));
  into("findings", [folded([
    element("span", { class: "badge is-good" }, "good"),
    element("span", { class: "name" }, "Nothing found"),
    element("span", { class: "number" }, `${count(passed.length)} kinds`),
  ], () => [element("p", {}, "None of these was found:"), element("ul", {}, names)])]);
}

function tables() {
  into("tables", report.tables.map((table) => folded([
    element("span", { class: "name" }, table.title),
    element("span", { class: "number" }, table.rows_all === 1 ? "1 row" : `${count(table.rows_all)} rows`),
  ], () => [element("p", {}, table.about), ...tableOf(table.title, table)])));
}

function charts() {
  const [wide, narrow] = [report.charts.filter(({ kind }) => kind !== "bars"), report.charts.filter(({ kind }) => kind === "bars")];
  into("charts", [...wide.map(chartOf), element("div", { class: "pair" }, narrow.map(chartOf))]);
}

head();
figures();
findings();
charts();
into("tree", treeOf(report.tree));
into("sections", sectionsOf(report.sections));
tables();

// On paper nothing can be opened.
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.fill();
    details.open = true;
    details.dataset.closed = "";
  }
});
window.addEventListener("afterprint", () => {
  for (const details of document.querySelectorAll("details[data-closed]")) {
    details.open = false;
    delete details.dataset.closed;
  }
});

// A link to a finding opens it.
function open() {
  const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (wanted instanceof HTMLDetailsElement) wanted.open = true;
}
window.addEventListener("hashchange", open);
open();
