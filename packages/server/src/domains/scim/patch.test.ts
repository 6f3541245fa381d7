/** The rules of PATCH, as a table: what a user looks like after the operations. */
import { describe, expect, test } from 'vitest';
import { patched, stepsOf } from './patch.ts';
import { patchableUser } from './users.ts';

const ADA = {
  username: 'ada',
  title: 'Countess',
  active: true,
  name: { givenname: 'Ada', familyname: 'Lovelace' },
  emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
};

const after = (...operations: { op: string; path?: string; value?: unknown }[]) =>
  patched(ADA, stepsOf(operations, patchableUser), patchableUser);

const work = { value: 'ada@example.com', type: 'work', primary: true };
const home = { value: 'ada@home.example', type: 'home' };

describe('an operation', () => {
  test.each([
    ['replaces an attribute', { op: 'replace', path: 'title', value: 'Ms' }, { title: 'Ms' }],
    ['ignores the case of names', { op: 'REPLACE', path: 'TITLE', value: 'Ms' }, { title: 'Ms' }],
    [
      'takes the schema in the path',
      { op: 'add', path: `${patchableUser.urn}:title`, value: 'Ms' },
      { title: 'Ms' },
    ],
    ['removes an attribute', { op: 'remove', path: 'title' }, { title: null }],
    [
      'changes a part',
      { op: 'replace', path: 'name.givenName', value: 'A.' },
      { name: { givenname: 'A.', familyname: 'Lovelace' } },
    ],
    [
      'keeps other parts',
      { op: 'replace', path: 'name', value: { givenName: 'A.' } },
      { name: { givenname: 'A.', familyname: 'Lovelace' } },
    ],
    [
      'without a path changes several',
      { op: 'add', value: { title: 'Ms', 'name.familyName': 'King', id: '7' } },
      { title: 'Ms', name: { givenname: 'Ada', familyname: 'King' } },
    ],
    ['ignores other attributes', { op: 'add', path: 'nickName', value: 'x' }, {}],
    [
      'ignores other schemas',
      { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:title', value: 'x' },
      {},
    ],
    ['adds to a list', { op: 'add', path: 'emails', value: [home] }, { emails: [work, home] }],
    ['takes one element for a list', { op: 'add', path: 'emails', value: home }, { emails: [work, home] }],
    ['does not add twice', { op: 'add', path: 'emails', value: [work] }, { emails: [work] }],
    [
      'leaves one primary',
      { op: 'add', path: 'emails', value: [{ ...home, primary: true }] },
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    ['replaces a list', { op: 'replace', path: 'emails', value: [home] }, { emails: [home] }],
    ['removes a list', { op: 'remove', path: 'emails' }, { emails: [] }],
    [
      'removes only given values',
      { op: 'remove', path: 'emails', value: [{ value: 'other' }] },
      { emails: [work] },
    ],
    [
      'changes selected elements',
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'x' },
      { emails: [{ ...work, value: 'x' }] },
    ],
    [
      'makes the element that Entra ID selects',
      { op: 'Add', path: 'emails[type eq "home"].value', value: 'x' },
      { emails: [work, { type: 'home', value: 'x' }] },
    ],
    [
      'ignores parts that are not kept',
      { op: 'add', path: 'emails', value: [{ ...home, note: 'x' }] },
      { emails: [work, home] },
    ],
    ['ignores a part that is not kept', { op: 'add', path: 'name.note', value: 'x' }, {}],
    [
      'removes selected elements',
      { op: 'remove', path: 'emails[type eq "work" and not (value co "home")]' },
      { emails: [] },
    ],
  ])('%s', (_, operation, changes) => expect(after(operation)).toEqual({ ...ADA, ...changes }));
});

describe('a wrong operation is refused', () => {
  test.each([
    ['an unknown op', { op: 'move', path: 'title', value: 'x' }, 'invalid_request'],
    ['remove without a path', { op: 'remove' }, 'scim_no_target'],
    ['no path and no object', { op: 'add', value: 'x' }, 'invalid_request'],
    ['no value', { op: 'add', path: 'title' }, 'invalid_request'],
    ['the id', { op: 'replace', path: 'id', value: '5' }, 'scim_read_only'],
    ['a path that is none', { op: 'replace', path: 'title[', value: '5' }, 'scim_invalid_path'],
    ['a filter of no list', { op: 'replace', path: 'title[a pr]', value: '5' }, 'scim_invalid_path'],
    ['a part of a text', { op: 'replace', path: 'title.a', value: '5' }, 'scim_invalid_path'],
    [
      'a filter that selects nothing',
      { op: 'replace', path: 'emails[type ne "work"].value', value: 'x' },
      'scim_no_target',
    ],
    [
      'a text that is too long',
      { op: 'add', path: 'emails', value: { value: 'x'.repeat(1001) } },
      'invalid_request',
    ],
    ['a part with parts', { op: 'add', path: 'emails', value: { value: ['x'] } }, 'invalid_request'],
    [
      'a part of a name that is too long',
      { op: 'add', path: 'name.formatted', value: 'x'.repeat(1001) },
      'invalid_request',
    ],
    [
      'a selected element that is too long',
      { op: 'add', path: `emails[type eq "${'x'.repeat(1001)}"].value`, value: 'x' },
      'invalid_request',
    ],
    ['texts as a list', { op: 'add', path: 'emails', value: ['x'] }, 'invalid_request'],
  ])('%s', (_, operation, code) => {
    expect(() => after(operation)).toThrow(expect.objectContaining({ code }));
  });
});

describe('the work of a request is limited', () => {
  const emails = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ value: `${from + i}@example.com` }));
  const refused = (...operations: Parameters<typeof after>) =>
    expect(() => after(...operations)).toThrow(expect.objectContaining({ code: 'invalid_request' }));

  test('a list never has more than 100 elements, also between two operations', () => {
    expect(after({ op: 'add', path: 'emails', value: emails(0, 99) }).emails).toHaveLength(100);
    refused({ op: 'add', path: 'emails', value: emails(0, 100) });
    refused({ op: 'replace', path: 'emails', value: emails(0, 101) });
    refused({ op: 'remove', path: 'emails', value: emails(0, 101) });
    refused(
      { op: 'add', path: 'emails', value: emails(0, 60) },
      { op: 'add', path: 'emails', value: emails(60, 60) },
      { op: 'remove', path: 'emails' },
    );
    const selected = emails(0, 100).map(({ value }) => ({
      op: 'add',
      path: `emails[value eq "${value}"].type`,
      value: 'x',
    }));
    refused(...selected);
  });

  test('filters of paths compare a limited number of elements', () => {
    const filter = Array.from({ length: 100 }, () => 'a eq 1').join(' or ');
    const remove = { op: 'remove', path: `emails[${filter}]` };
    const add = { op: 'add', path: 'emails', value: emails(0, 49) };
    expect(after(add, remove, remove, remove).emails).toHaveLength(50);
    refused(add, ...Array.from({ length: 10 }, () => remove));
  });

  test('an operation without a path changes a limited number of attributes', () => {
    const value = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`emails[a eq ${i}].type`, 'x']));
    refused({ op: 'remove', path: 'emails' }, { op: 'add', value });
  });
});
