/** What the parts of the editor share: the draft, what is selected, and what was said to the person. */
import { type MetaCube, membersOf, type Query, reachedBy, type Snapshot } from '@oriel/charts';
import type { OrielClient } from '@oriel/client';
import { batch, computed, signal } from '@preact/signals';
import { createDraftBoard, type DraftBoard } from './board.ts';
import type { Device } from './edits.ts';
import { createPresence, type Presence } from './presence.tsx';
import { say } from './say.ts';
import { draftStore, type ReportInfo, type WorkbookKey } from './server.ts';
import { type Config, type Doc, type Widget, type WidgetType, widgetsOf } from './state/doc.ts';
import type { MergedDraft } from './state/merge.ts';
import { type DraftStorage, Session, type StoredDraft } from './state/session.ts';

export const KIND_TEXTS = {
  CHART: 'chart',
  TEXT: 'text',
  FILTER: 'filter',
  TIME_GRAIN: 'timeGrain',
  CONTAINER: 'container',
  DIVIDER: 'divider',
  SPACER: 'spacer',
  AI: 'assistant',
  APP: 'application',
} as const satisfies Record<WidgetType, Parameters<typeof say>[0]>;

export const kindText = (type: WidgetType) => say(KIND_TEXTS[type]);

/** A dimension that controls can filter by. */
export interface Dimension {
  name: string;
  title: string;
  type: string;
  owner: string;
}

type Cube = Omit<MetaCube, 'dimensions'> & {
  title?: string;
  dimensions: { name: string; title?: string; shortTitle?: string; type: string }[];
};

/** The viewer that the preview is shown as. */
export interface PreviewSession extends Awaited<ReturnType<OrielClient['createDashboardPreview']>> {
  name: string;
}

/** A draft that a version has taken the place of. */
export interface ReplacedDraft {
  config: Config;
  at: number;
}

const hasRoom = () => matchMedia('(min-width: 1101px)').matches;

export class Editor {
  readonly where: WorkbookKey;
  readonly session: Session;
  readonly draft: DraftBoard;
  readonly canEdit: boolean;
  readonly selected = signal<readonly string[]>([]);
  readonly isPreview = signal(false);
  /** A published version that is shown in place of the draft. */
  readonly version = signal<{ number: number; doc: Doc; snapshots: readonly Snapshot[] } | undefined>(
    undefined,
  );
  /** The device that the draft is shown on, and that widgets are arranged for. */
  readonly device = signal<Device>('desk');
  readonly previewed = signal<PreviewSession | undefined>(undefined);
  /** Whether the panel is open: from the start where there is room beside the widgets. */
  readonly isPanelOpen = signal(hasRoom());
  /** The text that screen readers announce. */
  readonly announcement = signal('');
  /** Whether the author is selecting several widgets by keys. */
  isPicking = false;
  /** The ids of the widgets that are being dragged. */
  readonly dragged = signal<readonly string[]>([]);
  readonly reports = signal<readonly ReportInfo[] | undefined>(undefined);
  readonly cubes = signal<readonly Cube[]>([]);
  /** The draft that a restored version has replaced. */
  readonly replaced = signal<ReplacedDraft | undefined>(undefined);
  readonly presence: Presence;
  readonly #tabs: BroadcastChannel;

  readonly dimensions = computed((): Dimension[] =>
    this.cubes.value.flatMap(({ name: owner, dimensions }) =>
      dimensions.map(({ name, title, type }) => ({ name, title: title ?? name, type, owner })),
    ),
  );

  constructor(
    where: WorkbookKey,
    stored: StoredDraft,
    on: { canEdit: boolean; merged(merged: MergedDraft): void; otherTab(): void },
    keeper?: DraftStorage,
  ) {
    this.where = where;
    this.canEdit = on.canEdit;
    this.draft = createDraftBoard(where);
    this.presence = createPresence(where, this.selected, on.canEdit);
    // Another tab of this person saves into the same draft: it is told, and takes over what is new.
    this.#tabs = new BroadcastChannel(`oriel-draft-${where.deploymentId}-${where.workbookId}`);
    this.#tabs.onmessage = ({ data }) => {
      if (data === 'saved') void this.session.refresh().catch(() => {});
      if (data === 'opened') {
        this.#tabs.postMessage('here');
        on.otherTab();
      }
      if (data === 'here') on.otherTab();
    };
    this.#tabs.postMessage('opened');
    const heard = { merged: on.merged, saved: () => this.#tabs.postMessage('saved') };
    this.session = new Session(draftStore(where), stored, heard, keeper);
  }

  get doc() {
    return this.session.doc;
  }

  /** Publishing takes the draft, which is not what is seen while a version is shown. */
  get canPublish() {
    return this.canEdit && !this.version.value;
  }

  /** What the canvas shows. */
  get shownDoc(): Doc {
    return this.version.value?.doc ?? this.doc;
  }

  showVersion(version: Editor['version']['value']) {
    batch(() => {
      this.version.value = version;
      this.setPreview(version !== undefined);
    });
  }

  widget(id: string): Widget | undefined {
    return this.doc.widgets[id];
  }

  setPreview(isPreview: boolean) {
    batch(() => {
      this.isPreview.value = isPreview;
      if (!isPreview) this.version.value = undefined;
      if (!isPreview && this.previewed.peek()) this.previewAs(undefined);
    });
  }

  /** Shows the preview with the rows of another viewer, or with the author's own again. */
  previewAs(as: PreviewSession | undefined) {
    batch(() => {
      this.previewed.value = as;
      this.draft.viewAs(as);
    });
  }

  select(ids: readonly string[]) {
    this.isPicking = false;
    this.selected.value = ids;
    if (ids.length && hasRoom()) this.isPanelOpen.value = true;
  }

  announce(text: string) {
    // The same text twice is not said again, unless it is another text for the browser.
    this.announcement.value = this.announcement.peek() === text ? `${text}\u00a0` : text;
  }

  report(id: unknown): ReportInfo | undefined {
    return this.reports.value?.find((report) => report.id === id);
  }

  titleOf(widget: Widget): string {
    const config = (widget.config ?? {}) as Record<string, unknown>;
    const named = typeof config.title === 'string' ? config.title.trim() : '';
    if (named) return named;
    if (widget.type === 'CHART') {
      // One of another workbook is not in the list of reports, and is drawn all the same.
      const drawn = this.draft.board.dashboard?.reportSnapshots;
      const report =
        this.report(config.reportId) ?? drawn?.find(({ reportId }) => reportId === config.reportId);
      return report?.title || report?.name || kindText('CHART');
    }
    if (widget.type === 'TEXT' && config.image !== undefined)
      return String(config.alt ?? '') || say('picture');
    if (widget.type === 'TEXT') {
      const first = String(config.markdown ?? '')
        .split('\n')
        .map((line) => line.replace(/^[#>*\-\s]+/, '').trim())
        .find(Boolean);
      return first ? (first.length > 40 ? `${first.slice(0, 40)}…` : first) : kindText('TEXT');
    }
    if (typeof config.member === 'string')
      return this.dimensions.value.find(({ name }) => name === config.member)?.title ?? config.member;
    return kindText(widget.type);
  }

  /**
   * The controls that should reach a chart and cannot, by the id of the chart, without those that the author has
   * excluded.
   */
  readonly unreached = computed((): ReadonlyMap<string, string[]> => {
    this.draft.revision.value;
    const widgets = widgetsOf(this.doc);
    const controls = widgets.filter(({ type, config }) => type === 'FILTER' && config?.member);
    const found = new Map<string, string[]>();
    for (const { id, config } of widgets.filter(({ type }) => type === 'CHART')) {
      const query = this.#queryOf(config?.reportId);
      if (!query) continue;
      const missing = controls.filter(
        (control) =>
          !(control.config!.widgets as unknown[] | undefined)?.length &&
          (control.config!.mapping as Record<string, unknown> | undefined)?.[id] === undefined &&
          reachedBy(control.config, query, id) === undefined,
      );
      if (missing.length)
        found.set(
          id,
          missing.map((control) => this.titleOf(control)),
        );
    }
    return found;
  });

  /** The member by which a control filters a chart. */
  reachedBy(config: Widget['config'], chart: Widget): string | undefined {
    return reachedBy(config, this.#queryOf(chart.config?.reportId) ?? {}, chart.id);
  }

  /** As it is drawn, or as it is in the list of reports. */
  #queryOf(reportId: unknown): Query | undefined {
    const drawn = this.draft.board.dashboard?.reportSnapshots.find((one) => one.reportId === reportId);
    const report = this.report(reportId);
    return drawn?.meta?.query ?? (report && (parsed(report.jsonQuery) as Query));
  }

  /** The views and cubes that the query of a report names. */
  ownersOf(reportId: unknown): Set<string> {
    const query = this.#queryOf(reportId);
    return new Set(query ? membersOf(query).map((name) => name.split('.')[0]!) : []);
  }

  stop() {
    this.#tabs.close();
    this.presence.stop();
    this.session.stop();
    this.draft.stop();
  }
}

function parsed(text: string | null | undefined): Record<string, unknown> {
  try {
    return (JSON.parse(text ?? '{}') ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
