/** No page of the log reads many more entries than it shows, whatever the filter and however deep it is. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countingRows } from '../../../test/rows-read.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import type { EntryFilter, Position } from './list.store.ts';
import { readPage } from './pages.ts';

const ROWS = 12_000;
const PAGE = 10;
/** Each month of a statement reads at most a page, and each page reads a few ranges of months. */
const READ_MAX = 40 * PAGE;

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
  // A connection without the time limits of the server, because a busy machine may need longer.
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query(
    `insert into audit_log (created_at, operation, resource_type, resource_id, deployment_id, embed_tenant, user_id, api_key_id,
                            request_id)
     select now() - n * interval '43 minutes', 'operation-' || n % 20, 'type-' || n % 7, 'id-' || n % 1000, n % 11, 'tenant-' || n % 13,
            n % 17, n % 19, 'request-' || n % 23
     from generate_series(1, ${ROWS}) n`,
  );
  await client.query('select make_audit_months()');
  await client.query('analyze audit_log');
  await client.end();
});
afterAll(() => world.stop());

const NO_FILTER: EntryFilter = {
  actorId: null,
  apiKeyId: null,
  operation: null,
  resourceType: null,
  resourceId: null,
  embedTenantName: null,
  requestId: null,
  deploymentIds: null,
  from: null,
  to: null,
};
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

test.each<[string, Partial<EntryFilter>]>([
  ['no filter', {}],
  ['a user', { actorId: 5 }],
  ['a key', { apiKeyId: 5 }],
  ['an operation', { operation: 'operation-5' }],
  ['a type', { resourceType: 'type-5' }],
  ['a resource', { resourceId: 'id-5' }],
  ['a type and a resource', { resourceType: 'type-5', resourceId: 'id-5' }],
  ['an embed tenant', { embedTenantName: 'tenant-5' }],
  ['a request', { requestId: 'request-5' }],
  ['a deployment', { deploymentIds: [5] }],
  ['several deployments', { deploymentIds: [5, 6, 7] }],
  ['a time', { from: daysAgo(300), to: daysAgo(100) }],
  ['nothing that exists', { operation: 'operation-none' }],
])('the first page and a deep one by %s', async (_name, given) => {
  const filter = { ...NO_FILTER, ...given };
  const { counts, db } = countingRows(world, 'from audit_log where');
  let after: Position | null = null;
  for (const size of [PAGE, 200, PAGE]) {
    counts.read = 0;
    const { rows } = await readPage(db, filter, after, size);
    if (size === PAGE) expect(counts.read).toBeLessThan(READ_MAX);
    const last = rows.at(-1);
    if (last) after = [last.time, last.id];
  }
});
