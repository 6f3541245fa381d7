/** The rules for imports and for the places of SQL. See ARCHITECTURE.md. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const packages = join(root, 'packages');

interface Source {
  file: string;
  text: string;
  /** Only our own files: paths below `packages`, or names of our packages. */
  imports: string[];
}

async function readSources(): Promise<Source[]> {
  const files = (await readdir(packages, { recursive: true })).filter(
    (file) =>
      /^[^/]+\/src\/.*\.tsx?$/.test(file) &&
      !file.includes('node_modules') &&
      !/\.(test|system)\.ts$/.test(file),
  );
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(packages, file), 'utf8');
      const specifiers = [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)].map(
        ([, specifier]) => specifier!,
      );
      const imports = specifiers
        .filter((specifier) => specifier.startsWith('.') || specifier.startsWith('@oriel/'))
        .map((specifier) =>
          specifier.startsWith('.')
            ? relative(packages, join(packages, dirname(file), specifier))
            : specifier,
        );
      return { file, text, imports };
    }),
  );
}

const sources = await readSources();
const inFolder = (folder: string) => sources.filter(({ file }) => file.startsWith(folder));
const violations = (list: Source[], allowed: (target: string, file: string) => boolean) =>
  list.flatMap(({ file, imports }) =>
    imports.filter((target) => !allowed(target, file)).map((target) => `${file} -> ${target}`),
  );

/** The charts, or a part of them that they offer. */
const isCharts = (target: string) => /^@oriel\/charts(\/|$)/.test(target);

/** Whether every import of the file in this text is `import type`. */
const isTypeOnly = (text: string, target: string) =>
  [...text.matchAll(/^import (type )?[^;]*?'([^']+)';/gm)]
    .filter(([, , specifier]) => specifier!.split('/').at(-1) === target.split('/').at(-1))
    .every(([, type]) => type !== undefined);

/** Each circle of imports, as the files along it. */
function circles(imports: ReadonlyMap<string, string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]) => {
    const start = path.indexOf(file);
    if (start >= 0) return void found.push([...path.slice(start), file].join(' -> '));
    if (done.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return found;
}

test('there is something to check', () => {
  expect(sources.length).toBeGreaterThan(30);
  expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(50);
});

test('the contract imports nothing of ours', () => {
  expect(violations(inFolder('contract/'), (target) => target.startsWith('contract/'))).toEqual([]);
});

test('the semantic layer imports nothing of ours, and no module of Node, and runs no text as code', () => {
  const semantic = inFolder('semantic/');
  expect(semantic.length).toBeGreaterThan(10);
  expect(violations(semantic, (target) => target.startsWith('semantic/'))).toEqual([]);
  for (const { file, text } of semantic) {
    expect(
      [...text.matchAll(/from '([^'.][^']*)'/g)].map(([, from]) => from).filter((from) => from !== 'yaml'),
    ).toEqual([]);
    expect(text, file).not.toMatch(/\beval\(|new Function\(|import\(|\brequire\(/);
  }
});

test('visualizations import the contract, as types only, and no module of Node', () => {
  const visualization = inFolder('visualization/');
  expect(visualization.length).toBeGreaterThan(5);
  const allowed = (target: string) => target.startsWith('visualization/') || target === '@oriel/contract';
  expect(violations(visualization, allowed)).toEqual([]);
  for (const { text } of visualization)
    expect(text).not.toMatch(/import (?!type)[^;]*'(@oriel\/contract|node:|typebox)/);
});

test('the client imports the contract, as types only', () => {
  const allowed = (target: string) => target.startsWith('client/') || target === '@oriel/contract';
  expect(violations(inFolder('client/'), allowed)).toEqual([]);
  for (const { text } of inFolder('client/'))
    expect(text).not.toMatch(/import (?!type)[^;]*'@oriel\/contract'/);
});

test('charts import nothing of ours, the viewer draws with them, and neither runs text as code', () => {
  const charts = inFolder('charts/');
  const viewer = inFolder('viewer/');
  expect(charts.length).toBeGreaterThan(30);
  expect(viewer.length).toBeGreaterThan(10);
  expect(violations(charts, (target) => target.startsWith('charts/'))).toEqual([]);
  const allowed = (target: string) => target.startsWith('viewer/') || isCharts(target);
  expect(violations(viewer, allowed)).toEqual([]);
  for (const { file, text } of [...charts, ...viewer]) {
    expect(text, file).not.toMatch(
      /\beval\(|new Function\(|innerHTML|dangerouslySet|localStorage|sessionStorage|\.cookie/,
    );
  }
});

test('what a server needs of the charts needs no browser', () => {
  const reached = new Set<string>();
  const visit = (file: string) => {
    // Data needs nothing.
    if (reached.has(file) || file.endsWith('.json')) return;
    reached.add(file);
    for (const target of sources.find((source) => source.file === file)!.imports) visit(target);
  };
  visit('charts/src/pure.ts');
  visit('charts/src/vega/runtime.ts');
  expect(reached.size).toBeGreaterThan(15);
  for (const file of reached) {
    expect(file).toMatch(/\.ts$/);
    expect(sources.find((source) => source.file === file)!.text, file).not.toMatch(
      /from 'preact|\b(document|window|navigator)\./,
    );
  }
});

test('the app imports the client, the charts and visualizations, and runs no text as code', () => {
  const app = inFolder('app/');
  expect(app.length).toBeGreaterThan(10);
  const allowed = (target: string) =>
    target.startsWith('app/') ||
    ['@oriel/client', '@oriel/visualization'].includes(target) ||
    isCharts(target);
  // The compiler of models is large, and runs in a worker of its own.
  const [workers, pages] = [
    app.filter(({ file }) => file.endsWith('/worker.ts')),
    app.filter(({ file }) => !file.endsWith('/worker.ts')),
  ];
  expect(violations(pages, allowed)).toEqual([]);
  expect(workers).toHaveLength(1);
  expect(violations(workers, (target) => allowed(target) || target === '@oriel/semantic')).toEqual([]);
  for (const { file, text } of app) {
    expect(text, file).not.toMatch(/\beval\(|new Function\(|innerHTML|dangerouslySet|\.cookie/);
    // Choices of a person for this browser, and never in a frame of another product.
    if (!['app/src/preferences.ts', 'app/src/drafts.ts'].includes(file))
      expect(text, file).not.toMatch(/localStorage|sessionStorage/);
  }
});

test('the platform imports no domain', () => {
  const allowed = (target: string) =>
    target.startsWith('server/src/platform/') || target === '@oriel/contract';
  expect(violations(inFolder('server/src/platform/'), allowed)).toEqual([]);
});

test('the engines import the platform, and no domain', () => {
  const engines = inFolder('server/src/engines/');
  expect(engines.length).toBeGreaterThan(10);
  const allowed = (target: string) =>
    target.startsWith('server/src/engines/') || target.startsWith('server/src/platform/');
  expect(violations(engines, allowed)).toEqual([]);
});

test('domains use the platform, the engines, the contract, the semantic layer, what of the charts needs no browser, and one another through their index only', () => {
  const domainOf = (path: string) => /^server\/src\/domains\/([^/]+)\//.exec(path)?.[1];
  const allowed = (target: string, file: string) =>
    target === '@oriel/contract' ||
    target === '@oriel/charts/pure' ||
    target === '@oriel/semantic' ||
    target === '@oriel/visualization' ||
    /^@oriel\/charts\/(pure|vega|texts\/\w+)$/.test(target) ||
    target.startsWith('server/src/platform/') ||
    target.startsWith('server/src/engines/') ||
    domainOf(target) === domainOf(file) ||
    /^server\/src\/domains\/[^/]+\/index\.ts$/.test(target);
  expect(violations(inFolder('server/src/domains/'), allowed)).toEqual([]);
});

test('imports form no circle', () => {
  // Within the contract only imports of values count. Its types form a circle: an operation names error codes, and these
  // codes are collected from the files of the operations.
  const counted = ({ file, text, imports }: Source) =>
    file.startsWith('contract/') ? imports.filter((target) => !isTypeOnly(text, target)) : imports;
  expect(circles(new Map(sources.map((source) => [source.file, counted(source)])))).toEqual([]);
  // Tests the check itself: three of these five files form a circle.
  const imports = { a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: [] };
  expect(circles(new Map(Object.entries(imports)))).toEqual(['a -> b -> c -> a']);
});

test('only store.ts and *.store.ts files and platform/db contain SQL', () => {
  const elsewhere = inFolder('server/').filter(
    ({ file, text }) =>
      /\bsql`|\b(pool|client|db|tx)\.query\(/.test(text) &&
      !/[/.]store\.ts$/.test(file) &&
      !file.startsWith('server/src/platform/db/') &&
      // Engines send SQL to the databases of others.
      !file.startsWith('server/src/engines/'),
  );
  expect(elsewhere.map(({ file }) => file)).toEqual([]);
});

test('stores bind JSON by json()', () => {
  const elsewhere = sources.filter(
    ({ file, text }) => /store\.ts$/.test(file) && text.includes('JSON.stringify'),
  );
  expect(elsewhere.map(({ file }) => file)).toEqual([]);
});

test('only main.ts reads the environment', () => {
  const readers = sources
    .filter(({ text }) => /process\.env|process\.loadEnvFile/.test(text))
    .map(({ file }) => file);
  expect(readers).toEqual(['server/src/main.ts']);
});
