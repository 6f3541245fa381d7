/** What was published under earlier rules. */
import { afterEach, expect, test, vi } from 'vitest';
import {
  BARS,
  chart,
  deploymentId,
  position,
  publish,
  report,
  usePublishing,
  workbookId,
  world,
} from '../../../test/publishing.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ChartAnswer, ChartTask } from './charts.ts';
import { stateOf } from './dashboards.ts';
import { createRechecks } from './rechecks.ts';
import { RULES } from './snapshots.ts';
import type { VersionRow } from './store.ts';

usePublishing();
afterEach(() => void vi.useRealTimers());

const vega = (spec: object, more: object = {}) => report({ chart: { kind: 'vega', spec, ...more } });

/** Publishes these reports, and changes what is stored to what earlier rules let pass. */
async function publishEarlier(ids: number[], change: (version: VersionRow) => void) {
  const widgets = ids.map((id, i) => chart(id, String(i)));
  const published = await publish({ config: { widgets } });
  const { pool } = world.server.db;
  const { rows } = await pool.query(
    'select id, config, snapshots from dashboard_versions where dashboard_id = $1',
    [published.id],
  );
  const version = rows[0] as VersionRow;
  for (const snapshot of version.snapshots) delete snapshot.rules;
  change(version);
  await pool.query('update dashboard_versions set config = $2, snapshots = $3 where id = $1', [
    version.id,
    JSON.stringify(version.config),
    JSON.stringify(version.snapshots),
  ]);
  return published;
}

const loadsFromElsewhere = ({ snapshots }: VersionRow) => {
  (snapshots[0]!.spec as { data: { url?: string }[] }).data[0]!.url = 'https://elsewhere.example';
};

test('a widget that is refused today is not shown, and the others are', async () => {
  const ids = [await vega(BARS), await vega({ ...BARS, mark: 'line' }), await report(), await vega(BARS)];
  const published = await publishEarlier(ids, (version) => {
    const { snapshots, config } = version;
    loadsFromElsewhere(version);
    Object.assign(snapshots[1]!.source!, { params: [{ name: 'a', expr: 'event.item' }] });
    snapshots[2]!.spec = { columns: 'all' };
    config.widgets!.push({ id: 'text', type: 'TEXT', position, config: { content: 'Hello' } });
  });
  const read = await world.admin.getDashboard({ publicId: published.publicId });
  expect(read.reportSnapshots[3]).toEqual(published.reportSnapshots[3]);
  for (const [i, problem] of ['cannot be used', '`event`', 'must be a list'].entries()) {
    const { spec, meta } = read.reportSnapshots[i]!;
    expect([spec, meta]).toEqual([{}, { problem: expect.stringContaining(problem) }]);
  }
  expect(read.config.widgets!.map(({ config }) => config)).toEqual([
    ...ids.map((reportId) => ({ reportId })),
    { problem: expect.stringContaining('needs a text') },
  ]);
  // A reader of the workbook gets the same.
  const { publishedDashboard } = await world.admin.getWorkbook({ deploymentId, workbookId });
  expect(publishedDashboard).toEqual(read);
});

test('the Python of a report that is refused today does not run', async () => {
  const reportId = await vega(BARS, { python: 'output = 1' });
  const { publicId, reportSnapshots } = await publishEarlier([reportId], loadsFromElsewhere);
  const reportVersionId = reportSnapshots[0]!.id;
  const run = world.admin.postDashboardPythonRun({
    publicId,
    body: { reportId, reportVersionId, sqlQuery: 'select 1' },
  });
  await expect(run).rejects.toMatchObject({ status: 404, code: 'python_not_found' });
});

test('the tag of a dashboard is another one under other rules', () => {
  expect(stateOf({ id: 1, revision: 2 }, { isShared: true })).toEqual({
    id: 1,
    revision: 2,
    rules: RULES,
    isShared: true,
  });
});

const earlier = (id: number) => {
  const snapshot = { reportId: 1, kind: 'vega', source: BARS, spec: {}, rules: 0 };
  return { id, config: {}, snapshots: [snapshot] } as unknown as VersionRow;
};

/** A compiler of charts that answers when the test says so. */
function createHeldCharts() {
  const held: { resolve(answers: ChartAnswer[]): void; reject(error: Error): void }[] = [];
  const compile = (_tasks: ChartTask[]) =>
    new Promise<ChartAnswer[]>((resolve, reject) => void held.push({ resolve, reject }));
  return { held, rechecks: createRechecks({ compile }) };
}
const TOO_MUCH: ChartAnswer = { problem: { path: '', message: 'takes too much' }, isUnfinished: true };
const REFUSED: ChartAnswer = { problem: { path: '', message: 'refused' } };

test('readers who come at the same time share one check, and a check that fails is made again', async () => {
  const { held, rechecks } = createHeldCharts();
  const read = () => rechecks.of(earlier(1), 'user 1').catch(({ code }: ApiError) => code);
  const first = [read(), read(), read()];
  expect(held.length).toBe(1);
  held[0]!.reject(new ApiError('busy'));
  expect(await Promise.all(first)).toEqual(['busy', 'busy', 'busy']);
  const again = [read(), read()];
  expect(held.length).toBe(2);
  held[1]!.resolve([{ vega: {} }]);
  expect(await Promise.all(again)).toMatchObject([{ isFinal: true }, { isFinal: true }]);
});

test('a verdict is kept, except one that took too much', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { held, rechecks } = createHeldCharts();
  const read = async (id: number, answer: ChartAnswer) => {
    const reading = rechecks.of(earlier(id), 'user 1');
    held.shift()?.resolve([answer]);
    const { version, isFinal } = await reading;
    return [version.snapshots[0]!.problem, isFinal];
  };
  expect(await read(1, TOO_MUCH)).toEqual(['takes too much', false]);
  // Looking again at once would take too much again.
  expect(await read(1, { vega: {} })).toEqual(['takes too much', false]);
  expect(await read(2, REFUSED)).toEqual(['refused', true]);
  vi.setSystemTime(Date.now() + 61_000);
  expect(await read(1, { vega: {} })).toEqual([undefined, true]);
  expect(await read(2, { vega: {} })).toEqual(['refused', true]);
});
