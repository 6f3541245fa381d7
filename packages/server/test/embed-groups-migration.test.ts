/** Migrates a database in which an embed tenant had two namespaces of groups. Afterwards it has one list of groups. */
import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { migrate } from '../src/platform/db/migrate.ts';
import { createDatabase, dropDatabase, onServer, readOwnSchema, upTo } from './databases.ts';

const postgresUrl = inject('postgresUrl');
const made: string[] = [];
afterEach(async () => {
  for (const name of made.splice(0)) await dropDatabase(postgresUrl, name);
});

test('equal names become one group, and memberships, descriptions and policies stay', async () => {
  const database = await createDatabase(postgresUrl);
  made.push(database);
  const connectionString = onServer(postgresUrl, database);
  const schema = await readOwnSchema();
  const ours = schema.migrations.findIndex(({ name }) => name.includes('embed-groups'));
  await migrate({ connectionString }, upTo(schema, ours));
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(`
      insert into embed_tenants (name) values ('acme-corp'), ('other-corp');
      insert into users (embed_tenant, external_id, username)
      select t, e, e from unnest('{acme-corp,other-corp}'::text[]) t, unnest('{ada,bob,cleo}'::text[]) e;
      insert into users (username, email) values ('person', 'person@example.com');
      insert into user_groups (embed_tenant, namespace, name, description) values
        ('acme-corp', 'groups', 'both', null), ('acme-corp', 'tenantGroups', 'both', 'Second'),
        ('acme-corp', 'groups', 'described', 'First'), ('acme-corp', 'tenantGroups', 'described', 'Second'),
        ('acme-corp', 'groups', 'one', null), ('acme-corp', 'tenantGroups', 'two', null),
        ('other-corp', 'tenantGroups', 'both', null), (null, 'groups', 'both', null);
      insert into user_group_members (group_id, user_id)
      select g.id, u.id from (values
        ('acme-corp', 'groups', 'both', 'ada'), ('acme-corp', 'groups', 'both', 'bob'),
        ('acme-corp', 'tenantGroups', 'both', 'bob'), ('acme-corp', 'tenantGroups', 'both', 'cleo'),
        ('acme-corp', 'groups', 'one', 'ada'), ('acme-corp', 'tenantGroups', 'two', 'ada'),
        ('other-corp', 'tenantGroups', 'both', 'ada')) as m (tenant, namespace, name, who)
      join user_groups g on g.embed_tenant = m.tenant and g.namespace = m.namespace and g.name = m.name
      join users u on u.embed_tenant = m.tenant and u.external_id = m.who;
      insert into user_group_members (group_id, user_id)
      select g.id, u.id from user_groups g, users u where g.embed_tenant is null and u.embed_tenant is null;
      insert into deployments (id, name, region, cloud_provider, creation_step, is_managed, target_platform)
      values (1, 'One', 'local', 'local', 'ready', false, 'local');
      insert into resource_policies (deployment_id, resource_type, resource_id, group_id, action, level)
      select 1, 'Folder', p.folder, g.id, p.action, p.level from (values
        (1, 'groups', 'FolderRead', 1), (1, 'tenantGroups', 'FolderManage', 3),
        (2, 'groups', 'FolderEdit', 2), (2, 'tenantGroups', 'FolderRead', 1),
        (3, 'tenantGroups', 'FolderEdit', 2)) as p (folder, namespace, action, level)
      join user_groups g on g.embed_tenant = 'acme-corp' and g.namespace = p.namespace and g.name = 'both'`);
    const { rows: kept } = await client.query(
      `select id from user_groups where embed_tenant = 'acme-corp' and namespace = 'groups' and name = 'both'`,
    );
    await migrate({ connectionString }, schema);

    const rows = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows;
    expect(
      await rows(`
        select coalesce(embed_tenant, ''), name, description from user_groups order by 1, 2`),
    ).toEqual([
      ['', 'both', null],
      ['acme-corp', 'both', 'Second'],
      ['acme-corp', 'described', 'First'],
      ['acme-corp', 'one', null],
      ['acme-corp', 'two', null],
      ['other-corp', 'both', null],
    ]);
    expect(
      await rows(`
        select coalesce(g.embed_tenant, ''), g.name, u.username, m.in_groups, m.in_tenant_groups
        from user_group_members m join user_groups g on g.id = m.group_id join users u on u.id = m.user_id
        order by 1, 2, 3`),
    ).toEqual([
      ['', 'both', 'person', true, false],
      ['acme-corp', 'both', 'ada', true, false],
      ['acme-corp', 'both', 'bob', true, true],
      ['acme-corp', 'both', 'cleo', false, true],
      ['acme-corp', 'one', 'ada', true, false],
      ['acme-corp', 'two', 'ada', false, true],
      ['other-corp', 'both', 'ada', false, true],
    ]);
    expect(
      await rows('select resource_id::int, group_id, action, level from resource_policies order by 1'),
    ).toEqual([
      [1, kept[0].id, 'FolderManage', 3],
      [2, kept[0].id, 'FolderEdit', 2],
      [3, kept[0].id, 'FolderEdit', 2],
    ]);
  } finally {
    await client.end();
  }
});
