/** Tests which kind of credential an operation accepts, with invented kinds. */
import { describe, expect, test } from 'vitest';
import type { Person } from './actor.ts';
import { createAuthenticator } from './authenticate.ts';
import type { CredentialKind } from './credentials.ts';

const person = (userId: number): Person => ({
  kind: 'person',
  userId,
  apiKeyId: null,
  sessionId: null,
  deploymentIds: null,
  actions: new Set(),
  deploymentActions: new Map(),
});

const kind = (name: string, userId: number, how: Partial<CredentialKind>): CredentialKind => ({
  name,
  auths: ['management'],
  schemes: ['bearer'],
  example: { secret: `${name}-example` },
  takes: ({ secret }) => secret.startsWith(name),
  verify: () => person(userId),
  howToSend: `a ${name}`,
  ...how,
});

const cat = kind('cat', 1, { auths: ['management', 'apiKey'], schemes: ['bearer', 'pet'] });
const dog = kind('dog', 2, { auths: ['management', 'query'], schemes: ['bearer'] });
const fish = kind('fish', 3, {
  auths: ['embed'],
  schemes: [''],
  whyNot: () => 'Fish begin with `fish`.',
});
const mouse = kind('mouse', 4, {
  schemes: [],
  example: { headers: { cookie: 'mouse=1' } },
  takes: ({ headers }) => headers.cookie?.includes('mouse=') === true,
});

const { authenticate } = createAuthenticator([cat, dog, fish, mouse]);
const caller = (auth: 'management' | 'apiKey' | 'embed' | 'query', authorization?: string, cookie?: string) =>
  (authenticate({ method: 'GET', headers: { authorization, cookie }, ip: '' }, { auth }) as Person).userId;

describe('a credential is verified by the kind that accepts it', () => {
  test.each([
    ['by its scheme and form', 'management', 'Bearer cat-1', undefined, 1],
    ['with a scheme in upper case', 'management', 'PET cat-1', undefined, 1],
    ['even if several kinds use its scheme', 'management', 'Bearer dog-1', undefined, 2],
    ['without a scheme, if the kind allows that', 'embed', 'fish-1', undefined, 3],
    ['without a scheme, where it counts as Bearer', 'query', 'dog-1', undefined, 2],
    ['in a cookie, if there is no Authorization header', 'management', undefined, 'mouse=1', 4],
    ['a cookie is ignored if there is an Authorization header', 'management', 'Bearer dog-1', 'mouse=1', 2],
  ] as const)('%s', (_, auth, authorization, cookie, userId) => {
    expect(caller(auth, authorization, cookie)).toBe(userId);
  });

  test('a public operation ignores credentials', () => {
    const request = { method: 'GET', headers: { authorization: 'Bearer cat-1' }, ip: '' };
    expect(authenticate(request, { auth: 'public' })).toEqual({ kind: 'nobody' });
  });
});

describe('a credential that an operation does not accept is a 401 that says what to send', () => {
  test.each([
    [
      'a kind that only other operations accept',
      'apiKey',
      'Bearer dog-1',
      'This operation takes no dog. Send a cat.',
    ],
    [
      'a scheme that only other operations accept',
      'embed',
      'Pet rock',
      'This operation takes no cat. Send a fish.',
    ],
    ['a wrong form, with the message of the kind', 'embed', 'rock', 'Fish begin with `fish`. Send a fish.'],
    [
      'a wrong form that no kind explains',
      'apiKey',
      'Bearer rock',
      'The request has no credential that this operation accepts. Send a cat.',
    ],
    [
      'a valid cookie together with a wrong header',
      'management',
      'Bearer rock',
      'The request has no credential that this operation accepts. Send a cat or a dog or a mouse.',
    ],
  ] as const)('%s', (_, auth, authorization, message) => {
    expect(() => caller(auth, authorization, 'mouse=1')).toThrow(
      expect.objectContaining({ code: 'unauthenticated', message }),
    );
  });
});

describe('kinds that could be confused are refused at the start', () => {
  const all = { takes: () => true };

  test('if one accepts the example of another', () => {
    for (const kinds of [
      [cat, kind('greedy', 9, all)],
      [kind('greedy', 9, all), cat],
    ]) {
      expect(() => createAuthenticator(kinds)).toThrow(
        /example of the credential (cat|greedy) must be accepted by it alone/,
      );
    }
  });

  test('if one does not accept its own example', () => {
    const mute = kind('mute', 9, { takes: () => false });
    expect(() => createAuthenticator([mute])).toThrow('is accepted by: no kind');
  });

  test('but not if no operation accepts both, or if they are never sent in the same way', () => {
    createAuthenticator([cat, kind('greedy', 9, { ...all, auths: ['embed'] })]);
    createAuthenticator([cat, kind('greedy', 9, { ...all, schemes: ['other'] })]);
    createAuthenticator([cat, kind('greedy', 9, { ...all, schemes: [] })]);
  });

  test('if two kinds still accept the same credential, the first of the list gets it', () => {
    const [first, second] = [kind('a', 1, {}), kind('b', 2, {})];
    const both = { takes: ({ secret }: { secret: string }) => secret === 'both' };
    for (const [one, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const kinds = [one, other].map((each) => ({
        ...each,
        takes: (given: Parameters<CredentialKind['takes']>[0]) => both.takes(given) || each.takes(given),
      }));
      const request = { method: 'GET', headers: { authorization: 'Bearer both' }, ip: '' };
      expect(createAuthenticator(kinds).authenticate(request, { auth: 'management' })).toEqual(
        one.verify({} as never),
      );
    }
  });
});

test('a credential is for servers if it is known and pages of other origins may not send it', () => {
  const bird = kind('bird', 5, { inPages: true });
  const { isForServers } = createAuthenticator([cat, bird]);
  const isFor = (authorization?: string) =>
    isForServers({ method: 'GET', headers: { authorization }, ip: '' });
  expect(['Bearer cat-1', 'Bearer bird-1', 'Bearer cow-1', undefined].map(isFor)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('a credential without a scheme is not told to have one where it needs none', () => {
  expect(() => caller('query', 'cow-1')).toThrow(
    'has no credential that this operation accepts. Send a dog.',
  );
  expect(() => caller('management', 'cow-1')).toThrow('has no scheme');
});

test('a kind whose example is accepted by another one, or by several, stops the start', () => {
  for (const [takes, takers] of [
    [() => false, 'cat'],
    [() => true, 'cat, bat'],
  ] as const) {
    const bat = kind('bat', 6, { takes, example: { secret: 'cat-1' } });
    expect(() => createAuthenticator([cat, bat])).toThrow(`accepted by: ${takers}`);
  }
});
