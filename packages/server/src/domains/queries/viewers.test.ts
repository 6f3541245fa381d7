/** When viewers are read while no notification can be received, with a database that tests control. */
import { beforeEach, expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { createNotifiedCache } from '../../platform/db/notified-cache.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { createViewers, type QueryCaller, type Viewers } from './viewers.ts';

interface Statement {
  users: number[];
  /** Each user is in a group with this name and their number. */
  answer(group: string): void;
  fail(): void;
}

let statements: Statement[];
let viewers: Viewers;
beforeEach(() => {
  statements = [];
  const many = ({ values }: Sql) => {
    const keys = JSON.parse(values[0] as string) as { user_id: number }[];
    const users = keys.map((key) => key.user_id);
    return new Promise<object[]>((resolve, reject) => {
      const rowOf = (group: string) => (user: number) => ({
        groups: [`${group}-${user}`],
        tenantGroups: ['of-tenant'],
        attributes: [],
        roles: [],
        securityContext: null,
      });
      statements.push({
        users,
        answer: (group) => resolve(users.map(rowOf(group))),
        fail: () => reject(new Error('the database is gone')),
      });
    });
  };
  const deaf = { isListening: false, on: () => {} } as unknown as Listener;
  viewers = createViewers(
    {
      db: { many } as unknown as Queryable,
      createCache: (subjectsOf) => createNotifiedCache(deaf, '', subjectsOf),
    },
    { current: () => expect.fail('People do not depend on the settings.') },
  );
});

const person = (userId: number) => ({ kind: 'person', userId }) as QueryCaller;
const groupsOf = async (userId: number) => (await viewers.of(person(userId))).groups;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a query never gets a viewer that was read before it came', async () => {
  const early = groupsOf(1);
  const late = groupsOf(1);
  expect(statements).toHaveLength(1);
  statements[0]!.answer('old');
  expect(await early).toEqual(['old-1']);
  await turn();
  expect(statements).toHaveLength(2);
  statements[1]!.answer('new');
  expect(await late).toEqual(['new-1']);
});

test('viewers of queries that wait are read together, each once, and each query gets its own', async () => {
  const first = groupsOf(1);
  const others = [2, 3, 2, 1].map(groupsOf);
  statements[0]!.answer('a');
  await first;
  await turn();
  expect(statements.map(({ users }) => users)).toEqual([[1], [2, 3, 1]]);
  statements[1]!.answer('b');
  expect(await Promise.all(others)).toEqual([['b-2'], ['b-3'], ['b-2'], ['b-1']]);
});

test('after a failure, the next query is read again', async () => {
  const failing = groupsOf(1);
  const next = groupsOf(1);
  statements[0]!.fail();
  await expect(failing).rejects.toThrow('the database is gone');
  await turn();
  statements[1]!.answer('a');
  expect(await next).toEqual(['a-1']);
});

test('people have no groups of embed tenants', async () => {
  const viewer = viewers.of(person(1));
  statements[0]!.answer('a');
  expect((await viewer).tenantGroups).toEqual([]);
});
