/** What the editor asks the server for. */
import type { Dashboard, Query, QueryApi, Result, Snapshot } from '@oriel/charts';
import { Problem as ChartProblem } from '@oriel/charts';
import { OrielError } from '@oriel/client';
import { api } from '../data/api.ts';
import { problemOf } from '../data/problem.ts';
import { isWorkbook, type Workbook } from '../home/items.ts';
import type { Config } from './state/doc.ts';
import type { Store } from './state/session.ts';

type ReadWorkbook = Awaited<ReturnType<typeof api.getWorkbook>>;

export interface WorkbookKey {
  deploymentId: number;
  workbookId: number;
}

/** The draft or, for a person who may only look, the published dashboard. */
export const configIn = ({ dashboardDraft, dashboardPublished }: ReadWorkbook) =>
  ((dashboardDraft === undefined ? dashboardPublished : dashboardDraft) ?? null) as Config | null;

/** One for each editor that is opened. */
export const draftStore = (where: WorkbookKey, editingSession: string = crypto.randomUUID()): Store => ({
  async load() {
    const { body, etag } = await api.withHeaders.getWorkbook(where);
    return { config: configIn(body), etag };
  },
  async save(config, etag) {
    try {
      const saved = await api.withHeaders.updateWorkbookDashboard(
        { ...where, body: { dashboardDraft: config, editingSession } },
        { ifMatch: etag },
      );
      return saved.etag;
    } catch (error) {
      if (error instanceof OrielError && error.status === 412) return 'outdated';
      throw error;
    }
  },
});

/** Rows for charts, under the rights of the author. */
export const queryApi: QueryApi = {
  async load(deploymentId, queries, isFresh) {
    const body = { query: queries, queryType: 'multi', ...(isFresh ? { cache: 'no-cache' } : {}) };
    const reply = await asChart(() => api.load({ deploymentId, body: body as never }));
    return (reply as unknown as { results: Result[] }).results;
  },
  meta: (deploymentId) => asChart(() => api.getQueryMeta({ deploymentId })) as never,
};

/** What is published, as viewers get it. */
export const publishedDashboard = (publicId: string) =>
  asChart(() => api.getDashboard({ publicId })) as unknown as Promise<Dashboard>;

export interface Application {
  publicId: string;
  title: string;
}

const FOUND = { max: 100, pages: 10 };

export interface FoundApplications {
  found: Workbook[];
  /** Where the search goes on, if it has not come to the last workbook. */
  after: string | undefined;
}

/**
 * Some workbooks, in the order of their names, whose published dashboard is an application. Lists leave out such dashboards,
 * and sometimes others that are large.
 */
export async function applicationsNamed(
  deploymentId: number,
  search: string,
  { after, signal }: { after?: string | undefined; signal?: AbortSignal } = {},
): Promise<FoundApplications> {
  const found: Workbook[] = [];
  for (let page = 0; page < FOUND.pages && found.length < FOUND.max; page++) {
    const { items, pageInfo } = await api.workspaceObjects(
      {
        ...{ deploymentId, types: ['WORKBOOK'], first: 100, orderByField: 'name' },
        ...(search ? { search } : {}),
        ...(after ? { after } : {}),
      },
      signal ? { signal } : {},
    );
    found.push(...items.filter(isWorkbook).filter((item) => item.dashboardPublished === undefined));
    after = (pageInfo.hasNextPage && pageInfo.endCursor) || undefined;
    if (!after) break;
  }
  return { found, after };
}

export async function applicationIn(where: WorkbookKey): Promise<Application | undefined> {
  const { publishedDashboard, name } = await api.getWorkbook(where);
  if (publishedDashboard?.config.kind !== 'APP') return undefined;
  return { publicId: publishedDashboard.publicId, title: publishedDashboard.title || name };
}

/** The cache key of an application. Without an id, what the keys of all in this deployment begin with. */
export const applicationKey = ({ deploymentId }: WorkbookKey, publicId = '') =>
  `d/${deploymentId}/application/${publicId}`;

/** The application that widgets with this id get, or null: a publication can be taken back at any time. */
export async function findApplication(
  { deploymentId }: WorkbookKey,
  publicId: string,
): Promise<Dashboard | null> {
  try {
    const dashboard = await publishedDashboard(publicId);
    return dashboard.config.kind === 'APP' && dashboard.deploymentId === deploymentId ? dashboard : null;
  } catch (error) {
    if (error instanceof ChartProblem && error.status === 404) return null;
    throw error;
  }
}

/** Whether the person may explore: everyone who may create content may. */
export const mayExploreIn = (deploymentId: number): Promise<boolean> =>
  api.workspaceRights({ deploymentId }).then(
    ({ actions, canCreate }) => canCreate || actions.includes('All') || actions.includes('AIBIExplore'),
    () => false,
  );

/** Rows for charts, under the policies of another viewer. */
export async function loadAs(where: WorkbookKey, previewId: string, queries: Query[], isRenewed: boolean) {
  const body = { previewId, query: queries, isRenewed };
  const reply = await asChart(() => api.loadDashboardPreview({ ...where, body: body as never }));
  return (reply as unknown as { results: Result[] }).results;
}

/** Widgets say what went wrong in the words of viewers. */
async function asChart<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { status = 0 } = error as Partial<OrielError>;
    const { code, message } = problemOf(error);
    throw new ChartProblem(status, code || 'error', message);
  }
}

export interface ReportInfo {
  id: number;
  name: string;
  title?: string | null;
  meta?: { chart?: { kind?: string } } | null;
  jsonQuery?: string | null;
  sqlQuery?: string | null;
}

/** Whether a report asks for something, so that a chart of it shows more than a failure. */
export const hasQuery = ({ jsonQuery, sqlQuery }: ReportInfo) => Boolean(jsonQuery || sqlQuery);

/** The reports of the workbook, which charts can show. */
export async function reportsOf({ deploymentId, workbookId }: WorkbookKey): Promise<ReportInfo[]> {
  const found: ReportInfo[] = [];
  for await (const report of api.iterate.getReports({ deploymentId, workbookId })) {
    found.push(report as unknown as ReportInfo);
    if (found.length >= 500) break;
  }
  return found;
}

export async function previewsOf(where: WorkbookKey, reportIds: number[]) {
  const { reportSnapshots, userAttributes } = await api.previewDashboardReports({
    ...where,
    body: { reportIds },
  });
  return { snapshots: reportSnapshots as unknown as Snapshot[], userAttributes };
}
