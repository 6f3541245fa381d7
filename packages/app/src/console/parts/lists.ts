/** What the lists of the console share: how much of a list is shown, and filters that are part of the address. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { invalidate, type LoadState, useData } from '../../data/cache.ts';
import { locale } from '../../texts/index.ts';
import type { RowList } from './table.tsx';

const PAGE_SIZE = 50;
/** As many as a page of a list has at most. */
const SHOWN_MAX = 1000;

interface Page<Row> {
  items: readonly Row[];
  pageInfo: { hasNextPage: boolean };
}

/** A cursor list of the API from its start, and more of it on request. */
export function useList<Row>(
  key: string | null,
  load: (first: number, signal: AbortSignal) => Promise<Page<Row>>,
): LoadState<RowList<Row>> & { more: (() => void) | undefined } {
  const [count, setCount] = useState(PAGE_SIZE);
  const loaded = useData(key === null ? null : `${key}/${count}`, async (signal) => {
    const { items, pageInfo } = await load(count, signal);
    return { items, hasMore: pageInfo.hasNextPage };
  });
  const more = count < SHOWN_MAX ? () => setCount(Math.min(SHOWN_MAX, count * 4)) : undefined;
  return { ...loaded, more };
}

const REFRESH_MS = 3000;

/** Asks again for what is shown of these keys, while the page is looked at. */
export function useRefresh(keys: string, isOn = true) {
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => document.hidden || invalidate(keys), REFRESH_MS);
    return () => clearInterval(timer);
  }, [keys, isOn]);
}

/** The filters of a page, from its address, so that a link shows what its sender saw. */
export function useFilters<Name extends string>(
  names: readonly Name[],
): [Partial<Record<Name, string>>, (changed: Partial<Record<Name, string>>) => void] {
  const { path, query, route } = useLocation();
  const current = Object.fromEntries(
    names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])),
  ) as Partial<Record<Name, string>>;
  const change = (changed: Partial<Record<Name, string>>) => {
    const next = Object.entries<string | undefined>({ ...query, ...changed }).filter(
      ([, value]) => value,
    ) as [string, string][];
    route(next.length ? `${path}?${new URLSearchParams(next)}` : path, true);
  };
  return [current, change];
}

/** Most times of the console are of this year, and lists have no room to say so in each row. It stays in one line. */
export function shownTime(time: string | null | undefined): string {
  if (!time) return '–';
  const date = new Date(time);
  const text = new Intl.DateTimeFormat(locale.value, {
    ...(date.getFullYear() !== new Date().getFullYear() && { year: 'numeric' }),
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
  }).format(date);
  return text.replaceAll(' ', '\u00a0');
}

export const shownNumber = (value: number, options?: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(locale.value, options).format(value);
