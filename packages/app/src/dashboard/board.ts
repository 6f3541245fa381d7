/** The draft as a board that widgets are drawn from. Charts show the reports of the workbook as they are now. */
import {
  Board,
  Language,
  type QueryApi,
  type Snapshot,
  textsLoader,
  themeOptionsOf,
  tokensOf,
  withAttributes,
} from '@oriel/charts';
import { en } from '@oriel/charts/texts/en';
import { effect, type Signal, signal } from '@preact/signals';
import { chosenScheme, themeOverrides } from '../look.ts';
import { addressOf } from '../place.ts';
import { locale } from '../texts/index.ts';
import {
  loadAs,
  mayExploreIn,
  previewsOf,
  publishedDashboard,
  queryApi,
  type WorkbookKey,
} from './server.ts';
import { configOf, type Doc } from './state/doc.ts';

export interface DraftBoard {
  board: Board;
  /** Counts what widgets are drawn from, apart from their places. */
  revision: Signal<number>;
  /** Shows a draft, with the reports as they are now, or a version, with the reports as they were then. */
  show(doc: Doc, snapshots?: readonly Snapshot[]): void;
  /** The names and values of the attributes that filters can begin with: one's own. */
  attributes: Signal<Readonly<Record<string, unknown>>>;
  /** Shows the rows of another viewer, by their preview, or the author's own again. */
  viewAs(as: { previewId: string; userAttributes: Readonly<Record<string, unknown>> } | undefined): void;
  /** Loads the reports again, after one of them was changed. */
  reload(): void;
  stop(): void;
}

export function createDraftBoard(where: WorkbookKey): DraftBoard {
  const language = new Language(
    en,
    textsLoader(en, {
      de: () => import('@oriel/charts/texts/de'),
      es: () => import('@oriel/charts/texts/es'),
      fr: () => import('@oriel/charts/texts/fr'),
      ja: () => import('@oriel/charts/texts/ja'),
    }),
  );
  const revision = signal(0);
  let shown: Doc | undefined;
  let frozen: readonly Snapshot[] | undefined;
  const known = new Map<number, Snapshot>();
  const asked = new Set<number>();
  const pending = new Set<number>();
  let tokens = tokensOf('light', []);
  const attributes = signal<Readonly<Record<string, unknown>>>({});
  let as: Parameters<DraftBoard['viewAs']>[0];
  const rowsApi: QueryApi = {
    load: (deploymentId, queries, isFresh) =>
      as === undefined
        ? queryApi.load(deploymentId, queries, isFresh)
        : loadAs(where, as.previewId, queries, isFresh),
    meta: queryApi.meta,
  };
  let mayExplore = false;
  void mayExploreIn(where.deploymentId).then((may) => {
    mayExplore = may;
  });
  /** By a link, so that the router takes it. */
  const exploreFrom = (query: object) => {
    const link = document.createElement('a');
    link.href = `${addressOf(where.deploymentId, 'explore')}?q=${encodeURIComponent(JSON.stringify(query))}`;
    document.body.append(link);
    link.click();
    link.remove();
  };
  const board = new Board({
    api: rowsApi,
    published: publishedDashboard,
    language,
    tokens: () => tokens,
    mayExport: () => true,
    get explore() {
      return mayExplore ? exploreFrom : undefined;
    },
    rendered() {},
    tell() {},
  });
  const paint = () => {
    const theme = shown?.theme;
    const scheme = chosenScheme.value;
    tokens = tokensOf(scheme, [...themeOverrides.value(scheme), themeOptionsOf(theme)]);
  };

  function update() {
    if (!shown) return;
    const config = withAttributes(configOf(shown), as?.userAttributes ?? attributes.peek());
    paint();
    board.timezone = (config.settings as { timezone?: string } | null)?.timezone;
    board.edit({
      publicId: '',
      deploymentId: where.deploymentId,
      title: config.title ?? null,
      reportSnapshots: frozen ? [...frozen] : [...known.values()],
      pendingReports: frozen ? undefined : new Set(pending),
      config: config as never,
    });
  }

  /**
   * Loads the reports that were not asked for yet. A report that cannot be read is missing in the reply, and its chart
   * says so.
   */
  async function preview() {
    const ids = Object.values(shown?.widgets ?? {})
      .filter(({ type }) => type === 'CHART')
      .map(({ config }) => Number(config?.reportId))
      .filter((id) => Number.isSafeInteger(id) && id > 0 && !asked.has(id));
    const missing = [...new Set(ids)].slice(0, 200);
    if (!missing.length) return;
    for (const id of missing) {
      asked.add(id);
      if (!known.has(id)) pending.add(id);
    }
    if (pending.size) update();
    try {
      const { snapshots, userAttributes } = await previewsOf(where, missing);
      for (const snapshot of snapshots) known.set(snapshot.reportId, snapshot);
      attributes.value = userAttributes;
    } catch {
      // Asked for again with the next change.
      for (const id of missing) asked.delete(id);
    }
    for (const id of missing) pending.delete(id);
    update();
  }

  const stopListening = board.subscribe(() => {
    revision.value = revision.peek() + 1;
  });
  const stopEffects = [
    effect(() => {
      void language.use(locale.value).then((isNew) => isNew && board.changed());
    }),
    effect(() => {
      paint();
      board.changed();
    }),
  ];
  return {
    board,
    revision,
    attributes,
    show(doc, snapshots) {
      const isSameDrawing = shown && frozen === snapshots && isDrawnAlike(shown, doc);
      shown = doc;
      frozen = snapshots;
      if (isSameDrawing) return;
      update();
      if (!frozen) void preview();
    },
    viewAs(other) {
      as = other;
      board.forgetViewer();
      update();
    },
    reload() {
      asked.clear();
      void preview();
    },
    stop() {
      stopListening();
      for (const stop of stopEffects) stop();
    },
  };
}

/** Whether two drafts differ by nothing but places. Containers draw what is in them with its places. */
function isDrawnAlike(before: Doc, after: Doc): boolean {
  if (before.order !== after.order || before.theme !== after.theme || before.settings !== after.settings)
    return false;
  if (before.layout !== after.layout || before.title !== after.title) return false;
  const hasContainer = after.order.some((id) => after.widgets[id]?.type === 'CONTAINER');
  return after.order.every((id) => {
    const [a, b] = [before.widgets[id], after.widgets[id]];
    return a === b || (!hasContainer && a?.config === b?.config);
  });
}
