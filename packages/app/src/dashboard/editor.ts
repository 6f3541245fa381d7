/** What the parts of the editor share: the draft, what is selected, and what was said to the person. */
import type { MetaCube } from '@oriel/charts';
import type { OrielClient } from '@oriel/client';
import { batch, computed, signal } from '@preact/signals';
import { createDraftBoard, type DraftBoard } from './board.ts';
import type { Item } from './grid/grid.ts';
import { createPresence, type Presence } from './presence.tsx';
import { say } from './say.ts';
import { draftStore, type ReportInfo, type Where } from './server.ts';
import { type Widget, type WidgetType, widgetsOf } from './state/doc.ts';
import type { Merged } from './state/merge.ts';
import { type Keeper, Session, type Stored } from './state/session.ts';

export const KIND_TEXTS = {
  CHART: 'chart',
  TEXT: 'text',
  FILTER: 'filter',
  TIME_GRAIN: 'timeGrain',
  CONTAINER: 'container',
  DIVIDER: 'divider',
  SPACER: 'spacer',
  AI: 'assistant',
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
  dimensions: { name: string; title?: string; type: string }[];
};

/** As whom the preview is shown. */
export interface Previewed extends Awaited<ReturnType<OrielClient['createDashboardPreview']>> {
  name: string;
}

const hasRoom = () => matchMedia('(min-width: 1101px)').matches;

export class Editor {
  readonly where: Where;
  readonly session: Session;
  readonly draft: DraftBoard;
  readonly canEdit: boolean;
  readonly selected = signal<readonly string[]>([]);
  readonly isPreview = signal(false);
  readonly previewed = signal<Previewed | undefined>(undefined);
  /** Where there is room beside the widgets, it is open from the start. */
  readonly isPanelOpen = signal(hasRoom());
  /** For screen readers. */
  readonly announcement = signal('');
  /** While somebody drags: where everything would be. */
  readonly dragged = signal<{ id: string; layout: readonly Item[] } | undefined>(undefined);
  readonly reports = signal<readonly ReportInfo[] | undefined>(undefined);
  readonly cubes = signal<readonly Cube[]>([]);
  readonly presence: Presence;
  readonly #tabs: BroadcastChannel;

  readonly dimensions = computed((): Dimension[] =>
    this.cubes.value.flatMap(({ name: owner, dimensions }) =>
      dimensions.map(({ name, title, type }) => ({ name, title: title ?? name, type, owner })),
    ),
  );

  constructor(
    where: Where,
    stored: Stored,
    on: { canEdit: boolean; merged(merged: Merged): void; otherTab(): void },
    keeper?: Keeper,
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

  widget(id: string): Widget | undefined {
    return this.doc.widgets[id];
  }

  setPreview(isPreview: boolean) {
    batch(() => {
      this.isPreview.value = isPreview;
      if (!isPreview && this.previewed.peek()) this.previewAs(undefined);
    });
  }

  /** The preview with the rows of somebody else, or with one's own again. */
  previewAs(as: Previewed | undefined) {
    batch(() => {
      this.previewed.value = as;
      this.draft.viewAs(as?.previewId);
    });
  }

  select(ids: readonly string[]) {
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

  /** The charts that a control can reach by itself: those about the same view or cube. */
  reachable(member: unknown): Set<string> {
    const owner = String(member ?? '').split('.')[0];
    const charts = widgetsOf(this.doc).filter(({ type }) => type === 'CHART');
    return new Set(
      charts.filter(({ config }) => this.ownersOf(config?.reportId).has(owner!)).map(({ id }) => id),
    );
  }

  /** The views and cubes that the query of a report names. */
  ownersOf(reportId: unknown): Set<string> {
    const { measures, dimensions, timeDimensions } = parsed(this.report(reportId)?.jsonQuery);
    const names = [
      measures,
      dimensions,
      (timeDimensions as { dimension: string }[] | undefined)?.map((one) => one?.dimension),
    ];
    return new Set(
      names
        .flat()
        .filter((name): name is string => typeof name === 'string')
        .map((name) => name.split('.')[0]!),
    );
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
