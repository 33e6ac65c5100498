// The parts of the site on a circle, with the links between them.

/** The most parts and links that a picture can show. The table has all. */
const [PARTS_DRAWN, LINKS_DRAWN] = [16, 60];

function sectionsOf({ nodes, edges }) {
  if (nodes.length < 2) return [element("p", { class: "quiet" }, "The site has no parts that could be told apart.")];
  const columns = [
    { id: "from", title: "From", unit: "text" },
    { id: "to", title: "To", unit: "text" },
    { id: "links", title: "Links", unit: "count" },
  ];
  const rows = edges.map(({ from, to, links }) => ({ from: nodes[from].title, to: nodes[to].title, links })).sort((a, b) => b.links - a.links);
  const about = `The ${Math.min(PARTS_DRAWN, nodes.length)} largest parts. The wider a line, the more links; a line leaves its part clockwise.`;
  const table = folded(element("span", { class: "name" }, "Links between the parts: the numbers"),
    () => tableOf("Links between the parts", { columns, rows, rows_all: rows.length }));
  return [element("p", { class: "quiet" }, about), circleOf(nodes.slice(0, PARTS_DRAWN), edges, about), table];
}

function circleOf(nodes, edges, about) {
  const [width, height, radius] = [1100, 560, 210];
  const [x0, y0] = [width / 2, height / 2];
  const angle = (place) => (2 * Math.PI * place) / nodes.length - Math.PI / 2;
  const at = (turned, far) => [x0 + far * Math.cos(turned), y0 + far * Math.sin(turned)];
  const drawnEdges = edges.filter(({ from, to }) => from < nodes.length && to < nodes.length)
    .sort((a, b) => b.links - a.links).slice(0, LINKS_DRAWN);
  const most = Math.max(1, ...drawnEdges.map(({ links }) => links));
  const lines = drawnEdges.map(({ from, to, links }) => {
    const [[x1, y1], [x2, y2]] = [at(angle(from), radius - 12), at(angle(to), radius - 12)];
    // Bent towards the middle and aside, so that the two ways do not lie on each other.
    const [xm, ym] = [(x1 + x2 + 2 * x0) / 4 + (y2 - y1) / 8, (y1 + y2 + 2 * y0) / 4 - (x2 - x1) / 8];
    const wide = 1 + 9 * Math.sqrt(links / most);
    return drawn("path", { class: "link", d: `M${x1} ${y1}Q${xm} ${ym} ${x2} ${y2}`, "stroke-width": wide.toFixed(1) });
  });
  const largest = Math.max(1, ...nodes.map(({ pages }) => pages));
  const places = nodes.flatMap(({ title, pages }, place) => {
    const [x, y] = at(angle(place), radius);
    const [xt, yt] = at(angle(place), radius + 24);
    const isLeft = xt < x0 - 1;
    const name = title.length > 34 ? `${title.slice(0, 33)}…` : title;
    return [
      drawn("circle", { cx: x, cy: y, r: 4 + 12 * Math.sqrt(pages / largest), class: "fill-notice" }),
      drawn("text", { x: xt, y: yt + 4, "text-anchor": Math.abs(xt - x0) < 1 ? "middle" : isLeft ? "end" : "start" }, `${name} (${count(pages)})`),
    ];
  });
  return picture("Links between the site's parts", about, width, height, [...lines, ...places]);
}
