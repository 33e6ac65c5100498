-- Prices that changed, with what they were.
SELECT name, was, price, date(at) AS since
FROM (SELECT name, at, price, lag(price) OVER (PARTITION BY url ORDER BY at) AS was FROM item_offer)
WHERE price <> was
ORDER BY name, at;
