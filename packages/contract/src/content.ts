/** The schemas of the content of a deployment: folders, workbooks and reports. */
import { Type } from 'typebox';
import { actions } from './actions.ts';
import { Dashboard, DashboardConfig, DashboardOutline } from './dashboards.ts';
import { limits } from './limits.ts';
import { DateTime, FreeObject, Id, Maybe, PageInfo, PublicId, Shape } from './schemas.ts';

const ContentType = Type.Enum(['FOLDER', 'WORKBOOK', 'REPORT'], { title: 'ContentType' });

/** The form in requests. The handler checks the size. */
export const Meta = {
  ...FreeObject,
  description: `Free-form keys, up to ${limits.meta / 1024} KB of JSON`,
};

const ResourceOwner = Shape('ResourceOwner', {
  id: Id,
  email: Type.String({ examples: ['ada@example.com'] }),
  firstName: Maybe(Type.String({ examples: ['Ada'] })),
  picture: Maybe(Type.String()),
});

const name = Type.String({ examples: ['Revenue by month'] });
const FolderPathEntry = Shape('WorkspaceFolderPathEntry', {
  id: Id,
  name: Type.String({ examples: ['Sales'] }),
});

const folderPath = Type.Optional(
  Type.Array(FolderPathEntry, { description: 'From the root to the containing folder' }),
);

const alsoManagedBy = Type.Optional(
  Type.Array(
    Shape('NewManager', {
      id: Id,
      email: Maybe(
        Type.String({
          description: 'For callers who see the names of people',
          examples: ['ada@example.com'],
        }),
      ),
    }),
    {
      description:
        'In the reply of a move: who manages the item since, because they own a folder or workbook that it lies in now',
    },
  ),
);

export const Folder = Shape('Folder', {
  id: Id,
  deploymentId: Id,
  name: Type.String({ examples: ['Sales'] }),
  type: ContentType,
  parentId: Maybe(Id),
  position: Type.Integer(),
  folderPath,
  createdBy: Type.Optional(Id),
  updatedBy: Maybe(Id),
  createdAt: DateTime,
  updatedAt: DateTime,
  alsoManagedBy,
});

const RoleWithAccess = Shape('RoleWithAccess', {
  id: Id,
  name: Type.String(),
  actions: Type.Array(Type.Enum([...actions])),
});

const pivotItems = Type.Array(Type.String());
export const PivotItems = Shape('PivotItems', {
  columns: pivotItems,
  measures: pivotItems,
  rows: pivotItems,
  filters: pivotItems,
});

const givenPivotItems = Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 1000 });
export const PivotItemsInput = Shape(
  'PivotItemsInput',
  { columns: givenPivotItems, measures: givenPivotItems, rows: givenPivotItems, filters: givenPivotItems },
  { description: `Up to ${limits.pivotItems / 1024} KB of JSON` },
);

const ReportPlacement = Shape('ReportPlacement', {
  workbookId: Type.String({ description: 'The spreadsheet' }),
  resultLocation: Type.String(),
  endResultCell: Maybe(Type.String()),
});

export const ReportSource = Type.Enum(['HOSTED_SHEETS', 'DESKTOP_SHEETS', 'PLAYGROUND', 'D3'], {
  title: 'ReportSource',
});

export const Report = Shape('Report', {
  id: Id,
  publicId: PublicId,
  deploymentId: Id,
  userId: Type.Integer(),
  createdBy: Type.Optional(Type.Integer()),
  user: ResourceOwner,
  refreshedBy: Maybe(Type.Integer()),
  refreshedByUser: ResourceOwner,
  name,
  title: Maybe(Type.String({ examples: ['Revenue'] })),
  description: Maybe(Type.String()),
  type: ContentType,
  source: Maybe(ReportSource),
  createdAt: DateTime,
  updatedAt: DateTime,
  folderId: Maybe(Id),
  folderPath,
  workbookId: Maybe(Id),
  externalWorkbookId: Maybe(Type.String()),
  externalWorkbookPlacements: Maybe(Type.Array(ReportPlacement)),
  resultLocation: Maybe(Type.String()),
  endResultCell: Maybe(Type.String()),
  sqlQuery: Maybe(Type.String()),
  jsonQuery: Maybe(Type.String()),
  pivotItems: Maybe(PivotItems),
  meta: Maybe(FreeObject),
  version: Maybe(Type.Integer()),
  rolesWithAccess: Maybe(Type.Array(RoleWithAccess)),
  canEdit: Maybe(Type.Boolean()),
  canManage: Maybe(Type.Boolean()),
  alsoManagedBy,
});

export const Workbook = Shape('Workbook', {
  id: Id,
  deploymentId: Id,
  name,
  slug: Maybe(Type.String({ examples: ['revenue'] })),
  type: ContentType,
  userId: Maybe(Type.Integer()),
  user: Maybe(ResourceOwner),
  createdBy: Type.Optional(Type.Integer()),
  folderId: Maybe(Id),
  folderPath,
  calculatedFields: FreeObject,
  meta: FreeObject,
  dashboardDraft: Maybe(DashboardConfig),
  dashboardPublished: Maybe(DashboardConfig),
  dashboardOutline: Maybe(DashboardOutline),
  publishedDashboard: Maybe(Dashboard),
  createdAt: DateTime,
  updatedAt: DateTime,
  alsoManagedBy,
});

/** The reply of a list that can also be paged in the older way. */
export const ListResponse = <T extends typeof Folder | typeof Workbook | typeof Report>(
  title: string,
  item: T,
) =>
  Shape(title, {
    items: Type.Array(item),
    data: Type.Array(item, { deprecated: true, description: 'The same as `items`' }),
    count: Maybe(
      Type.Integer({
        minimum: 0,
        deprecated: true,
        description: 'The number of items on all pages together',
      }),
    ),
    pageInfo: Maybe(PageInfo),
  });

export const embedTenantName = Maybe(
  Type.String({
    maxLength: 36,
    description: 'For admins: return the content of this embed tenant instead of the main workspace',
  }),
);

/** An id, or null for none. */
export const OptionalId = Maybe(Id);
