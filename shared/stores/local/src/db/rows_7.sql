-- Rows of format 7, for a test of the upgrade: of every kind, with and without each value that may be missing.

INSERT INTO crawl (id, name) VALUES (1, 'c');
INSERT INTO agent VALUES (1, 'a');
INSERT INTO origin (id, crawl_id, origin) VALUES (1, 1, 'https://a.example');
INSERT INTO segment (id, origin_id, turn, n, iteration, token, state, object, object_bytes, entries, committed_at, attempts)
VALUES (2, 1, 1, 5, 1, '123456789abcdef0f122334455667788', 'processed', 'raw/1', 1, 3, '2026-11-21T10:10:36.000Z', 0),
       (3, 1, 1, 6, 1, 'short', 'processed', 'raw/2', 1, 1, '2026-11-21T10:10:37.000Z', 0);

INSERT INTO crawl_log (
    id, crawl_uuid, crawl_type, agent_id, origin_id, iteration, url, depth, via, redirects, robotstxt_approved, outcome, is_final, tries, at, detail,
    body_of, change, changed_parts)
VALUES (33554435, '12345678-9abc-8ef0-b122-000500000003', 'queued', 1, 1, 1, 'https://a.example/', 0, NULL, 0, 1, 20, 1, 1,
        '2026-11-21T10:10:35.001Z', NULL, NULL, 'new', NULL),
       (33554436, '12345678-9abc-8ef0-b122-000500000004', 'retry', 1, 1, 1, 'https://a.example/r', 1, '/', 1, 1, 31, 1, 2,
        '2026-11-21T10:10:35.999Z', 'to https://b.example/', 33554435, 'changed', 'title,links'),
       (50331648, NULL, 'queued', 1, 1, 1, 'https://a.example/no', 1, '/', 0, 0, 170, 1, 0, '1969-12-31T23:59:59.500Z', 'rule', NULL, NULL, NULL);
INSERT INTO request VALUES (33554435, '2026-11-21T10:10:35.001Z', 12, 3, 200, '192.0.2.1:443'), (33554436, '2026-11-21T10:10:35.999Z', 0, NULL, NULL, NULL);
INSERT INTO file
VALUES (33554435, 'response', 0, 100, 'text/html', 7, 9, '00112233445566778899aabbccddeeff00112233', 'ffeeddccbbaa99887766554433221100ffeeddcc', '"e"',
        'Sat, 21 Nov 2026 10:10:10 GMT', 'length'),
       (33554436, 'revisit', 100, 50, NULL, 0, NULL, '00112233445566778899aabbccddeeff00112233', NULL, NULL, NULL, NULL);
INSERT INTO redirect VALUES (33554436, 'https://b.example/', 1, 'redirect');

INSERT INTO document (id, url, outcome, state, detail, body_id)
VALUES (33554435, '/', 20, 'processed', NULL, 33554435), (33554436, '/r', 31, 'processed', 'to https://b.example/', NULL),
       (50331648, '/no', 170, 'processed', 'rule', NULL);
INSERT INTO difference VALUES (33554436, 33554435, 'title,links', '[[1,"/n"]]', '[]');
INSERT INTO file_text (id, title, description, language, charset, canonical, noindex, nofollow, cut, text, made_by)
VALUES (33554435, 'T', NULL, 'en', 'UTF-8', NULL, 0, 1, 'whole', 'the text', 'html 1');
INSERT INTO page_link VALUES (33554435, '[[1,0,"/r"]]'), (33554436, '[[9,3,"https://b.example/"]]');

INSERT INTO crawl_candidate
VALUES (1, '/', 2, 'https://a.example#1-5', '2026-11-21T10:10:30.123Z', 0, NULL, '2026-11-22T10:10:30.000Z', 86400000, 20, '2026-11-21T10:10:35.001Z', 1, 1,
        5, 20, '2026-11-21T10:10:35.001Z', 20, '2026-11-21T10:10:35.001Z', '"e"', 'Sat, 21 Nov 2026 10:10:10 GMT',
        '00112233445566778899aabbccddeeff00112233', 'ffeeddccbbaa99887766554433221100ffeeddcc', 7, 33554435, 20, 'shown', 8, 0,
        '2026-11-21T10:10:35.001Z', '2026-11-21T10:10:35.001Z', 'failing', '2026-11-21T10:10:35.002Z', 9),
       (1, '/r', 1, 'https://a.example.org#1-5', '2026-11-21T10:10:30.123Z', 1, '/', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
