/** Random models, data, viewers and queries, compared with a naive evaluator on every engine. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cell, type Engine, openClickHouse, openDuckDb, openPostgres } from '../../test/engines.ts';
import { evaluate } from '../../test/naive/evaluate.ts';
import { makeQuery, type TestQuery, throughView } from '../../test/naive/queries.ts';
import { makeViewer, makeWorld, tablesOf, type World, yamlOf } from '../../test/naive/world.ts';
import { createRandom } from '../../test/random.ts';
import { compileModel, type Model, planQuery, QueryError, type Viewer } from '../index.ts';

/** Another seed, and more worlds, show more: `ORIEL_TEST_SEED=7 ORIEL_TEST_WORLDS=500`. */
const SEED = Number(process.env.ORIEL_TEST_SEED ?? 1);
const WORLDS = Number(process.env.ORIEL_TEST_WORLDS ?? 8);
const QUERIES = 10;
const NOW = new Date('2024-11-03T12:00:00Z');

let engines: Engine[] = [];
beforeAll(async () => {
  engines = [await openDuckDb(), await openPostgres(inject('postgresUrl'))];
  // See `npm run test:clickhouse`.
  const url = process.env.ORIEL_TEST_CLICKHOUSE_URL;
  if (url) engines.push(await openClickHouse(url));
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

const sorted = (rows: Cell[][]) => rows.map((row) => JSON.stringify(row)).sort();

async function answersOf(engine: Engine, model: Model, query: TestQuery, viewer: Viewer) {
  try {
    const { plans } = planQuery(model, query, viewer, { dialect: engine.dialect, now: NOW });
    const { statement, total } = plans[0]!;
    const rows = await engine.rows(statement);
    return { sql: statement.sql, rows, total: total && Number((await engine.rows(total))[0]![0]) };
  } catch (error) {
    if (error instanceof QueryError) return { error: error.code, message: error.message };
    throw error;
  }
}

async function compareOne(
  world: World,
  model: Model,
  asked: TestQuery,
  viewer: Viewer,
  isThroughView: boolean,
) {
  const expected = evaluate(world, asked, viewer, isThroughView);
  const query = isThroughView ? throughView(asked) : asked;
  for (const engine of engines) {
    const answer = await answersOf(engine, model, query, viewer);
    const shown = () =>
      [
        engine.dialect,
        JSON.stringify(query),
        JSON.stringify(viewer),
        yamlOf(world),
        ...tablesOf(world),
        answer.sql,
      ].join('\n');
    if ('error' in expected) {
      expect(answer.error, shown()).toBe(expected.error);
      continue;
    }
    const order = query.ungrouped ? sorted : (rows: Cell[][]) => rows;
    expect(answer.rows && order(answer.rows), `${answer.message ?? ''}\n${shown()}`).toEqual(
      order(expected.rows),
    );
    if (query.total) expect(answer.total, shown()).toBe(expected.total);
  }
  return 'rows' in expected && expected.rows.length > 0;
}

test('queries return what plain loops over all rows return, on every engine', async () => {
  let runs = 0;
  let withRows = 0;
  for (let i = 0; i < WORLDS; i++) {
    const random = createRandom(SEED * 100_003 + i);
    const world = makeWorld(random);
    const { model, errors } = compileModel(new Map([['model/world.yml', yamlOf(world)]]));
    expect(errors, yamlOf(world)).toEqual([]);
    for (const engine of engines) for (const statement of tablesOf(world)) await engine.run(statement);
    for (let j = 0; j < QUERIES; j++) {
      if (await compareOne(world, model!, makeQuery(world, random), makeViewer(random), j % 3 === 0))
        withRows++;
      runs++;
    }
    for (const engine of engines)
      for (const name of world.cubes.keys()) await engine.run(`drop table ${name}`);
  }
  console.log(`${runs} random queries from seed ${SEED}, ${withRows} of them with rows`);
  expect(runs).toBe(WORLDS * QUERIES);
  expect(withRows).toBeGreaterThan(runs / 4);
});
