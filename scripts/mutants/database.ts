import { type Mutant, SERVER, TEST } from './mutant.ts';

export const database: Mutant[] = [
  {
    name: 'a cache does not keep what was read before a notification',
    file: `${SERVER}platform/db/notified-cache.ts`,
    from: 'if (listener.hears && before === generation) {',
    to: 'if (listener.hears) {',
    tests: [`${SERVER}platform/db/notified-cache.test.ts`],
  },
  {
    name: 'a deadlock is tried again',
    file: `${SERVER}platform/db/database.ts`,
    from: 'if (tries >= MAX_TRIES || !isRetryable(error)) throw error;',
    to: 'throw error;',
    tests: [`${SERVER}platform/db/database.test.ts`],
  },
  {
    name: 'a statement binds nothing that the driver would guess a text for',
    file: `${SERVER}platform/db/sql.ts`,
    from: 'if (Array.isArray(value)) return value.map(bound);',
    to: 'return value as never;',
    tests: [`${SERVER}platform/db/sql.test.ts`],
  },
  {
    name: 'a migration keeps the rows that are there',
    file: 'packages/server/migrations/0022-named-policies.sql',
    from: 'alter table resource_policies',
    to: 'delete from resource_policies;\nalter table resource_policies',
    tests: [`${TEST}upgrades.test.ts`],
  },
  {
    name: 'a migration succeeds where there are rows',
    file: 'packages/server/migrations/0022-named-policies.sql',
    from: 'boolean not null default true',
    to: 'boolean not null',
    tests: [`${TEST}upgrades.test.ts`],
  },
  {
    name: 'an older server leaves the functions of a newer one alone',
    file: `${SERVER}platform/db/functions.ts`,
    from: '  if (applied.some((row) => isNewer(row.version, version))) return;\n',
    to: '',
    tests: [`${TEST}migrations.test.ts`],
  },
  {
    name: 'a function whose parameters change leaves nothing behind',
    file: `${SERVER}platform/db/functions.ts`,
    from: '  for (const { signature } of replaced) await',
    to: '  if (false as boolean) for (const { signature } of replaced) await',
    tests: [`${TEST}migrations.test.ts`],
  },
  {
    name: 'an index that was cut off is made anew',
    file: `${SERVER}platform/db/migrate.ts`,
    from: '  if (isMade && rows[0] && !isWhole) await',
    to: '  if (false as boolean) await',
    tests: [`${TEST}migrations.test.ts`],
  },
  {
    name: 'an index can be built while other servers wait for the migration',
    file: `${SERVER}platform/db/migrate.ts`,
    from: 'select pg_try_advisory_lock($1) as taken',
    to: 'select pg_advisory_lock($1) is not null as taken',
    tests: [`${TEST}migrations.test.ts`],
  },
  {
    name: 'a search of users takes signs of patterns literally',
    file: `${SERVER}platform/db/sql.ts`,
    from: `.replaceAll(/[\\\\%_]/g, '\\\\$&')`,
    to: '',
    tests: [`${SERVER}domains/users/list.test.ts`],
  },
];
