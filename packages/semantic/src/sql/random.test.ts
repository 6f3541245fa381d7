/** Random models, data, viewers and SQL: nobody sees a row that plain loops over all rows do not allow. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cell, type Engine, openDuckDb, openPostgres } from '../../test/engines.ts';
import { evaluate } from '../../test/naive/evaluate.ts';
import { makeStatement, type TestStatement } from '../../test/naive/statements.ts';
import { makeViewer, makeWorld, tablesOf, type World, yamlOf } from '../../test/naive/world.ts';
import { createRandom } from '../../test/random.ts';
import { sqlPlanOf } from '../../test/sql.ts';
import { compileModel, type Model, QueryError, type Viewer } from '../index.ts';

/** Another seed, and more worlds, show more: `ORIEL_TEST_SEED=7 ORIEL_TEST_WORLDS=500`. */
const SEED = Number(process.env.ORIEL_TEST_SEED ?? 1);
const WORLDS = Number(process.env.ORIEL_TEST_WORLDS ?? 7);
const STATEMENTS = 8;

let engines: Engine[] = [];
beforeAll(async () => {
  engines = [await openDuckDb(), await openPostgres(inject('postgresUrl'))];
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

const sorted = (rows: Cell[][]) => rows.map((row) => JSON.stringify(row)).sort();

type Outcome = 'rows' | 'nothing' | 'refused';

async function compareOne(world: World, model: Model, made: TestStatement, viewer: Viewer): Promise<Outcome> {
  const expected = evaluate(world, made.query, viewer, made.isOfView);
  let outcome: Outcome = 'refused';
  for (const engine of engines) {
    const shown = () =>
      [engine.dialect, made.sql, JSON.stringify(viewer), yamlOf(world), ...tablesOf(world)].join('\n');
    try {
      const { statement } = sqlPlanOf(model, made.sql, viewer, engine.dialect);
      const rows = await engine.rows(statement);
      expect('rows' in expected, `${shown()}\n${statement.sql}`).toBe(true);
      const allowed = 'rows' in expected ? expected.rows : [];
      expect(sorted(rows), `${shown()}\n${statement.sql}`).toEqual(sorted(allowed));
      outcome = rows.length ? 'rows' : 'nothing';
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      // Only measures that aggregate repeated rows themselves are refused although the viewer could see them.
      if ('rows' in expected) expect(error.message, shown()).toContain('repeats the rows');
    }
  }
  return outcome;
}

test('SQL returns what plain loops over all rows allow the viewer, on every engine', async () => {
  const outcomes: Record<Outcome, number> = { rows: 0, nothing: 0, refused: 0 };
  for (let i = 0; i < WORLDS; i++) {
    const random = createRandom(SEED * 100_019 + i);
    const world = makeWorld(random);
    const { model } = compileModel(new Map([['model/world.yml', yamlOf(world)]]));
    for (const engine of engines) for (const statement of tablesOf(world)) await engine.run(statement);
    for (let j = 0; j < STATEMENTS; j++) {
      outcomes[await compareOne(world, model!, makeStatement(world, random), makeViewer(random))]++;
    }
    for (const engine of engines)
      for (const name of world.cubes.keys()) await engine.run(`drop table ${name}`);
  }
  const runs = outcomes.rows + outcomes.nothing + outcomes.refused;
  console.log(`${runs} random statements of SQL from seed ${SEED}`, outcomes);
  expect(runs).toBe(WORLDS * STATEMENTS);
  expect(outcomes.rows).toBeGreaterThan(runs / 3);
});
