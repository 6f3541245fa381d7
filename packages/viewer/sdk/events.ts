/** What the embedded page tells its host; `docs/embedding.md` says when. */
export interface EventDetails {
  ready: {
    /** Null in private mode. */
    embedTenant: string | null;
    deploymentId: number;
    mode: 'signed' | 'private';
    surface: string;
    publicId?: string;
    settings?: { showDashboardChat?: boolean };
  };
  view: { surface: string; path: string; publicId?: string; title?: string };
  navigate: { path: string; previousPath?: string };
  'dashboard-loaded': { publicId?: string; widgetCount?: number; loadDurationMs?: number };
  download: {
    format: 'csv' | 'xlsx' | 'png' | 'pdf';
    target: 'widget' | 'dashboard';
    widgetId?: string;
    title?: string;
    rowCount?: number;
  };
  drilldown: { member: string; value?: unknown; widgetId?: string };
  error: { message: string; code?: string; context?: string; fatal?: boolean };
  'session-needed': { expiresAt?: string };
  'session-expired': { reason: string };
}

export type EventName = keyof EventDetails;
export type CustomEventMap = { [Name in EventName]: CustomEvent<EventDetails[Name]> };

export const EVENTS: readonly EventName[] = [
  'ready',
  'view',
  'navigate',
  'dashboard-loaded',
  'download',
  'drilldown',
  'error',
  'session-needed',
  'session-expired',
];

type Listener<Name extends EventName> = (event: CustomEventMap[Name]) => void;

/** An element that knows the types of these events. */
export interface ElementWithEvents extends HTMLElement {
  addEventListener<Name extends EventName>(
    type: Name,
    listener: Listener<Name>,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<Name extends EventName>(
    type: Name,
    listener: Listener<Name>,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void;
}
