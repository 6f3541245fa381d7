/**
 * Bundles the server and the packages that it uses into one file, and puts beside it the SQL of its functions and the
 * style of its pages.
 */
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './install.mjs';

/**
 * Packages with native code stay where npm put them. All others are bundled, because they consist of hundreds of small
 * files, and reading them one by one took half of the time until a process of the server runs.
 */
const NOT_BUNDLED = ['@node-rs/*'];

/** Bundled CommonJS modules call `require` for the modules of Node. */
const FOR_COMMONJS = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

export async function build(entry = 'packages/server/src/main.ts', name = 'main.js') {
  const { build: bundle } = await import('esbuild');
  await bundle({
    entryPoints: [join(root, entry)],
    outfile: join(root, 'packages/server/dist', name),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    // Node reads the whole source map at each start.
    sourcesContent: false,
    logLevel: 'warning',
    external: NOT_BUNDLED,
    banner: { js: FOR_COMMONJS },
  });
  await gatherFunctions();
  await place('style.css', await readFile(join(root, 'packages/server/src/domains/pages/style.css')));
}

/** The SQL of functions and triggers, in one file. */
async function gatherFunctions() {
  const src = join(root, 'packages/server/src');
  const files = (await readdir(src, { recursive: true })).filter((file) => file.endsWith('functions.sql'));
  const texts = await Promise.all(files.sort().map((file) => readFile(join(src, file), 'utf8')));
  await place('functions.sql', texts.join('\n'));
}

/** Writes a file beside the bundle, atomically, because a starting server may read it. */
async function place(name, content) {
  const dist = join(root, 'packages/server/dist');
  const unfinished = join(dist, `${name}.${process.pid}.tmp`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(dist, name));
}

if (process.argv[1] === join(root, 'scripts', 'build.mjs')) await build();
