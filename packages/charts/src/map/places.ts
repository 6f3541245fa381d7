/** Which places of a map have which colours. */
import { type Formats, shownOf } from '../format.ts';
import { valuesOf } from '../query.ts';
import type { Rows } from '../rows.ts';
import type { Tokens } from '../theme.ts';
import type { ColumnFormat, FieldDisplay, Row, Snapshot } from '../types.ts';
import { fitting } from './fit.ts';
import { regionOf } from './regions.ts';
import world from './world.json' with { type: 'json' };

export type Country = [alpha2: string, alpha3: string, name: string, path: string];

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
  /** The name of a country in the language of the reader. */
  nameOf(alpha2: string): string | undefined;
}

const keyOf = (value: unknown) =>
  String(value ?? '')
    .trim()
    .toLowerCase();

/** Undefined if no row is about a place that the map has. */
export function mapOf(
  snapshot: Snapshot,
  { rows, result, query }: Rows,
  { tokens, formats, locale }: { tokens: Tokens; formats: Formats; locale: string },
): MapView | undefined {
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
