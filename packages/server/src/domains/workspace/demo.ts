/** Example content of a company that sells goods: folders by department, workbooks, and some hundred reports. */
import { type DemoContext, type DemoStep, demoPublicId } from '../../platform/demo.ts';
import { insertFolder } from '../folders/index.ts';
import { EMPTY_REPORT, insertReportRow } from '../reports/index.ts';
import { insertWorkbook } from '../workbooks/index.ts';

const REPORTS_PER_PLACE = 12;

const TREE: Record<string, string[]> = {
  Sales: ['Regions', 'Forecast', 'Partners'],
  Marketing: ['Campaigns', 'Website'],
  Finance: ['Monthly close', 'Budget'],
  Operations: ['Logistics', 'Support'],
  Product: ['Usage', 'Experiments'],
};

const MEASURES = [
  'Revenue',
  'Orders',
  'Average order value',
  'Margin',
  'Returns',
  'New customers',
  'Conversion',
  'Churn',
];
const DIMENSIONS = [
  'month',
  'week',
  'region',
  'country',
  'category',
  'channel',
  'customer tier',
  'warehouse',
];
const PERIODS = ['last 30 days', 'this quarter', 'this year', 'year over year', 'all time'];

/** The measures of the model that titles name, by view. Nothing in the data says what a margin or churn is. */
const MEMBERS: Record<string, Record<string, string>> = {
  sales: { Revenue: 'revenue', Orders: 'orders', 'Average order value': 'average_order_value' },
  operations: { Returns: 'returned_count', Orders: 'orders' },
  activity: { Conversion: 'conversion' },
};
const TIMES: Record<string, string> = {
  sales: 'ordered_at',
  operations: 'ordered_at',
  activity: 'happened_at',
};
const GROUPS: Record<string, Record<string, string>> = {
  sales: {
    region: 'customer_region',
    country: 'customer_country',
    category: 'product_category',
    channel: 'channel',
    'customer tier': 'customer_tier',
  },
  operations: {
    region: 'customer_region',
    country: 'customer_country',
    channel: 'channel',
    warehouse: 'warehouse',
  },
  activity: { region: 'customer_region', country: 'customer_country', 'customer tier': 'customer_tier' },
};
const GRAINS = ['month', 'week'];

export const demoContent: DemoStep = async (context) => {
  for (const [department, teams] of Object.entries(TREE)) {
    const top = await addFolder(context, department, null);
    await addReports(context, { folderId: top.id, workbookId: null, scopeFolderId: top.id });
    for (const team of teams) {
      const folder = await addFolder(context, team, top);
      const workbookId = await addWorkbook(context, `${department}: ${team}`, folder.id);
      await addReports(context, { folderId: null, workbookId, scopeFolderId: folder.id });
      await addReports(context, { folderId: folder.id, workbookId: null, scopeFolderId: folder.id });
    }
  }
};

/** The question that a title asks, from the first view that has both its measure and what it is by. */
function questionOf(measure: string, dimension: string, period: string): object | undefined {
  const isByTime = GRAINS.includes(dimension);
  const view = Object.keys(MEMBERS).find(
    (name) => MEMBERS[name]![measure] && (isByTime || GROUPS[name]![dimension]),
  );
  if (!view) return undefined;
  const isOverYears = period === 'year over year';
  const granularity = isByTime ? dimension : isOverYears ? 'year' : undefined;
  const dateRange = isOverYears ? 'last 2 years' : period === 'all time' ? undefined : period;
  return {
    measures: [`${view}.${MEMBERS[view]![measure]}`],
    ...(isByTime ? {} : { dimensions: [`${view}.${GROUPS[view]![dimension]}`] }),
    ...(granularity || dateRange
      ? { timeDimensions: [{ dimension: `${view}.${TIMES[view]}`, granularity, dateRange }] }
      : {}),
  };
}

async function addFolder(
  { tx, adminId, deploymentId }: DemoContext,
  name: string,
  parent: { id: number; path: number[] } | null,
) {
  const id = await insertFolder(tx, {
    deploymentId,
    parent,
    name,
    position: null,
    embedTenant: null,
    userId: adminId,
  });
  return { id, path: [...(parent?.path ?? []), id] };
}

async function addWorkbook({ tx, adminId, deploymentId }: DemoContext, name: string, folderId: number) {
  const workbook = { name, slug: null, meta: {}, folderId, embedTenant: null, userId: adminId };
  return (await insertWorkbook(tx, { deploymentId, ...workbook }))!;
}

async function addReports(
  context: DemoContext,
  place: { folderId: number | null; workbookId: number | null; scopeFolderId: number },
) {
  const { tx, adminId, deploymentId, random } = context;
  const pick = <T>(list: T[]) => list[Math.floor(random() * list.length)]!;
  for (let i = 0; i < REPORTS_PER_PLACE; i++) {
    const [measure, dimension, period] = [pick(MEASURES), pick(DIMENSIONS), pick(PERIODS)];
    const question = questionOf(measure, dimension, period);
    await insertReportRow(tx, {
      ...EMPTY_REPORT,
      deploymentId,
      publicId: demoPublicId(context),
      userId: adminId,
      ...place,
      embedTenant: null,
      name: `${measure} by ${dimension}, ${period}`,
      title: `${measure} by ${dimension}`,
      description: `${measure} of all orders, by ${dimension}, for ${period}.`,
      source: 'PLAYGROUND',
      ...(question ? { jsonQuery: JSON.stringify(question) } : {}),
    });
  }
}
