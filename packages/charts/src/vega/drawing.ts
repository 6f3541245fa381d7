/**
 * From a report and its rows to what Vega draws: the compiled spec with the rows, colours, formats and labels in it, for a size.
 * Needs no browser: a server draws the same.
 */
import { type Formats, measureIn, shownOf } from '../format.ts';
import { isPlainTime } from '../query.ts';
import type { Rows } from '../rows.ts';
import type { Tokens } from '../theme.ts';
import type { Annotation, Query, Row, Snapshot } from '../types.ts';
import { axisFormats, type VegaLocale } from './axis-formats.ts';
import { type Buckets, tickBuckets } from './bucket-ticks.ts';
import { configOf, recolored } from './config.ts';
import { fitSpec } from './fit-spec.ts';
import { chartLocale, currencyIn, withFormats } from './locale.ts';
import { showAlone } from './lone-points.ts';
import type { SpecMark } from './spots.ts';
import { keyOf, withGrains } from './time-units.ts';

export interface ChartSpec {
  data?: { name: string; values?: Row[]; url?: unknown }[];
  marks?: SpecMark[];
  [other: string]: unknown;
}

/** What the chart is drawn with. */
export interface Look {
  tokens: Tokens;
  formats: Formats;
  locale: string;
  isRightToLeft: boolean;
}

export interface Room {
  width: number;
  height: number;
  /** How wide a label is. */
  measure(text: string): number;
}

export interface DrawnChart {
  spec: ChartSpec;
  config: object;
  locale: object;
  labels(own: VegaLocale): Partial<VegaLocale>;
  /** How high the chart is at least. */
  least: number;
}

export interface Drawing {
  /** Names in the spec, and the members that they stand for. */
  members: [string, string][];
  isUtc: boolean;
  /** `unseen`: times whose labels have no room, so that another label tells the year. */
  draw(look: Look, room: Room, unseen?: ReadonlySet<number>): DrawnChart;
}

export function createDrawing(
  snapshot: Snapshot,
  { rows, result: { annotation }, query }: Pick<Rows, 'rows' | 'result' | 'query'>,
): Drawing {
  const own = aliasesOf(rows, snapshot.meta?.query ?? query, query);
  const { spec: source, names } = withGrains(snapshot.spec, snapshot.meta?.query ?? query, query);
  const text = JSON.stringify(source);
  const isUtc = /"type":\s*"utc"|utcFormat|"utc/.test(text);
  const values = dataOf(rows, own, annotation, isUtc);
  const measures = own.flatMap(([key, member]) =>
    measureIn(query, member)
      ? [
          {
            key,
            shown: shownOf(annotation, member),
            format: snapshot.preferences?.columnFormats?.[member],
          },
        ]
      : [],
  );
  const currency = currencyIn(measures);
  const buckets = bucketsIn(values, [...own, ...names], query);
  return {
    members: [...own, ...names],
    isUtc,
    draw({ tokens, formats, locale, isRightToLeft }, room, unseen = new Set()) {
      const titles = new Map(
        own.map(([key, member]) => [key, shownOf(annotation, member, formats)?.shortTitle]),
      );
      const spec = recolored(titled(JSON.parse(text), titles), tokens) as ChartSpec;
      for (const source of spec.data ?? []) {
        delete source.url;
        if (source.name === 'rows') source.values = values;
      }
      // The card is the background.
      delete spec.background;
      spec.axes = withFormats(quietAxes(spec.axes), spec.scales, measures);
      spec.legends = withFormats(spec.legends, spec.scales, measures);
      showAlone(spec);
      const least = fitSpec(spec, values, { ...room, isRightToLeft });
      tickBuckets(spec, buckets);
      // Sizes that follow the container in the source are signals that look for it; here they are numbers.
      const signals = ((spec.signals as { name: string; value?: unknown }[]) ?? []).filter(
        ({ name }) => name !== 'width' && name !== 'height',
      );
      // What stands around the title of a measure of an earlier period.
      for (const signal of signals)
        if (signal.name === 'earlier_words') signal.value = formats.compared('\n', 'previous').split('\n');
      spec.signals = signals;
      return {
        spec,
        config: configOf(tokens, isRightToLeft),
        locale: chartLocale(locale, currency),
        labels: (own) => axisFormats(own, locale, currency, formats.points, unseen),
        least,
      };
    },
  };
}

/** Rows with the names that specs use. Times have no zone: they are those of the zone in force. */
function dataOf(
  rows: Row[],
  members: [string, string][],
  { measures, timeDimensions }: Annotation,
  isUtc: boolean,
): Row[] {
  return rows.map((row) =>
    Object.fromEntries(
      members.map(([key, member]) => {
        const value = row[member];
        // Scales and sums need numbers, if need be without the last digits.
        if (measures[member]?.type === 'number' && typeof value === 'string') return [key, Number(value)];
        const isTime = Object.hasOwn(timeDimensions, member) && typeof value === 'string';
        return [
          key,
          isTime && isUtc
            ? Date.parse(`${value.replace(/Z$/, '')}Z`)
            : isTime
              ? value.replace(/Z$/, '')
              : value,
        ];
      }),
    ),
  );
}

/** The buckets of the times that the query asks for, by the names that specs have for them. */
function bucketsIn(values: Row[], members: [string, string][], query: Query): Map<string, Buckets> {
  const found = new Map<string, Buckets>();
  for (const { dimension, granularity } of query.timeDimensions ?? []) {
    if (!granularity) continue;
    const own = `${dimension}.${granularity}`;
    const begins = new Set<number>();
    for (const row of values) {
      const begin = row[keyOf(own)];
      if (begin !== null && begin !== undefined) begins.add(Number(new Date(begin as number | string)));
    }
    const buckets = { granularity, begins: [...begins].sort((a, b) => a - b) };
    for (const [name, member] of members)
      if (member === own || (member === dimension && isPlainTime(query, member))) found.set(name, buckets);
  }
  return found;
}

/** Axes and legends without a title of their own have the name of the field: people read that of the member. */
function titled(part: unknown, titles: Map<string, string | undefined>): unknown {
  if (Array.isArray(part)) return part.map((item) => titled(item, titles));
  if (part === null || typeof part !== 'object') return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name,
      // The title of a facet is its `text`.
      (name === 'title' || name === 'text') && typeof value === 'string'
        ? value.replace(/\w+/g, (word) => titles.get(word) ?? word)
        : titled(value, titles),
    ]),
  );
}

/** One grid is enough: the lines of the values, across. */
function quietAxes(axes: unknown): unknown {
  if (!Array.isArray(axes)) return axes;
  const hasRows = axes.some(({ grid, orient }) => grid && orient === 'left');
  return axes.filter(({ grid, orient }) => !(hasRows && grid && orient === 'bottom'));
}

/** Names of specs to members of rows. The granularity that the viewer chose stands in for that of the report. */
function aliasesOf(
  rows: Row[],
  reported: { timeDimensions?: { dimension: string; granularity?: string }[] },
  query: { timeDimensions?: { dimension: string; granularity?: string }[] },
): [string, string][] {
  const own = Object.keys(rows[0] ?? {}).map((member): [string, string] => [keyOf(member), member]);
  const others = (reported.timeDimensions ?? []).flatMap(({ dimension, granularity }): [string, string][] => {
    const chosen = query.timeDimensions?.find((time) => time.dimension === dimension)?.granularity;
    return granularity && chosen && chosen !== granularity
      ? [[keyOf(`${dimension}.${granularity}`), `${dimension}.${chosen}`]]
      : [];
  });
  return [...own, ...others];
}
