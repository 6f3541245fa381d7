import type { operations, QueryOf } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { listPeople } from './list.store.ts';

const LIST = 'people by id';

/** Returns a page of people. It ends early if it is large enough. */
export async function pageOfPeople(
  db: Queryable,
  cursors: Cursors,
  query: QueryOf<typeof operations.listUsers>,
) {
  const { search = null, state, role = null, groupId = null, first, after } = query;
  const size = pageSize(first);
  const afterId = after === undefined ? 0 : (cursors.decode(LIST, after)[0] as number);
  const isDeactivated = state == null ? null : state === 'deactivated';
  const rows = await listPeople(db, { search, isDeactivated, role, groupId }, { afterId, limit: size + 1 });
  const cut = rows.findIndex(({ found }) => found === null);
  const { items, pageInfo } = toPage(rows, {
    size: cut === -1 ? size : Math.min(size, cut),
    after,
    cursorOf: ({ id }) => cursors.encode(LIST, [id]),
    bytesOf: () => 0,
  });
  return { items: items.map(({ found }) => found!), pageInfo };
}
