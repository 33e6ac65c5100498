// Reads the document, in a world of its own, where the page has replaced no function.
(unitsMax => {
  const root = document.documentElement;
  if (!root) return { html: '', isWhole: true };
  // A list instead of a recursion, as a page may nest them as deep as it likes.
  const shadowRoots = [];
  for (let at = -1; at < shadowRoots.length; at++) {
    const tree = at < 0 ? document : shadowRoots[at];
    for (const element of tree.querySelectorAll('*')) {
      if (element.shadowRoot) shadowRoots.push(element.shadowRoot);
    }
  }
  const tag = root.cloneNode(false).outerHTML;
  const end = tag.lastIndexOf('</');
  const doctype = document.doctype ? `<!DOCTYPE ${document.doctype.name}>` : '';
  const html = doctype + tag.slice(0, end) + root.getHTML({ shadowRoots }) + tag.slice(end);
  return { html: html.slice(0, unitsMax).toWellFormed(), isWhole: html.length <= unitsMax };
})
