import { expect, test } from 'vitest';
import { createSqlParser } from './sql-parser.ts';

test('many statements of one sharer do not keep those of another one waiting', async () => {
  const parser = createSqlParser();
  const leaving = new AbortController();
  const { signal } = new AbortController();
  // Both threads are loaded before the order counts.
  await Promise.all(['many', 'one'].map((sharer) => parser.parse('select 1', { sharer, signal })));
  const done: string[] = [];
  const many = Array.from({ length: 6 }, (_, i) =>
    parser
      .parse(`select ${'1+'.repeat(4900)}${i}`, { sharer: 'many', signal: leaving.signal })
      .catch(() => {})
      .finally(() => done.push('many')),
  );
  expect(await parser.parse('select 1', { sharer: 'one', signal })).toContain('"stmts"');
  done.push('one');
  leaving.abort();
  await Promise.all(many);
  expect(done.indexOf('one')).toBeLessThan(4);
  await parser.stop();
});
