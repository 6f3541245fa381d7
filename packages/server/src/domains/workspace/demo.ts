/** Example content of a company that sells goods: folders by department, workbooks, and some hundred reports. */
import type { DemoContext, DemoStep } from '../../platform/demo.ts';
import { newPublicId } from '../../platform/public-id.ts';
import { insertFolder } from '../folders/index.ts';
import { EMPTY_REPORT, insertReportRow } from '../reports/index.ts';
import { insertWorkbook } from '../workbooks/index.ts';

const DEPLOYMENT_ID = 1;
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

async function addFolder(
  { tx, adminId }: DemoContext,
  name: string,
  parent: { id: number; path: number[] } | null,
) {
  const id = await insertFolder(tx, {
    deploymentId: DEPLOYMENT_ID,
    parent,
    name,
    position: null,
    embedTenant: null,
    userId: adminId,
  });
  return { id, path: [...(parent?.path ?? []), id] };
}

async function addWorkbook({ tx, adminId }: DemoContext, name: string, folderId: number) {
  const workbook = { name, slug: null, meta: {}, folderId, embedTenant: null, userId: adminId };
  return (await insertWorkbook(tx, { deploymentId: DEPLOYMENT_ID, ...workbook }))!;
}

async function addReports(
  { tx, adminId, random }: DemoContext,
  place: { folderId: number | null; workbookId: number | null; scopeFolderId: number },
) {
  const pick = <T>(list: T[]) => list[Math.floor(random() * list.length)]!;
  for (let i = 0; i < REPORTS_PER_PLACE; i++) {
    const [measure, dimension, period] = [pick(MEASURES), pick(DIMENSIONS), pick(PERIODS)];
    await insertReportRow(tx, {
      ...EMPTY_REPORT,
      deploymentId: DEPLOYMENT_ID,
      publicId: newPublicId(random),
      userId: adminId,
      ...place,
      embedTenant: null,
      name: `${measure} by ${dimension}, ${period}`,
      title: `${measure} by ${dimension}`,
      description: `${measure} of all orders, by ${dimension}, for ${period}.`,
      source: 'PLAYGROUND',
    });
  }
}
