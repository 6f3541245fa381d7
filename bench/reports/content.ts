/** A large deployment, made inside the database: folders, workbooks, reports, and people who may read parts of them. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Connection } from '../harness/oriel.ts';

export interface Content {
  deploymentId: number;
  bigFolderId: number;
  bigWorkbookId: number;
  /** One percent of all reports are below this folder. */
  movedFolderId: number;
  /** The two places between which the folder is moved. */
  moveTargets: [number, number];
  viewers: ViewerOf[];
  facts: Record<string, string>;
}

export interface ViewerOf {
  name: string;
  key: string;
}

/** About 20 rows contain this word, for any number of rows. */
export const RARE_WORD = 'zyxomma';
/** 8 % of the rows contain this word. */
export const COMMON_WORD = 'churn';

/** The ids are assigned here, so all rows that exist already must have lower ids. */
const FIRST_ID = 1000;
const FOLDERS_AT_DEPTH = [40, 400, 2000, 6000, 10_000, 12_000, 11_000, 7300];
const BUSY_FOLDERS = 1000;
const BUSY_PARENTS = 4;
const MOVED_FOLDERS = 200;
const SMALL_FOLDERS = 4;
const USERS = 10_000;
const GROUPS = 500;
const WORKBOOKS = 20_000;
const DEPLOYMENT = FIRST_ID;

/** Folders with a special purpose come first. */
const PARENTS = FIRST_ID;
const MOVED = PARENTS + BUSY_PARENTS;
const TARGETS = MOVED + MOVED_FOLDERS;
const BUSY = TARGETS + 2;
const SMALL = BUSY + BUSY_FOLDERS;
const OTHERS = SMALL + SMALL_FOLDERS;
const OTHER_FOLDERS = FOLDERS_AT_DEPTH.reduce((sum, n) => sum + n);

const PEOPLE = {
  few: FIRST_ID + 1,
  small: FIRST_ID + 2,
  direct: FIRST_ID + 3,
  parents: FIRST_ID + 4,
  roots: FIRST_ID + 5,
};
/** Groups with one member each, a measured viewer. */
const GROUP_OF = { small: FIRST_ID + GROUPS - 1, direct: FIRST_ID + GROUPS - 2 };

const WORDS =
  'revenue orders margin cost forecast pipeline retention cohort funnel session traffic basket inventory returns shipping supplier region product customer account invoice payment refund discount campaign channel device country segment quarter monthly weekly daily summary detail trend growth target budget actual variance'.split(
    ' ',
  );

export async function loadContent(connection: Connection, rows: number): Promise<Content> {
  const client = new pg.Client(connection);
  await client.connect();
  const started = Date.now();
  try {
    for (const setting of [
      // Turns off triggers and foreign keys during loading.
      'session_replication_role = replica',
      "maintenance_work_mem = '1GB'",
      "work_mem = '256MB'",
      'synchronous_commit = off',
      'max_parallel_maintenance_workers = 2',
    ]) {
      await client.query(`set ${setting}`);
    }
    await client.query('select setseed(0.42)');
    await insertPeople(client);
    await insertFolders(client);
    await insertWorkbooks(client);
    const restoreIndexes = await dropIndexes(client);
    await insertReports(client, rows);
    await restoreIndexes();
    await insertPolicies(client);
    await countReports(client);
    for (const table of ['users', 'user_groups', 'folders', 'workbooks', 'reports', 'resource_policies']) {
      await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), max(id)) from ${table}`);
    }
    await client.query('set session_replication_role = origin');
    // The state in which autovacuum leaves the tables.
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
    const viewers = await insertKeys(client);
    const { rows: sizes } = await client.query(
      `select pg_size_pretty(pg_table_size('reports')) as "table", pg_size_pretty(pg_indexes_size('reports')) as indexes,
              (select count(*) from folders) as folders, (select count(*) from resource_policies) as policies`,
    );
    return {
      deploymentId: DEPLOYMENT,
      bigFolderId: BUSY,
      bigWorkbookId: FIRST_ID,
      movedFolderId: MOVED,
      moveTargets: [TARGETS, TARGETS + 1],
      viewers,
      facts: {
        content: `${rows} reports (${sizes[0].table}, indexes ${sizes[0].indexes}), ${sizes[0].folders} folders, ${sizes[0].policies} policies, loaded in ${Math.round((Date.now() - started) / 1000)} s`,
      },
    };
  } finally {
    await client.end();
  }
}

async function insertPeople(client: pg.Client) {
  await client.query(`
    insert into deployments (id, name, region, cloud_provider, creation_step, is_managed, target_platform)
    values (${DEPLOYMENT}, 'Large', 'local', 'local', 'ready', false, 'local')`);
  await client.query(`
    insert into users (id, username, email, first_name) overriding system value
    select ${FIRST_ID} + i, 'user' || i, 'user' || i || '@example.com', 'User ' || i from generate_series(1, ${USERS}) i`);
  await client.query(`
    insert into user_roles (user_id, role_id)
    select ${FIRST_ID} + i, (select id from roles where name = 'Viewer') from generate_series(1, ${USERS}) i`);
  await client.query(`
    insert into user_groups (id, name) overriding system value
    select ${FIRST_ID} + i, 'Group ' || i from generate_series(0, ${GROUPS - 1}) i`);
  await client.query(`
    insert into user_group_members (group_id, user_id)
    select distinct ${FIRST_ID} + floor(random() * ${GROUPS - 10})::int, ${FIRST_ID} + 10 + i
    from generate_series(1, ${USERS - 10}) i, generate_series(1, 3)
    union all values (${GROUP_OF.small}, ${PEOPLE.small}), (${GROUP_OF.direct}, ${PEOPLE.direct})`);
}

async function insertFolders(client: pg.Client) {
  const add = (first: number, count: number, parent: string) =>
    client.query(`
      insert into folders (id, deployment_id, parent_id, path, shown_path, name, name_key, position, user_id, created_by)
      overriding system value
      select n.id, ${DEPLOYMENT}, p.id, coalesce(p.path, '{}') || n.id,
             coalesce(p.shown_path, '{}') || format('{"id":%s,"name":"Folder %s"}', n.id, n.id), 'Folder ' || n.id, 'folder ' || n.id,
             n.id - ${first}, n.owner, n.owner
      from (select id, (${parent})::bigint as parent_id, ${FIRST_ID} + 11 + floor(random() * ${USERS - 11})::int as owner
            from generate_series(${first}::bigint, ${first + count - 1}) id offset 0) n
      left join folders p on p.id = n.parent_id`);
  let first = OTHERS;
  let above = 'null';
  for (const count of FOLDERS_AT_DEPTH) {
    await add(first, count, above);
    above = `${first} + floor(random() * ${count})`;
    first += count;
  }
  const roots = `${OTHERS} + floor(random() * ${FOLDERS_AT_DEPTH[0]})`;
  await add(PARENTS, BUSY_PARENTS, roots);
  await add(MOVED, 1, roots);
  await add(MOVED + 1, MOVED_FOLDERS - 1, `${MOVED}`);
  await add(TARGETS, 2, roots);
  await add(BUSY, BUSY_FOLDERS, `${PARENTS} + id % ${BUSY_PARENTS}`);
  await add(SMALL, SMALL_FOLDERS, roots);
}

const insertWorkbooks = (client: pg.Client) =>
  client.query(`
    insert into workbooks (id, deployment_id, folder_id, name, name_key, user_id, created_by, created_at)
    overriding system value
    select ${FIRST_ID} + i, ${DEPLOYMENT}, ${OTHERS} + floor(random() * ${OTHER_FOLDERS})::int, 'Workbook ' || i, 'workbook ' || i,
           ${FIRST_ID} + 11 + i % ${USERS - 11}, ${FIRST_ID} + 11 + i % ${USERS - 11}, now() - i * interval '1 hour'
    from generate_series(0, ${WORKBOOKS - 1}) i`);

/** Drops the indexes and returns the statements that create them again: that is faster than updating them row by row. */
async function dropIndexes(client: pg.Client) {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
    where i.indrelid = 'reports'::regclass and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`);
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return async () => {
    for (const { definition } of rows) await client.query(definition);
  };
}

/** Half of all reports are in busy folders, one of which has 6 %; 6 % are in one workbook; the rest are spread out. */
const insertReports = (client: pg.Client, rows: number) =>
  client.query(
    `insert into reports (deployment_id, public_id, folder_id, workbook_id, scope_folder_id, name, name_key, title, description,
       search_text, source, sql_query, json_query, meta, user_id, created_by, created_at, updated_at)
     select ${DEPLOYMENT}, 'bench' || lpad(i::text, 10, '0'),
       case when workbook_id is null then folder end, workbook_id, coalesce(workbook_folder_id, folder),
       name, lower(name), title, description,
       lower(name) || chr(1) || lower(title) || chr(1) || lower(coalesce(description, '')),
       'PLAYGROUND',
       'select ' || a || ', sum(' || b || ') from sales.' || c || ' where created_at >= current_date - interval ''30 days'' group by 1 order by 2 desc limit 100',
       '{"measures":["' || c || '.' || b || '"],"dimensions":["' || c || '.' || a || '"],"timeDimensions":[{"dimension":"' || c || '.createdAt","granularity":"day"}]}',
       jsonb_build_object('chart', jsonb_build_object('type', 'bar', 'x', a, 'y', b)),
       owner, owner, created, created + (random() * random() * (now() - created))
     from (
       select i, owner, created, workbook, a, b, c,
         case when p < 0.02 then null
              when p < 0.03 then ${MOVED} + floor(q * ${MOVED_FOLDERS})
              when p < 0.034 then ${SMALL} + floor(q * ${SMALL_FOLDERS})
              when p < 0.094 then ${BUSY}
              when p < 0.534 then ${BUSY + 1} + floor(q * q * ${BUSY_FOLDERS - 1})
              when workbook is null then ${OTHERS} + floor(q * q * ${OTHER_FOLDERS}) end::bigint as folder,
         initcap(a) || ' by ' || b || case when i % 25 in (3, 17) then ' ${COMMON_WORD}' else '' end || ' ' || (2015 + i % 11) as name,
         case when i % $1 = 7 then 'The ${RARE_WORD} of ' else 'About ' end || a || ' and ' || c as title,
         case when q < 0.5 then 'Shows ' || b || ' over ' || c || ' for every ' || a end as description
       from (
         select i, p, q, $2::text[] as words,
           ($2::text[])[1 + floor(random() * ${WORDS.length})] as a, ($2::text[])[1 + floor(random() * ${WORDS.length})] as b,
           ($2::text[])[1 + floor(random() * ${WORDS.length})] as c,
           ${FIRST_ID} + 11 + floor(random() * random() * ${USERS - 11})::int as owner,
           now() - interval '3 years' + i * (interval '3 years' / $3::int) + random() * interval '1 second' as created,
           case when p >= 0.94 then ${FIRST_ID}
                when p >= 0.84 then ${FIRST_ID + 1} + floor(q * ${WORKBOOKS - 1}) end::bigint as workbook
         from (select i, random() as p, random() as q from generate_series(1, $3::int) i offset 0) i offset 0) i offset 0) i
     left join (select id as workbook_id, folder_id as workbook_folder_id from workbooks) w on w.workbook_id = workbook`,
    [Math.floor(rows / 20), WORDS, rows],
  );

async function insertPolicies(client: pg.Client) {
  const grant = (noun: string, column: 'user_id' | 'group_id' | 'role_id', who: string, ids: string) =>
    client.query(`
      insert into resource_policies (deployment_id, resource_type, resource_id, ${column}, action, level)
      select distinct ${DEPLOYMENT}, '${noun}', id, ${who}, '${noun}Read', 1 from ${ids}`);
  const someFolder = `${OTHERS} + floor(random() * ${OTHER_FOLDERS})::bigint`;
  // The policies of all other people.
  await grant(
    'Folder',
    'group_id',
    'g',
    `(select ${FIRST_ID} + g as g, ${someFolder} as id from generate_series(0, ${GROUPS - 11}) g, generate_series(1, 20)) t`,
  );
  await grant(
    'Folder',
    'user_id',
    'u',
    `(select ${FIRST_ID} + 10 + u as u, ${someFolder} as id from generate_series(1, ${USERS - 10}) u) t`,
  );
  await grant(
    'Report',
    'user_id',
    'u',
    `(select ${FIRST_ID} + 10 + u as u, 1 + floor(random() * (select count(*) from reports))::bigint as id from generate_series(1, ${USERS - 10}) u, generate_series(1, 3)) t`,
  );
  await grant(
    'Folder',
    'role_id',
    `(select id from roles where name = 'Developer')`,
    `(select ${someFolder} as id from generate_series(1, 50)) t`,
  );
  // The policies of the measured viewers.
  await grant(
    'Report',
    'user_id',
    `${PEOPLE.few}`,
    `(select (k * (select count(*) from reports) / 51) as id from generate_series(1, 50) k) t`,
  );
  await grant(
    'Folder',
    'group_id',
    `${GROUP_OF.small}`,
    `generate_series(${SMALL}, ${SMALL + SMALL_FOLDERS - 1}) id`,
  );
  await grant(
    'Folder',
    'group_id',
    `${GROUP_OF.direct}`,
    `generate_series(${BUSY}, ${BUSY + BUSY_FOLDERS - 1}) id`,
  );
  await grant(
    'Folder',
    'user_id',
    `${PEOPLE.parents}`,
    `generate_series(${PARENTS}, ${PARENTS + BUSY_PARENTS - 1}) id`,
  );
  await grant(
    'Folder',
    'user_id',
    `${PEOPLE.roots}`,
    `generate_series(${OTHERS}, ${OTHERS + FOLDERS_AT_DEPTH[0]! / 2 - 1}) id`,
  );
}

/** Writes the counts that the triggers would have made. */
async function countReports(client: pg.Client) {
  const { rows } = await client.query(`select to_regclass('report_counts') is not null as there`);
  if (!rows[0].there) return;
  await client.query(`
    insert into report_counts (deployment_id, folder_id, slot, count)
    select deployment_id, f.id, 0, count(*) from reports r, lateral (values (coalesce(r.scope_folder_id, 0)), (-1)) f (id)
    where deployment_id = ${DEPLOYMENT} and embed_tenant is null group by 1, 2`);
}

async function insertKeys(client: pg.Client): Promise<ViewerOf[]> {
  const names: Record<keyof typeof PEOPLE, string> = {
    few: 'viewer of 50 reports',
    small: 'viewer of 4 folders',
    direct: 'viewer of half, 1,000 grants',
    parents: 'viewer of half, 4 parents of 1,000 folders',
    roots: 'viewer of half of the roots',
  };
  const viewers: ViewerOf[] = [];
  for (const [person, id] of Object.entries(PEOPLE)) {
    const key = `sk-bench-${person}-0123456789abcdef`;
    await client.query('insert into api_keys (name, user_id, key_hash) values ($1, $2, $3)', [
      person,
      id,
      createHash('sha256').update(key).digest(),
    ]);
    viewers.push({ name: names[person as keyof typeof PEOPLE], key });
  }
  return viewers;
}
