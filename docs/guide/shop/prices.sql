-- Prices that changed, with what they were. A day on which a page has no price is passed over.
SELECT name, was, price, date(at) AS since
FROM (
  SELECT name, at, price, lag(price) OVER (PARTITION BY crawl, url ORDER BY at) AS was
  FROM item_offer
  WHERE price IS NOT NULL
)
WHERE price <> was
ORDER BY name, at;
