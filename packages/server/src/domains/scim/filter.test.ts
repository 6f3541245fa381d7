import { describe, expect, test } from 'vitest';
import { parseFilter, parseTarget } from './filter.ts';

const path = (name: string, sub: string | null = null, urn: string | null = null) => ({ urn, name, sub });

describe('the filters of RFC 7644, 3.4.2.2, are read', () => {
  test.each([
    'userName eq "bjensen"',
    `name.familyName co "O'Malley"`,
    'userName sw "J"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"',
    'title pr',
    'meta.lastModified gt "2011-05-13T04:42:34Z"',
    'meta.lastModified ge "2011-05-13T04:42:34Z"',
    'meta.lastModified lt "2011-05-13T04:42:34Z"',
    'meta.lastModified le "2011-05-13T04:42:34Z"',
    'title pr and userType eq "Employee"',
    'title pr or userType eq "Intern"',
    'schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"',
    'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")',
    'userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")',
    'userType eq "Employee" and (emails.type eq "work")',
    'userType eq "Employee" and emails[type eq "work" and value co "@example.com"]',
    'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
  ])('%s', (filter) => expect(parseFilter(filter)).toHaveProperty('op'));
});

test('and binds more closely than or, and words are read in any case', () => {
  expect(parseFilter('a pr OR b Eq 1 AND Not(c PR)')).toEqual({
    op: 'or',
    filters: [
      { op: 'pr', path: path('a') },
      {
        op: 'and',
        filters: [
          { op: 'eq', path: path('b'), value: 1 },
          { op: 'not', filter: { op: 'pr', path: path('c') } },
        ],
      },
    ],
  });
});

test('values have the escapes and types of JSON', () => {
  const value = (text: string) => (parseFilter(`a eq ${text}`) as { value: unknown }).value;
  expect(value('"a\\"b\\\\c\\u00e9 (d) [e]"')).toBe('a"b\\cé (d) [e]');
  expect([value('true'), value('False'), value('null'), value('-1.5e3')]).toEqual([true, false, null, -1500]);
});

describe('what is not a filter is refused, with what is wrong', () => {
  test.each([
    ['', 'at the end'],
    ['userName', 'an operator'],
    ['userName eq', 'a value'],
    ['userName is "x"', '`is`'],
    ['userName eq x', '`x`'],
    ['userName eq "x', 'no end'],
    ['userName eq "x\\q"', 'not a valid value'],
    ['userName eq "a\\u0000"', 'not a valid value'],
    ['userName eq "\\ud800"', 'not a valid value'],
    ['(userName pr', '`(userName pr`'],
    ['userName pr)', '`)`'],
    ['not userName pr', '( after not'],
    ['emails[type eq "work"', '`emails'],
    ['emails[a[b pr]]', 'cannot hold another'],
    ['emails[type pr].', 'after ].'],
    ['a b c', '`b`'],
    ['9a pr', '`9a`'],
    [`${'('.repeat(1000)}a pr${')'.repeat(1000)}`, 'levels of nesting'],
    [`${'not('.repeat(1000)}a pr${')'.repeat(1000)}`, 'levels of nesting'],
    [Array(1000).fill('a pr').join(' and '), 'comparisons'],
    [`a eq "${'x'.repeat(20_000)}"`, 'characters'],
  ])('%.40s', (filter, message) => {
    expect(() => parseFilter(filter)).toThrow(message);
    expect(() => parseFilter(filter)).toThrow(expect.objectContaining({ code: 'scim_invalid_filter' }));
  });
});

describe('the paths of RFC 7644, 3.5.2, are read', () => {
  test.each([
    ['members', { ...path('members'), filter: null }],
    ['name.familyName', { ...path('name', 'familyname'), filter: null }],
    [
      'addresses[type eq "work"]',
      { ...path('addresses'), filter: { op: 'eq', path: path('type'), value: 'work' } },
    ],
    [
      'members[value eq "2819c223-7f76-453a-919d-413861904646"].displayName',
      {
        ...path('members', 'displayname'),
        filter: { op: 'eq', path: path('value'), value: '2819c223-7f76-453a-919d-413861904646' },
      },
    ],
    [
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
      {
        ...path('department', null, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user'),
        filter: null,
      },
    ],
  ])('%s', (text, target) => expect(parseTarget(text)).toEqual(target));

  test('other paths are refused', () => {
    for (const text of ['', 'a b', 'a[', 'name.a[b pr]', 'a[b pr]c']) {
      expect(() => parseTarget(text)).toThrow(expect.objectContaining({ code: 'scim_invalid_path' }));
    }
  });
});
