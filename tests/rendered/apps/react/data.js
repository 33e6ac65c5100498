import { useEffect, useState } from 'react';

// Reads JSON: `{ data }` once it is there, `{ error }` if it cannot be had, and neither before.
export function useJson(url) {
  const [state, setState] = useState({ url });
  useEffect(() => {
    let isWanted = true;
    const done = state => { if (isWanted) setState({ url, ...state }); };
    fetch(url)
      .then(async answer => {
        if (!answer.ok) throw new Error(`status ${answer.status}`);
        return answer.json();
      })
      .then(data => done({ data }), error => done({ error }));
    return () => { isWanted = false; };
  }, [url]);
  return state.url === url ? state : {};
}

// Says in the head what the page is.
export function useHead(title, description, canonical) {
  useEffect(() => {
    document.title = title;
    const added = [];
    const add = (name, attributes) => {
      const element = Object.assign(document.createElement(name), attributes);
      document.head.append(element);
      added.push(element);
    };
    if (description) add('meta', { name: 'description', content: description });
    if (canonical) add('link', { rel: 'canonical', href: new URL(canonical, location.origin).href });
    return () => added.forEach(element => element.remove());
  }, [title, description, canonical]);
}
