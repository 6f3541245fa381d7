/** The order of rows. Null comes last, or first if the order is descending, as in PostgreSQL. */
import { joined, type Sql, sql } from '../plan/sql.ts';
import { listOf, partOf, wordOf } from './tree.ts';
import type { WriteContext } from './writing.ts';

/** `write` may write a key in another way, such as a number of a column. */
export function orderSql(
  nodes: unknown,
  writing: WriteContext,
  write: (node: unknown) => Sql = (node) => writing.expression(node, writing),
): Sql {
  const parts = listOf(nodes).map((item) => {
    const { node, sortby_dir, sortby_nulls } = partOf(item, 'SortBy', 'ORDER BY', [
      'node',
      'sortby_dir',
      'sortby_nulls',
    ]);
    const direction = wordOf(sortby_dir, 'ORDER BY', {
      SORTBY_DEFAULT: 'asc',
      SORTBY_ASC: 'asc',
      SORTBY_DESC: 'desc',
    });
    const nulls = wordOf(sortby_nulls, 'ORDER BY', {
      SORTBY_NULLS_DEFAULT: direction === 'asc' ? 'last' : 'first',
      SORTBY_NULLS_FIRST: 'first',
      SORTBY_NULLS_LAST: 'last',
    });
    return sql`${write(node)} ${direction} nulls ${nulls}`;
  });
  return joined(parts, ', ');
}
