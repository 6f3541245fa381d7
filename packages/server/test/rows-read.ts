/** Counts the rows that statements read, from their query plans. */
import type { Queryable } from '../src/platform/db/database.ts';
import type { Sql } from '../src/platform/db/sql.ts';
import type { World } from './world.ts';

interface Plan {
  'Node Type': string;
  'Parent Relationship'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/** Whether the rows of a scan come from this node. Subqueries of its conditions only help to filter them. */
const isInput = (plan: Plan) => !['InitPlan', 'SubPlan'].includes(plan['Parent Relationship'] ?? '');

const readBy = (plan: Plan): number => {
  const below = (plan.Plans ?? []).reduce((sum, other) => sum + readBy(other), 0);
  if (!/Scan/.test(plan['Node Type']) || plan.Plans?.some(isInput)) return below;
  return below + (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
};

/** A database that counts the rows that its statements read, or only those statements that contain the given text. */
export function countingRows({ server: { db } }: World, text = '') {
  const counts = { read: 0 };
  const many = async (query: Sql) => {
    if (query.text.includes(text)) {
      const { rows } = await db.pool.query(`explain (analyze, format json) ${query.text}`, query.values);
      counts.read += readBy(rows[0]['QUERY PLAN'][0].Plan);
    }
    return (await db.pool.query(query.text, query.values)).rows;
  };
  const one = async (query: Sql) => (await many(query))[0];
  return { counts, db: { many, one, maybeOne: one } as unknown as Queryable };
}
