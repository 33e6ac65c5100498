// The site's tree: a picture in which each place is as wide as it has pages, and a list of the
// same.

const LEVELS = 5;

function treeOf(tree) {
  if (tree.pages === 0) return [element("p", { class: "quiet" }, "No pages.")];
  const [width, row] = [1100, 34];
  const parts = [];
  let deepest = 0;
  const place = (branch, x, wide, level) => {
    deepest = Math.max(deepest, level);
    parts.push(drawn("rect", { x, y: level * row, width: wide, height: row - 1, class: `place step${level % 6}` }));
    // Some seven units are a letter.
    const letters = Math.floor((wide - 8) / 7.5);
    if (letters > 3) {
      const text = branch.title.length > letters ? `${branch.title.slice(0, letters - 1)}…` : branch.title;
      parts.push(drawn("text", { x: x + 4, y: level * row + 21 }, text));
    }
    if (level + 1 === LEVELS) return;
    let left = x;
    for (const child of branch.children) {
      const share = (wide * child.pages) / branch.pages;
      if (share >= 1) place(child, left, share, level + 1);
      left += share;
    }
  };
  place(tree, 0, width, 0);
  const about = `${count(tree.pages)} pages; each place is as wide as it has pages, and what is below it is in it.`;
  const list = folded(element("span", { class: "name" }, "The tree as a list"), () => [element("ul", { class: "places" }, listed(tree))]);
  return [element("p", { class: "quiet" }, about), picture("The site's tree", about, width, (deepest + 1) * row, parts), list];
}

function listed(branch) {
  const item = element("li", {}, [said(branch.title), `: ${count(branch.pages)} ${branch.pages === 1 ? "page" : "pages"}, ${size(branch.bytes)}`]);
  const below = branch.children.map(listed);
  if (branch.more > 0) below.push(element("li", { class: "quiet" }, `and ${count(branch.more)} smaller`));
  if (below.length > 0) item.append(element("ul", { class: "places" }, below));
  return item;
}
