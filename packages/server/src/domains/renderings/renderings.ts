/**
 * Published dashboards as pictures and as PDF, each under the rights of its reader. The rows are asked for as the page asks for
 * them. Charts, figures and tables are drawn in a thread, without a browser, so that nothing has to be installed.
 */

import { createHash } from 'node:crypto';
import {
  type Ask,
  askFor,
  chartsOf,
  type Dashboard,
  type FilterValue,
  knownLocale,
  type MetaCube,
  type Narrowing,
  presetFilters,
  presetGrains,
  type Query,
  type Scheme,
  themeOptionsOf,
  totalOf,
  type Widget,
} from '@oriel/charts/pure';
import { createAdmission } from '../../platform/admission/admission.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import { embedOf, sharerOf } from '../../platform/auth/actor.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { WholeBytes } from '../../platform/http/streams.ts';
import {
  createThreads,
  ThreadLimitReached,
  type ThreadLimits,
  threadScript,
} from '../../platform/threads.ts';
import type { PublishedDashboard } from '../dashboards/index.ts';
import type { Queries, QueryCall } from '../queries/index.ts';
import { findAppConfig } from '../tenant-settings/index.ts';
import type { DrawAnswer, Drawing, DrawTask, PictureFormat } from './draw/task.ts';
import { findEmbedTheme } from './store.ts';

export type { Drawing, HeadlineFigure, PictureFormat, SmallTable } from './draw/task.ts';

/** For whom it is drawn. */
export interface Reader {
  actor: Caller;
  db: Database;
  signal: AbortSignal;
}

export interface RenderRequest {
  /** As the reader sees it. */
  dashboard: PublishedDashboard;
  /** Over the presets of the dashboard's filters. A filter or grain that the dashboard has no control for is an error. */
  filters?: readonly { member: string; operator?: string | null; value?: unknown }[];
  timeGrains?: readonly { member: string; grain: string }[];
  /** What the reader clicked on in charts that filter the others. */
  crossFilters?: readonly ({ widgetId: string } & Narrowing)[];
  scheme?: Scheme;
  /** Over those of the dashboard and of the account. */
  locale?: string;
  timezone?: string;
  /** Asks the data sources again, instead of using cached answers. */
  isRenewed?: boolean;
}

export interface Rendering extends Drawing {
  contentType: 'image/png' | 'application/pdf';
}

export interface Prepared {
  /**
   * The same for readers who get the same picture: the version of the dashboard, the look, and the statements that are asked of
   * the data sources for each reader. What policies decide is in these statements and in their values.
   */
  key: string;
  render(format: PictureFormat): Promise<Rendering>;
}

export interface Renderings {
  /** Throws a 409 `rendering_failed` for an app, and for filters that the dashboard has no controls for. */
  prepare(reader: Reader, request: RenderRequest): Promise<Prepared>;
  /** Throws also a 409 `rendering_failed` that says which widget failed and why, and a 503 if too many wait. */
  render(reader: Reader, request: RenderRequest & { format: PictureFormat }): Promise<Rendering>;
  stop(): Promise<void>;
}

export const DRAW_LIMITS: ThreadLimits = { timeMs: 30_000, memoryMb: 768 };

/** Each thread uses a core and much memory, so few run at once. */
const PLACES = { places: 2, sharerPlaces: 1, waitingMax: 40, sharerWaitingMax: 5, waitMs: 60_000 };

/** Of all answers of a dashboard together. */
const ANSWERS_MAX_BYTES = 32 * 1024 * 1024;
/** Charts whose rows are asked for at a time. */
const ASKED_TOGETHER = 4;

export interface RenderingsOptions {
  queries: Pick<Queries, 'load' | 'meta' | 'plan'>;
  limits?: ThreadLimits;
}

interface Asked {
  widget: Widget;
  ask: Ask;
  queries: Query[];
}

export function createRenderings({ queries, limits = DRAW_LIMITS }: RenderingsOptions): Renderings {
  const threads = createThreads<DrawTask, DrawAnswer>(threadScript('draw-thread'), limits);
  const places = createAdmission(PLACES);

  async function prepare(reader: Reader, request: RenderRequest): Promise<Prepared> {
    const { actor, db, signal } = reader;
    const { versionId } = request.dashboard;
    const dashboard = request.dashboard as object as Dashboard;
    if (dashboard.config.kind === 'APP')
      throw new ApiError('rendering_failed', { message: 'An app can only be shown in a browser.' });
    const widgets = dashboard.config.widgets ?? [];
    const { appConfig, embedding } = await findAppConfig(db);
    const settings = dashboard.config.settings ?? {};
    const scheme = request.scheme ?? 'light';
    const { timezoneSettings, appTheme } = appConfig;
    const timezone = first(knownZone, [
      request.timezone,
      settings.timezone,
      embedding?.timezone,
      timezoneSettings?.timezone,
    ]);
    const locale = first(knownLocale, [request.locale, settings.locale, embedding?.locale]) ?? 'en';
    const filterWidgets = widgets.filter(
      ({ type, config }) => type === 'FILTER' && typeof config?.member === 'string',
    );
    const chosen = {
      filters: withoutCleared(presetFilters(filterWidgets, filtersOf(request, filterWidgets), new Map())),
      grains: presetGrains(widgets, grainsOf(request, widgets)),
      crossFilters: crossFiltersOf(request, dashboard),
      timezone,
      askedAt: new Date(),
      filterWidgets: () => filterWidgets,
    };
    const embed = embedOf(actor);
    const account = appTheme?.[scheme];
    const wishes = [
      themeOptionsOf({ primaryColor: account?.accentColor, backgroundColor: account?.backgroundColor }),
      themeOptionsOf(embed && (await findEmbedTheme(db, embed.sessionId))),
      themeOptionsOf(dashboard.config.theme),
    ];
    const call: QueryCall = { actor, db, signal, deploymentId: dashboard.deploymentId };
    const meta = async (): Promise<MetaCube[]> =>
      JSON.parse(Buffer.from(await queries.meta(call, false)).toString()).cubes;
    const asked = await Promise.all(
      chartsOf(widgets).map(async (widget): Promise<Asked> => {
        const snapshot = dashboard.reportSnapshots.find(
          ({ reportId }) => reportId === widget.config?.reportId,
        );
        if (!snapshot || snapshot.meta?.problem || typeof widget.config?.problem === 'string') {
          throw failure(
            titleOf(widget, snapshot),
            snapshot?.meta?.problem ?? widget.config?.problem ?? 'its report is missing',
          );
        }
        const ask = askFor(chosen, snapshot, widget.id);
        return { widget, ask, queries: [...ask.queries, ...(await totalOf({ ...chosen, meta }, ask))] };
      }),
    );
    const look = { scheme, wishes, locale };
    const keyed = await statementsOf(call, asked);
    const chosenText = JSON.stringify([
      [...chosen.filters],
      [...chosen.grains],
      [...chosen.crossFilters],
      timezone,
      look,
    ]);
    return {
      key: createHash('sha256')
        .update(JSON.stringify([versionId, chosenText, keyed]))
        .digest('base64url'),
      async render(format) {
        const answers = await answersTo(call, asked, request.isRenewed === true);
        const task: DrawTask = {
          dashboard,
          filters: [...chosen.filters],
          grains: [...chosen.grains],
          crossFilters: [...chosen.crossFilters],
          timezone,
          askedAt: chosen.askedAt.getTime(),
          answers,
          ...look,
          format,
        };
        const drawn = await draw(task, actor, signal);
        if ('failure' in drawn) throw failure(drawn.failure.title, drawn.failure.reason);
        return { ...drawn, contentType: format === 'pdf' ? 'application/pdf' : 'image/png' };
      },
    };
  }

  /** What is asked of the data sources for this reader, without the times of relative ranges that differ by the second. */
  async function statementsOf(call: QueryCall, asked: readonly Asked[]) {
    const keys: unknown[] = [];
    for (const { widget, queries: own } of asked) {
      const planned = await withWidget(widget, () => queries.plan(call, own));
      keys.push(
        planned.queries.map(({ source, statement, total }) => [
          source.id,
          source.version,
          statement.sql,
          statement.parameters,
          total?.sql,
          // Who asks with an access of their own gets their own rows.
          source.personal ? call.actor.userId : null,
        ]),
      );
    }
    return keys;
  }

  async function answersTo(call: QueryCall, asked: readonly Asked[], isRenewed: boolean) {
    const answers: [string, Uint8Array][] = [];
    let bytes = 0;
    for (let i = 0; i < asked.length; i += ASKED_TOGETHER) {
      const batch = await Promise.all(
        asked.slice(i, i + ASKED_TOGETHER).map(({ widget, queries: own }) =>
          withWidget(widget, async () => {
            const answer = await queries.load(call, own, { isMulti: true, isRenewed });
            bytes += answer.byteLength;
            if (bytes > ANSWERS_MAX_BYTES) {
              if ('release' in answer) answer.release();
              throw new ApiError('rendering_failed', {
                message: 'The dashboard has too many rows for a picture.',
              });
            }
            return [widget.id, await wholeOf(answer)] as [string, Uint8Array];
          }),
        ),
      );
      answers.push(...batch);
    }
    return answers;
  }

  async function draw(task: DrawTask, actor: Caller, signal: AbortSignal): Promise<DrawAnswer> {
    try {
      return await places.take({ sharer: sharerOf(actor), signal }, () => threads.run(task, signal));
    } catch (error) {
      if (!(error instanceof ThreadLimitReached)) throw error;
      throw failure('', 'drawing it takes too much time or memory');
    }
  }

  return {
    prepare,
    render: async (reader, { format, ...request }) => (await prepare(reader, request)).render(format),
    stop: threads.stop,
  };
}

const titleOf = (widget: Widget, snapshot?: { title?: string | null; name?: string | null }) =>
  String(widget.config?.title ?? (snapshot?.title || snapshot?.name || widget.id));

const failure = (title: string, reason: string) =>
  new ApiError('rendering_failed', {
    message: title
      ? `The widget “${title}” could not be drawn: ${reason}`
      : `The dashboard could not be drawn: ${reason}`,
  });

/** A widget whose rows cannot be had fails the whole picture: with a hole in it, it would look complete. */
async function withWidget<T>(widget: Widget, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfQuery = error instanceof ApiError && error.statusCode < 500 && error.statusCode !== 429;
    throw isOfQuery && error.code !== 'rendering_failed' ? failure(titleOf(widget), error.message) : error;
  }
}

async function wholeOf(answer: Uint8Array | WholeBytes): Promise<Uint8Array> {
  if (answer instanceof Uint8Array) return answer;
  try {
    const parts: Uint8Array[] = [];
    for await (const part of answer) parts.push(part);
    return Buffer.concat(parts);
  } finally {
    answer.release();
  }
}

const first = <T>(known: (value: unknown) => T | undefined, values: readonly unknown[]): T | undefined => {
  for (const value of values) {
    const found = known(value);
    if (found !== undefined) return found;
  }
  return undefined;
};

function knownZone(zone: unknown): string | undefined {
  if (typeof zone !== 'string' || !zone) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** A filter that was cleared goes over a preset, and then is none. */
const withoutCleared = (filters: Map<string, FilterValue>) =>
  new Map(
    [...filters].filter(([, { operator, value }]) => operator !== 'equals' || (value ?? null) !== null),
  );

/** A filter that is gone from the dashboard would otherwise leave the picture unfiltered. */
function filtersOf(
  { filters = [] }: RenderRequest,
  filterWidgets: readonly Widget[],
): Map<string, FilterValue> {
  const known = new Set(filterWidgets.map(({ config }) => config!.member));
  const given = new Map<string, FilterValue>();
  for (const { member, operator, value } of filters) {
    if (!known.has(member)) throw missingControl(member, 'filter');
    given.set(member, { operator: operator ?? 'equals', value });
  }
  return given;
}

function grainsOf({ timeGrains = [] }: RenderRequest, widgets: readonly Widget[]): Map<string, string> {
  const known = new Set(
    widgets.flatMap(({ type, config }) => (type === 'TIME_GRAIN' ? [config?.member] : [])),
  );
  return new Map(
    timeGrains.map(({ member, grain }) => {
      if (!known.has(member)) throw missingControl(member, 'choice of the time grain');
      return [member, grain];
    }),
  );
}

/** A click on a chart that filters no others, or on what it does not show, would leave the picture unfiltered too. */
function crossFiltersOf({ crossFilters = [] }: RenderRequest, { config, reportSnapshots }: Dashboard) {
  const given = new Map<string, { narrowings: Narrowing[] }>();
  for (const { widgetId, ...narrowing } of crossFilters) {
    const widget = config.widgets?.find(({ id }) => id === widgetId);
    const { dimensions = [], timeDimensions = [] } =
      reportSnapshots.find(({ reportId }) => reportId === widget?.config?.reportId)?.meta?.query ?? {};
    const shown = 'range' in narrowing ? timeDimensions.map(({ dimension }) => dimension) : dimensions;
    if (widget?.config?.crossFilter !== true || !shown.includes(narrowing.member))
      throw missingControl(narrowing.member, 'chart whose marks filter the others');
    const { narrowings } = given.get(widgetId) ?? { narrowings: [] };
    given.set(widgetId, { narrowings: [...narrowings, narrowing] });
  }
  return given;
}

const missingControl = (member: string, what: string) =>
  new ApiError('rendering_failed', { message: `The dashboard has no ${what} for ${member} any more.` });
