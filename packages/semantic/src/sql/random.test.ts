/** Random models, data, viewers and SQL: nobody sees a row that plain loops over all rows do not allow. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cell, type Engine, openDuckDb, openPostgres } from '../../test/engines.ts';
import { evaluate } from '../../test/naive/evaluate.ts';
import type { TestQuery } from '../../test/naive/queries.ts';
import { makeViewer, makeWorld, tablesOf, VIEW, type World, yamlOf } from '../../test/naive/world.ts';
import { createRandom, type Random } from '../../test/random.ts';
import { sqlPlanOf } from '../../test/sql.ts';
import { compileModel, type Model, QueryError, type Viewer } from '../index.ts';

/** Another seed, and more worlds, show more: `ORIEL_TEST_SEED=7 ORIEL_TEST_WORLDS=500`. */
const SEED = Number(process.env.ORIEL_TEST_SEED ?? 1);
const WORLDS = Number(process.env.ORIEL_TEST_WORLDS ?? 25);
const STATEMENTS = 8;

let engines: Engine[] = [];
beforeAll(async () => {
  engines = [await openDuckDb(), await openPostgres(inject('postgresUrl'))];
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

interface Case {
  sql: string;
  /** The same as a JSON query, for the naive evaluator. */
  query: TestQuery;
}

const queryOf = (more: Partial<TestQuery>): TestQuery => ({
  measures: [],
  dimensions: [],
  timeDimensions: [],
  filters: [],
  segments: [],
  timezone: 'UTC',
  total: false,
  ...more,
});

/** Columns of one cube, or of several through the view; plain rows, or measures by dimensions. */
function makeCase(world: World, random: Random): Case {
  const cubes = [...world.cubes.values()];
  const isView = random.chance(0.5);
  const cube = random.pick(cubes);
  const columnOf = (owner: string, name: string) => (isView ? `${owner}_${name}` : name);
  const table = isView ? VIEW : cube.name;
  const all = (isView ? cubes : [cube]).flatMap(({ name, dimensions }) =>
    [...dimensions.keys()].map((dimension) => [name, dimension] as const),
  );
  const chosen = random.some(all, 3);
  if (!chosen.length) chosen.push(random.pick(all));
  const dimensions = chosen.map((parts) => parts.join('.'));
  const columns = chosen.map(([owner, name]) => columnOf(owner, name));
  const where = random.chance(0.4)
    ? (() => {
        const [owner, name] = random.pick(chosen);
        const isSet = random.chance(0.5);
        return {
          sql: ` where x.${columnOf(owner, name)} is ${isSet ? 'not ' : ''}null`,
          filters: [{ member: `${owner}.${name}`, operator: isSet ? 'set' : 'notSet' }],
        };
      })()
    : { sql: '', filters: [] };
  const { filters } = where;
  if (random.chance(0.5)) {
    const from = random.pick([
      `${table} x${where.sql}`,
      `(select * from (select ${columns.join(', ')} from ${table}) y) x${where.sql}`,
    ]);
    const text = `select ${columns.map((name) => `x.${name}`).join(', ')} from ${from}`;
    const sql = random.pick([
      text,
      `with w as (${text}) select * from w`,
      `(${text}) union all (${text} limit 0)`,
    ]);
    return { sql, query: queryOf({ dimensions, filters, ungrouped: true }) };
  }
  const measure = random.pick([...cube.measures.keys()]);
  const sql = `select ${columns.join(', ')}, measure(${columnOf(cube.name, measure)}) from ${table} x${where.sql} group by ${columns.map((_, i) => i + 1).join(', ')}`;
  return { sql, query: queryOf({ dimensions, filters, measures: [`${cube.name}.${measure}`] }) };
}

const sorted = (rows: Cell[][]) => rows.map((row) => JSON.stringify(row)).sort();

type Outcome = 'rows' | 'nothing' | 'refused';

async function compareOne(world: World, model: Model, made: Case, viewer: Viewer): Promise<Outcome> {
  const expected = evaluate(world, made.query, viewer);
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
      // Only measures whose rows joins repeat are refused although the viewer could see them.
      if ('rows' in expected) expect(error.message, shown()).toContain('repeat the rows');
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
      outcomes[await compareOne(world, model!, makeCase(world, random), makeViewer(random))]++;
    }
    for (const engine of engines)
      for (const name of world.cubes.keys()) await engine.run(`drop table ${name}`);
  }
  const runs = outcomes.rows + outcomes.nothing + outcomes.refused;
  console.log(`${runs} random statements of SQL from seed ${SEED}`, outcomes);
  expect(runs).toBe(WORLDS * STATEMENTS);
  expect(outcomes.rows).toBeGreaterThan(runs / 3);
});
