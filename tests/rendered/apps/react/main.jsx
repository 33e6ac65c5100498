import { Suspense, lazy } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, Link, NavLink, Outlet, Route, Routes, useParams, useSearchParams } from 'react-router';
import { useHead, useJson } from './data.js';
import '../style.css';

const Gallery = lazy(() => import('./gallery.jsx'));

function Frame() {
  return (
    <>
      <nav>
        <NavLink to="/">Home</NavLink> <NavLink to="/items">Machines</NavLink> <NavLink to="/gallery">Gallery</NavLink>{' '}
        <NavLink to="/about">About</NavLink>
      </nav>
      <main><Suspense fallback={<p>Loading…</p>}><Outlet /></Suspense></main>
    </>
  );
}

function Home() {
  useHead('Machines that dig', 'What digs, and how deep.');
  return (
    <>
      <h1>Machines that dig</h1>
      <p>Here is what each of our machines can do, from the small loader of a garden to the largest dragline of a mine.</p>
      <p>
        Some of our links lead to trouble: <Link to="/broken">a page whose data cannot be had</Link>,{' '}
        <Link to="/nowhere">one that is not there</Link>, and <Link to="/private/notes">our private notes</Link>.
      </p>
    </>
  );
}

function Items() {
  const [query] = useSearchParams();
  const page = query.get('page') ?? '1';
  const { data } = useJson(`/api/items?page=${page}`);
  useHead(`Machines, page ${page}`);
  if (!data) return <p>Loading…</p>;
  return (
    <>
      <h1>Machines, page {page}</h1>
      <ul>{data.items.map(({ id, name }) => <li key={id}><Link to={`/items/${id}`}>{name}</Link></li>)}</ul>
      {data.next && <p><Link rel="next" to={`/items?page=${data.next}`}>Next page</Link></p>}
    </>
  );
}

function Item() {
  const { id } = useParams();
  const { data, error } = useJson(`/api/items/${id}`);
  useHead(data?.name ?? 'Machines', data?.text, data && `/items/${id}`);
  if (error) return <Nowhere />;
  if (!data) return <p>Loading…</p>;
  return (
    <article>
      <h1>{data.name}</h1>
      <p>{data.text}</p>
      <p>It weighs {data.tons} tons.</p>
      <p><Link to="/items">All machines</Link></p>
    </article>
  );
}

function About() {
  const { data, error } = useJson('/private/data.json');
  useHead('About us');
  return (
    <>
      <h1>About us</h1>
      <p>We have built machines for a hundred years.</p>
      <p>{data?.text ?? (error ? 'How many we have sold is not for you.' : 'Loading…')}</p>
    </>
  );
}

function Broken() {
  const { error } = useJson('/api/broken');
  useHead('Out of order');
  if (!error) return <p>Loading…</p>;
  return <><h1>Out of order</h1><p role="alert">The list of repairs cannot be read: {error.message}.</p><p><Link to="/">Back to the start</Link></p></>;
}

function Nowhere() {
  useHead('Not found');
  return <><h1>Not found</h1><p>There is no such page.</p></>;
}

createRoot(document.getElementById('root')).render(
  <BrowserRouter>
    <Routes>
      <Route element={<Frame />}>
        <Route index element={<Home />} />
        <Route path="items" element={<Items />} />
        <Route path="items/:id" element={<Item />} />
        <Route path="gallery" element={<Gallery />} />
        <Route path="about" element={<About />} />
        <Route path="broken" element={<Broken />} />
        <Route path="*" element={<Nowhere />} />
      </Route>
    </Routes>
  </BrowserRouter>,
);
