import { problemOf } from '@oriel/charts/pure';
import { operations } from '@oriel/contract';
import { embedOf } from '../../platform/auth/actor.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { parseJson } from '../../platform/http/json-body.ts';
import { handle } from '../../platform/http/routes.ts';
import { READ, viewerOf } from '../access/index.ts';
import type { PublishedDashboards } from '../dashboards/index.ts';
import { requirePlainWorkbook } from '../workbooks/index.ts';
import { type Choices, knownZone } from './layout.ts';
import type { Renderings } from './renderings.ts';

export const renderingRoutes = (renderings: Pick<Renderings, 'render'>, dashboards: PublishedDashboards) => [
  handle(operations.exportDashboard, async ({ actor, db, signal, sendHeaders }, { params, query }) => {
    // Viewers in pages of hosts see dashboards of workbooks that they cannot read.
    if (!embedOf(actor))
      await requirePlainWorkbook(db, viewerOf(actor, params.deploymentId), params.workbookId, READ);
    const dashboard = await dashboards.ofWorkbook(db, actor, params);
    if (dashboard.restrictDataDownload)
      throw new ApiError('forbidden', { message: 'This dashboard restricts the download of data.' });
    const { scheme, locale, timezone } = query;
    const format = query.format ?? 'png';
    const { bytes, contentType, title } = await renderings.render(
      { actor, db, signal },
      {
        dashboard,
        format,
        scheme: scheme ?? undefined,
        locale: locale ?? undefined,
        choices: {
          timezone: zoneIn(timezone),
          filters: filtersIn(query.filters),
          timeGrains: eachOnce(
            'timeGrains',
            listIn('timeGrains', query.timeGrains, ['member', 'grain']) as Choices['timeGrains'],
          ),
          crossFilters: crossFiltersIn(query.crossFilters),
        },
      },
    );
    sendHeaders({ 'content-disposition': disposition(`${title}.${format}`) });
    return { contentType, data: bytes };
  }),
];

function filtersIn(text: string | null | undefined) {
  const list: Choices['filters'] = listIn('filters', text, ['member', 'operator']);
  for (const [i, { operator, value }] of (list ?? []).entries()) {
    const problem = problemOf({ operator: operator ?? 'equals', value });
    if (problem) throw invalid(`filters[${i}]`, problem);
  }
  return eachOnce('filters', list);
}

/** Of two choices for a member, one would be dropped silently. */
function eachOnce<Item extends { member: string }>(name: string, list: readonly Item[] | undefined) {
  const seen = new Set<string>();
  for (const [i, { member }] of (list ?? []).entries()) {
    if (seen.has(member)) throw invalid(`${name}[${i}].member`, 'is given twice');
    seen.add(member);
  }
  return list;
}

/** Throws for an unknown zone: one that is requested must not be replaced silently by that of the dashboard. */
function zoneIn(zone: string | null | undefined) {
  if (zone && !knownZone(zone)) throw invalid('timezone', 'must be an IANA zone, such as Europe/Berlin');
  return zone ?? undefined;
}

function crossFiltersIn(text: string | null | undefined) {
  const list = listIn('crossFilters', text, ['widgetId', 'member']) as Record<string, unknown>[] | undefined;
  const isText = (value: unknown) => typeof value === 'string';
  const isNarrowing = ({ value, range, widgetId: _, member: __, ...others }: Record<string, unknown>) =>
    Object.keys(others).length === 0 &&
    (range === undefined
      ? value === null || isText(value)
      : value === undefined && Array.isArray(range) && range.length === 2 && range.every(isText));
  if (list && !list.every(isNarrowing))
    throw invalid('crossFilters', 'each must have a `value`, a text or null, or a `range` of two times');
  return list as Choices['crossFilters'];
}

/** Each item is an object in which these fields, if given, are texts; `member` is always given. */
function listIn(name: string, text: string | null | undefined, texts: readonly string[]) {
  if (text == null) return undefined;
  const list = parseJson(text, `The text of \`${name}\``);
  const isItem = (item: unknown): item is { member: string } =>
    typeof item === 'object' &&
    item !== null &&
    texts.every((key) => {
      const value = (item as Record<string, unknown>)[key];
      return typeof value === 'string' || (key === 'operator' && value == null);
    });
  if (!Array.isArray(list) || list.length > 100 || !list.every(isItem))
    throw invalid(name, `must be a list of up to 100 objects with ${texts.join(' and ')}`);
  return list;
}

/** The name in letters of any script, and for old clients in ASCII (RFC 6266). */
function disposition(name: string): string {
  const plain = name.replaceAll(/[\p{Cc}"\\/:*?<>|]+/gu, ' ').trim();
  const ascii = plain
    .normalize('NFKD')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .trim();
  const encoded = encodeURIComponent(plain.toWellFormed()).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
