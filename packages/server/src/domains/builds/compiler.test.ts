import { afterEach, expect, test } from 'vitest';
import { type Compiler, createCompiler } from './compiler.ts';

const compilers: Compiler[] = [];
const compiler = (...limits: Parameters<typeof createCompiler>) => {
  const made = createCompiler(...limits);
  compilers.push(made);
  return made;
};
afterEach(async () => {
  for (const made of compilers.splice(0)) await made.stop();
});

const files = new Map([['model/a.yml', 'cubes:\n  - name: a\n    sql_table: a\n    titel: A\n']]);
const never = new AbortController().signal;
/** Megabytes of YAML, which take seconds. */
const large = new Map(
  Array.from({ length: 15 }, (_, i) => [`model/${i}.yml`, `cubes:\n${'  - name: a\n'.repeat(80_000)}`]),
);

test('a model is compiled in a thread, and what is wrong with it comes back', async () => {
  expect(await compiler().compile(files, never)).toMatchObject({
    cubesCount: 1,
    errors: [{ file: 'model/a.yml', line: 4, column: 5, hint: 'Did you mean `title`?' }],
  });
});

test('one model after the other is compiled, also after a pause', async () => {
  const one = compiler();
  for (let i = 0; i < 3; i++) {
    expect((await one.compile(files, never)).cubesCount).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test('a compilation that takes too long is ended, with words that say so', async () => {
  const limits = { timeMs: 5, memoryMb: 512 };
  await expect(compiler(limits).compile(large, never)).rejects.toThrow('more than 0.005 seconds of CPU time');
});

test('a compilation that needs too much memory is ended, and the process goes on', async () => {
  const limits = { timeMs: 120_000, memoryMb: 40 };
  const small = compiler(limits);
  await expect(small.compile(large, never)).rejects.toThrow('more than 40 MB');
  expect((await small.compile(files, never)).cubesCount).toBe(1);
});

test('a compilation that nobody waits for is ended', async () => {
  const leaving = new AbortController();
  const outcome = compiler().compile(large, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(outcome).rejects.toThrow('left');
});

test('models that come at once do not wait for one another', async () => {
  const many = compiler();
  const leaving = new AbortController();
  const long = many.compile(large, leaving.signal).catch((error: Error) => error.message);
  expect((await many.compile(files, never)).cubesCount).toBe(1);
  leaving.abort(new Error('left'));
  expect(await long).toBe('left');
});
