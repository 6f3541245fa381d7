/** What ends queries and processes of DuckDB. */
import { describe, expect, test } from 'vitest';
import {
  answerText,
  ask,
  createOwn,
  ENDLESS,
  ONE,
  PATIENTLY,
  PATIENTLY_POLLED,
  requireWorking,
  source,
  useDuckdb,
} from '../../../test/duckdb-engines.ts';
import { engineProcesses } from '../../../test/engines.ts';

useDuckdb();

/** Takes seconds within one call of a function. */
const UNINTERRUPTIBLE =
  "select strpos(repeat('a', 10000000 + range::integer), repeat('a', 30000) || 'b') as n from range(1)";

/** Returns a function that lists the processes that began after this call. */
function newProcesses() {
  const known = new Set(engineProcesses());
  return () => engineProcesses().filter((pid) => !known.has(pid));
}

describe('what ends a query', () => {
  test('its time, whatever it computes, and the next query works', async () => {
    for (const sql of [
      ENDLESS,
      "select count(*) from range(1000000000) where md5(repeat(range::varchar, 1000)) = ''",
    ]) {
      await expect(ask(sql, { timeoutMs: 2000 })).rejects.toMatchObject({ code: 'timed_out' });
      await requireWorking();
    }
  });

  test('the signal of its caller, and its process goes on', async () => {
    const running = newProcesses();
    const engine = createOwn({ atOnce: 1, waitMs: 120_000 }).of(1, source);
    await requireWorking(engine);
    const before = running();
    const controller = new AbortController();
    const asked = ask(ENDLESS, { signal: controller.signal }, engine);
    setTimeout(() => controller.abort(new Error('the caller left')), 200);
    await expect(asked).rejects.toThrow('the caller left');
    // Only one query runs at once, so the first one must have ended.
    await requireWorking(engine);
    expect(running()).toEqual(before);
  });

  test('a caller who leaves does not end the queries of others, even if the own one cannot be interrupted', async () => {
    const running = newProcesses();
    const engine = createOwn({ atOnce: 2, waitMs: 120_000 }).of(1, source);
    await requireWorking(engine);
    const before = running();
    const controller = new AbortController();
    const left = ask(UNINTERRUPTIBLE, { signal: controller.signal, sharer: 'a' }, engine);
    const leaving = expect(left).rejects.toThrow('the caller left');
    // By then, the query has begun.
    for (let i = 0; i < 10; i++) await ask('select 1 as one', { sharer: 'b' }, engine);
    controller.abort(new Error('the caller left'));
    await leaving;
    // A sharer has one of two places, and this one is taken until the first query has ended.
    let isNext = false;
    const next = ask('select 1 as one', { sharer: 'a' }, engine).then(() => {
      isNext = true;
    });
    for (let i = 0; i < 5; i++) await ask('select 1 as one', { sharer: 'b' }, engine);
    expect(isNext).toBe(false);
    await next;
    expect(running()).toEqual(before);
  });

  test('its own time limit, even if it cannot be interrupted', async () => {
    const engine = createOwn({ atOnce: 1 }).of(1, source);
    await expect(ask(UNINTERRUPTIBLE, { timeoutMs: 300 }, engine)).rejects.toMatchObject({
      code: 'timed_out',
    });
    await requireWorking(engine);
  });

  test('a reader who leaves', async () => {
    const engine = createOwn({ atOnce: 1 }).of(1, source);
    const sql = 'select repeat(md5(range::varchar), 10) as text from range(50000)';
    const answer = await engine.query({ sql }, PATIENTLY);
    for await (const piece of answer.rows) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    // Only one query runs at once, so the first one must have ended.
    await requireWorking(engine);
  });

  test('others go on while queries are ended', async () => {
    const slow = 'select sum(a.range % 7)::bigint as n from range(3000000) a';
    const good = Array.from({ length: 6 }, (_, i) => ask(`${slow} where a.range % 10 = ${i}`));
    const bad = [ENDLESS, 'select range(1000000000)'].map((sql) => ask(sql, { timeoutMs: 500 }));
    await Promise.allSettled(bad);
    const expected = Array.from({ length: 6 }, (_, i) => {
      let sum = 0;
      for (let value = i; value < 3_000_000; value += 10) sum += value % 7;
      return [{ n: String(sum) }];
    });
    expect((await Promise.all(good)).map(({ rows }) => rows)).toEqual(expected);
  });
});

describe('a process that is killed', () => {
  const kill = (known: Set<number>, signal: NodeJS.Signals = 'SIGKILL') => {
    const pids = engineProcesses().filter((pid) => !known.has(pid));
    for (const pid of pids) process.kill(pid, signal);
    return pids;
  };

  test('a query that was lost with it runs again, and the engines of others do not notice', async () => {
    const known = new Set(engineProcesses());
    const engine = createOwn().of(1, source);
    await requireWorking(engine);
    const counted = ask('select count(*) as n from range(40000000) where range % 3 = 0', {}, engine);
    const others = ask('select count(*) as n from range(10000000)');
    // A process of the other tests may have been started again meanwhile.
    expect(kill(known).length).toBeGreaterThan(0);
    expect((await counted).rows).toEqual([{ n: '13333334' }]);
    expect((await others).rows).toEqual([{ n: '10000000' }]);
  });

  test('a query that has sent rows fails, and the next one works', async () => {
    const known = new Set(engineProcesses());
    const engine = createOwn().of(1, source);
    const sql = 'select repeat(md5(range::varchar), 10) as text from range(50000)';
    const answer = await engine.query({ sql }, PATIENTLY);
    kill(known);
    await expect(answerText(answer)).rejects.toMatchObject({ code: 'source_unavailable' });
    await expect(answer.summary).rejects.toMatchObject({ code: 'source_unavailable' });
    await requireWorking(engine);
  });

  // DuckDB and Node abort if they find no memory for something that they cannot do without.
  test.each(['SIGKILL', 'SIGABRT'] as const)(
    'a query that loses its process twice fails, and the next one works: %s',
    async (signal) => {
      const known = new Set(engineProcesses());
      const engine = createOwn().of(1, source);
      await requireWorking(engine);
      const asked = ask(ENDLESS, {}, engine).catch((error: unknown) => error);
      const [first] = kill(known, signal);
      await expect
        .poll(() => engineProcesses().some((pid) => !known.has(pid) && pid !== first), PATIENTLY_POLLED)
        .toBe(true);
      // The second process must have begun with the query, or it would be given to a third.
      await requireWorking(engine);
      kill(known, signal);
      expect(await asked).toMatchObject({
        code: 'source_unavailable',
        message: 'The engine ended during the query. Try again.',
      });
      await requireWorking(engine);
    },
  );
});

describe('processes', () => {
  test('an idle one is stopped, and makes way for another', async () => {
    const known = new Set(engineProcesses());
    const running = () => engineProcesses().filter((pid) => !known.has(pid)).length;
    const own = createOwn({ processes: 1, idleMs: 60_000 });
    await requireWorking(own.of(1, source));
    await requireWorking(own.of(10, source));
    await expect.poll(running, PATIENTLY_POLLED).toBe(1);
    const held = ask(ENDLESS, { timeoutMs: 3000 }, own.of(10, source)).catch((error: unknown) => error);
    await expect(ask('select 1 as one', {}, own.of(1, source))).rejects.toMatchObject({
      code: 'busy',
    });
    expect(await held).toMatchObject({ code: 'timed_out' });

    const short = createOwn({ idleMs: 50 });
    await requireWorking(short.of(2, source));
    await own.stop();
    await expect.poll(running, PATIENTLY_POLLED).toBe(0);
    await requireWorking(short.of(2, source));
  });

  test('one deployment cannot have all of them', async () => {
    const own = createOwn({ processes: 3, deploymentProcesses: 2 });
    const named = (name: string) => own.of(1, { ...source, name });
    const leave = new AbortController();
    const held = ['a', 'b'].map((name) =>
      ask(ENDLESS, { signal: leave.signal }, named(name)).catch((error: unknown) => error),
    );
    await expect(ask('select 1 as one', {}, named('c'))).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('of this deployment'),
    });
    await requireWorking(own.of(10, source));
    leave.abort(new Error('the caller left'));
    await Promise.all(held);
    // One that is idle makes way for another one of the same deployment.
    await expect
      .poll(
        () =>
          requireWorking(named('c')).then(
            () => true,
            () => false,
          ),
        PATIENTLY_POLLED,
      )
      .toBe(true);
  });

  test('somebody new does not wait for those who have places', async () => {
    const engine = createOwn({ atOnce: 2 }).of(1, source);
    await requireWorking(engine);
    const leave = new AbortController();
    const held = Array.from({ length: 5 }, () =>
      ask(ENDLESS, { sharer: 'a', signal: leave.signal }, engine).catch((error: unknown) => error),
    );
    for (let i = 0; i < 2; i++) {
      expect((await ask('select 1 as one', { sharer: 'b' }, engine)).rows).toEqual(ONE);
    }
    leave.abort(new Error('the caller left'));
    await Promise.all(held);
  });

  test('more queries than may run at once wait, and too many are refused', async () => {
    const own = createOwn({ atOnce: 1, waiting: 2 });
    const engine = own.of(1, source);
    await requireWorking(engine);
    const first = ask(ENDLESS, { timeoutMs: 2000 }, engine).catch((error: unknown) => error);
    const two = [1, 2].map(() => ask('select 1 as one', {}, engine));
    await expect(ask('select 1 as one', {}, engine)).rejects.toMatchObject({ code: 'busy' });
    expect((await Promise.all(two)).map(({ rows }) => rows)).toEqual([ONE, ONE]);
    expect(await first).toMatchObject({ code: 'timed_out' });
  });
});
