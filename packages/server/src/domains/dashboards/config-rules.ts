/** What the config of a dashboard must satisfy before it is published, beyond the schema of the contract. */

import {
  BOARD_PIXELS_MAX,
  isPicture,
  OPERATORS_BY_KIND,
  PICTURE_MAX,
  PICTURE_PIXELS_MAX,
  pixelsOf,
} from '@oriel/charts/pure';
import { type BodyOf, limits, type operations } from '@oriel/contract';
import { ApiError, invalid } from '../../platform/errors.ts';
import { requireBytes } from '../../platform/limits.ts';

export type DashboardConfig = NonNullable<BodyOf<typeof operations.publishDashboard>['config']>;
export type Widget = NonNullable<DashboardConfig['widgets']>[number];

/** A widget, and the place of its config in the request, for messages. */
export interface PlacedWidget {
  id: string;
  config: Record<string, unknown>;
  path: string;
}

/** A chart and the report that it names. */
export interface Chart extends PlacedWidget {
  reportId: number;
}

export const REPORTS_MAX = 200;
const REFRESH_SECONDS = { min: 10, max: 86_400 };
const TEXT_MAX_BYTES = 100 * 1024;
const MEMBER = /^[^\s.]{1,200}(\.[^\s.]{1,200}){1,3}$/;
const GRAINS = ['hour', 'day', 'week', 'month', 'quarter', 'year'];
const VISIBILITIES = ['visible', 'disabled', 'hidden'];
const PUBLIC_ID = /^[0-9A-Za-z]{12}$/;
/** Each is a page of its own in the browser of the viewer. */
const APPLICATIONS_MAX = 10;
const FILTER_KINDS = ['select', 'search', 'date-range', 'number-range'];

/** Throws a 400 that names the place, or returns the charts. `root` names the config in messages. */
export function requireConfig(config: DashboardConfig, root: string): Chart[] {
  requireBytes(root, config, config.kind === 'APP' ? limits.appDashboard : limits.dashboard);
  requireBytes(`${root}.theme`, config.theme, limits.theme);
  requireSettings(config, root);
  requireApp(config, root);
  const widgets = config.widgets ?? [];
  const placed = widgets.map((widget, i) => placedAt(widget, `${root}.widgets[${i}]`));
  requireUniqueIds(widgets, root);
  requireContainers(widgets, placed, root);
  requireFiltered(widgets, placed);
  if (applicationsIn(config).length > APPLICATIONS_MAX)
    throw invalid(`${root}.widgets`, `There are more than ${APPLICATIONS_MAX} applications.`);
  const charts = widgets.flatMap((widget, i) => checkWidget(widget, placed[i]!));
  requirePictures(widgets, placed, root);
  if (new Set(charts.map(({ reportId }) => reportId)).size > REPORTS_MAX) {
    throw invalid(`${root}.widgets`, `The charts show more than ${REPORTS_MAX} reports.`);
  }
  return charts;
}

/** What is wrong with the widgets of a published config by the rules of today, by the ids of the widgets. */
export function findWidgetProblems({ widgets: given }: DashboardConfig): Map<string, string> {
  const widgets = given ?? [];
  const placed = widgets.map((widget, i) => placedAt(widget, `config.widgets[${i}]`));
  const problems = new Map<string, string>();
  const keep = (affected: Widget[], check: () => void) => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      for (const { id } of affected) problems.set(id, error.message);
    }
  };
  for (const [i, widget] of widgets.entries()) {
    keep([widget], () => checkWidget(widget, placed[i]!));
    keep([widget], () => requireFiltered([widget], [placed[i]!], widgets));
  }
  keep(
    widgets.filter(({ type }) => type === 'CONTAINER'),
    () => requireContainers(widgets, placed, 'config'),
  );
  return problems;
}

/** The widgets that run an application, each with the place of its config. */
export const applicationsIn = ({ widgets }: DashboardConfig, root = 'config') =>
  (widgets ?? []).flatMap(({ id, type, config }, i) =>
    type === 'APP'
      ? [
          {
            id,
            path: `${root}.widgets[${i}].config`,
            publicId: String((config as { publicId?: unknown } | null)?.publicId),
          },
        ]
      : [],
  );

const APP_FILES_MAX = 500;

/** An application is a document, or a script that makes one. Nothing is compiled. */
function requireApp({ kind, app }: DashboardConfig, root: string) {
  if (kind !== 'APP') return;
  const files = app?.files ?? {};
  if (Object.keys(files).length > APP_FILES_MAX)
    throw invalid(`${root}.app.files`, `There are more than ${APP_FILES_MAX} files.`);
  if (app?.html != null) return;
  const entry = app?.entry ?? 'index.html';
  if (!Object.hasOwn(files, entry))
    throw invalid(`${root}.app`, `The application needs \`html\`, or a file \`${entry}\`.`);
  if (!/\.(html|m?js)$/.test(entry))
    throw invalid(`${root}.app.entry`, 'must be a file that ends with `.html`, `.js` or `.mjs`');
}

/** Pages ask for new data this often, and show times in this zone. */
function requireSettings({ settings }: DashboardConfig, root: string) {
  const { refreshSeconds: seconds, timezone } = (settings ?? {}) as Record<string, unknown>;
  if (timezone != null && !isTimezone(timezone))
    throw invalid(`${root}.settings.timezone`, 'must be an IANA zone, such as `Europe/Berlin`');
  if (seconds == null) return;
  if (typeof seconds !== 'number' || !(seconds >= REFRESH_SECONDS.min && seconds <= REFRESH_SECONDS.max))
    throw invalid(
      `${root}.settings.refreshSeconds`,
      `must be a number from ${REFRESH_SECONDS.min} to ${REFRESH_SECONDS.max}`,
    );
}

function isTimezone(name: unknown): boolean {
  try {
    // Offsets such as `+02:00` are no zones for pages.
    return (
      typeof name === 'string' && /^[A-Za-z]/.test(name) && !!Intl.DateTimeFormat('en', { timeZone: name })
    );
  } catch {
    return false;
  }
}

const placedAt = ({ id, config }: Widget, path: string): PlacedWidget => ({
  id,
  config: (config ?? {}) as Record<string, unknown>,
  path: `${path}.config`,
});

function requireUniqueIds(widgets: Widget[], root: string) {
  const seen = new Set<string>();
  for (const [i, { id }] of widgets.entries()) {
    if (seen.has(id)) throw invalid(`${root}.widgets[${i}].id`, `Another widget has the id \`${id}\`.`);
    seen.add(id);
  }
}

function checkWidget({ type }: Widget, placed: PlacedWidget): Chart[] {
  const { id, config, path } = placed;
  const refuse = (field: string, message: string) =>
    invalid(`${path}.${field}`, `The widget \`${id}\` ${message}`);
  const requireMember = () => {
    const { member } = config;
    if (typeof member !== 'string' || !MEMBER.test(member)) {
      throw refuse('member', 'needs the name of a member, such as `sales.status`.');
    }
  };
  if (type === 'CHART') {
    const { reportId } = config;
    if (!Number.isSafeInteger(reportId) || (reportId as number) < 1)
      throw refuse('reportId', 'needs the id of a report.');
    if (config.crossFilter != null && typeof config.crossFilter !== 'boolean')
      throw refuse('crossFilter', 'needs `true` or `false` there.');
    return [{ ...placed, reportId: reportId as number }];
  }
  if (type === 'TEXT' && config.image != null) {
    if (config.alt != null) requireText(config.alt, (message) => refuse('alt', message));
  } else if (type === 'TEXT' && Object.keys(config).length)
    requireText(config.markdown, (message) => refuse('markdown', message));
  if (type === 'FILTER') {
    requireMember();
    if (config.kind != null && !FILTER_KINDS.includes(config.kind as string)) {
      throw refuse('kind', `has an unknown kind. The kinds are: ${FILTER_KINDS.join(', ')}.`);
    }
    requireDefault(config.default, refuse);
    if (config.visibility != null && !VISIBILITIES.includes(config.visibility as string))
      throw refuse('visibility', `needs one of ${VISIBILITIES.join(', ')} there.`);
    if (config.faceted != null && typeof config.faceted !== 'boolean')
      throw refuse('faceted', 'needs `true` or `false` there.');
    const known = OPERATORS_BY_KIND[String(config.kind ?? 'select')]!;
    if (
      config.operators != null &&
      !(isListOfTexts(config.operators) && config.operators.every((one) => known.includes(one)))
    )
      throw refuse(
        'operators',
        `needs a list of operators there. Those of this kind are: ${known.join(', ')}.`,
      );
  }
  if (type === 'APP' && !(typeof config.publicId === 'string' && PUBLIC_ID.test(config.publicId)))
    throw refuse('publicId', 'needs the `publicId` of an application.');
  if (type === 'TIME_GRAIN') {
    requireMember();
    if (!isListOfTexts(config.grains) || config.grains.length === 0)
      throw refuse('grains', 'needs a list of grains, such as `["day", "month"]`.');
    const unknown = config.grains.find((grain) => !GRAINS.includes(grain));
    if (unknown !== undefined)
      throw refuse('grains', `has an unknown grain, \`${unknown}\`. The grains are: ${GRAINS.join(', ')}.`);
  }
  return [];
}

/** Checks pictures, at publication only: later, the words of the widget stand in for one that may not be drawn. */
function requirePictures(widgets: Widget[], placed: PlacedWidget[], root: string) {
  let pixels = 0;
  for (const [i, { type }] of widgets.entries()) {
    const { id, config, path } = placed[i]!;
    if (type !== 'TEXT' || config.image == null) continue;
    if (!isPicture(config.image))
      throw invalid(
        `${path}.image`,
        `The widget \`${id}\` needs a picture as \`data:image/…;base64,…\` (PNG, JPEG, GIF or WebP) of up to ${PICTURE_MAX / 1000} KB and ${PICTURE_PIXELS_MAX / 1_000_000} megapixels there.`,
      );
    pixels += pixelsOf(config.image);
    if (pixels > BOARD_PIXELS_MAX)
      throw invalid(
        `${root}.widgets[${i}]`,
        `The pictures of the dashboard have more than ${BOARD_PIXELS_MAX / 1_000_000} megapixels together.`,
      );
  }
}

/** A value, or the name of an attribute of the viewer. */
function requireDefault(given: unknown, refuse: (field: string, message: string) => Error) {
  if (given == null) return;
  const { operator, userAttribute } = given as { operator?: unknown; userAttribute?: unknown };
  if (typeof operator !== 'string')
    throw refuse('default', 'needs an object with `operator` and `value` there.');
  if (userAttribute != null && (typeof userAttribute !== 'string' || !userAttribute))
    throw refuse('default.userAttribute', 'needs the name of an attribute there.');
}

/** A text that people read. It may have any content: pages make only the elements and addresses that they know. */
export function requireText(text: unknown, refuse: (message: string) => Error) {
  if (typeof text !== 'string') throw refuse('needs a text.');
  if (Buffer.byteLength(text) > TEXT_MAX_BYTES) throw refuse('has a text of more than 100 KB.');
}

export const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** The ids of the widgets in a container, each with its place. */
function contentOf({ config, path }: PlacedWidget): { id: unknown; path: string }[] {
  const listed = (list: unknown, at: string) => {
    if (list == null) return [];
    if (!Array.isArray(list)) throw invalid(at, 'must be a list of widgets');
    return list.map((id: unknown, i) => ({ id, path: `${at}[${i}]` }));
  };
  const tabs = config.tabs ?? [];
  if (!Array.isArray(tabs)) throw invalid(`${path}.tabs`, 'must be a list');
  return [
    ...listed(config.widgets, `${path}.widgets`),
    ...tabs.flatMap((tab: { widgets?: unknown } | null, i) =>
      listed(tab?.widgets, `${path}.tabs[${i}].widgets`),
    ),
  ];
}

/** Checks the charts that a filter names: with a wrong id, it would filter nothing, and nobody would notice. */
function requireFiltered(widgets: Widget[], placed: PlacedWidget[], all = widgets) {
  const charts = new Set(all.filter(({ type }) => type === 'CHART').map(({ id }) => id));
  for (const [i, { type }] of widgets.entries()) {
    const { config, path } = placed[i]!;
    if (type !== 'FILTER') continue;
    requireMapping(placed[i]!, charts);
    if (config.widgets == null) continue;
    if (!isListOfTexts(config.widgets)) throw invalid(`${path}.widgets`, 'must be a list of ids of charts');
    const wrong = config.widgets.findIndex((id) => !charts.has(id));
    if (wrong >= 0) throw invalid(`${path}.widgets[${wrong}]`, 'There is no chart with this id.');
  }
}

/** By id of a chart, the member that the control filters it by, or null if it does not reach it. */
function requireMapping({ config: { mapping }, path }: PlacedWidget, charts: ReadonlySet<string>) {
  if (mapping == null) return;
  if (typeof mapping !== 'object' || Array.isArray(mapping))
    throw invalid(`${path}.mapping`, 'must be an object of ids of charts and members');
  for (const [id, member] of Object.entries(mapping)) {
    if (!charts.has(id)) throw invalid(`${path}.mapping.${id}`, 'There is no chart with this id.');
    if (member !== null && (typeof member !== 'string' || !MEMBER.test(member)))
      throw invalid(`${path}.mapping.${id}`, 'must be the name of a member, such as `sales.status`');
  }
}

/** Containers form a tree: each widget is in at most one container, and no container is inside itself. */
function requireContainers(widgets: Widget[], placed: PlacedWidget[], root: string) {
  const known = new Set(widgets.map(({ id }) => id));
  const parents = new Map<string, string>();
  for (const [i, { type }] of widgets.entries()) {
    if (type !== 'CONTAINER') continue;
    const { id: parent } = placed[i]!;
    for (const { id, path } of contentOf(placed[i]!)) {
      if (typeof id !== 'string' || !known.has(id)) throw invalid(path, 'There is no widget with this id.');
      if (parents.has(id)) throw invalid(path, `The widget \`${id}\` is in a container already.`);
      parents.set(id, parent);
    }
  }
  for (const [i, { id }] of widgets.entries()) {
    let steps = 0;
    for (let above = parents.get(id); above !== undefined; above = parents.get(above)) {
      if (above === id || ++steps > widgets.length)
        throw invalid(`${root}.widgets[${i}]`, `The container \`${id}\` contains itself.`);
    }
  }
}
