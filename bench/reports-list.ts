/** Lists of reports in a large deployment: deep pages, viewers who may read a part, searches, counts and a move. */
import pg from 'pg';
import { startAnchor } from './harness/anchor.ts';
import type {
  Anchor,
  Benchmark,
  Comparison,
  Contender,
  ContenderResult,
  RunOptions,
} from './harness/benchmark.ts';
import { ADMIN_KEY, type Oriel, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { runWrk, wrkVersion } from './harness/wrk.ts';
import { COMMON_WORD, type Content, loadContent, RARE_WORD } from './reports/content.ts';
import { type Action, type Answer, compareLatencies, fetchText, type Ratio } from './reports/latency.ts';
import { measureMove } from './reports/move.ts';

const ROWS = 1_000_000;
const PAGE = 50;
const CALLS = 15;
const CONNECTIONS = 32;
/** How far down the list the late pages are, as a share of all pages: page 10,000 of 20,000. */
const LATE = 0.5;

const SORTS = ['name', 'createdAt', 'updatedAt'] as const;
const DIRECTIONS = ['ASC', 'DESC'] as const;

type Query = Record<string, string | number | boolean>;

export const reportsList: Benchmark = {
  name: 'reports-list',
  description:
    'GET reports among a million: late pages, viewers, searches and counts, against the first page',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const oriel = await startOriel();
  const content = await loadContent(oriel.connection, options.rows ?? ROWS);
  return measureLists(oriel, content, options, { wrk: `${wrk}, 1 thread, ${CONNECTIONS} connections` });
}

export async function measureLists(
  oriel: Pick<Oriel, 'url' | 'connection'>,
  content: Content,
  options: RunOptions,
  facts: Record<string, string> = {},
) {
  const client = new pg.Client(oriel.connection);
  await client.connect();
  try {
    const lists = listsOf(oriel.url, content);
    const setting = { client, lists, content };
    const { rounds } = options;
    const ratios = [
      ...(await latePages(setting)),
      ...(await viewerPages(setting)),
      ...searches(lists),
      ...counts(setting),
    ];
    const latencies = await compareLatencies(ratios, { rounds, calls: CALLS });
    const move = await measureMove(oriel.url, content, lists.url({ includeCount: false }), rounds);
    const throughput = await measureThroughput(oriel, lists.url({ includeCount: false }), options);
    const measured: ContenderResult[] = [...latencies.measured, ...move.measured, ...throughput.measured];
    const comparisons: Comparison[] = [
      ...latencies.comparisons,
      ...move.comparisons,
      ...throughput.comparisons,
    ];
    return { measured, comparisons, facts: { ...content.facts, ...facts, ...move.facts } };
  } finally {
    await client.end();
  }
}

type Lists = ReturnType<typeof listsOf>;

interface Setting {
  client: pg.Client;
  lists: Lists;
  content: Content;
}

function listsOf(origin: string, { deploymentId }: Content) {
  const url = (query: Query) =>
    `${origin}/api/v1/deployments/${deploymentId}/reports?${new URLSearchParams(
      Object.entries({ first: PAGE, ...query }).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
    )}`;
  const headers = (key: string) => ({ authorization: `Api-Key ${key}` });
  const kept = new Map<string, Action>();
  return {
    url,
    read: async (query: Query, key = ADMIN_KEY) =>
      JSON.parse(await fetchText(url(query), headers(key))) as Answer,
    /** Returns the same action for the same list, so that it is measured only once. */
    action(name: string, query: Query, key = ADMIN_KEY): Action {
      const address = url(query);
      const action = kept.get(address + key) ?? { name, act: () => fetchText(address, headers(key)) };
      kept.set(address + key, action);
      return action;
    },
  };
}

const FIRST_OF_THE_LIST =
  'Oriel itself, the first page of the same list. Shows how paging scales, not how fast it is.';
const FIRST_PAGE =
  'Oriel itself, the first page of all reports for an admin. Shows how lists compare, not how fast they are.';
const BARE_COUNT =
  'counts in the database on one connection, without HTTP, credential, access rules and page.';

const firstPage = (lists: Lists) => lists.action('page 1', { includeCount: false });

/** A condition on reports, and the same condition as a filter of the list. */
interface Place {
  name: string;
  filter: Query;
  condition: string;
}

const COLUMNS = { name: 'name_key', createdAt: 'created_at', updatedAt: 'updated_at' };

/**
 * The cursor after a share of the rows, and the number of its page. A cursor holds nothing but the key of a row, so
 * it is fetched from a list that has only that row, instead of by paging through half a million rows.
 */
async function cursorAt(
  { client, lists, content }: Setting,
  place: Place,
  order: { sortBy: keyof typeof COLUMNS; sortDirection?: 'ASC' | 'DESC' },
  share: number,
): Promise<{ after: string; page: number }> {
  const direction = order.sortDirection ?? (order.sortBy === 'name' ? 'ASC' : 'DESC');
  const where = `deployment_id = ${content.deploymentId} and ${place.condition}`;
  const { rows } = await client.query(`select count(*) from reports where ${where}`);
  const page = Math.max(1, Math.floor((rows[0].count * share) / PAGE));
  const mark = `bench ${place.name} ${order.sortBy} ${direction} ${share}`;
  await client.query(
    `update reports set external_workbook_id = $1 where id = (
       select id from reports where ${where}
       order by ${COLUMNS[order.sortBy]} ${direction}, id ${direction} limit 1 offset ${Math.max(0, (page - 1) * PAGE - 1)})`,
    [mark],
  );
  const { pageInfo } = await lists.read({ ...order, externalWorkbookId: mark, includeCount: false });
  return { after: pageInfo!.endCursor, page };
}

async function latePages(setting: Setting): Promise<Ratio[]> {
  const { lists, content } = setting;
  const { bigFolderId, bigWorkbookId } = content;
  const ratios: Ratio[] = [];
  for (const place of [
    EVERYWHERE,
    { name: ' of a folder', filter: { folderId: bigFolderId }, condition: `folder_id = ${bigFolderId}` },
    {
      name: ' of a workbook',
      filter: { workbookId: bigWorkbookId },
      condition: `workbook_id = ${bigWorkbookId}`,
    },
  ]) {
    for (const sortBy of SORTS) {
      for (const sortDirection of DIRECTIONS) {
        const order = { sortBy, sortDirection };
        const { after, page } = await cursorAt(setting, place, order, LATE);
        const query = { ...place.filter, ...order, includeCount: false };
        const name = `${place.name} by ${sortBy} ${sortDirection}`;
        ratios.push({
          subject: lists.action(`page ${page}${name}`, { ...query, after }),
          anchor: lists.action(`page 1${name}`, query),
          anchorDoes: FIRST_OF_THE_LIST,
          asked: { atMost: 1.5 },
        });
      }
    }
  }
  return ratios;
}

const EVERYWHERE: Place = { name: '', filter: {}, condition: 'true' };

async function viewerPages(setting: Setting): Promise<Ratio[]> {
  const { lists, content } = setting;
  const ratios: Ratio[] = [];
  for (const sortBy of ['createdAt', 'name'] as const) {
    const middle = await cursorAt(setting, EVERYWHERE, { sortBy }, 0.3);
    const late = await cursorAt(setting, EVERYWHERE, { sortBy }, 0.9);
    for (const viewer of content.viewers) {
      const add = (page: string, query: Query) =>
        ratios.push({
          subject: lists.action(
            `${viewer.name}, ${page} by ${sortBy}`,
            { ...(sortBy !== 'createdAt' && { sortBy }), ...query, includeCount: false },
            viewer.key,
          ),
          anchor: firstPage(lists),
          anchorDoes: FIRST_PAGE,
          asked: { atMost: 5 },
        });
      add('page 1', {});
      add('a middle page', { after: middle.after });
      add('a late page', { after: late.after });
    }
  }
  return ratios;
}

function searches(lists: Lists): Ratio[] {
  const search = (text: string, query: Query = {}) =>
    lists.action(`search for ${text}${query.sortBy ? ` by ${query.sortBy}` : ''}`, {
      search: text,
      includeCount: false,
      ...query,
    });
  const toFirstPage = { anchor: firstPage(lists), anchorDoes: FIRST_PAGE };
  return [
    { subject: search(RARE_WORD), ...toFirstPage, asked: { atMost: 5 } },
    { subject: search(RARE_WORD, { sortBy: 'name' }), ...toFirstPage, asked: { atMost: 5 } },
    { subject: search(COMMON_WORD), ...toFirstPage, asked: { atMost: 20 } },
    { subject: search(COMMON_WORD, { sortBy: 'name' }), ...toFirstPage, asked: { atMost: 20 } },
  ];
}

function counts({ lists, content, client }: Setting): Ratio[] {
  const { viewers, bigFolderId, bigWorkbookId, deploymentId } = content;
  const pair = (name: string, query: Query, key?: string): Ratio => ({
    subject: lists.action(`${name} with its count`, query, key),
    anchor: lists.action(name, { ...query, includeCount: false }, key),
    anchorDoes: 'Oriel itself, the same page without its count.',
    asked: { atMost: 5 },
  });
  const bare = (search: string): Action => ({
    name: `bare count of ${search}`,
    act: () =>
      client.query(
        'select count(*) from reports where search_text like $1 and deployment_id = $2 and embed_tenant is null',
        [`%${search}%`, deploymentId],
      ),
  });
  return [
    pair('page 1', {}),
    pair('page 1 of a folder', { folderId: bigFolderId }),
    pair('page 1 of a workbook', { workbookId: bigWorkbookId }),
    ...viewers.map(({ name, key }) => pair(`${name}, page 1`, {}, key)),
    ...[RARE_WORD, COMMON_WORD].map((search) => ({
      subject: lists.action(`search for ${search} with its count`, { search }),
      without: lists.action(`search for ${search}`, { search, includeCount: false }),
      anchor: bare(search),
      anchorDoes: BARE_COUNT,
      asked: { atMost: 1.2 },
    })),
    { subject: lists.action('', { search: COMMON_WORD }), anchor: bare(COMMON_WORD), anchorDoes: BARE_COUNT },
  ];
}

async function measureThroughput(
  { connection }: Pick<Oriel, 'connection'>,
  url: string,
  options: RunOptions,
) {
  const headers = { authorization: `Api-Key ${ADMIN_KEY}` };
  const { items } = JSON.parse(await fetchText(url, headers)) as Answer;
  const env = {
    ANCHOR_IDS: items.map(({ id }) => id).join(','),
    ANCHOR_CONNECTION: JSON.stringify(connection),
  };
  const load = (name: string, address: string): Contender => ({
    name,
    measure: (seconds) => runWrk({ url: address, headers, connections: CONNECTIONS }, seconds),
  });
  const anchor = async (name: string, file: string, does: string): Promise<Anchor> => ({
    ...load(name, `${(await startAnchor(file, env)).url}/`),
    does,
  });
  const byNode = await anchor(
    'bare Fastify that reads the rows',
    'fastify-rows-by-id',
    `Fastify and one query: reads the same 50 rows by their ids and writes them as JSON in Node. ${LACKS}`,
  );
  const byDatabase = await anchor(
    'bare Fastify, JSON by the database',
    'fastify-json-by-id',
    `Fastify and one query: the database writes the same 50 rows as one JSON text, which the handler passes on. ${LACKS}`,
  );
  const rounds = await measureInTurns(load('Oriel, page of 50', url), [byNode, byDatabase], options);
  const comparisons = [byNode, byDatabase].map((each) => rounds.compare(each, { asked: { atLeast: 0.5 } }));
  return { measured: rounds.measured, comparisons };
}

const LACKS =
  'It does not find which rows are on the page, has no credential, no access rules, no owners, folder paths, placements ' +
  'and roles, no cursor, no log, and sends the rows once where Oriel sends them as `items` and as `data`.';
