/**
 * Bundles the server and the packages that it uses into one file, each script of a thread into another, and the program
 * of the engines into others. Builds the embedded page, what its hosts import, and the app. Puts beside them the SQL of the
 * functions, the OpenAPI document, the style of the pages and the files of the reference.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildApp } from './build-app.mjs';
import { hashInputs, place } from './build-files.mjs';
import { buildSdk } from './build-sdk.mjs';
import { buildViewer } from './build-viewer.mjs';
import { root } from './install.mjs';

const SRC = join(root, 'packages/server/src');
const DIST = join(root, 'packages/server/dist');

/**
 * Packages with native code stay where npm put them. All others are bundled, because they consist of hundreds of small
 * files, and reading them one by one took half of the time until a process of the server runs.
 */
export const NOT_BUNDLED = ['@node-rs/*', '@duckdb/*', '@resvg/*', 'libpg-query'];

/** Bundled CommonJS modules call `require` for the modules of Node. */
const FOR_COMMONJS = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

const OPTIONS = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
  banner: { js: FOR_COMMONJS },
};

/** The scripts of threads and of processes that are used like threads; see `platform/threads.ts`. */
const THREADS = {
  'chart-thread.js': 'domains/dashboards/chart-thread.ts',
  'compile-thread.js': 'domains/builds/compile-thread.ts',
  'draw-process.js': 'domains/renderings/draw-process.ts',
  'dbt-thread.js': 'domains/model-syncs/dbt-thread.ts',
  'pack-thread.js': 'platform/git/remote/pack-thread.ts',
  'parse-thread.js': 'domains/queries/parse-thread.ts',
  'plan-thread.js': 'domains/queries/plan-thread.ts',
  'text-thread.js': 'platform/git/text-thread.ts',
};

/** What the server is made of. */
export const SOURCES = {
  folders: [
    'packages/server/src',
    'packages/contract/src',
    'packages/semantic/src',
    'packages/visualization/src',
    'packages/charts/src',
  ],
  others: ['packages/server/package.json', 'package-lock.json', 'scripts/build.mjs'],
};
/** The record of the build: what the server was built from, and which files of engines belong to it. */
const RECORD = join(DIST, 'built.json');

/**
 * Builds what has changed since the last build. The program of the server takes most of the time, and can be left out
 * by callers that do not start it.
 */
export async function build({ hasProgram = true } = {}) {
  await buildViewer();
  await buildApp();
  await buildSdk();
  return buildServer(hasProgram);
}

async function buildServer(hasProgram) {
  const inputs = await hashInputs(SOURCES.folders, SOURCES.others);
  const before = await readFile(RECORD, 'utf8').then(JSON.parse, () => undefined);
  if (before?.inputs === inputs && (before.hasProgram || !hasProgram)) return before;
  // If this build is interrupted, the next one must not take its files for those of the record.
  await rm(RECORD, { force: true });
  if (hasProgram) await buildProgram('packages/server/src/main.ts', 'main.js');
  for (const [name, entry] of Object.entries(THREADS)) await buildThread(name, entry);
  const engineFiles = await buildEngine();
  await gatherFunctions();
  await writeApiDocument();
  await place(DIST, 'style.css', await readFile(join(SRC, 'domains/pages/style.css')));
  await copyReference();
  await copyFonts();
  await place(DIST, basename(RECORD), JSON.stringify({ inputs, hasProgram, engineFiles }));
  return { engineFiles };
}

/** Bundles the server, or a program of a test that uses its code and what is built beside the server. */
export async function buildProgram(entry, name) {
  const { build: bundle } = await import('esbuild');
  await bundle({
    entryPoints: [join(root, entry)],
    outfile: join(DIST, name),
    ...OPTIONS,
    sourcemap: true,
    // Node reads the whole source map at each start.
    sourcesContent: false,
    external: NOT_BUNDLED,
  });
}

/**
 * Bundles the program of the engines apart from the server, because a small program starts fast and needs little
 * memory. Each driver has files of its own (`engine/…`), so that a process loads only the driver that it uses.
 */
async function buildEngine() {
  const { build: bundle } = await import('esbuild');
  const { outputFiles } = await bundle({
    entryPoints: { engine: join(SRC, 'engines/process/main.ts') },
    outdir: DIST,
    chunkNames: 'engine/[name]-[hash]',
    splitting: true,
    write: false,
    ...OPTIONS,
    sourcemap: true,
    sourcesContent: false,
    external: NOT_BUNDLED,
  });
  await mkdir(join(DIST, 'engine'), { recursive: true });
  // The program itself comes last, when everything that it loads is there.
  const names = outputFiles.map(({ path, contents }) => [relative(DIST, path), contents]);
  for (const [name, contents] of names.sort(([name]) => (name === 'engine.js' ? 1 : -1))) {
    await place(DIST, name, contents);
  }
  return names.map(([name]) => name);
}

/** A thread starts fast if its file has only what it needs. */
async function buildThread(name, entry) {
  const { build: bundle } = await import('esbuild');
  const entryPoints = [join(SRC, entry)];
  const { outputFiles } = await bundle({ entryPoints, write: false, ...OPTIONS, external: NOT_BUNDLED });
  await mkdir(DIST, { recursive: true });
  await place(DIST, name, outputFiles[0].contents);
}

/** The SQL of functions and triggers, in one file. */
async function gatherFunctions() {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('functions.sql'));
  const texts = await Promise.all(files.sort().map((file) => readFile(join(SRC, file), 'utf8')));
  await place(DIST, 'functions.sql', texts.join('\n'));
}

/** The OpenAPI document of the contract, as the server sends it. */
async function writeApiDocument() {
  const { build: bundle } = await import('esbuild');
  const program = join(DIST, `document.${process.pid}.tmp.mjs`);
  await bundle({
    stdin: {
      contents: `import { allOperations, openApiDocument } from './index.ts';
        export const text = JSON.stringify(openApiDocument(allOperations));`,
      resolveDir: join(root, 'packages/contract/src'),
    },
    outfile: program,
    ...OPTIONS,
  });
  try {
    const { text } = await import(pathToFileURL(program).href);
    await place(DIST, 'openapi.json', text);
  } finally {
    await rm(program, { force: true });
  }
}

/** What the page of the reference has of its own; see `platform/http/docs-routes.ts`. */
async function copyReference() {
  const from = join(SRC, 'platform/http/reference');
  await mkdir(join(DIST, 'reference'), { recursive: true });
  for (const name of await readdir(from))
    await place(join(DIST, 'reference'), name, await readFile(join(from, name)));
}

/** The fonts of pictures, under the SIL Open Font License; see `domains/renderings/draw/fonts.ts`. */
const FONTS = {
  inter: ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf'],
  'm-plus-1p': ['400Regular/MPLUS1p_400Regular.ttf', '700Bold/MPLUS1p_700Bold.ttf'],
};

async function copyFonts() {
  const to = join(DIST, 'fonts');
  await mkdir(to, { recursive: true });
  for (const [name, files] of Object.entries(FONTS)) {
    const from = join(root, 'node_modules/@expo-google-fonts', name);
    for (const file of files) await place(to, basename(file), await readFile(join(from, file)));
    await place(to, `LICENSE-${name}.txt`, await readFile(join(from, 'LICENSE_FONT')));
  }
}

if (process.argv[1] === join(root, 'scripts', 'build.mjs')) await build();
