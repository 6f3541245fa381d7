/**
 * Queries for the shop of `test/golden`, with the SQL that they become and the rows that come back, in files that a
 * review can read. `npx vitest run golden --update` writes them again. ClickHouse runs them in `npm run test:clickhouse`.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cell, type Engine, openClickHouse, openDuckDb, openPostgres } from '../../test/engines.ts';
import { admin, CASES, fileOf, NOW } from '../../test/golden/cases.ts';
import { compileModel, type DialectName, type Model, planQuery } from '../index.ts';

const FOLDER = join(import.meta.dirname, '../../test/golden');
/** The files that exist before the tests of this file write any. */
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.sql') && name !== 'shop.sql');

let model: Model;
const CLICKHOUSE_URL = process.env.ORIEL_TEST_CLICKHOUSE_URL;
const DIALECTS: DialectName[] = ['duckdb', 'postgres', 'clickhouse'];

let engines: Engine[] = [];
beforeAll(async () => {
  const compiled = compileModel(
    new Map([['model/shop.yml', await readFile(join(FOLDER, 'shop.yml'), 'utf8')]]),
  );
  expect(compiled.errors).toEqual([]);
  model = compiled.model!;
  engines = [await openDuckDb(), await openPostgres(inject('postgresUrl'))];
  if (CLICKHOUSE_URL) engines.push(await openClickHouse(CLICKHOUSE_URL));
  const tables = await readFile(join(FOLDER, 'shop.sql'), 'utf8');
  for (const engine of engines)
    for (const statement of tables.split(';\n').filter((text) => text.trim())) await engine.run(statement);
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

test.each(Object.entries(CASES))('%s', async (name, [query, viewer = admin]) => {
  const { seesUnguarded: _, ...shown } = viewer;
  const texts: string[] = [
    comment(`${name}\n${JSON.stringify(query, null, 2)}\nviewer: ${JSON.stringify(shown)}`),
  ];
  const answers: Cell[][][][] = [];
  for (const dialect of DIALECTS) {
    const engine = engines.find((found) => found.dialect === dialect);
    const { plans } = planQuery(model, query, viewer, { dialect, now: NOW });
    const answer: Cell[][][] = [];
    for (const { statement, total } of plans) {
      for (const { sql, parameters } of total ? [statement, total] : [statement]) {
        texts.push(`${comment(dialect)}\n${sql};\n${comment(JSON.stringify(parameters))}`);
        if (engine) answer.push(await engine.rows({ sql, parameters }));
      }
    }
    if (engine) answers.push(answer);
  }
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  const rows = answers[0]!.map((answer) => ['rows', ...answer.map((row) => JSON.stringify(row))].join('\n'));
  texts.push(...rows.map(comment));
  await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot(join(FOLDER, fileOf(name)));
});

test('each case has its file, and each file its case', () => {
  expect(FILES.sort(), 'after --update, run it once more').toEqual(Object.keys(CASES).map(fileOf).sort());
});

const comment = (text: string) => text.replace(/^/gm, '-- ');
