import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('no constructor makes code of a text, and nothing is added to what all objects share', async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./harden-thread.ts', import.meta.url))],
    ...{ bundle: true, format: 'iife', globalName: 'closing', write: false },
  });
  const context = createContext({});
  const run = (code: string) => runInContext(`'use strict'; ${code}`, context);
  const makers = ['() => {}', 'async () => {}', 'function* () {}', 'async function* () {}'].map(
    (each) => `(${each}).constructor('return 1')`,
  );
  for (const make of makers) run(make);
  runInContext(`${outputFiles[0]!.text}; closing.hardenThread();`, context);
  for (const make of makers) expect(() => run(make)).toThrow('No text becomes code');
  expect(() => run('(() => {}).constructor = Object; Object.prototype.a = 1')).toThrow();
  expect(() => run('[].constructor.prototype.a = 1')).toThrow('not extensible');
  expect(run("const f = () => {}; f.toString = () => 'own'; [String(f), ({}).a]")).toEqual([
    'own',
    undefined,
  ]);
});
