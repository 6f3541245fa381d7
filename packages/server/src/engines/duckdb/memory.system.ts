/** Large answers and large queries of DuckDB, with real processes: what does not fit is an error, and others go on. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  answerText,
  ask,
  createOwn,
  ONE,
  PATIENTLY,
  PATIENTLY_POLLED,
  requireWorking,
  source,
  useDuckdb,
} from '../../../test/duckdb-engines.ts';
import { engineProcesses } from '../../../test/engines.ts';

useDuckdb();

const twenty = (value: string) => Array.from({ length: 20 }, (_, i) => `${value} as c${i}`).join(', ');

test('a gigabyte of answer, in many rows or in one value, is an error', async () => {
  const many = 'select repeat(md5(range::varchar), 300) as text from range(10000)';
  await expect(ask(many)).rejects.toMatchObject({ code: 'result_too_large' });
  const more = 'select repeat(md5(range::varchar), 1000) as text from range(40000)';
  await expect(ask(more)).rejects.toMatchObject({ code: 'query_too_large' });
  await expect(ask("select repeat('x', 1000000000) as text")).rejects.toMatchObject({
    code: 'query_too_large',
  });
  // Whether it fits into the memory depends on what else is in it.
  await expect(ask("select repeat('x', 40000000) as text")).rejects.toMatchObject({
    code: expect.stringMatching(/^(query|result)_too_large$/),
  });
  await requireWorking();
});

test('one row that does not fit into the memory is an error, and the process goes on', async () => {
  const known = new Set(engineProcesses());
  const pids = () => engineProcesses().filter((pid) => !known.has(pid));
  const engine = createOwn({ memoryMb: 1024 }).of(1, source);
  await requireWorking(engine);
  const before = pids();
  expect(before).toHaveLength(1);
  const again = (of: string) => `select concat(${Array(31).fill('x').join(', ')}) as x from ${of}`;
  const long = `with z as (select '${'a'.repeat(1000)}' as x), a as (${again('z')}), b as (${again('a')})`;
  for (const sql of [
    `${long} select ${twenty('x')} from b`,
    `${long} select ${twenty('[x]')} from b`,
    `${long} select ${twenty("{'a': [x, null]}")} from b`,
    `${long} select ${twenty('map([1], [x])')} from b`,
    `${long} select ${twenty('array_value(x, x)')} from b`,
    `${long} select ${twenty('encode(x)')} from b`,
    'select range(5000000) as list',
  ]) {
    const asked = ask(sql, {}, engine);
    await expect(asked, sql.slice(-80)).rejects.toMatchObject({ code: 'result_too_large' });
    await requireWorking(engine);
  }
  const { rows } = await ask(`${long} select x, [x] as list from b`, {}, engine);
  expect(String(rows[0]?.x)).toBe('a'.repeat(961_000));
  expect(pids()).toEqual(before);
});

test('a row that finds no memory on its way is an error, and is not left out', async () => {
  const engine = createOwn({ memoryMb: 128 }).of(1, source);
  await requireWorking(engine);
  // Some of these sizes fit while the query computes, but not when the driver fetches the row. Which ones they are
  // depends on how much Node itself uses. Rarely the process ends, if it finds no memory for something else.
  for (let megabytes = 80; megabytes <= 140; megabytes += 5) {
    const asked = ask(`select ${twenty(`repeat('x', ${megabytes * 50_000})`)}`, {}, engine);
    await expect(asked, `${megabytes} MB`).rejects.toMatchObject({
      message: expect.stringMatching(
        /needs more memory than it may have|^A row has more than|^The engine ended during the query/,
      ),
    });
  }
  await requireWorking(engine);
});

test('what a query that was too large has used is there for the next ones', async () => {
  const engine = createOwn().of(1, source);
  for (let i = 0; i < 3; i++) {
    const large = ask('select repeat(md5(range::varchar), 1000) as text from range(40000)', {}, engine);
    await expect(large).rejects.toMatchObject({ code: 'query_too_large' });
    // Reading a file needs several large buffers.
    expect((await ask('select count(*) as n from files.orders', {}, engine)).rows).toEqual([{ n: '2' }]);
  }
});

test('the process gives the memory of a large query back to the system', async () => {
  const known = new Set(engineProcesses());
  const engine = createOwn().of(1, source);
  const sql =
    'select count(*) as n from (select distinct repeat(md5(range::varchar), 100) from range(30000))';
  expect((await ask(sql, {}, engine)).rows).toEqual([{ n: '30000' }]);
  const [pid] = engineProcesses().filter((one) => !known.has(one));
  const status = () => readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status())![1]);
  // The query takes more than 100 MB.
  await expect.poll(() => kilobytes('VmHWM') - kilobytes('VmRSS'), PATIENTLY_POLLED).toBeGreaterThan(60_000);
});

test('only a query that was alone is too large', async () => {
  const engine = createOwn().of(1, source);
  // Sorted rows are in memory until the reader has taken them.
  const neighbour = async () => {
    const sql = 'select repeat(md5(range::varchar), 100) as text from range(30000) order by text';
    return engine.query({ sql }, { ...PATIENTLY, maxRows: 100_000, maxBytes: 1e9 });
  };
  const large = 'select repeat(md5(range::varchar), 1000) as text from range(40000)';
  const fair =
    'select count(*) as n from (select distinct repeat(md5(range::varchar), 100) from range(30000))';

  const first = await neighbour();
  // The neighbour stays, so it cannot run again.
  await expect(ask('select range(1000000000)', { timeoutMs: 8000 }, engine)).rejects.toMatchObject({
    code: 'busy',
  });
  const [counted] = await Promise.all([ask(fair, PATIENTLY, engine), answerText(first)]);
  expect(counted.rows).toEqual([{ n: '30000' }]);
  await expect(ask(large, PATIENTLY, engine)).rejects.toMatchObject({ code: 'query_too_large' });
});

test('a query that waits for memory keeps no place from others', async () => {
  // On a busy machine the first query runs for seconds, and would be ended for the others who have no place.
  const preemption = { afterMs: 200, ranMs: 500, leadTimes: 4, leadMs: 600_000 };
  const engine = createOwn({ atOnce: 2, preemption }).of(1, source);
  // Sorted rows are in memory until the reader has taken them.
  const sql = 'select repeat(md5(range::varchar), 100) as text from range(30000) order by text';
  const hog = await engine.query({ sql }, { ...PATIENTLY, sharer: 'a', maxRows: 100_000, maxBytes: 1e9 });
  const leave = new AbortController();
  const waiting = ['b', 'c'].map((sharer) =>
    ask('select range(1000000000)', { ...PATIENTLY, sharer, signal: leave.signal }, engine).catch(
      (error: unknown) => error,
    ),
  );
  for (let i = 0; i < 3; i++) {
    expect((await ask('select 1 as one', { sharer: 'd' }, engine)).rows).toEqual(ONE);
  }
  leave.abort(new Error('the caller left'));
  expect(await Promise.all(waiting)).toEqual([leave.signal.reason, leave.signal.reason]);
  await answerText(hog);
  await requireWorking(engine);
});

test('a query ends that needs more memory than it may have', async () => {
  for (const sql of [
    'select list(range) from range(1000000000)',
    "select string_agg(range::varchar, ',') from range(1000000000)",
    'select range(1000000000)',
    'select count(*) from (select distinct range, md5(range::varchar) from range(100000000))',
  ]) {
    await expect(ask(sql)).rejects.toMatchObject({ code: 'query_too_large' });
  }
  await requireWorking();
});
