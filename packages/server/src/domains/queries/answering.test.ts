/** What is asked of the results, with an engine that notes what it was asked. */
import { expect, test } from 'vitest';
import type { QueryLimits } from '../../engines/engine.ts';
import { createAnswering } from './answering.ts';
import type { QueryCall } from './query-calls.ts';
import type { Result, ResultRequest } from './results.ts';

const RESULT: Result = {
  rows: Buffer.from('[]'),
  columns: [],
  rowCount: 3,
  isCapped: false,
  at: new Date(),
};
const PERSON = { kind: 'person', userId: 7 };
const VIEWER = { kind: 'externalViewer', userId: 8, embed: { embedTenant: 'acme' } };

/** Answers SQL, and returns what the results and the engine were asked, and what the call was told. */
async function asked({
  actor = PERSON as object,
  places = 4,
  isKnown = false,
  isRenewed = false,
  as = undefined as object | undefined,
  personal = undefined as object | undefined,
}) {
  const requests: ResultRequest[] = [];
  const limits: QueryLimits[] = [];
  const told: string[] = [];
  const { answerSql } = createAnswering({
    results: {
      known: () => (isKnown ? (RESULT as never) : undefined),
      async find(request) {
        requests.push(request);
        await request.run(request.signal, { isRequeued: false, onAsked: () => {} });
        return RESULT;
      },
    },
    sourceAccess: { of: async () => expect.fail('Nobody asks with their own access.') },
    embedQueryMs: 5000,
  });
  const engine = {
    places,
    async query(_: unknown, given: QueryLimits) {
      limits.push(given);
    },
  };
  const call = {
    actor,
    as,
    signal: new AbortController().signal,
    watch: {
      onAsk: () => told.push('asks'),
      onRun: () => told.push('runs'),
      onAnswer: (rows: number) => told.push(`${rows} rows`),
    },
  } as never as QueryCall;
  const source = { type: 'duckdb', id: 'shop', version: () => '1', engine, personal } as never;
  const planned = { source, statement: { sql: 'select 1', rowForm: 'arrays' as const }, refreshKeys: [] };
  expect(await answerSql(call, planned, isRenewed)).toBe(RESULT);
  return { request: requests[0], limits: limits[0], told };
}

test.each([
  [1, 1],
  [2, 1],
  [6, 5],
])('of %i places at a data source, one caller has %i', async (places, atOnce) => {
  expect((await asked({ places })).request).toMatchObject({ atOnce, sharer: 'user 7' });
});

test('only statements of embed viewers have a limit of their own', async () => {
  expect((await asked({ actor: VIEWER })).limits).toMatchObject({ timeoutMs: 5000 });
  expect((await asked({})).limits).not.toHaveProperty('timeoutMs');
});

test('a source that gives each person their own rows shows them to nobody who looks as another one', async () => {
  const personal = { name: 'default' };
  for (const as of [VIEWER, { groups: ['staff'] }])
    await expect(asked({ as, personal })).rejects.toMatchObject({ code: 'forbidden' });
});

test('a call is told that the source is asked, unless its result is known and will do', async () => {
  const asks = ['asks', 'runs', '3 rows'];
  expect((await asked({})).told).toEqual(asks);
  expect((await asked({ isKnown: true })).told).toEqual(['3 rows']);
  expect((await asked({ isKnown: true, isRenewed: true })).told).toEqual(asks);
});
