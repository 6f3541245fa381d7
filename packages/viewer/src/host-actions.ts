/** What hosts may ask of the page, by messages. */
import { type ChosenScheme, isScheme, knownLocale, type ThemeOptions, themeOptionsOf } from '@oriel/charts';
import { type Action, knownZone, warnOf } from '@oriel/charts/frame';

export interface HostRequests {
  locale?: string | undefined;
  timezone?: string | undefined;
  scheme?: ChosenScheme;
  theme?: ThemeOptions;
}

/** The page, as far as hosts reach. */
interface EmbeddedPage {
  take(sessionId: unknown): Promise<void>;
  refresh(): void;
  navigate(path: string): Promise<void>;
  setFilters(text: unknown): void;
  request(requests: HostRequests): void;
}

export const hostActions = (page: EmbeddedPage): Record<string, Action> => ({
  session: ({ sessionId }) => void page.take(sessionId),
  renew: ({ sessionId }) => void page.take(sessionId),
  refresh: () => page.refresh(),
  navigate: ({ path }) => void page.navigate(String(path)),
  'set-filter': ({ filterUrlParameter }) => page.setFilters(filterUrlParameter),
  'set-locale': ({ locale }) => {
    const known = knownLocale(locale);
    warnOf('locale', locale, known);
    page.request({ locale: known });
  },
  'set-timezone': ({ timezone }) => {
    const known = knownZone(timezone);
    warnOf('timezone', timezone, known);
    page.request({ timezone: known });
  },
  'set-color-scheme': ({ scheme }) => {
    if (isScheme(scheme)) page.request({ scheme });
    warnOf('scheme', scheme, isScheme(scheme));
  },
  'set-theme': (theme) => page.request({ theme: themeOptionsOf(theme) }),
});
