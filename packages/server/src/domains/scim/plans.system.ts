/** What identity providers ask before every change finds its row by an index, with 20,000 users and 2,000 groups. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countingRows } from '../../../test/rows-read.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { countScimGroups, filterableGroups, listScimGroups } from './groups.store.ts';
import { groupPage, userPage } from './pages.store.ts';
import { countScimUsers, filterableUsers, listScimUsers } from './users.store.ts';

const USERS = 20_000;
const GROUPS = 2_000;
/** A table with so few rows may be read as a whole. */
const READ_MAX = 50;

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
  // Without the time limits of the server, for busy machines.
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query(
    `insert into users (username, email, external_id, first_name)
     select 'User-' || n, 'User' || n || '@example.com', 'ext-' || n, 'Person ' || n from generate_series(1, ${USERS}) n`,
  );
  await client.query(
    `insert into scim_users (user_id, display_name) select id, 'Person' from users where id % 3 = 0`,
  );
  await client.query(
    `insert into user_groups (name) select 'Group ' || n from generate_series(1, ${GROUPS}) n`,
  );
  await client.query(
    `insert into scim_groups (group_id, external_id) select id, 'group-ext-' || id from user_groups`,
  );
  await client.query(
    `insert into user_group_members (group_id, user_id)
     select g.id, u.id from users u join user_groups g on g.name = 'Group ' || (u.id % ${GROUPS}) where u.external_id is not null`,
  );
  await client.query('vacuum analyze');
  await client.end();
});
afterAll(() => world.stop());

test.each([
  ['userName eq "USER-17777"', 'User-17777'],
  ['externalId eq "ext-17777"', 'User-17777'],
  ['emails eq "user17777@EXAMPLE.com"', 'User-17777'],
  ['emails.value eq "user17777@example.com"', 'User-17777'],
  ['emails[type eq "work"].value eq "user17777@example.com"', 'User-17777'],
  ['emails[value eq "user17777@example.com"]', 'User-17777'],
  ['userName eq "user-17777" and active eq true', 'User-17777'],
  ['externalId eq "ext-17777" or userName eq "user-17777"', 'User-17777'],
])('users by %s', async (filter, username) => {
  const { counts, db } = countingRows(world);
  const page = userPage({ filter }, filterableUsers);
  expect(await countScimUsers(db, page.where)).toBe(1);
  expect(await listScimUsers(db, page)).toMatchObject([{ username }]);
  expect(counts.read).toBeLessThan(READ_MAX);
});

test('users by their group', async () => {
  const { rows } = await world.server.db.pool.query("select id from user_groups where name = 'Group 777'");
  const { counts, db } = countingRows(world);
  const page = userPage({ filter: `groups eq "${rows[0].id}"` }, filterableUsers);
  expect(await countScimUsers(db, page.where)).toBe(USERS / GROUPS);
  expect((await listScimUsers(db, page))[0]).toMatchObject({ groups: [{ name: 'Group 777' }] });
  expect(counts.read).toBeLessThan(200);
});

test('a page reads the groups of its own users only', async () => {
  const { counts, db } = countingRows(world);
  await listScimUsers(db, userPage({ startIndex: 5000, count: 2 }, filterableUsers));
  expect(counts.read).toBeLessThan(11_000);
});

test.each(['displayName eq "GROUP 1777"', 'displayName eq "Group 1777" and id pr'])(
  'groups by %s',
  async (filter) => {
    const { counts, db } = countingRows(world);
    const page = groupPage({ filter }, filterableGroups);
    expect(await countScimGroups(db, page.where)).toBe(1);
    expect(await listScimGroups(db, page)).toMatchObject([{ name: 'Group 1777' }]);
    expect(counts.read).toBeLessThan(READ_MAX);
  },
);

test('a group by its externalId', async () => {
  const { counts, db } = countingRows(world);
  const page = groupPage({ filter: 'externalId eq "group-ext-777"' }, filterableGroups);
  expect(await countScimGroups(db, page.where)).toBe(1);
  expect(await listScimGroups(db, page)).toHaveLength(1);
  expect(counts.read).toBeLessThan(READ_MAX);
});
