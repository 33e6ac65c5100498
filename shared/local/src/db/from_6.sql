-- Format 7: what an iteration does besides crawling.
ALTER TABLE iteration ADD COLUMN task TEXT;
