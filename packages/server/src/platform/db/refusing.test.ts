import pg from 'pg';
import { expect, test } from 'vitest';
import { ApiError, invalid } from '../errors.ts';
import { refusing } from './refusing.ts';

function violation(constraint: string, code = '23505') {
  const error = new pg.DatabaseError('violated', 0, 'error');
  return Object.assign(error, { code, constraint });
}

const refuse = refusing({
  roles_name_key: 'role_name_taken',
  user_roles_role_id_fkey: () => invalid('roles', 'A role is gone.', 'invalid_reference'),
});
const outcomeOf = (error: unknown) =>
  Promise.reject(error)
    .catch(refuse)
    .catch((thrown: unknown) => thrown);

test('a violated constraint becomes its API error', async () => {
  expect(await outcomeOf(violation('roles_name_key'))).toMatchObject({ code: 'role_name_taken' });
  expect(await outcomeOf(violation('user_roles_role_id_fkey', '23503'))).toMatchObject({
    code: 'invalid_reference',
    issues: [{ path: 'roles', message: 'A role is gone.' }],
  });
});

test.each([
  ['another constraint', violation('roles_pkey')],
  ['a name that every object has', violation('constructor')],
  ['an error of the database that is not a violation', violation('roles_name_key', '42P01')],
  ['an error that is already an API error', new ApiError('role_not_found')],
  ['any other error', new Error('broken')],
])('%s stays unchanged', async (_what, error) => {
  expect(await outcomeOf(error)).toBe(error);
});
