import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import type { Page } from './store.ts';

interface CursorQuery {
  first?: number | null;
  after?: string | null;
}

export async function pageById<Row extends { id: number }>(
  cursors: Cursors,
  list: string,
  query: CursorQuery,
  read: (page: Page) => Promise<Row[]>,
) {
  const size = pageSize(query.first);
  const after = query.after ?? undefined;
  const afterId = after === undefined ? 0 : (cursors.decode(list, after)[0] as number);
  const rows = await read({ afterId, limit: size + 1 });
  return toPage(rows, { size, after, cursorOf: ({ id }) => cursors.encode(list, [id]) });
}
