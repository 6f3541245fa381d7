/** A process that draws dashboards, one after the other; see `renderings.ts`. */
import {
  askFor,
  createFormats,
  crossInForce,
  figureOf,
  inForce,
  isRightToLeft,
  type Rows,
  sayWith,
  type Texts,
  tableOf,
  tokensOf,
  type Widget,
} from '@oriel/charts/pure';
import { texts as de } from '@oriel/charts/texts/de';
import { en } from '@oriel/charts/texts/en';
import { texts as es } from '@oriel/charts/texts/es';
import { texts as fr } from '@oriel/charts/texts/fr';
import { texts as ja } from '@oriel/charts/texts/ja';
import { hardenThread } from '../../platform/harden-thread.ts';
import { answerTasks } from '../../platform/task-process.ts';
import { drawBoard } from './draw/board.ts';
import { FONT_FAMILY } from './draw/fonts.ts';
import { BlankError, drawPdf, drawPng, INSIDE } from './draw/paper.ts';
import { type Look, WidgetError } from './draw/pieces.ts';
import type { DrawAnswer, DrawnBoard, DrawTask, HeadlineFigure, SmallTable } from './draw/task.ts';

const TEXTS: Record<string, Texts> = { de, es, fr, ja };

/** How many figures, rows and columns a mail has beside the picture. */
const FIGURES_MAX = 8;
const ROWS_MAX = 10;
const COLUMNS_MAX = 5;

function lookOf({ locale, scheme, themeOverrides }: DrawTask): Look {
  const say = sayWith(TEXTS[locale.split('-')[0]!] ?? en);
  return {
    tokens: { ...tokensOf(scheme, themeOverrides), font: FONT_FAMILY },
    formats: createFormats(locale, say),
    say,
    locale,
    isRightToLeft: isRightToLeft(locale),
  };
}

function asOf({ askedAt, locale, timezone = 'UTC' }: DrawTask): string {
  const how = { dateStyle: 'medium', timeStyle: 'short', timeZone: timezone } as const;
  return `${new Intl.DateTimeFormat(locale, how).format(askedAt)} (${timezone})`;
}

async function draw(task: DrawTask): Promise<DrawAnswer> {
  const { dashboard } = task;
  const look = lookOf(task);
  const widgets = dashboard.config.widgets ?? [];
  const filterWidgets = widgets.filter(
    ({ type, config }) => type === 'FILTER' && typeof config?.member === 'string',
  );
  const filters = new Map(task.filters);
  const grains = new Map(task.grains);
  const crossFilters = new Map(task.crossFilters);
  const chosen = {
    filters,
    grains,
    crossFilters,
    timezone: task.timezone,
    askedAt: new Date(task.askedAt),
    filterWidgets: () => filterWidgets,
  };
  const reportOf = (widget: Widget | undefined) =>
    dashboard.reportSnapshots.find(({ reportId }) => reportId === widget?.config?.reportId);
  const rows = new Map<string, Rows>();
  for (const [id, answer] of task.answers) {
    const snapshot = reportOf(widgets.find((widget) => widget.id === id));
    if (!snapshot) continue;
    const { results } = JSON.parse(Buffer.from(answer).toString());
    rows.set(id, askFor(chosen, snapshot, id).read(results));
  }
  const board: DrawnBoard = { dashboard, rows, order: task.answers.map(([id]) => id) };
  const head = {
    title: dashboard.title || dashboard.config.title || look.say('dashboard'),
    description: dashboard.description || dashboard.config.description || '',
    inForce: [
      ...inForce(filterWidgets, filters, { ...look, timezone: task.timezone }),
      ...crossInForce(crossFilters, { ...look, timezone: task.timezone }),
      ...grainsInForce(widgets, grains, look),
    ],
    asOf: asOf(task),
  };
  const cards = await drawBoard(board, INSIDE, look);
  const drawn = task.format === 'pdf' ? await drawPdf(head, cards, look) : drawPng(head, cards, look);
  const { description: _description, ...said } = head;
  return { ...drawn, ...said, figures: figuresOf(board, look), table: tableIn(board, look) };
}

function grainsInForce(widgets: readonly Widget[], grains: ReadonlyMap<string, string>, { say }: Look) {
  const words: Record<string, string> = Object.fromEntries(
    (['hour', 'day', 'week', 'month', 'quarter', 'year'] as const).map((grain) => [grain, say(grain)]),
  );
  return widgets.flatMap(({ type, config }) => {
    const grain = type === 'TIME_GRAIN' ? grains.get(String(config?.member)) : undefined;
    return grain ? [{ title: String(config?.title ?? say('grain')), text: words[grain] ?? grain }] : [];
  });
}

/** The charts of the dashboard with their reports and rows, in their order. */
const reportsOf = ({ dashboard, rows }: DrawnBoard) =>
  (dashboard.config.widgets ?? [])
    .toSorted((a, b) => a.position.y - b.position.y || a.position.x - b.position.x)
    .flatMap((widget) => {
      const snapshot = dashboard.reportSnapshots.find(({ reportId }) => reportId === widget.config?.reportId);
      const own = rows.get(widget.id);
      if (!snapshot || !own) return [];
      return [
        {
          snapshot,
          rows: own,
          title: String(widget.config?.title ?? (snapshot.title || snapshot.name || '')),
        },
      ];
    });

function figuresOf(board: DrawnBoard, look: Look): HeadlineFigure[] {
  return reportsOf(board)
    .filter(({ snapshot }) => snapshot.kind === 'kpi')
    .slice(0, FIGURES_MAX)
    .map(({ snapshot, rows, title }) => {
      const { text, change } = figureOf(snapshot, rows, look);
      return {
        title,
        text,
        ...(change && {
          change: {
            text: change.text ? `${change.sign} ${change.text}` : '',
            note: change.note,
            ...(change.isGood === undefined ? {} : { isGood: change.isGood }),
          },
        }),
      };
    });
}

/** The first table or, without one, the rows of the first chart. */
function tableIn(board: DrawnBoard, look: Look): SmallTable | undefined {
  const all = reportsOf(board).filter(
    ({ snapshot, rows }) => snapshot.kind !== 'kpi' && rows.rows.length > 0,
  );
  const found =
    all.find(({ snapshot }) => snapshot.kind === 'table') ??
    all.find(({ snapshot }) => snapshot.kind !== 'html');
  if (!found) return undefined;
  const table = tableOf(found.snapshot, found.rows, look);
  return {
    title: found.title,
    columns: table.columns.slice(0, COLUMNS_MAX).map(({ title, align }) => ({ title, align })),
    rows: table.rows.slice(0, ROWS_MAX).map(({ texts }) => texts.slice(0, COLUMNS_MAX)),
    more: Math.max(0, table.rows.length - ROWS_MAX),
  };
}

answerTasks(async (task: DrawTask): Promise<DrawAnswer> => {
  try {
    return await draw(task);
  } catch (error) {
    const title = error instanceof WidgetError || error instanceof BlankError ? error.title : '';
    const reason = (error as Error).message.slice(0, 300);
    return { failure: { title, reason, isBlank: error instanceof BlankError } };
  }
});

hardenThread();
