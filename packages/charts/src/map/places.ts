/** Which places of a map have which colours. */
import { type Formats, shownOf } from '../format.ts';
import { valuesOf } from '../query.ts';
import type { Rows } from '../rows.ts';
import type { Tokens } from '../theme.ts';
import type { ColumnFormat, FieldDisplay, Row, Snapshot } from '../types.ts';
import { around, fitting } from './fit.ts';
import { projected } from './project.ts';
import { regionOf } from './regions.ts';
import world from './world.json' with { type: 'json' };

export type Country = [alpha2: string, alpha3: string, name: string, path: string];

export interface MapPoint {
  x: number;
  y: number;
  /** Its radius on the map that is shown. */
  r: number;
  row: Row;
}

/** More would be one spot, and slow. */
const POINTS_MAX = 2000;
/** Shares of the width that is shown. */
const RADIUS = { least: 0.004, most: 0.03, plain: 0.007 };

export interface MapView {
  member: string;
  measure: string;
  shown: FieldDisplay | undefined;
  format: ColumnFormat | null | undefined;
  /** Rows are about countries or about regions, not about both. */
  hasCountries: boolean;
  viewBox: readonly [number, number, number, number];
  /** `color` if the place has a value. */
  shapes: { country: Country; path: string; row: Row | undefined; color: string | undefined }[];
  lowest: string;
  highest: string;
  hasUnknown: boolean;
  /** The points of a map of points. The largest comes first, so that none is hidden behind another. */
  points?: readonly MapPoint[];
  /** The name of a country in the language of the reader. */
  nameOf(alpha2: string): string | undefined;
}

const keyOf = (value: unknown) =>
  String(value ?? '')
    .trim()
    .toLowerCase();

/** Draws the rows on a map; undefined if none is about a place of the map. */
export function mapOf(
  snapshot: Snapshot,
  { rows, result, query }: Rows,
  { tokens, formats, locale }: { tokens: Tokens; formats: Formats; locale: string },
): MapView | undefined {
  if (snapshot.spec?.latitude != null) return pointsOf(snapshot, { rows, result, query }, formats);
  const member: string = snapshot.spec?.member ?? query.dimensions?.[0] ?? '';
  const measure: string = snapshot.spec?.measure ?? valuesOf(query)[0] ?? '';
  const shown = shownOf(result.annotation, measure);
  const format = snapshot.preferences?.columnFormats?.[measure];
  const names = new Intl.DisplayNames([locale], { type: 'region', fallback: 'none' });
  const nameOf = (alpha2: string) => {
    try {
      return names.of(alpha2);
    } catch {
      return undefined;
    }
  };
  const found = new Map(rows.map((row) => [keyOf(row[member]), row]));
  const named = ([alpha2, alpha3, name]: Country) =>
    [alpha2, alpha3, name, nameOf(alpha2)].map((key) => found.get(keyOf(key))).find((row) => row);
  const all = world.countries as Country[];
  const hasCountries = all.some(named);
  const placed = all.map((country) => ({
    country,
    row: hasCountries ? named(country) : found.get(regionOf(country[0], found)),
  }));
  if (!placed.some(({ row }) => row)) return undefined;
  const values = [...new Set(placed.flatMap(({ row }) => (row ? [Number(row[measure])] : [])))]
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const hasValue = (row: Row | undefined): row is Row =>
    row !== undefined && row[measure] !== null && Number.isFinite(Number(row[measure]));
  // By rank, so that one large country does not make all others look alike.
  const colorOf = (row: Row) => {
    const rank = values.length > 1 ? values.indexOf(Number(row[measure])) / (values.length - 1) : 1;
    const last = tokens.ramp.length - 1;
    return tokens.ramp[Math.min(last, Math.max(0, Math.round(rank * last)))];
  };
  const known = placed.filter(({ row }) => hasValue(row));
  const [lowest, highest] = formats.ends([values[0], values.at(-1)], shown, format);
  return {
    member,
    measure,
    shown,
    format,
    hasCountries,
    viewBox: known.length
      ? fitting(
          known.map(({ country }) => country[3]),
          world,
        )
      : [0, 0, world.width, world.height],
    shapes: placed.map(({ country, row }) => ({
      country,
      path: country[3],
      row,
      color: hasValue(row) ? colorOf(row) : undefined,
    })),
    lowest: lowest ?? '',
    highest: highest ?? '',
    hasUnknown: known.length < placed.length,
    nameOf,
  };
}

/** Points by their degrees, as large as their measure. Undefined if no row has a place. */
function pointsOf(snapshot: Snapshot, { rows, result }: Rows, formats: Formats): MapView | undefined {
  const { latitude, longitude, measure = '', member = '' } = snapshot.spec as Record<string, string>;
  const sizeOf = (row: Row) => {
    const size = measure && row[measure] !== null ? Math.abs(Number(row[measure])) : Number.NaN;
    return Number.isFinite(size) ? size : 0;
  };
  const found = rows.flatMap((row) => {
    const at = projected(row[longitude!], row[latitude!]);
    return at ? [{ ...at, row, size: sizeOf(row) }] : [];
  });
  if (!found.length) return undefined;
  const shown = found.sort((a, b) => b.size - a.size).slice(0, POINTS_MAX);
  const viewBox = around(
    shown.map(({ x, y }) => ({ left: x, right: x, top: y, bottom: y })),
    world,
  );
  const most = shown[0]!.size;
  // Areas are compared, and not widths.
  const share = (size: number) =>
    !measure || most === 0
      ? RADIUS.plain
      : RADIUS.least + (RADIUS.most - RADIUS.least) * Math.sqrt(size / most);
  const field = shownOf(result.annotation, measure);
  const format = snapshot.preferences?.columnFormats?.[measure];
  const values = shown.map(({ row }) => Number(row[measure])).filter(Number.isFinite);
  const ends = values.reduce(
    ([low, high], value) => [Math.min(low!, value), Math.max(high!, value)],
    [Infinity, -Infinity],
  );
  const [lowest, highest] = values.length ? formats.ends(ends, field, format) : [];
  return {
    member,
    measure,
    shown: field,
    format,
    hasCountries: false,
    viewBox,
    shapes: (world.countries as Country[]).map((country) => ({
      country,
      path: country[3],
      row: undefined,
      color: undefined,
    })),
    lowest: lowest ?? '',
    highest: highest ?? '',
    hasUnknown: false,
    points: shown.map(({ x, y, row, size }) => ({ x, y, row, r: share(size) * viewBox[2] })),
    nameOf: () => undefined,
  };
}
