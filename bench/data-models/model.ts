/** A data model of many files, and edits of it. */

/** By path. */
export type Files = Map<string, string>;

const FOLDERS = 40;
const MEMBERS = 12;

export const pathOf = (n: number) => `model/cubes/area-${n % FOLDERS}/cube-${n}.yml`;

export const makeModel = (files: number): Files =>
  new Map(Array.from({ length: files }, (_, n) => [pathOf(n), makeCube(n, UNCHANGED)]));

/** What the first and the last member of a cube add. They are far apart, so changes of both do not conflict. */
export interface Ends {
  first: number;
  last: number;
}

export const UNCHANGED: Ends = { first: 0, last: 0 };

export function makeCube(n: number, { first, last }: Ends): string {
  const dimensions = Array.from({ length: MEMBERS }, (_, i) =>
    member(`dimension_${i}`, 'string', `{CUBE}.column_${i}`),
  );
  const measures = Array.from({ length: MEMBERS }, (_, i) =>
    member(`measure_${i}`, 'sum', `{CUBE}.amount_${i}`),
  );
  return [
    'cubes:',
    `  - name: cube_${n}`,
    `    sql_table: public.table_${n}`,
    '    dimensions:',
    member('first', 'number', `{CUBE}.first + ${first}`),
    ...dimensions,
    '    measures:',
    ...measures,
    member('last', 'sum', `{CUBE}.last + ${last}`),
    '',
  ].join('\n');
}

const member = (name: string, type: string, expression: string) =>
  `      - name: ${name}\n        type: ${type}\n        sql: "${expression}"`;
