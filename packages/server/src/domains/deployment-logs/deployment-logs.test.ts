import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { createDeploymentLog, type LogLine } from './index.ts';
import { LINES_KEPT } from './log.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const logOf = (processName = 'pod-1') =>
  createDeploymentLog({ db: world.server.db, log: pino({ level: 'silent' }), processName });
const line = (message: string, changes: Partial<LogLine> = {}): LogLine => ({
  source: 'production',
  container: 'MAIN',
  message,
  ...changes,
});
const messages = async (deploymentId: number, query: object = {}) =>
  (await world.admin.logs({ deploymentId, first: 1000, ...query })).items
    .map(({ message }) => message)
    // A new deployment is built, which its log tells too.
    .filter((message) => !/^(The build of|Warning:) /.test(message));

test('lines are shown newest first, with the time and the process that wrote them', async () => {
  const { id } = await world.deployment();
  const log = logOf(unique('pod'));
  log.add(id, [line('first'), line('second')]);
  await log.flush();
  log.add(id, [line('third')]);
  await log.flush();
  expect(await messages(id)).toEqual(['third', 'second', 'first']);
  const [newest] = (await world.admin.logs({ deploymentId: id, first: 1 })).items;
  expect(newest).toMatchObject({ pod: expect.stringMatching(/^pod-/), date: expect.any(String) });
});

test('source, container and pod choose lines', async () => {
  const { id } = await world.deployment();
  const [one, other] = [logOf('pod-1'), logOf('pod-2')];
  one.add(id, [line('a', { source: 'dev' }), line('b', { container: 'query-server' })]);
  other.add(id, [line('c', { source: 'dev', container: 'query-server' })]);
  await one.flush();
  await other.flush();
  expect(await messages(id, { source: 'dev' })).toEqual(['c', 'a']);
  expect(await messages(id, { container: 'query-server' })).toEqual(['c', 'b']);
  expect(await messages(id, { pod: 'pod-1' })).toEqual(['b', 'a']);
  expect(await messages(id, { pod: 'pod-1', source: 'dev', container: 'MAIN' })).toEqual(['a']);
  expect(await messages(id, { pod: 'nobody' })).toEqual([]);
});

test('the lines of one deployment are not shown in another, and cursors do not lead there', async () => {
  const [mine, other] = [await world.deployment(), await world.deployment()];
  const log = logOf();
  log.add(mine.id, [line('mine'), line('mine too')]);
  log.add(other.id, [line('of others')]);
  await log.flush();
  expect(await messages(other.id)).toEqual(['of others']);
  const { pageInfo } = await world.admin.logs({ deploymentId: mine.id, first: 1 });
  const foreign = world.admin.logs({ deploymentId: other.id, after: pageInfo.endCursor! });
  await expect(foreign).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
});

test('a line is one line of bounded length, whatever it was made of', async () => {
  const { id } = await world.deployment();
  const log = logOf();
  log.add(id, [line('two\nlines\u0000and \ud800 more'), line('x'.repeat(100_000)), line('é'.repeat(4000))]);
  await log.flush();
  const [accents, long, control] = await messages(id);
  expect(control).toBe('two lines and \ufffd more');
  expect(long).toMatch(/^x+ …$/);
  expect(accents).toMatch(/^é+ …$/);
  for (const cut of [long!, accents!]) {
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(4096);
    expect(Buffer.byteLength(cut)).toBeGreaterThan(4080);
  }
});

test('the newest 10,000 lines of a deployment are kept', async () => {
  const [{ id }, other] = [await world.deployment(), await world.deployment()];
  const log = logOf();
  log.add(other.id, [line('stays')]);
  for (let from = 0; from < LINES_KEPT + 2500; from += 2500) {
    log.add(
      id,
      Array.from({ length: 2500 }, (_, i) => line(`line ${from + i}`)),
    );
    await log.flush();
  }
  const rows = async (deploymentId: number) =>
    (
      await world.server.db.pool.query(
        `select count(*)::int as count, (array_agg(message order by id))[1] as oldest
         from deployment_log_lines where deployment_id = $1`,
        [deploymentId],
      )
    ).rows[0];
  // The line of the first build may be among them.
  await expect
    .poll(() => rows(id))
    .toEqual({ count: LINES_KEPT, oldest: expect.stringMatching(/^line 250\d$/) });
  expect((await rows(other.id)).count).toBeGreaterThanOrEqual(1);
});

test('old lines are deleted also by processes that write only a few', async () => {
  const { id } = await world.deployment();
  await world.server.db.pool.query(
    `insert into deployment_log_lines (deployment_id, source, container, pod, message, created_at)
     select $1, 'production', 'MAIN', 'pod-1', 'old', now() from generate_series(1, $2)`,
    [id, LINES_KEPT + 100],
  );
  const log = logOf('pod-2');
  log.add(id, [line('new')]);
  await log.flush();
  const { rows } = await world.server.db.pool.query(
    'select count(*)::int as count from deployment_log_lines where deployment_id = $1',
    [id],
  );
  // The line of the first build may come later.
  expect(rows[0].count - LINES_KEPT).toBeLessThanOrEqual(1);
});

test('lines beyond what waits in memory are dropped, and lines of a deleted deployment are not stored', async () => {
  const [{ id }, gone] = [await world.deployment(), await world.deployment()];
  const log = logOf();
  await world.admin.deleteDeployment({ deploymentId: gone.id });
  log.add(gone.id, [line('late')]);
  log.add(
    id,
    Array.from({ length: 6000 }, (_, i) => line(`line ${i}`)),
  );
  await log.flush();
  expect((await messages(id, { first: 10 }))[0]).toBe('line 4998');
  const { rows } = await world.server.db.pool.query(
    "select 1 from deployment_log_lines where deployment_id = $1 and message = 'late'",
    [gone.id],
  );
  expect(rows).toEqual([]);
});
