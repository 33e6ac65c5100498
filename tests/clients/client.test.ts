// The client for TypeScript, as programs use it. `test_typescript.py` starts the server and the site.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createDraglineClient, type Schemas } from "../../target/clients/typescript/index.ts";

const { DRAGLINE_URL: baseUrl, SITE_URL: site } = process.env;
assert(baseUrl && site, "the addresses of a server and of a site");
const client = createDraglineClient({ baseUrl });
const docs = { params: { path: { name: "docs" } } };

/** Returns what a call answered, or fails with its problem. */
function answered<T>({ data, error }: { data?: T; error?: Schemas["Problem"] }): T {
  assert(data !== undefined, `${error?.title}: ${error?.detail}`);
  return data;
}

/** Returns the problem that a call answered. */
function problem({ error, response }: { error?: Schemas["Problem"]; response: Response }): Schemas["Problem"] {
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  assert.equal(error?.status, response.status);
  return error;
}

async function waitUntilOver(iteration: number): Promise<Schemas["ProgressView"]> {
  for (;;) {
    const params = { ...docs.params, query: { iteration } };
    const state = answered(await client.GET("/crawls/{name}/progress", { params }));
    if (state.status === "closed") return state;
    await setTimeout(50);
  }
}

type RowsPath = "/crawls/{name}/pages" | "/crawls/{name}/links" | "/crawls/{name}/items" | "/crawls/{name}/log";
type Row = Schemas["PageRow"] | Schemas["SeenPageRow"] | Schemas["LinkRow"] | Schemas["ItemRow"] | Schemas["LogRow"];

/** Returns all rows of a kind, one at a time. */
async function rows(path: RowsPath): Promise<Row[]> {
  const found: Row[] = [];
  let cursor: string | undefined;
  do {
    const params = { ...docs.params, query: { limit: 1, cursor } };
    const answer: { data?: { rows: Row[]; next: string | null }; error?: Schemas["Problem"] } = await client.GET(path, { params });
    const batch = answered(answer);
    found.push(...batch.rows);
    cursor = batch.next ?? undefined;
  } while (cursor !== undefined);
  return found;
}

test("a crawl is added, started and read", async () => {
  const added = await client.POST("/crawls", {
    body: {
      name: "docs",
      domain_names: [site],
      cron_expression: "0 3 * * *",
      time_zone: "Europe/Berlin",
      definition: { politeness: { delay: "0s" } },
    },
  });
  assert.equal(added.response.status, 201);
  const standing: Schemas["CrawlStanding"] = answered(added);
  assert.equal(standing.state, "ON");
  assert(Date.parse(standing.next ?? "") > Date.now());

  for (const status of [202, 200]) {
    const begun = await client.POST("/crawls/{name}/iterations", { ...docs, body: { iteration: 1, type: "on_demand" } });
    assert.equal(begun.response.status, status);
    assert.equal(answered(begun).iteration, 1);
  }
  const over = await waitUntilOver(1);
  assert.deepEqual([over.crawled, over.failed, over.stuck], [3, 0, 0]);
  const { iterations } = answered(await client.GET("/crawls/{name}/iterations", docs));
  assert.deepEqual(iterations.map(({ iteration }) => iteration), [1]);

  const urls = async (path: RowsPath) => (await rows(path)).map(({ url }) => url).sort();
  assert.deepEqual(await urls("/crawls/{name}/pages"), [site, `${site}chair`]);
  assert.deepEqual(await urls("/crawls/{name}/items"), [`${site}chair`]);
  assert.equal((await rows("/crawls/{name}/links")).length, 2);
  const log = new Map((await rows("/crawls/{name}/log")).map(({ url, status }) => [url, status]));
  assert.equal(log.get(`${site}gone`), 404);
  const params = { ...docs.params, query: { q: "winch" } };
  const found = answered(await client.GET("/crawls/{name}/search", { params })) as unknown as { results: { url: string }[] };
  assert.deepEqual(found.results.map(({ url }) => url), [site]);
});

test("errors are problems", async () => {
  const missing = problem(await client.GET("/crawls/{name}", { params: { path: { name: "missing" } } }));
  assert.equal(missing.status, 404);
  assert.match(missing.hint ?? "", /GET \/crawls/);
  const wrong = problem(await client.POST("/crawls", { body: { domain_names: [site], definition: { colour: 1 } } }));
  assert.equal(wrong.status, 422);
  assert.equal(wrong.mistakes?.length, 1);
});
