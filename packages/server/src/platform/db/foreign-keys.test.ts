import pg from 'pg';
import { expect, test } from 'vitest';
import { missingReference } from './foreign-keys.ts';

const missing = missingReference([
  { table: 'folders', name: 'folders_user_id_fkey', column: 'user_id', target: 'users' },
  { table: 'folders', name: 'made_by', column: 'maker', target: 'users' },
  { table: 'workbooks', name: 'workbooks_folder_id_fkey', column: 'folder_id', target: 'folders' },
]);

const violation = (fields: Partial<pg.DatabaseError>) =>
  Object.assign(new pg.DatabaseError('violated', 0, 'error'), { code: '23503', ...fields });

test.each([
  ['folders', 'folders_user_id_fkey', 'Key (user_id)=(12) is not present in table "users".', 'users', 12],
  ['folders', 'made_by', 'Schlüssel (maker)=(7) ist nicht in Tabelle »users« vorhanden.', 'users', 7],
  ['workbooks', 'workbooks_folder_id_fkey', 'Key (folder_id)=(3) is not present.', 'folders', 3],
])('a violated key of %s names the missing row: %s', (table, constraint, detail, target, id) => {
  expect(missing(violation({ table, constraint, detail }))).toEqual({ table: target, id });
});

test.each([
  [
    'a row that others still refer to',
    { constraint: 'made_by', detail: 'Key (id)=(7) is still referenced.' },
  ],
  ['a name that only looks like a key', { constraint: 'other_user_id_fkey', detail: 'Key (user_id)=(7).' }],
  ['the same name on another table', { table: 'reports', constraint: 'made_by', detail: 'Key (maker)=(7).' }],
  ['another violation', { code: '23505', constraint: 'made_by', detail: 'Key (maker)=(7) exists.' }],
])('%s is not a missing row', (_what, fields) => {
  expect(missing(violation({ table: 'folders', ...fields }))).toBeUndefined();
  expect(missing(new Error('broken'))).toBeUndefined();
});
