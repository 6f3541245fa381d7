/** Which tables a request means, and why a source cannot be reached. */
import type { Table } from '../../engines/engine.ts';
import { ApiError, type Issue } from '../../platform/errors.ts';

export interface NamedTable {
  schema?: string | null;
  name: string;
}

/** Returns the tables in the order of the source. Throws an error that names each one that is missing or not clear. */
export function chosenTables(tables: readonly Table[], wanted: readonly NamedTable[]): Table[] {
  const chosen = new Set<Table>();
  const issues: Issue[] = [];
  for (const [i, { schema, name }] of wanted.entries()) {
    const found = tables.filter(
      (table) => table.name === name && (schema == null || table.schema === schema),
    );
    if (found.length === 1) chosen.add(found[0]!);
    else issues.push({ path: `tables[${i}]`, message: problemOf(found, name) });
  }
  const [first] = issues;
  if (first) throw new ApiError('invalid_reference', { message: `${first.path}: ${first.message}`, issues });
  return tables.filter((table) => chosen.has(table));
}

const problemOf = (found: readonly Table[], name: string) =>
  found.length
    ? `several schemas have a table ${name}: ${found.map(({ schema }) => schema).join(', ')}`
    : `there is no table ${name}`;

/** Patterns of what the engines and the drivers write. The first one that matches counts. */
const REASONS = [
  ['private_address', /is not public/],
  ['password_wrong', /password|authentication failed|pg_hba\.conf|role ".*" does not exist/i],
  ['database_missing', /database .*does not exist/i],
  ['tls', /\b(SSL|TLS)\b|certificate|altnames|wrong version number|packet length too long/i],
  ['unknown_host', /ENOTFOUND|EAI_AGAIN|getaddrinfo/],
  ['connection_refused', /ECONNREFUSED/],
  ['timeout', /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|time[d ]?.?out|too long/i],
] as const;

export const reasonOf = (message: string): (typeof REASONS)[number][0] | 'other' =>
  REASONS.find(([, pattern]) => pattern.test(message))?.[0] ?? 'other';
