/** The client and the element, as a user gets them who installs them into an empty project. */
import { execFile } from 'node:child_process';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NOT_BUNDLED, SOURCES } from '../scripts/build.mjs';
import { OTHERS } from '../scripts/build-sdk.mjs';
import { packClient } from '../scripts/packages/client.ts';
import { packSdk } from '../scripts/packages/sdk.ts';
import { cleanUp, newFolder } from './server-process.ts';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);
let project: string;
const inProject = (...names: string[]) => join(project, ...names);

beforeAll(async () => {
  const tarballs = await newFolder();
  project = await newFolder();
  const packed = [await packClient(tarballs), await packSdk(tarballs)];
  await writeFile(inProject('package.json'), JSON.stringify({ name: 'host', private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packed], { cwd: project });
  // Only for the component, whose users have them.
  for (const name of ['react', '@types', 'csstype']) {
    await symlink(join(ROOT, 'node_modules', name), inProject('node_modules', name));
  }
  await cp(join(import.meta.dirname, 'packages'), project, { recursive: true });
});
afterAll(cleanUp);

const tsc = (...args: string[]) =>
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...args], { cwd: project }).then(
    () => '',
    ({ stdout }) => stdout as string,
  );

const manifestOf = async (name: string) =>
  JSON.parse(await readFile(inProject('node_modules', '@oriel', name, 'package.json'), 'utf8'));

test.each(['client', 'viewer'])('@oriel/%s holds what its users need, and nothing else', async (name) => {
  const { dependencies, engines, license, exports, sideEffects } = await manifestOf(name);
  expect({ dependencies, engines, license }).toEqual({
    dependencies: undefined,
    engines: { node: '>=20.19' },
    license: 'Apache-2.0',
  });
  expect(sideEffects).toEqual(name === 'client' ? false : ['./dist/embed.js']);
  const folder = inProject('node_modules', '@oriel', name);
  expect((await readdir(folder)).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const built = await readdir(join(folder, 'dist'));
  for (const { types, default: script } of Object.values<Record<string, string>>(exports)) {
    expect(built).toContain(types!.replace('./dist/', ''));
    expect(built).toContain(script!.replace('./dist/', ''));
  }
  for (const file of built) {
    expect(await readFile(join(folder, 'dist', file), 'utf8')).not.toMatch(/@oriel\/contract|typebox/);
  }
});

test('the client exports the values that its types name, and no others', async () => {
  const script = "import('@oriel/client').then((client) => console.log(Object.keys(client).join()))";
  const { stdout } = await run(process.execPath, ['-e', script], { cwd: project });
  const types = await readFile(inProject('node_modules/@oriel/client/dist/index.d.ts'), 'utf8');
  const named = [...types.matchAll(/^export (?:declare function (\w+)|\{ (.*) \})/gm)];
  const names = named.flatMap(([, one, several]) => one ?? several!.split(', '));
  expect(stdout.trim().split(',').sort()).toEqual(names.sort());
  expect(names).toContain('createOrielClient');
});

test('a change of what the types depend on makes them anew', async () => {
  const used: string[] = [];
  for (let file: string | undefined = 'packages/viewer/tsconfig.sdk.json'; file; ) {
    used.push(file);
    const { extends: next } = JSON.parse(await readFile(join(ROOT, file), 'utf8')) as { extends?: string };
    file = next && join(dirname(file), next);
  }
  expect(used).toHaveLength(3);
  expect(OTHERS).toEqual(expect.arrayContaining(used));
});

test('a change of anything that the server is made of makes it anew', async () => {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['packages/server/src/main.ts', 'packages/server/src/engines/process/main.ts'],
    outdir: 'unused',
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: NOT_BUNDLED,
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const sources = Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules/'));
  expect(sources).toContain('packages/server/src/app.ts');
  const isKnown = (file: string) =>
    SOURCES.others.includes(file) || SOURCES.folders.some((folder) => file.startsWith(`${folder}/`));
  expect(sources.filter((file) => !isKnown(file))).toEqual([]);
});

test('a strict program compiles as a bundler resolves modules', async () => {
  expect(await tsc('--moduleResolution', 'bundler', '--module', 'esnext', '--noEmit')).toBe('');
});

test('a strict program compiles as Node resolves modules, and runs under plain Node', async () => {
  const server = createServer((request, response) => {
    const isMint = request.url === '/api/v1/embed/generate-session';
    response.writeHead(isMint ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(isMint ? { sessionId: '1.x' } : { code: 'report_not_found', message: 'No.' }),
    );
  }).listen(0, '127.0.0.1');
  try {
    expect(await tsc('--moduleResolution', 'nodenext', '--module', 'nodenext', '--outDir', 'out')).toBe('');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const script = `import('./out/backend.js').then(({ main }) => main('${url}')).then(console.log)`;
    const { stdout, stderr } = await run(process.execPath, ['-e', script], { cwd: project });
    expect([stdout, stderr]).toEqual(['1.x getReport 404 report_not_found\n', '']);
  } finally {
    server.close();
  }
});

test('the program is bundled for a browser, without what it does not use', async () => {
  const bundle = async (contents: string) => {
    const { outputFiles, warnings } = await build({
      stdin: { contents, resolveDir: project, loader: 'tsx' },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      external: ['react'],
      write: false,
      logLevel: 'silent',
    });
    expect(warnings).toEqual([]);
    return outputFiles[0]!.text;
  };
  const page = await bundle("import './page.tsx'; import './backend.ts';");
  expect(page).toContain('customElements.define');
  expect(page).not.toMatch(/\brequire\(|["']node:/);
  expect(await bundle("import { createOrielClient } from '@oriel/client';")).toBe('');
  // It defines the element even if the page names nothing of it.
  for (const name of ['@oriel/viewer', '@oriel/viewer/embed']) {
    expect(await bundle(`import '${name}';`)).toContain('customElements.define');
  }
});

test('the published types mean what the contract says', async () => {
  // The contract says less about an object that may hold anything.
  const types = inProject('node_modules/@oriel/client/dist/operations.d.ts');
  const text = await readFile(types, 'utf8');
  const free = 'export type FreeObject = Record<string, unknown>;';
  expect(text).toContain(free);
  expect(await compareTypes(text.replace(free, 'export type FreeObject = object;'))).toBe('');
});

/** Compiles the comparison, which is in a folder of the client, with other types of the operations. */
async function compareTypes(operations: string): Promise<string> {
  const client = join(ROOT, 'packages/client');
  await cp(inProject('node_modules/@oriel/client/dist'), inProject('dist'), { recursive: true });
  await writeFile(inProject('dist/operations.d.ts'), operations);
  const comparison = await readFile(join(client, 'published/same-types.ts'), 'utf8');
  await writeFile(
    inProject('same-types.ts'),
    comparison.replace('../dist/', './dist/').replace('../src/index.ts', join(client, 'src/index.ts')),
  );
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { paths: { '@oriel/contract': [join(ROOT, 'packages/contract/src/index.ts')] } },
    include: ['same-types.ts'],
  };
  await writeFile(inProject('tsconfig.same.json'), JSON.stringify(config));
  return tsc('-p', 'tsconfig.same.json');
}
