/**
 * Bundles the app into `packages/server/dist/app`: files whose names hold a hash, each also compressed, and `manifest.json`,
 * which says what its page loads first, which addresses it has, and what each page loads. If nothing has changed since the
 * last build, it does nothing.
 */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hashInputs, placePages } from './build-files.mjs';
import { root } from './install.mjs';

const SOURCE = join(root, 'packages/app/src');
const TARGET = join(root, 'packages/server/dist/app');
const FOLDERS = [
  'packages/app/src',
  'packages/client/src',
  'packages/charts/src',
  'packages/visualization/src',
  'packages/semantic/src',
];
const OTHERS = ['package-lock.json', 'scripts/build-app.mjs', 'packages/charts/package.json'];

export async function buildApp() {
  const inputs = await hashInputs(FOLDERS, OTHERS);
  const before = await readFile(join(TARGET, 'manifest.json'), 'utf8').then(JSON.parse, () => undefined);
  if (before?.inputs === inputs) return;
  const { build } = await import('esbuild');
  const worker = await buildWorker(build);
  const { outputFiles, metafile } = await build({
    entryPoints: { app: join(SOURCE, 'main.tsx'), 'app-style': join(SOURCE, 'style.css') },
    outdir: TARGET,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { STUDIO_WORKER: JSON.stringify(basename(worker.path)) },
    ...SMALL,
    metafile: true,
  });
  const described = describe(metafile);
  await placePages(TARGET, [...outputFiles, worker], {
    inputs,
    ...described,
    files: [...described.files, basename(worker.path)],
    routes: await readRoutes(build),
  });
}

/** The pages that people open most: the browser begins to load their scripts with those of the app. */
const AT_ONCE = {
  '': 'home/page.tsx',
  '/explore': 'explore/page.tsx',
  '/reports/:reportId': 'explore/page.tsx',
  '/workbooks/:workbookId/reports/:reportId': 'explore/page.tsx',
  '/workbooks/:workbookId': 'home/workbook-page.tsx',
  '/workbooks/:workbookId/dashboard': 'dashboard/page.tsx',
};

const SMALL = { minify: true, legalComments: 'none', write: false, logLevel: 'warning' };

/** The compiler of models, which the studio runs in a worker. A worker loads one file, and pages load none of it. */
async function buildWorker(build) {
  const { outputFiles } = await build({
    entryPoints: { 'model-compiler': join(SOURCE, 'studio/worker.ts') },
    outdir: TARGET,
    entryNames: '[name]-[hash]',
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    ...SMALL,
  });
  return outputFiles[0];
}

function describe({ outputs }) {
  const entries = Object.entries(outputs).map(([path, output]) => [basename(path), output]);
  const named = Object.fromEntries(entries);
  const at = (ending) => entries.find(([, { entryPoint }]) => entryPoint?.endsWith(ending))[0];
  /** A file and what it imports at once. */
  const withImports = (name, found = new Set()) => {
    if (found.has(name)) return found;
    found.add(name);
    for (const { kind, path } of named[name].imports)
      if (kind === 'import-statement') withImports(basename(path), found);
    return found;
  };
  const script = at('src/main.tsx');
  const first = [...withImports(script)];
  const pages = entries
    .filter(([, { entryPoint }]) => /\/src\/.*page\.tsx$/.test(entryPoint ?? ''))
    .map(([name, { entryPoint }]) => [entryPoint, [...new Set([...first, ...withImports(name)])]]);
  return {
    script,
    style: at('src/style.css'),
    preload: first.slice(1),
    files: entries.map(([name]) => name),
    preloadAt: Object.fromEntries(
      Object.entries(AT_ONCE).map(([route, page]) => [
        route,
        [...withImports(at(`src/${page}`))].filter((name) => !first.includes(name)),
      ]),
    ),
    /** The scripts of each page, with those of the app itself: what a check of their size adds up. */
    pages: Object.fromEntries(pages),
  };
}

/** Reads the routes from the sources of the app, so that the server serves exactly the pages that exist. */
async function readRoutes(build) {
  const { outputFiles } = await build({
    entryPoints: [join(SOURCE, 'routes.ts')],
    format: 'esm',
    write: false,
    logLevel: 'warning',
  });
  const { ROUTES } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return Object.values(ROUTES);
}
