import { operations } from '@oriel/contract';
import { expect, test } from 'vitest';
import { compileValidators } from './validation.ts';

const issuesOf = (op: unknown, body: unknown) => {
  try {
    compileValidators(op as never).body(body, 0);
    return [];
  } catch (error) {
    return (error as { issues: { path: string; message: string }[] }).issues.map(
      ({ path, message }) => `${path} ${message}`,
    );
  }
};

const user = { username: 'ada', email: 'ada@example.com' };
const session = { deploymentId: 1, externalId: 'ada' };

test.each([
  [operations.createUser, { ...user, username: '' }, 'username must have at least 1 character'],
  [
    operations.createUser,
    { ...user, username: 'a b' },
    'username must not have spaces or control characters',
  ],
  [
    operations.createUser,
    { ...user, email: 'no' },
    'email must be an email address such as ada@example.com, with a domain in ASCII (xn--…)',
  ],
  [operations.createUser, { ...user, email: 5 }, 'email must be text'],
  [operations.createUser, { ...user, isAdmin: 'yes' }, 'isAdmin must be true or false, or null'],
  [
    operations.createUser,
    { ...user, firstName: 'x'.repeat(256) },
    'firstName must have at most 255 characters',
  ],
  [
    operations.createUser,
    { ...user, picture: 'ftp://x' },
    'picture must be an address that begins with http:// or https:// and names a host',
  ],
  [operations.createUser, null, ' must be an object'],
  [operations.createUser, [], ' must be an object'],
  [operations.generateSession, { ...session, deploymentId: 0 }, 'deploymentId must be 1 or more'],
  [operations.generateSession, { ...session, deploymentId: 1.5 }, 'deploymentId must be a whole number'],
  [operations.generateSession, { ...session, groups: 'a' }, 'groups must be a list, or null'],
  [
    operations.generateSession,
    { ...session, embedTenantName: 'Acme' },
    'embedTenantName must have 5 to 36 of a-z, 0-9 and -, begin with a letter and end with a letter or digit',
  ],
  [operations.addUserGroupMembers, { userIds: [] }, 'userIds must have at least 1 item'],
  [operations.addUserGroupMembers, { userIds: [1, 1] }, 'userIds must not have the same item twice'],
  [
    operations.createApiKey,
    { name: 'k', expiresAt: 'soon' },
    'expiresAt must be a date and time with a time zone, such as 2026-01-31T09:30:00Z',
  ],
])('%#: in plain words', (op, body, message) => {
  expect(issuesOf(op, body)).toContain(message);
});

test('the message names the first field, or the body', () => {
  const check = (body: unknown) => () => compileValidators(operations.createUser as never).body(body, 0);
  expect(check({ ...user, email: 'no' })).toThrow(
    'email: must be an email address such as ada@example.com, with a domain in ASCII (xn--…)',
  );
  expect(check(null)).toThrow('The body must be an object');
  expect(check(undefined)).toThrow('The body is required, as JSON');
});

test('an optional body can be left out, but must not be null', () => {
  const check = (body: unknown) => compileValidators(operations.duplicateWorkbook as never).body(body, 0);
  expect(check(undefined)).toEqual({});
  expect(() => check(null)).toThrow('The body must be an object');
});
