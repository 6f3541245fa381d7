import { SQL_LIMITS } from '@oriel/semantic';
import { expect, onTestFinished, test } from 'vitest';
import { createSqlParser } from './sql-parser.ts';

const by = { sharer: 'one', signal: new AbortController().signal };
function open(options?: Parameters<typeof createSqlParser>[0]) {
  const parser = createSqlParser(options);
  onTestFinished(parser.stop);
  return parser;
}

test('what is wrong with a statement is told, and of a large one nothing is parsed', async () => {
  const { parse } = open();
  const refusals = [
    [
      'select 1, from',
      'invalid_query',
      'The SQL cannot be read: syntax error at or near "from", at character 11.',
    ],
    [' \n', 'invalid_query', 'The SQL is empty.'],
    [
      `select '${'a'.repeat(SQL_LIMITS.text)}'`,
      'unsupported_query',
      'The SQL has more than 20000 characters.',
    ],
    // Small as a text, and large as a tree.
    [`select ${'a,'.repeat(9900)}a`, 'unsupported_query', 'The SQL is too large, or nested too deep.'],
    [`select ${'~ '.repeat(9900)}1`, 'unsupported_query', 'The SQL is too large, or nested too deep.'],
  ] as const;
  for (const [text, code, message] of refusals)
    await expect(parse(text, by), text.slice(0, 30)).rejects.toMatchObject({
      name: 'QueryError',
      code,
      message,
    });
  expect(await parse('select 1', by)).toContain('"stmts"');
});

test('a statement that takes all the time of its thread is too large', async () => {
  const { parse } = open({ limits: { timeMs: 0, memoryMb: 128 } });
  // A warm thread answers a small statement before its time is looked at for the first time.
  await expect(parse(`select ${'1+'.repeat(4900)}1`, by)).rejects.toMatchObject({
    name: 'QueryError',
    code: 'unsupported_query',
  });
});

test('a fault of the thread is no fault of the statement', async () => {
  const broken = `throw new TypeError('a fault of ours');`;
  const { parse } = open({ script: new URL(`data:text/javascript,${encodeURIComponent(broken)}`) });
  await expect(parse('select 1', by)).rejects.toMatchObject({
    name: 'TypeError',
    message: 'a fault of ours',
  });
});

test('many statements of one sharer do not keep those of another one waiting', async () => {
  const parser = createSqlParser();
  const leaving = new AbortController();
  const { signal } = new AbortController();
  // Both threads are loaded before the order counts.
  await Promise.all(['many', 'one'].map((sharer) => parser.parse('select 1', { sharer, signal })));
  const done: string[] = [];
  const many = Array.from({ length: 40 }, (_, i) =>
    parser
      .parse(`select ${'1+'.repeat(4900)}${i}`, { sharer: 'many', signal: leaving.signal })
      .catch(() => {})
      .finally(() => done.push('many')),
  );
  expect(await parser.parse('select 1', { sharer: 'one', signal })).toContain('"stmts"');
  done.push('one');
  leaving.abort();
  await Promise.all(many);
  expect(done.indexOf('one')).toBeLessThan(20);
  await parser.stop();
});
