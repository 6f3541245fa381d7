/** What DuckDB answers as an engine, with real processes, and which tables files are. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ask,
  engineOf,
  filesOf,
  PATIENTLY,
  requireWorking,
  useDuckdb,
  write,
} from '../../../test/duckdb-engines.ts';
import { explain } from './errors.ts';

useDuckdb();

describe('answers', () => {
  test('every number is a text with all of its digits, and every time has one form', async () => {
    const { rows, columns } = await ask(`
      select 9007199254740993::bigint as big, 170141183460469231731687303715884105727::hugeint as huge,
        12.30::decimal(10, 2) as price, 100::decimal(10, 2) as round, 0.1::double as double, 0.1::float as float,
        'nan'::double as nan, 5::tinyint as small, date '2024-01-31' as day, true as yes, null as nothing,
        timestamp '1969-12-31 23:59:59.999999' as before, timestamptz '2024-01-31 01:00:00+02' as zoned,
        'infinity'::timestamp as never, 'a "quoted" ü' as words, [1, 2] as list, '\\xAB'::blob as bytes,
        '0b4b2b6e-0a3a-4f0e-9d3c-111111111111'::uuid as uuid`);
    expect(rows).toEqual([
      {
        big: '9007199254740993',
        huge: '170141183460469231731687303715884105727',
        price: '12.3',
        round: '100',
        double: '0.1',
        float: '0.1',
        nan: 'NaN',
        small: '5',
        day: '2024-01-31T00:00:00.000',
        yes: true,
        nothing: null,
        before: '1969-12-31T23:59:59.999',
        zoned: '2024-01-30T23:00:00.000',
        never: 'infinity',
        words: 'a "quoted" ü',
        list: '[1, 2]',
        bytes: '\\xab',
        uuid: '0b4b2b6e-0a3a-4f0e-9d3c-111111111111',
      },
    ]);
    expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toMatchObject({
      big: 'number',
      price: 'number',
      day: 'time',
      zoned: 'time',
      yes: 'boolean',
      words: 'string',
      uuid: 'string',
      list: 'other',
    });
  });

  test('parameters are bound with the type that the statement says, so ids above 2^53 stay distinct', async () => {
    const sql = 'select status from files.orders where id = $1::bigint';
    expect((await ask(sql, { parameters: ['9007199254740993'] })).rows).toEqual([{ status: 'done' }]);
    expect((await ask(sql, { parameters: ['9007199254740992'] })).rows).toEqual([]);
    expect((await ask(sql, { parameters: [null] })).rows).toEqual([]);
    await expect(ask(sql, { parameters: ['1 or true'] })).rejects.toMatchObject({ code: 'value_invalid' });
    await expect(ask(sql)).rejects.toMatchObject({ code: 'query_invalid' });
    for (const text of ["'; drop view files.orders; --", '\\', '"']) {
      expect((await ask('select $1::varchar as t', { parameters: [text] })).rows).toEqual([{ t: text }]);
    }
  });

  test('rows can be arrays, and have other keys than the columns', async () => {
    const sql = 'select 1 as a, true as b union all select 2, null order by 1';
    expect((await ask(sql, { rowForm: 'arrays' })).rows).toEqual([
      ['1', true],
      ['2', null],
    ]);
    const keys = ['orders.count', 'a "key"'];
    expect((await ask(sql, { keys })).rows[0]).toEqual({ 'orders.count': '1', 'a "key"': true });
    await expect(ask(sql, { keys: ['one'] })).rejects.toMatchObject({ code: 'query_invalid' });
    await expect(ask('select 1 as a, 2 as a')).rejects.toMatchObject({ code: 'query_invalid' });
  });

  test('an answer without rows has columns and an empty list', async () => {
    const { rows, columns } = await ask('select 1 as one where false');
    expect(rows).toEqual([]);
    expect(columns).toMatchObject([{ name: 'one', type: 'number', nativeType: 'INTEGER' }]);
  });

  test('rows above the limit are left out, and the summary says so', async () => {
    expect(await ask('select range from range(50001)')).toMatchObject({ rowCount: 50_000, isCapped: true });
    expect(await ask('select range from range(3)', { maxRows: 3 })).toMatchObject({
      rowCount: 3,
      isCapped: false,
    });
  });

  test('an error without words gets some', () => {
    expect(explain(new Error(' '), new Map()).message).toContain('did not say why');
  });

  test('an error in a late row is an error, and not an answer with fewer rows', async () => {
    const sql = "select case when range = 199999 then error('late') else range end as n from range(200000)";
    await expect(ask(sql, { maxRows: 1_000_000 })).rejects.toThrow(/late/);
  });

  test('the order of the statement stays, and so do columns of the same name', async () => {
    const sql = 'select range as n from range(60000) order by n desc;';
    const { rows } = await ask(sql, { rowForm: 'arrays' });
    expect(rows).toEqual(Array.from({ length: 50_000 }, (_, i) => [String(59_999 - i)]));
    const twice = await ask('select 1 as a, 2 as a', { rowForm: 'arrays' });
    expect(twice.columns.map(({ name }) => name)).toEqual(['a', 'a']);
  });

  test('an engine sends no more than its reader takes', async () => {
    const sql = 'select repeat(md5(range::varchar), 10) as text from range(10000)';
    const answer = await engineOf(1).query({ sql }, { ...PATIENTLY, maxRows: 10_000 });
    const iterator = answer.rows[Symbol.asyncIterator]();
    await iterator.next();
    let hasEnded = false;
    void answer.summary.then(() => {
      hasEnded = true;
    });
    // Other queries run meanwhile, so the engine had time to send more.
    for (let i = 0; i < 20; i++) await requireWorking();
    expect(hasEnded).toBe(false);
    let bytes = 0;
    for (let next = await iterator.next(); !next.done; next = await iterator.next())
      bytes += next.value.length;
    expect(bytes).toBeGreaterThan(3_000_000);
    expect(await answer.summary).toMatchObject({ rowCount: 10_000 });
  });
});

describe('files', () => {
  test('a file that comes, changes or goes is followed by the next query', async () => {
    await write(2, 'a b.csv', 'x\n1\n');
    const engine = engineOf(2);
    expect((await ask('select x from files."a b"', {}, engine)).rows).toEqual([{ x: '1' }]);
    await write(2, 'a b.csv', 'y\nnow another column\n');
    expect((await ask('select y from files."a b"', {}, engine)).rows).toEqual([{ y: 'now another column' }]);
    await rm(join(filesOf(2), 'a b.csv'));
    await expect(ask('select * from files."a b"', {}, engine)).rejects.toMatchObject({
      code: 'query_invalid',
    });
  });

  test('a file that cannot be read says so, and leaves the others alone', async () => {
    await write(3, 'good.csv', 'x\n1\n');
    await write(3, 'broken.parquet', 'this is not Parquet');
    const engine = engineOf(3);
    expect((await ask('select x from files.good', {}, engine)).rows).toEqual([{ x: '1' }]);
    await expect(ask('select * from files.broken', {}, engine)).rejects.toThrow(/broken cannot be read/);
    expect(await engine.test(PATIENTLY)).toEqual({
      isReachable: true,
      message: 'DuckDB reads 1 file, and 1 that cannot be read.',
    });
  });

  test('tables are listed with their columns', async () => {
    expect(await engineOf(1).listTables(PATIENTLY)).toEqual([
      {
        schema: 'files',
        name: 'orders',
        primaryKey: [],
        foreignKeys: [],
        columns: [
          { name: 'id', type: 'number', nativeType: 'BIGINT', isNullable: true },
          { name: 'status', type: 'string', nativeType: 'VARCHAR', isNullable: true },
          { name: 'at', type: 'time', nativeType: 'DATE', isNullable: true },
        ],
      },
    ]);
    expect(await engineOf(999).listTables(PATIENTLY)).toEqual([]);
  });
});
