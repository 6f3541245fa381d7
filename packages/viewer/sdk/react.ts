/** `<OrielDashboard>` for React 18 and 19: the element of `embed.ts` with its properties and events as props. */
import {
  type CSSProperties,
  createElement,
  type ForwardRefExoticComponent,
  forwardRef,
  type RefAttributes,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react';
import type {
  ColorScheme,
  CustomEventMap,
  DashboardFilters,
  EmbedTheme,
  EventName,
  GetSession,
  OrielDashboardElement,
} from './embed.ts';
import './embed.ts';

type Handler<Name extends EventName> = (event: CustomEventMap[Name]) => void;

export interface OrielDashboardProps {
  baseUrl: string;
  publicId: string;
  session?: string | undefined;
  getSession?: GetSession | undefined;
  deploymentId?: string | number | undefined;
  theme?: ColorScheme | undefined;
  /** Colours, font and corners. */
  embedTheme?: EmbedTheme | undefined;
  locale?: string | undefined;
  timezone?: string | undefined;
  allowExport?: boolean | undefined;
  filters?: DashboardFilters | undefined;
  /** The name of the dashboard for screen readers. */
  'aria-label'?: string | undefined;
  /** The same as `aria-label`. */
  label?: string | undefined;
  id?: string | undefined;
  className?: string | undefined;
  style?: CSSProperties | undefined;
  onReady?: Handler<'ready'> | undefined;
  onView?: Handler<'view'> | undefined;
  onNavigate?: Handler<'navigate'> | undefined;
  onDashboardLoaded?: Handler<'dashboard-loaded'> | undefined;
  onDownload?: Handler<'download'> | undefined;
  onDrilldown?: Handler<'drilldown'> | undefined;
  onError?: Handler<'error'> | undefined;
  onSessionNeeded?: Handler<'session-needed'> | undefined;
  onSessionExpired?: Handler<'session-expired'> | undefined;
}

const HANDLERS: Record<EventName, keyof OrielDashboardProps> = {
  ready: 'onReady',
  view: 'onView',
  navigate: 'onNavigate',
  'dashboard-loaded': 'onDashboardLoaded',
  download: 'onDownload',
  drilldown: 'onDrilldown',
  error: 'onError',
  'session-needed': 'onSessionNeeded',
  'session-expired': 'onSessionExpired',
};

/** React has no layout on a server, and says so. */
const useEarlyEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect;

export const OrielDashboard: ForwardRefExoticComponent<
  OrielDashboardProps & RefAttributes<OrielDashboardElement>
> = forwardRef(function OrielDashboard(props, ref) {
  const element = useRef<OrielDashboardElement>(null);
  const latest = useRef<OrielDashboardProps>(props);
  useImperativeHandle(ref, () => element.current!, []);

  useEarlyEffect(() => {
    const listening = new AbortController();
    for (const name of Object.keys(HANDLERS) as EventName[]) {
      const call = (event: Event) => (latest.current[HANDLERS[name]] as Handler<never>)?.(event as never);
      element.current!.addEventListener(name, call as EventListener, { signal: listening.signal });
    }
    return () => listening.abort();
  }, []);

  useEarlyEffect(() => {
    latest.current = props;
    const { baseUrl, publicId, session, getSession, deploymentId, theme, locale, timezone, allowExport } =
      props;
    Object.assign(element.current!, {
      baseUrl,
      publicId,
      session,
      getSession,
      deploymentId,
      theme,
      locale,
      timezone,
      allowExport,
    });
  });

  // Objects that are written in place are new in every render. Without a value, what was set before is cleared.
  const filters = JSON.stringify(props.filters);
  useEarlyEffect(() => {
    element.current!.filters = JSON.parse(filters ?? 'null');
  }, [filters]);
  const embedTheme = JSON.stringify(props.embedTheme);
  useEarlyEffect(() => {
    element.current!.setTheme(JSON.parse(embedTheme ?? 'null'));
  }, [embedTheme]);

  const { id, className, style, label, 'aria-label': name = label } = props;
  return createElement('oriel-dashboard', { ref: element, id, class: className, style, 'aria-label': name });
});
