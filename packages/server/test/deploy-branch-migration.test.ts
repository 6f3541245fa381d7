/** Migrates a database in which a branch with uncommitted changes was deployed. */
import { expect, test } from 'vitest';
import { withDatabaseBefore } from './earlier-database.ts';

test('uncommitted changes of a deploy branch get a branch, and those of other branches stay', () =>
  withDatabaseBefore('conflicts-and-pending-builds', async (client, migrateIt) => {
    await client.query(`
      insert into deployments (id, name, region, cloud_provider, creation_step, is_managed, target_platform)
      overriding system value values (1, 'one', 'local', 'managed', 'ready', true, 'embedded');
      insert into branches (id, deployment_id, name, head, working_tree) overriding system value values
        (11, 1, 'main', 'commit', 'changes'), (12, 1, 'other', 'commit', 'others')`);
    await migrateIt();
    const { rows } = await client.query(
      'select name, parent_id::int as parent, head, working_tree as tree from branches order by name',
    );
    expect(rows).toEqual([
      { name: 'main', parent: null, head: 'commit', tree: null },
      { name: 'other', parent: null, head: 'commit', tree: 'others' },
      { name: 'uncommitted-11', parent: 11, head: 'commit', tree: 'changes' },
    ]);
  }));
