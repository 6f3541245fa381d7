/** The schemas of dashboards: what a workbook's draft holds, and what is published of it. */
import { type Static, Type } from 'typebox';
import { FreeObject, Id, Maybe, PublicId, RecordOf, Shape } from './schemas.ts';

const Position = Shape('DashboardWidgetPosition', {
  x: Type.Integer(),
  y: Type.Integer(),
  w: Type.Integer(),
  h: Type.Integer(),
});

const sizes = <T extends typeof Position>(schema: T) => ({
  lg: Maybe(schema),
  md: Maybe(schema),
  sm: Maybe(schema),
  xs: Maybe(schema),
  xxs: Maybe(schema),
});

const BySize = Shape('DashboardBreakpoints', {
  lg: Maybe(Type.Integer()),
  md: Maybe(Type.Integer()),
  sm: Maybe(Type.Integer()),
  xs: Maybe(Type.Integer()),
  xxs: Maybe(Type.Integer()),
});

const DashboardLayout = Shape('DashboardLayout', {
  breakpoints: Maybe(BySize),
  cols: Type.Optional(
    Type.Union([
      BySize,
      Type.Integer({ minimum: 1, maximum: 48, description: 'For all widths of the page' }),
      Type.Null(),
    ]),
  ),
  containerPadding: Maybe(Type.Array(Type.Integer())),
  margin: Maybe(Type.Array(Type.Integer())),
  rowHeight: Maybe(Type.Integer()),
});

export const DashboardWidget = Shape('DashboardWidget', {
  id: Type.String({ minLength: 1, maxLength: 128 }),
  type: Type.Enum(['CHART', 'TEXT', 'FILTER', 'AI', 'TIME_GRAIN', 'SPACER', 'DIVIDER', 'CONTAINER', 'APP']),
  position: Position,
  responsiveLayouts: Maybe(Shape('DashboardResponsiveLayouts', sizes(Position))),
  config: Maybe(FreeObject),
  style: Maybe(FreeObject),
});

/** The outline of a dashboard, for small pictures in lists. */
export const DashboardOutline = Type.Array(
  Shape('DashboardOutlineItem', {
    x: Type.Integer(),
    y: Type.Integer(),
    w: Type.Integer(),
    h: Type.Integer(),
    shows: Type.Enum([
      'line',
      'area',
      'column',
      'bar',
      'pie',
      'point',
      'heatmap',
      'map',
      'table',
      'kpi',
      'text',
      'control',
    ]),
  }),
);
export type DashboardOutline = Static<typeof DashboardOutline>;

const DashboardApp = Shape('DashboardAppSource', {
  entry: Maybe(Type.String({ maxLength: 255 })),
  files: Maybe(
    Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  ),
  html: Maybe(Type.String()),
  manifest: Maybe(
    Shape('DashboardAppManifest', {
      dependencies: Maybe(
        Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
      ),
      version: Maybe(Type.Integer()),
    }),
  ),
});

const text = Maybe(Type.String({ maxLength: 1000 }));
const Border = Shape('ThemeBorder', { color: text, radius: text, style: text, width: text });
const ThemeTitle = Shape('ThemeTitle', { color: text, fontFamily: text, fontSize: text, fontWeight: text });

const DashboardThemeInput = Shape('DashboardThemeInput', {
  backgroundColor: text,
  fontFamily: text,
  primaryColor: text,
  themeId: text,
  dashboard: Maybe(Shape('DashboardThemeSection', { backgroundColor: text, padding: text })),
  controls: Maybe(
    Shape('ControlThemeSection', {
      backgroundColor: text,
      border: Maybe(Border),
      padding: text,
      title: Maybe(ThemeTitle),
    }),
  ),
  widgets: Maybe(
    Shape('WidgetThemeSection', {
      backgroundColor: text,
      border: Maybe(Border),
      margin: text,
      padding: text,
      text: Maybe(
        Shape('ThemeText', { codeFontFamily: text, color: text, fontFamily: text, secondaryColor: text }),
      ),
      title: Maybe(ThemeTitle),
    }),
  ),
});

const dashboardFields = {
  kind: Maybe(Type.Enum(['CLASSIC', 'APP'])),
  title: Maybe(Type.String({ maxLength: 255 })),
  description: Maybe(Type.String()),
  layout: Maybe(DashboardLayout),
  widgets: Maybe(Type.Array(DashboardWidget, { maxItems: 1000 })),
  settings: Maybe(FreeObject),
  app: Maybe(DashboardApp),
};

export const DashboardConfig = Shape('DashboardConfig', { ...dashboardFields, theme: Maybe(FreeObject) });
export const DashboardConfigInput = Shape(
  'DashboardConfigInput',
  {
    ...dashboardFields,
    description: Maybe(Type.String({ maxLength: 10_000 })),
    theme: Maybe(DashboardThemeInput),
  },
  { description: 'Up to 1 MB of JSON, or 5 MB if its `kind` is `APP`; its `theme` up to 64 KB' },
);

const FillMissingRows = Shape('FillMissingRows', {
  member: Type.String({ maxLength: 255, description: 'The time dimension whose missing periods get a row' }),
  excludedDimensions: Maybe(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 })),
});

export const PeriodComparisonOffset = Shape('PeriodComparisonOffset', {
  amount: Type.Integer({ minimum: 1, maximum: 10_000 }),
  unit: Type.Enum(
    ['day', 'week', 'month', 'quarter', 'year', 'days', 'weeks', 'months', 'quarters', 'years'],
    {
      examples: ['year'],
    },
  ),
});

const PeriodComparison = Shape('PeriodComparison', {
  measure: Type.String({ maxLength: 255 }),
  timeDimension: Type.String({ maxLength: 255 }),
  offset: PeriodComparisonOffset,
  outputs: Maybe(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 10 })),
});

export const ColumnFormats = RecordOf(
  Shape('ColumnFormatOverride', {
    type: Type.Enum(['currency', 'percent', 'number']),
    decimalPlaces: Maybe(Type.Integer({ minimum: 0, maximum: 20 })),
  }),
  { maxProperties: 500 },
);
const Preferences = Shape('ReportSnapshotPreferences', {
  columnFormats: Maybe(ColumnFormats),
  tooltip: Maybe(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 50,
      description: 'The members that the tooltip of a mark names; all by default',
    }),
  ),
});

const SnapshotKind = Type.Enum(['vega', 'table', 'kpi', 'html', 'map'], { title: 'ReportSnapshotKind' });

/** How a report is drawn: `meta.chart` of the report. */
export const ReportChart = Shape('ReportChart', {
  kind: SnapshotKind,
  spec: Maybe(FreeObject),
  fillMissingRows: Maybe(FillMissingRows),
  periodComparisons: Maybe(Type.Array(PeriodComparison, { maxItems: 20 })),
  preferences: Maybe(Preferences),
  python: Maybe(Type.String({ description: 'Stays on the server' })),
});
export type ReportChart = Static<typeof ReportChart>;

const drawn = {
  kind: Maybe(SnapshotKind),
  spec: Maybe({
    ...FreeObject,
    description:
      'For `vega`, a Vega specification with one source of data, `rows`, that has no values. For others, see the guide',
  }),
  meta: Maybe({ ...FreeObject, description: '`query` is the query of the report' }),
  fillMissingRows: Maybe(FillMissingRows),
  periodComparisons: Maybe(Type.Array(PeriodComparison)),
  preferences: Maybe(Preferences),
};

/** What pages draw a report from, before it is published. */
export const ReportPreview = Shape('ReportPreview', {
  ...drawn,
  source: Maybe({
    ...FreeObject,
    description: 'For `vega`, the Vega-Lite that the specification was made of',
  }),
});

export const ReportSnapshot = Shape('ReportSnapshot', {
  id: Id,
  reportId: Id,
  versionNumber: Type.Integer({ description: 'The version of the report' }),
  name: Maybe(Type.String()),
  title: Maybe(Type.String()),
  description: Maybe(Type.String()),
  ...drawn,
  sqlQuery: Maybe(Type.String({ description: 'Absent for embed tokens' })),
  isSourceReport: Maybe(Type.Boolean()),
});

export const Dashboard = Shape('Dashboard', {
  id: Id,
  publicId: PublicId,
  deploymentId: Id,
  workbookId: Id,
  status: Type.Enum(['draft', 'published', 'archived']),
  title: Maybe(Type.String()),
  description: Maybe(Type.String()),
  allowEmbed: Type.Boolean({ description: 'Whether viewers with an embed token can see it at all' }),
  config: DashboardConfig,
  reportSnapshots: Type.Array(ReportSnapshot, {
    description: 'The reports of the charts, as they were when the dashboard was published',
  }),
  versionId: Id,
  versionNumber: Type.Integer({ description: 'Counts from 1 for each workbook' }),
  createdBy: Maybe(Id),
  fromSharedWorkspace: Maybe(Type.Boolean()),
  restrictDataDownload: Maybe(Type.Boolean({ description: 'No download of data, whatever a page allows' })),
  useBoardDashboards: Maybe(Type.Boolean()),
});
