/** The answer to SQL, as rows that charts are drawn from. */
import type { Annotation, Row, Rows } from '@oriel/charts';

export interface SqlAnswer {
  columns: { name: string; type: string }[];
  rows: (string | boolean | null)[][];
  isCapped: boolean;
}

/** The answer has lines of JSON: the columns, and the rows, and whether there are more. */
export function readLines(text: string): SqlAnswer {
  const answer: SqlAnswer = { columns: [], rows: [], isCapped: false };
  for (const line of text.split('\n')) {
    if (!line) continue;
    const part = JSON.parse(line) as {
      schema?: { name: string; column_type: string }[];
      data?: SqlAnswer['rows'];
      rowsCapped?: boolean;
    };
    for (const { name, column_type: type } of part.schema ?? []) answer.columns.push({ name, type });
    for (const row of part.data ?? []) answer.rows.push(row);
    answer.isCapped ||= part.rowsCapped === true;
  }
  return answer;
}

/** How coarse the times of a column are: that is how they are written. */
function granularityOf(values: unknown[]): string {
  const texts = values.filter((value) => typeof value === 'string');
  const all = (pattern: RegExp) => texts.every((value) => pattern.test(value));
  if (all(/-01-01T00:00:00/)) return 'year';
  if (all(/-01T00:00:00/)) return 'month';
  return all(/T00:00:00/) ? 'day' : 'hour';
}

/** Numbers are measures, times have a granularity, everything else is a dimension. */
export function rowsOf({ columns, rows }: SqlAnswer): Rows {
  const used = new Set<string>();
  const annotation: Annotation = { measures: {}, dimensions: {}, timeDimensions: {} };
  const query: Rows['query'] & { measures: string[]; dimensions: string[] } = {
    measures: [],
    dimensions: [],
  };
  const timeDimensions: { dimension: string; granularity: string }[] = [];
  const keys = columns.map(({ name, type }, i) => {
    const plain = name.replaceAll(/\W/g, '_') || 'column';
    const member = `sql.${used.has(plain) ? `${plain}_${i + 1}` : plain}`;
    used.add(member.slice(4));
    const shown = { title: name, shortTitle: name };
    if (type === 'Number') {
      query.measures.push(member);
      annotation.measures[member] = { ...shown, type: 'number' };
      return member;
    }
    if (type === 'Timestamp') {
      const granularity = granularityOf(rows.map((row) => row[i]));
      timeDimensions.push({ dimension: member, granularity });
      annotation.timeDimensions[`${member}.${granularity}`] = { ...shown, type: 'time' };
      return `${member}.${granularity}`;
    }
    query.dimensions.push(member);
    annotation.dimensions[member] = { ...shown, type: type === 'Boolean' ? 'boolean' : 'string' };
    return member;
  });
  const data = rows.map((row): Row => Object.fromEntries(keys.map((key, i) => [key, row[i] as Row[string]])));
  const asked = { ...query, timeDimensions };
  return { result: { query: asked, annotation, data }, rows: data, query: asked };
}
