/** What the address of the page says. The session leaves the address bar at once, and with it the history. */
import type { FilterValue } from '@oriel/charts';
import { parseDigits } from '../sdk/digits.ts';

const PATH = /^\/embed\/(?:d\/\d+\/)?dashboard\/([^/?#]+)$/;

export interface Address {
  publicId: string;
  session: string | null;
  filters: Map<string, FilterValue>;
  allowExport: boolean;
  locale: string | null;
  timezone: string | null;
  theme: string | null;
}

export const publicIdIn = (path: string): string | null => {
  const id = PATH.exec(path.split(/[?#]/, 1)[0]!)?.[1];
  try {
    return id ? decodeURIComponent(id) : null;
  } catch {
    return null;
  }
};

export function readAddress(): Address {
  const { searchParams, pathname } = new URL(location.href);
  const fragment = new URLSearchParams(location.hash.slice(1));
  const session = searchParams.get('session') ?? fragment.get('session');
  const address = {
    publicId: publicIdIn(pathname) ?? '',
    session,
    filters: filtersIn(searchParams),
    allowExport: searchParams.get('allowExport') === 'true',
    locale: searchParams.get('locale'),
    timezone: searchParams.get('timezone'),
    theme: searchParams.get('theme'),
  };
  searchParams.delete('session');
  fragment.delete('session');
  const query = searchParams.size ? `?${searchParams}` : '';
  const hash = fragment.size ? `#${fragment}` : '';
  history.replaceState(null, '', `${pathname}${query}${hash}`);
  return address;
}

/** `f_<view>.<dimension>={"value":…,"operator"?:…}` */
export function filtersIn(parameters: URLSearchParams): Map<string, FilterValue> {
  const filters = new Map<string, FilterValue>();
  for (const [name, text] of parameters) {
    const member = /^f_(.+\..+)$/.exec(name)?.[1];
    if (!member) continue;
    const filter = filterIn(text);
    if (filter) filters.set(member, filter);
  }
  return filters;
}

function filterIn(text: string): FilterValue | undefined {
  try {
    const { value, operator = 'equals' } = parseDigits(text);
    return typeof operator === 'string' ? { operator, value } : undefined;
  } catch {
    return undefined;
  }
}
