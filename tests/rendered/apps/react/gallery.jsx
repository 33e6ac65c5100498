import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { useHead, useJson } from './data.js';

// A picture with its caption, once its place has come into view.
function Picture({ id, name }) {
  const place = useRef(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      observer.disconnect();
      setSeen(true);
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return (
    <figure ref={place}>
      {isSeen && (
        <>
          <img src={`/pictures/${id}.gif`} alt={`A photograph of ${name}`} width="320" height="160" />
          <figcaption>Seen at work: <Link to={`/items/${id}`}>{name}</Link></figcaption>
        </>
      )}
    </figure>
  );
}

export default function Gallery() {
  const { data } = useJson('/api/gallery');
  useHead('Gallery');
  if (!data) return <p>Loading…</p>;
  return <><h1>Gallery</h1>{data.pictures.map(picture => <Picture key={picture.id} {...picture} />)}</>;
}
