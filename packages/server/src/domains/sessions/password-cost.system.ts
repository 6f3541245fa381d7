/** How callers share the hashing of passwords, at its real cost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { createFailureLimit } from '../../platform/http/failure-limit.ts';
import { hashPassword, verifyPassword } from '../users/index.ts';
import { GUESS_LIMITS } from './guesses.ts';
import { createSignIn } from './sign-in.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_TRUST_PROXY: 'loopback' } });
});
afterAll(() => world.stop());

/** Signs in from this address. */
const login = async (email: string, password: string, ip: string) => {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': ip };
  const body = JSON.stringify({ email, password });
  const response = await world.raw('POST', '/auth/login', { apiKey: null, headers, body });
  return { status: response.status };
};
const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

describe('hashing', () => {
  test('one IPv6 site does not keep others from signing in', async () => {
    const { email } = await createSignable(world);
    const flood = times(300, (i) => login(`nobody-${i}@x.test`, 'wrong', `2001:db8:9:${i.toString(16)}::1`));
    for (const i of [1, 2, 3]) {
      expect((await login(email, PASSWORD, `203.0.113.${50 + i}`)).status).toBe(200);
    }
    await flood;
  });

  test('too many at once are a 503, and those of one address do not keep the others waiting', async () => {
    const hash = await hashPassword(PASSWORD);
    const flood = Promise.allSettled(
      Array.from({ length: 60 }, () => verifyPassword(hash, 'wrong', 'flooding')),
    );
    await expect(verifyPassword(hash, PASSWORD, 'another')).resolves.toBe(true);
    const refused = (await flood).filter((one) => one.status === 'rejected');
    // One is being hashed and 20 wait. On a busy machine, some of them wait for too long.
    expect(refused.length).toBeGreaterThanOrEqual(39);
    expect(refused.length).toBeLessThan(60);
    expect(refused[0]).toMatchObject({ reason: { code: 'busy', statusCode: 503 } });
  });

  test('a refusal because of the load does not count as a wrong password', async () => {
    const { email } = await createSignable(world);
    const outcomes = await times(60, (i) =>
      login(i % 2 ? email : `${unique('x')}@example.com`, PASSWORD, '203.0.113.6'),
    );
    expect(outcomes.some(({ status }) => status === 503)).toBe(true);
    expect((await login(email, PASSWORD, '203.0.113.6')).status).toBe(200);
  });
});

test('an unknown user takes as long as a wrong password', async () => {
  const many = Number.POSITIVE_INFINITY;
  const signIn = createSignIn({
    db: world.server.essential,
    guesses: createFailureLimit({ ...GUESS_LIMITS, perSubject: many, perAddress: many }),
    attempts: { record: () => {}, stop: async () => {} },
  });
  const { email } = await createSignable(world);
  const origin = { operation: 'test', ip: '127.0.0.1', requestId: 'test' };
  const measure = async (name: string) => {
    const begin = performance.now();
    await expect(signIn.prove(name, 'wrong', origin)).rejects.toMatchObject({ code: 'sign_in_failed' });
    return performance.now() - begin;
  };
  const names = { known: email, unknown: email.replace('person', 'nobody') };
  const taken: Record<keyof typeof names, number[]> = { known: [], unknown: [] };
  for (let round = 0; round < 100; round++) {
    // In turns and in another order each time, so that a busy machine slows all of them.
    const order = (Object.keys(names) as (keyof typeof names)[]).sort(() => Math.random() - 0.5);
    for (const kind of order) taken[kind].push(await measure(names[kind]));
  }
  // How often one takes longer than the other: half of the time if nobody can tell them apart. With a hundred of each,
  // chance alone leaves these limits once in more than 100,000 runs.
  const longer = taken.known.flatMap((a) => taken.unknown.map((b) => (b > a ? 1 : b === a ? 0.5 : 0)));
  const share = longer.reduce<number>((sum, one) => sum + one, 0) / longer.length;
  expect(share).toBeGreaterThan(0.3);
  expect(share).toBeLessThan(0.7);
});
