// Tables that sort, filter and grow.

const ROWS_AT_ONCE = 25;

/** Returns a table with its tools. `name` tells it from the others. */
function tableOf(name, { columns, rows, rows_all: all }) {
  const state = { sorted: null, descending: false, wanted: "", shown: ROWS_AT_ONCE };
  const texts = new Map(rows.map((row) => [row, columns.map((column) => worded(row[column.id], column.unit)).join("\n").toLowerCase()]));
  const body = element("tbody");
  const status = element("p", { class: "quiet", role: "status" });
  const more = element("button", { type: "button" }, "Show more");
  const heads = columns.map((column) => {
    const button = element("button", { type: "button" }, column.title);
    const head = element("th", { scope: "col", class: isNumber(column.unit) ? "is-number" : null }, button);
    button.addEventListener("click", () => {
      // Of numbers, the largest are looked for.
      state.descending = state.sorted === column ? !state.descending : isNumber(column.unit);
      state.sorted = column;
      show();
    });
    return head;
  });

  function chosen() {
    const found = rows.filter((row) => texts.get(row).includes(state.wanted));
    return state.sorted === null ? found : found.sort((a, b) => compared(a, b, state.sorted) * (state.descending ? -1 : 1));
  }

  function show() {
    const found = chosen();
    body.replaceChildren(...found.slice(0, state.shown).map(rowOf));
    columns.forEach((column, place) => {
      if (column !== state.sorted) heads[place].removeAttribute("aria-sort");
      else heads[place].setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    });
    more.hidden = found.length <= state.shown;
    const among = rows.length < all ? `the first ${count(rows.length)} of ${count(all)}` : count(rows.length);
    const matching = state.wanted === "" ? among : `${count(found.length)} matching of ${among}`;
    status.textContent = `Rows: ${matching}` + (more.hidden ? "" : `, ${count(state.shown)} shown`);
  }

  function rowOf(row) {
    return element("tr", {}, columns.map((column) => {
      const wide = ["url", "urls", "text"].includes(column.unit) && String(row[column.id] ?? "").length > 24;
      return element("td", { class: isNumber(column.unit) ? "is-number" : wide ? "is-wide" : null }, shown(row[column.id], column.unit));
    }));
  }

  more.addEventListener("click", () => {
    state.shown *= 4;
    show();
  });
  show();
  const table = element("table", {}, [element("thead", {}, element("tr", {}, heads)), body]);
  const scroll = element("div", { class: "scroll", role: "region", "aria-label": `Table: ${name}`, tabindex: "0" }, table);
  return [tools(rows, state, status, show), scroll, more];
}

function tools(rows, state, status, show) {
  if (rows.length < 6) return element("div", { class: "tools" }, status);
  const input = element("input", { type: "search", autocomplete: "off" });
  input.addEventListener("input", () => {
    state.wanted = input.value.trim().toLowerCase();
    state.shown = ROWS_AT_ONCE;
    show();
  });
  return element("div", { class: "tools" }, [element("label", {}, ["Filter", input]), status]);
}

/** Compares two rows by a column. Those without a value come first. */
function compared(a, b, column) {
  const [left, right] = [a[column.id], b[column.id]];
  if (left === null || right === null) return (right === null) - (left === null);
  if (isNumber(column.unit)) return left - right;
  const [before, after] = [worded(left, column.unit), worded(right, column.unit)];
  // Only texts are in a language.
  return column.unit === "text" ? before.localeCompare(after, "en") : (before > after) - (before < after);
}

/** Returns a part that is built when it is opened, as building all tables at once would take a while. */
function folded(summary, build) {
  const inside = element("div", { class: "inside" });
  const details = element("details", {}, [element("summary", {}, summary), inside]);
  const fill = () => {
    if (!inside.hasChildNodes()) inside.append(...build());
  };
  details.addEventListener("toggle", () => {
    if (details.open) fill();
  });
  details.fill = fill;
  return details;
}
