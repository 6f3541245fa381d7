/** Runs every command of docs/first-query.md, in one shell, against a database of the test. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSourceDatabase, type SourceDatabase } from './source-database.ts';
import { ADMIN_KEY, createOwnWorld, type World } from './world.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/first-query.md'), 'utf8');
/** Without the settings that are the reader's own. */
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  .map(([, block]) => block!)
  .filter((block) => !block.startsWith('# Yours'));

let world: World;
let shop: SourceDatabase;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  shop = await createSourceDatabase(`
    create table customers (id bigint primary key, name text, region text);
    insert into customers values (1, 'Ada', 'EMEA'), (2, 'Bob', 'AMER');
    create table orders (id bigint primary key, customer_id bigint references customers, amount numeric);
    insert into orders values (1, 1, 10), (2, 1, 20), (3, 2, 5)`);
});
afterAll(async () => {
  await world.stop();
  await shop.stop();
});

test('the commands lead from a database to the answer that a viewer may see', async () => {
  const { host, port, database, user, password } = shop.source;
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
    env: {
      ...process.env,
      ORIEL_ADMIN_API_KEY: ADMIN_KEY,
      URL: world.url,
      DB_HOST: host,
      DB_PORT: String(port),
      DB_NAME: database,
      DB_USER: user,
      DB_PASS: password,
      DB_SSL: 'false',
    },
  });
  const rows = [...stdout.matchAll(/"data":(\[[^\]]*\])/g)].map(([, text]) => JSON.parse(text!));
  const counts = rows.filter(([row]) => row && 'orders.count' in row);
  expect(counts, stdout).toEqual([
    [
      { 'customers.region': 'EMEA', 'orders.count': '2' },
      { 'customers.region': 'AMER', 'orders.count': '1' },
    ],
    [{ 'customers.region': 'EMEA', 'orders.count': '2' }],
  ]);
  expect(stdout).toContain('"valid":true,"errors":[],"warnings":[]');
  const dashboard = JSON.parse(stdout.trim().split('\n').at(-1)!);
  expect(dashboard.reportSnapshots).toMatchObject([{ name: 'Orders by region' }]);
});
