import { expect, test } from 'vitest';
import { createCursors, type PageById, pageById, pageByIdOrOffset } from './pages.ts';

const cursors = createCursors([Buffer.from('secret')]);
const ids = [3, 5, 8, 13, 21];
const rows = ids.map((id) => ({ id }));
const read = ({ afterId, limit, offset = 0 }: PageById & { offset?: number }) =>
  rows.filter(({ id }) => id > afterId).slice(offset, offset + limit);
const idsOf = (items: { id: number }[]) => items.map(({ id }) => id);

test('paging through a list by id returns each row once', async () => {
  const seen: number[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof pageById>> = await pageById(
      cursors,
      'l',
      { first: 2, after },
      read,
    );
    seen.push(...idsOf(page.items));
    expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after !== null);
  expect(seen).toEqual(ids);
});

test('a cursor of another list is refused', async () => {
  const { pageInfo } = await pageById(cursors, 'one list', { first: 1 }, read);
  const query = { after: pageInfo.endCursor };
  await expect(pageById(cursors, 'another', query, read)).rejects.toMatchObject({ code: 'invalid_cursor' });
});

test('a page by offset has no cursors, and shows its limit and offset', async () => {
  const readLater = async (page: PageById & { offset: number }) => read(page);
  const page = await pageByIdOrOffset(cursors, 'l', { limit: 2, offset: 1 }, readLater);
  expect(idsOf(page.items)).toEqual([5, 8]);
  expect(page).toMatchObject({ pageInfo: null, limit: 2, offset: 1 });
  const byCursor = await pageByIdOrOffset(cursors, 'l', { first: 4 }, readLater);
  expect(idsOf(byCursor.items)).toEqual([3, 5, 8, 13]);
  expect(byCursor).toMatchObject({ pageInfo: { hasNextPage: true }, limit: 4, offset: 0 });
  const both = pageByIdOrOffset(cursors, 'l', { first: 1, offset: 1 }, readLater);
  await expect(both).rejects.toMatchObject({ code: 'mixed_pagination' });
});
