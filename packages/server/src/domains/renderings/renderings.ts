/**
 * Published dashboards as pictures and as PDF, each under the rights of its reader. The rows are asked for as the page asks for
 * them. Charts, figures and tables are drawn in a thread, without a browser, so that nothing has to be installed.
 */
import {
  beginsWithAttributes,
  type Dashboard,
  knownLocale,
  type MetaCube,
  type Query,
  type Scheme,
  themeOptionsOf,
  totalOf,
  type Widget,
  withAttributes,
} from '@oriel/charts/pure';
import { createAdmission } from '../../platform/admission/admission.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import { embedOf, sharerOf } from '../../platform/auth/actor.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { WholeBytes } from '../../platform/http/streams.ts';
import { createThreads, ThreadLimitError, type ThreadLimits, threadScript } from '../../platform/threads.ts';
import type { PublishedDashboard } from '../dashboards/index.ts';
import type { Queries, QueryCall } from '../queries/index.ts';
import { findAppConfig } from '../tenant-settings/index.ts';
import type { DrawAnswer, Drawing, DrawTask, PictureFormat } from './draw/task.ts';
import { type Choices, failure, type Layout, layOut } from './layout.ts';
import { findEmbedTheme } from './store.ts';

export type { Drawing, HeadlineFigure, PictureFormat, SmallTable } from './draw/task.ts';

/** The reader that a dashboard is drawn for. */
export interface Reader {
  actor: Caller;
  db: Database;
  signal: AbortSignal;
}

export interface RenderRequest {
  /** The dashboard. The caller must have checked that the reader may see it. */
  dashboard: Pick<
    PublishedDashboard,
    'deploymentId' | 'title' | 'description' | 'config' | 'reportSnapshots'
  >;
  /** A layout of this dashboard that is there already, or what to choose in it. */
  layout?: Layout;
  choices?: Choices;
  format: PictureFormat;
  scheme?: Scheme | undefined;
  /** The locale, instead of those of the dashboard and of the account. */
  locale?: string | undefined;
}

export interface Rendering extends Drawing {
  contentType: 'image/png' | 'application/pdf';
  locale: string;
}

export interface Renderings {
  /**
   * Throws a 409 `rendering_failed` for an app, for choices that the dashboard has no controls for, and if a widget
   * failed, with its title and the reason; a 503 if too many wait.
   */
  render(reader: Reader, request: RenderRequest): Promise<Rendering>;
  stop(): Promise<void>;
}

export const DRAW_LIMITS: ThreadLimits = { timeMs: 30_000, memoryMb: 768 };

const QUEUE = { waitingMax: 40, sharerWaitingMax: 5, waitMs: 60_000 };
/** Each process uses a core and much memory, so few run at once. */
const PLACES = { places: 2, sharerPlaces: 1, ...QUEUE };
/** Answers are in memory while they wait for a process, so only so many calls read theirs. */
const READERS = { places: 12, sharerPlaces: 6, ...QUEUE };

/** The most bytes of all answers of a dashboard together. */
const ANSWERS_MAX_BYTES = 32 * 1024 * 1024;
const BLANK_ATTEMPTS = 3;
/** Charts whose rows are asked for at a time. */
const ASKED_TOGETHER = 4;

export interface RenderingsOptions {
  queries: Pick<Queries, 'load' | 'meta' | 'viewer'>;
  limits?: ThreadLimits;
  /** Replaces the script of the process in tests. */
  script?: URL;
}

/** The process that drew it hung, died or took too much memory. The next attempt gets another process. */
export class DrawingLostError extends ApiError {
  constructor(cause: unknown) {
    const isLimit = cause instanceof ThreadLimitError;
    const message = isLimit
      ? 'The dashboard could not be drawn: drawing it takes too much time or memory.'
      : 'The dashboard could not be drawn: the process that drew it ended.';
    super('rendering_failed', { message, cause });
  }
}

interface ChartRequest {
  widget: Widget;
  title: string;
  queries: Query[];
}

export function createRenderings({
  queries,
  limits = DRAW_LIMITS,
  script = threadScript('draw-process'),
}: RenderingsOptions): Renderings {
  const threads = createThreads<DrawTask, DrawAnswer>(script, limits, { apart: true });
  const places = createAdmission(PLACES);
  const readers = createAdmission(READERS);

  async function render({ actor, db, signal }: Reader, request: RenderRequest): Promise<Rendering> {
    const call: QueryCall = { actor, db, signal, deploymentId: request.dashboard.deploymentId };
    const dashboard = (await forReader(call, request.dashboard)) as object as Dashboard;
    if (dashboard.config.kind === 'APP')
      throw new ApiError('rendering_failed', { message: 'An app can only be shown in a browser.' });
    const { appConfig, embedding } = await findAppConfig(db);
    const { timezoneSettings, appTheme } = appConfig;
    const layout =
      request.layout ??
      layOut(dashboard, request.choices ?? {}, [embedding?.timezone, timezoneSettings?.timezone]);
    const { chosen } = layout;
    const scheme = request.scheme ?? 'light';
    const locales = [request.locale, dashboard.config.settings?.locale, embedding?.locale];
    const locale = locales.map(knownLocale).find(Boolean) ?? 'en';
    const embed = embedOf(actor);
    const account = appTheme?.[scheme];
    const themeOverrides = [
      themeOptionsOf({ primaryColor: account?.accentColor, backgroundColor: account?.backgroundColor }),
      themeOptionsOf(embed && (await findEmbedTheme(db, embed.sessionId))),
      themeOptionsOf(dashboard.config.theme),
    ];
    const meta = async (): Promise<MetaCube[]> =>
      JSON.parse(Buffer.from(await queries.meta(call, false)).toString()).cubes;
    const asked = await Promise.all(
      layout.charts.map(async ({ widget, title, problem, ask }): Promise<ChartRequest> => {
        if (!ask) throw failure(title, problem);
        return { widget, title, queries: [...ask.queries, ...(await totalOf({ ...chosen, meta }, ask))] };
      }),
    );
    const task: Omit<DrawTask, 'answers'> = {
      dashboard,
      filters: [...chosen.filters],
      grains: [...chosen.grains],
      crossFilters: [...chosen.crossFilters],
      timezone: chosen.timezone,
      askedAt: chosen.askedAt.getTime(),
      scheme,
      themeOverrides,
      locale,
      format: request.format,
    };
    const place = { sharer: sharerOf(actor), signal };
    const drawn = await readers.take(place, () => drawNotBlank(task, { ...call, actor }, asked));
    return { ...drawn, locale, contentType: request.format === 'pdf' ? 'application/pdf' : 'image/png' };
  }

  /** Gives filters that begin with an attribute the value of the reader. */
  async function forReader<D extends RenderRequest['dashboard']>(call: QueryCall, dashboard: D): Promise<D> {
    if (!beginsWithAttributes(dashboard.config)) return dashboard;
    const { userAttributes } = await queries.viewer(call);
    return { ...dashboard, config: withAttributes(dashboard.config, userAttributes) };
  }

  /** A picture with an empty chart is drawn again with rows that are read again. */
  async function drawNotBlank(
    task: Omit<DrawTask, 'answers'>,
    call: QueryCall & Pick<Reader, 'actor'>,
    asked: readonly ChartRequest[],
  ): Promise<Drawing> {
    for (let attempt = 1; ; attempt++) {
      const answers = await answersTo(call, asked, attempt > 1);
      const drawn = await draw({ ...task, answers }, call.actor, call.signal);
      if (!('failure' in drawn)) return drawn;
      const { title, reason, isBlank } = drawn.failure;
      if (!isBlank || attempt === BLANK_ATTEMPTS) throw failure(title, reason);
    }
  }

  async function answersTo(call: QueryCall, asked: readonly ChartRequest[], isRenewed: boolean) {
    const answers: [string, Uint8Array][] = [];
    let bytes = 0;
    for (let i = 0; i < asked.length; i += ASKED_TOGETHER) {
      const batch = await Promise.all(
        asked.slice(i, i + ASKED_TOGETHER).map(({ widget, title, queries: own }) =>
          withTitle(title, async () => {
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
      if (error instanceof ApiError || signal.aborted) throw error;
      throw new DrawingLostError(error);
    }
  }

  return { render, stop: threads.stop };
}

/** A widget whose rows cannot be had fails the whole picture: with a hole in it, it would look complete. */
async function withTitle<T>(title: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfQuery = error instanceof ApiError && error.statusCode < 500 && error.statusCode !== 429;
    throw isOfQuery && error.code !== 'rendering_failed' ? failure(title, error.message) : error;
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
