// Bundles each application of this directory as it would be deployed: node build.mjs DIRECTORY
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse, compileScript } from 'vue/compiler-sfc';
import { build } from 'esbuild';
import { compile } from 'svelte/compiler';

const out = process.argv[2];

const vue = {
  name: 'vue',
  setup: ({ onLoad }) => onLoad({ filter: /\.vue$/ }, async ({ path }) => {
    const { descriptor, errors: [error] } = parse(await readFile(path, 'utf8'), { filename: path });
    if (error) throw error;
    const { content } = compileScript(descriptor, { id: basename(path), inlineTemplate: true });
    return { contents: content, resolveDir: dirname(path) };
  }),
};

const svelte = generate => ({
  name: 'svelte',
  setup: ({ onLoad }) => onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
    const { js } = compile(await readFile(path, 'utf8'), { filename: path, generate });
    return { contents: js.code, resolveDir: dirname(path) };
  }),
});

const fill = (template, parts) => template.replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);

// Bundles scripts and styles, and returns the elements that load them.
async function bundle(app, entry, plugins) {
  const { metafile } = await build({
    entryPoints: { main: join(app, entry) },
    outdir: join(out, app, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    target: 'es2022',
    jsx: 'automatic',
    define: {
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'false',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    metafile: true,
    plugins,
    logLevel: 'warning',
  });
  const [script, { cssBundle }] = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint);
  const style = cssBundle ? `<link rel="stylesheet" href="/assets/${basename(cssBundle)}">` : '';
  return `${style}<script type="module" src="/assets/${basename(script)}"></script>`;
}

// Writes the page that the server sends for all routes.
async function shell(app, parts) {
  await writeFile(join(out, app, 'index.html'), fill(await readFile(join(app, 'index.html'), 'utf8'), parts));
}

// What a server of Svelte's would send: its frame, which the scripts take over.
async function renderedBySvelte(app) {
  const server = join(out, 'server.mjs');
  await build({
    entryPoints: [join(app, 'server.js')],
    outfile: server,
    bundle: true,
    platform: 'node',
    format: 'esm',
    plugins: [svelte('server')],
    logLevel: 'warning',
  });
  const { head, body } = (await import(pathToFileURL(server))).frame();
  return { head, body };
}

// Writes pages that are whole without scripts, and the index that the search page asks for.
async function manual(app) {
  const layout = await readFile(join(app, 'layout.html'), 'utf8');
  const assets = await bundle(app, 'main.js', []);
  const index = [];
  for (const file of (await readdir(join(app, 'pages'))).sort()) {
    const content = await readFile(join(app, 'pages', file), 'utf8');
    const title = /<h1>(.*)<\/h1>/.exec(content)[1];
    await writeFile(join(out, app, file), fill(layout, { assets, content, title }));
    const text = content.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim();
    if (file !== 'search.html') index.push({ url: file === 'index.html' ? '/' : `/${file}`, title, text });
  }
  await writeFile(join(out, app, 'search-index.json'), JSON.stringify(index));
}

for (const app of ['react', 'vue', 'svelte', 'docs']) await mkdir(join(out, app), { recursive: true });
await shell('react', { assets: await bundle('react', 'main.jsx', []) });
await shell('vue', { assets: await bundle('vue', 'main.js', [vue]) });
await shell('svelte', { assets: await bundle('svelte', 'main.js', [svelte('client')]), ...await renderedBySvelte('svelte') });
await manual('docs');
