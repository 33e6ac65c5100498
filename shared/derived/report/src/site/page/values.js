// Making elements, and showing values by their units. Texts come from the site: they are set as
// text and never as markup.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, children = []) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, children = []) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  for (const child of [children].flat()) made.append(child);
  return made;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const broken = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

function count(value) {
  return whole.format(value);
}

function size(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${unit === 0 ? whole.format(value) : broken.format(value)} ${units[unit]}`;
}

function duration(ms) {
  if (ms < 1000) return `${whole.format(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${broken.format(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${whole.format(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

function moment(text) {
  return String(text).replace("T", " ").replace(/\.\d+Z$|Z$/, " UTC");
}

/** Whether values of this unit are numbers, which are set to the right and sorted by size. */
function isNumber(unit) {
  return ["count", "number", "bytes", "ms", "per_second"].includes(unit);
}

/** Returns a value as a text. */
function worded(value, unit) {
  if (value === null || value === undefined) return "";
  switch (unit) {
    case "count": return count(value);
    case "bytes": return size(value);
    case "ms": return duration(value);
    case "per_second": return broken.format(value);
    case "time": return moment(value);
    case "urls": return value.join(" ");
    default: return String(value);
  }
}

// Control characters, and those that turn the direction of writing, would hide what is there.
const hidden = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

/** Returns a text of the site, with what cannot be seen made visible. */
function said(text) {
  const out = element("bdi");
  let rest = String(text);
  for (let found = hidden.exec(rest); found; found = hidden.exec(rest)) {
    const code = rest.charCodeAt(found.index).toString(16).padStart(4, "0");
    out.append(rest.slice(0, found.index), element("span", { class: "visible" }, `U+${code.toUpperCase()}`));
    rest = rest.slice(found.index + 1);
  }
  out.append(rest);
  return out;
}

/** Returns a link, if it is one that a browser may follow. */
function link(url) {
  if (!/^https?:\/\//i.test(url)) return said(url);
  return element("a", { href: url, rel: "noreferrer noopener nofollow" }, said(url));
}

/** Returns what is shown of a value. */
function shown(value, unit) {
  if (value === null || value === undefined) return "";
  if (unit === "url") return link(value);
  if (unit === "urls") return element("ul", {}, value.map((url) => element("li", {}, link(url))));
  return unit === "text" ? said(value) : worded(value, unit);
}
