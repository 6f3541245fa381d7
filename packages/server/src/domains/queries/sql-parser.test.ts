import { expect, test } from 'vitest';
import { createSqlParser } from './sql-parser.ts';

test('many statements of one sharer do not keep those of another one waiting', async () => {
  const parser = createSqlParser();
  const leaving = new AbortController();
  let done = 0;
  const many = Array.from({ length: 6 }, (_, i) =>
    parser
      .parse(`select ${'1+'.repeat(4900)}${i}`, { sharer: 'many', signal: leaving.signal })
      .catch(() => {})
      .finally(() => done++),
  );
  const { signal } = new AbortController();
  expect(await parser.parse('select 1', { sharer: 'one', signal })).toHaveProperty('stmts');
  expect(done).toBeLessThan(3);
  leaving.abort();
  await Promise.all(many);
  await parser.stop();
});
