/** Calculated fields that compare a row of the answer with others. */
import { call, joined, type Sql, sql } from '../sql.ts';
import type { OverRowsField } from './fields.ts';

export interface RowOrder {
  readonly sql: Sql;
  readonly isText: boolean;
  readonly descending: boolean;
}

export interface Window {
  readonly within: readonly Sql[];
  /** The order of the rows of a part, which tells all of them apart. */
  readonly order: readonly RowOrder[];
}

export function overRows(field: OverRowsField, value: Sql, { within, order }: Window): Sql {
  const partition = within.length ? sql`partition by ${joined(within, ', ')} ` : sql``;
  const over = (what: Sql, sorted: readonly RowOrder[] = [], frame: Sql = sql``) =>
    sql`${what} over (${partition}${sorted.length ? sql`order by ${orderSql(sorted)} ` : sql``}${frame})`;
  // The engines know `lag` by different names. In a frame of one row, its largest value is that of the row.
  const before = over(sql`max(${value})`, order, sql`rows between 1 preceding and 1 preceding`);
  switch (field.kind) {
    case 'shareOfTotal':
      return sql`(${value} / ${call('divisor', over(sql`sum(${value})`))})`;
    case 'difference':
      return sql`(${value} - ${before})`;
    case 'percentDifference':
      return sql`((${value} - ${before}) / ${call('divisor', before)})`;
    case 'runningTotal':
      return over(sql`sum(${value})`, order, sql`rows between unbounded preceding and current row`);
    case 'movingAverage':
      return over(
        sql`avg(${value})`,
        order,
        sql`rows between ${String(field.rows - 1)} preceding and current row`,
      );
    case 'rank': {
      const by = [{ sql: value, isText: false, descending: !field.ascending }];
      return sql`(case when ${value} is not null then ${over(sql`rank()`, by)} end)`;
    }
  }
}

const orderSql = (order: readonly RowOrder[]): Sql =>
  joined(
    order.map(({ sql: made, isText, descending }) => {
      const key = isText ? call('textOrder', made) : made;
      return sql`${key} ${descending ? 'desc' : 'asc'} nulls last`;
    }),
    ', ',
  );
