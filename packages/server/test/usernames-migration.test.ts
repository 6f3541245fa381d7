/** Migrates a database in which usernames that differ only in case belonged to different people. */
import { expect, test } from 'vitest';
import { withDatabaseBefore } from './earlier-database.ts';

test('the oldest person keeps the name, all others get their id appended, and nobody else changes', () =>
  withDatabaseBefore('usernames-without-case', async (client, migrateIt) => {
    // The fourth name is the one that the second person would get.
    await client.query(`
      insert into users (id, username, email) overriding system value values
        (101, 'Ada', 'a@example.com'), (102, 'ada', 'b@example.com'), (103, 'ADA', 'c@example.com'),
        (104, 'ADA-102', 'd@example.com'), (105, 'bob', 'e@example.com'),
        (108, 'F@example.com', 'g@example.com'), (109, 'fay', 'f@example.com');
      insert into embed_tenants (name) values ('acme-corp');
      insert into users (id, embed_tenant, external_id, username) overriding system value
      values (106, 'acme-corp', 'ada', 'ada'), (107, 'acme-corp', 'ADA', 'ADA')`);
    await migrateIt();
    const { rows } = await client.query('select username from users order by id');
    expect(rows.map(({ username }) => username)).toEqual([
      'Ada',
      'ada-102',
      'ADA-103',
      'ADA-102-104',
      'bob',
      'ada',
      'ADA',
      'F@example.com',
      'fay',
    ]);
    // The email of one person counts more than the username of another.
    const names = await client.query(
      'select name from sign_in_names where user_id in (108, 109) order by user_id, name',
    );
    expect(names.rows.map(({ name }) => name)).toEqual(['g@example.com', 'f@example.com', 'fay']);
  }));
