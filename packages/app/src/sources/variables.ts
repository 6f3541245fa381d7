/** A data source as the variables of the deployment describe it. */

export type Kind = 'duckdb' | 'postgres' | 'clickhouse';
export const KINDS: readonly Kind[] = ['duckdb', 'postgres', 'clickhouse'];

export const PORTS: Record<Kind, string> = { duckdb: '', postgres: '5432', clickhouse: '8443' };

/** The fields of a server. The password is never shown. */
export const FIELDS = ['DB_HOST', 'DB_PORT', 'DB_NAME', 'DB_USER', 'DB_SSL'] as const;
export type Field = (typeof FIELDS)[number];

export interface Source {
  name: string;
  kind: Kind;
  values: Partial<Record<Field, string>>;
  hasPassword: boolean;
  /** The names of all variables that describe it. */
  variables: string[];
}

const HIDDEN = '[ENCRYPTED]';
const VARIABLE = /^(?:DS_([A-Z0-9_]+?)_)?(DB_[A-Z_]+)$/;

export const prefixOf = (name: string) => (name === 'default' ? '' : `DS_${name.toUpperCase()}_`);

/** Without variables there is the source `default`, which is DuckDB with the files of the deployment. */
export function sourcesOf(variables: readonly { name: string; value: string }[]): Source[] {
  const found = new Map<string, Source>([
    ['default', { name: 'default', kind: 'duckdb', values: {}, hasPassword: false, variables: [] }],
  ]);
  for (const { name, value } of variables) {
    const [, prefix, variable] = VARIABLE.exec(name) ?? [];
    if (variable === undefined) continue;
    const key = (prefix ?? 'default').toLowerCase();
    const source = found.get(key) ?? {
      name: key,
      kind: 'duckdb',
      values: {},
      hasPassword: false,
      variables: [],
    };
    found.set(key, source);
    source.variables.push(name);
    const shown = value === HIDDEN ? '' : value;
    if (variable === 'DB_TYPE')
      source.kind = KINDS.find((kind) => kind === shown) ?? (shown ? source.kind : 'postgres');
    else if (variable === 'DB_PASS') source.hasPassword = true;
    else if (FIELDS.some((field) => field === variable)) source.values[variable as Field] = shown;
  }
  return [...found.values()];
}

/** What is stored. A blank password leaves the stored one as it is. */
export function variablesFor(
  name: string,
  kind: Kind,
  values: Partial<Record<Field, string>>,
  password: string,
): { name: string; value: string }[] {
  const prefix = prefixOf(name);
  const type = { name: `${prefix}DB_TYPE`, value: kind };
  if (kind === 'duckdb') return [type];
  const given = FIELDS.flatMap((field) =>
    values[field] ? [{ name: prefix + field, value: values[field] }] : [],
  );
  return [type, ...given, ...(password ? [{ name: `${prefix}DB_PASS`, value: password }] : [])];
}

/** How many queries run at once is the only variable that every kind has, and that this form does not show. */
const OF_EVERY_KIND = /(^|_)DB_CONCURRENCY$/;
const OF_SERVERS = /(^|_)DB_(HOST|PORT|NAME|USER|PASS|SSL)$/;

/** The stored variables that do not describe the source any more. Those of people's own access stay with a server. */
export function leftOver(before: Source, stored: readonly { name: string; value: string }[]): string[] {
  const type = stored.find(({ name }) => name.endsWith('DB_TYPE'))?.value;
  const now = new Set(stored.map(({ name }) => name));
  return before.variables.filter((name) => {
    if (now.has(name) || OF_EVERY_KIND.test(name)) return false;
    if (type !== before.kind) return true;
    return OF_SERVERS.test(name) && !name.endsWith('DB_PASS');
  });
}
