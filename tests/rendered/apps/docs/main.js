import '../style.css';

// Pages are whole without this: it only marks the link that leads to the page itself.
for (const link of document.querySelectorAll('nav a')) if (link.pathname === location.pathname) link.setAttribute('aria-current', 'page');
if (document.getElementById('results')) import('./search.js').then(({ search }) => search());
