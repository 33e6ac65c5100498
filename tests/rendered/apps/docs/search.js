// Fills the search page: what was found for the query, and what others look for.
export async function search() {
  const query = new URLSearchParams(location.search).get('q')?.toLowerCase();
  await Promise.all([query && results(query), popular()]);
}

async function results(query) {
  document.title = `Search: ${query} – Manual`;
  document.querySelector('input[name=q]').value = query;
  const pages = await (await fetch('/search-index.json')).json();
  const found = pages.filter(({ text }) => text.toLowerCase().includes(query));
  const shown = document.getElementById('results');
  shown.textContent = found.length ? `These pages say something about ${query}:` : `No page says anything about ${query}.`;
  const list = document.createElement('ul');
  for (const { url, title } of found) {
    const link = Object.assign(document.createElement('a'), { href: url, textContent: title });
    list.appendChild(document.createElement('li')).append(link);
  }
  shown.after(list);
}

async function popular() {
  const shown = document.getElementById('popular');
  try {
    shown.textContent = (await (await fetch('/private/data.json')).json()).text;
  } catch {
    shown.textContent = 'What others look for is not known.';
  }
}
