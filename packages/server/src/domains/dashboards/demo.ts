/** Two published dashboards over the data of the demo, which every embed tenant may see. */
import { isDeepStrictEqual } from 'node:util';
import { type DemoContext, type DemoStep, demoPublicId } from '../../platform/demo.ts';
import { newPublicId } from '../../platform/public-id.ts';
import { MANAGE, type Viewer } from '../access/index.ts';
import { EMPTY_REPORT, insertReportRow } from '../reports/index.ts';
import { insertWorkbook, setDraft, setPublished } from '../workbooks/index.ts';
import type { ChartAnswer, Charts } from './charts.ts';
import { type DashboardConfig, requireConfig, type Widget } from './config-rules.ts';
import { COMMERCE, type DemoChart, OPERATIONS } from './demo-charts.ts';
import { outlineOf } from './outline.ts';
import { takeSnapshots } from './snapshots.ts';
import * as store from './store.ts';

const COMPILE_WITHIN_MS = 120_000;

interface DemoDashboard {
  publicId: string;
  slug: string;
  title: string;
  description: string;
  view: string;
  charts: DemoChart[];
  /** The dimensions that viewers can filter by, with their titles. */
  filters: [member: string, title: string][];
}

export const DEMO_DASHBOARDS: DemoDashboard[] = [
  {
    publicId: 'DemoCommerce',
    slug: 'commerce-overview',
    title: 'Commerce overview',
    description: 'What the shop sells, to whom and where',
    view: 'sales',
    charts: COMMERCE,
    filters: [
      ['customer_country', 'Country'],
      ['product_category', 'Category'],
    ],
  },
  {
    publicId: 'DemoOpsBoard',
    slug: 'operations-board',
    title: 'Operations board',
    description: 'How orders are packed, shipped and delivered, and what comes back',
    view: 'operations',
    charts: OPERATIONS,
    filters: [
      ['warehouse', 'Warehouse'],
      ['customer_country', 'Country'],
    ],
  },
];

export const demoDashboards = (charts: Charts): DemoStep => ({
  async prepare() {
    const compiled = await compileAll(charts);
    return async (context) => {
      for (const demo of DEMO_DASHBOARDS) await addDashboard(context, compiled, demo);
    };
  },
});

/** Compiles all charts of the demo in advance, so that nothing is compiled in the transaction. */
async function compileAll(charts: Charts): Promise<Charts> {
  const signal = AbortSignal.timeout(COMPILE_WITHIN_MS);
  const known: { spec: object; answer: ChartAnswer }[] = [];
  for (const demo of DEMO_DASHBOARDS) {
    const tasks = demo.charts.flatMap(({ kind, spec }) => (kind === 'vega' ? { spec } : []));
    const answers = await charts.compile(tasks, 'demo', signal);
    known.push(...tasks.map(({ spec }, i) => ({ spec, answer: answers[i]! })));
  }
  const answerFor = (spec: object) => {
    const found = known.find((one) => isDeepStrictEqual(one.spec, spec));
    if (!found) throw new Error('A chart of the demo was not compiled before the transaction.');
    return found.answer;
  };
  return { ...charts, compile: async (tasks) => tasks.map(({ spec }) => answerFor(spec)) };
}

async function addDashboard(context: DemoContext, charts: Charts, demo: DemoDashboard) {
  const { tx, adminId, deploymentId, isFirst } = context;
  const { slug, title: name } = demo;
  const publicId = isFirst ? demo.publicId : newPublicId();
  const place = { deploymentId, embedTenant: null, userId: adminId };
  const workbookId = (await insertWorkbook(tx, { ...place, name, slug, meta: {}, folderId: null }))!;
  const reportIds = new Map<string, number>();
  for (const chart of demo.charts) reportIds.set(chart.id, await addReport(context, workbookId, chart));
  const config = configOf(demo, reportIds);
  const viewer: Viewer = {
    userId: adminId,
    deploymentId,
    levels: { Folder: MANAGE, Workbook: MANAGE, Report: MANAGE },
    mayCreate: true,
    embedTenant: null,
    seesNames: true,
    isExternal: false,
  };
  const signal = AbortSignal.timeout(COMPILE_WITHIN_MS);
  const snapshots = await takeSnapshots(
    { db: tx, viewer, charts, sharer: 'demo', signal },
    requireConfig(config, 'config'),
  );
  await store.insertDashboard(tx, workbookId, publicId, adminId);
  const { id } = (await store.findDashboardOf(tx, viewer, null, workbookId))!;
  await store.updateEmbedding(tx, id, { allowEmbed: true, allEmbedUsers: 'read' });
  const bytes = Buffer.byteLength(JSON.stringify([config, snapshots]));
  const version = { title: name, description: demo.description, config, snapshots, bytes, note: null };
  await store.insertVersion(tx, id, version, adminId);
  await setDraft(tx, workbookId, config);
  await setPublished(tx, workbookId, config, outlineOf(config, snapshots));
}

async function addReport(context: DemoContext, workbookId: number, chart: DemoChart) {
  const { tx, adminId, deploymentId } = context;
  const { kind, spec, periodComparisons = null, fillMissingRows = null, preferences = null } = chart;
  const id = await insertReportRow(tx, {
    ...EMPTY_REPORT,
    deploymentId,
    publicId: demoPublicId(context),
    userId: adminId,
    folderId: null,
    workbookId,
    scopeFolderId: null,
    embedTenant: null,
    name: chart.title,
    title: chart.title,
    source: 'PLAYGROUND',
    jsonQuery: JSON.stringify(chart.query),
    meta: { chart: { kind, spec, periodComparisons, fillMissingRows, preferences } },
  });
  return id!;
}

const FILTER_WIDTH = 3;

function configOf(demo: DemoDashboard, reportIds: ReadonlyMap<string, number>): DashboardConfig {
  const { view, title, description } = demo;
  const time = `${view}.ordered_at`;
  const controls: Omit<Widget, 'position'>[] = [
    {
      id: 'dates',
      type: 'FILTER',
      config: {
        member: time,
        title: 'Ordered',
        kind: 'date-range',
        default: { operator: 'between', value: 'last 12 months' },
        widgets: demo.charts.filter(({ isOfAllTime }) => !isOfAllTime).map(({ id }) => id),
      },
    },
    ...demo.filters.map(([dimension, name]) => ({
      id: `filter-${dimension}`,
      type: 'FILTER' as const,
      config: { member: `${view}.${dimension}`, title: name, kind: 'select', multiple: true },
    })),
    {
      id: 'grain',
      type: 'TIME_GRAIN',
      config: { member: time, grains: ['week', 'month', 'quarter'], default: 'month' },
    },
  ];
  const widgets = [
    ...controls.map((widget, i) => ({
      ...widget,
      position: { x: i * FILTER_WIDTH, y: 0, w: FILTER_WIDTH, h: 2 },
    })),
    ...demo.charts.map(({ id, at: [x, y, w, h] }) => ({
      id,
      type: 'CHART' as const,
      position: { x, y, w, h },
      config: { reportId: reportIds.get(id)! },
    })),
  ];
  const layout = { cols: { lg: 12, md: 12 }, rowHeight: 40, margin: [16, 16] };
  return { kind: 'CLASSIC', title, description, layout, widgets, settings: { timezone: 'UTC' } };
}
