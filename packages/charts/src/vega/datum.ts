/** What the rows behind a mark say: for tooltips, and for the details behind it. */
import { type Formats, shownOf } from '../format.ts';
import { isPlainTime } from '../query.ts';
import type { Annotation, ColumnFormat, FieldDisplay, Query, Row } from '../types.ts';
import type { marksOf, Spot, Target } from './spots.ts';
import { keyOf, UNITS } from './time-units.ts';
import type { TooltipLine } from './tooltip.tsx';

const UNIT = new RegExp(`^(?:utc)?(${Object.keys(UNITS).join('|')})_(.+)$`);
const OPERATION =
  /^(sum|mean|average|median|min|max|distinct|valid|missing|product|stdevp?|variancep?|stderr|q1|q3)_(.+)$/;

/** A value of a row, or of several that Vega-Lite has put together. */
interface Entry {
  /** Its name in the spec. */
  key: string;
  member: string;
  label: string;
  value: unknown;
  text: string;
  isMeasure: boolean;
  /** If it is a time. */
  granularity?: string;
}

export interface DatumOptions {
  /** Names of specs, and the members that they stand for. */
  members: [key: string, member: string][];
  annotation: Annotation;
  query: Query;
  /** Whether the chart shows times as those of UTC. */
  isUtc: boolean;
  formats: Formats;
  columnFormats: Record<string, ColumnFormat> | null | undefined;
  /** The members that a tooltip names; all without it. */
  tooltip?: readonly string[] | null | undefined;
  marks: ReturnType<typeof marksOf>;
}

/** Times have no zone: they are those of the zone in force. */
const isoOf = (date: Date, isUtc: boolean) =>
  new Date(date.getTime() - (isUtc ? 0 : date.getTimezoneOffset() * 60_000)).toISOString();

export function createReader({
  members,
  annotation,
  query,
  isUtc,
  formats,
  columnFormats,
  tooltip,
  marks,
}: DatumOptions) {
  const memberOf = new Map(members);
  const patterns = new Map(
    members.map(([key]) => [key, new RegExp(`["\\[.](?:[a-z0-9]+_)?${key}(?:_start|_end)?["\\]]`)]),
  );

  function entryOf(key: string, value: unknown): Entry | undefined {
    const [, unit, ofTime] = UNIT.exec(key) ?? [];
    const [, operation, ofMeasure] = OPERATION.exec(key) ?? [];
    const member = memberOf.get(key) ?? memberOf.get(ofTime ?? '') ?? memberOf.get(ofMeasure ?? '');
    if (member === undefined) return undefined;
    const found = shownOf(annotation, member, formats);
    const isOwn = memberOf.has(key);
    // Vega-Lite makes numbers, texts and times of members. An object was made by hand, and may be of any size.
    if (!isOwn && typeof value === 'object' && value !== null && !(value instanceof Date)) return undefined;
    const isTime = Object.hasOwn(annotation.timeDimensions, member);
    if (!isOwn && (unit !== undefined) !== isTime) return undefined;
    const granularity = isTime ? (isOwn ? found?.granularity?.name : UNITS[unit!]) : undefined;
    const shown = found && granularity ? { ...found, granularity: { name: granularity } } : found;
    const title = shown?.shortTitle ?? member;
    const read = isTime && value instanceof Date ? isoOf(value, isUtc) : value;
    return {
      key,
      member,
      label: isOwn || isTime ? title : `${operation![0]!.toUpperCase()}${operation!.slice(1)} of ${title}`,
      value: read,
      text: displayText(read, shown, member),
      isMeasure: !isTime && !Object.hasOwn(annotation.dimensions, member),
      ...(granularity ? { granularity } : {}),
    };
  }

  const displayText = (value: unknown, shown: FieldDisplay | undefined, member: string) =>
    formats.value(isNaNumber(value) ? null : value, shown, columnFormats?.[member]);

  /** What the row has itself comes before what was made of it. */
  function entriesOf(datum: Record<string, unknown>): Entry[] {
    const found = new Map<string, Entry>();
    for (const [key] of members) {
      const entry = key in datum ? entryOf(key, datum[key]) : undefined;
      if (entry && !found.has(entry.member)) found.set(entry.member, entry);
    }
    const own = new Set(found.keys());
    for (const [key, value] of Object.entries(datum)) {
      const entry = memberOf.has(key) ? undefined : entryOf(key, value);
      if (entry && !own.has(entry.member) && !found.has(key)) found.set(key, entry);
    }
    // Times first, measures last.
    const rank = ({ granularity, isMeasure }: Entry) => (granularity ? 0 : isMeasure ? 2 : 1);
    return [...found.values()]
      .filter(({ member }) => !isPlainTime(query, member))
      .sort((a, b) => rank(a) - rank(b));
  }

  /** The measure that the mark shows: along its axes or, if those show none, by its colour or size. */
  function measureOf({ mark, datum }: Spot, entries: Entry[]): Entry | undefined {
    const measures = entries.filter(({ isMeasure }) => isMeasure);
    if (measures.length < 2) return measures[0];
    const { x, y, x2, y2, tooltip: _, description: __, ...rest } = marks.get(mark)?.encode?.update ?? {};
    for (const channels of [{ y, y2 }, { x, x2 }, rest]) {
      const text = JSON.stringify(channels);
      const shown = measures.find(({ key, member }) =>
        (patterns.get(key) ?? patterns.get(keyOf(member)))?.test(text),
      );
      if (shown) return shown;
    }
    // A column that Vega-Lite has folded holds the name of the measure.
    const named = new Set(Object.values(datum));
    return measures.find(({ key }) => named.has(key)) ?? measures[0];
  }

  return {
    /** The lines of a tooltip. Several rows are told apart by what differs among them. */
    linesOf({ spots, chosen }: Target): TooltipLine[] {
      const seen = new Set<string>();
      const rows = spots.flatMap((spot) => {
        const entries = entriesOf(spot.datum);
        const measure = measureOf(spot, entries);
        const identity = JSON.stringify([measure?.key, entries.map(({ value }) => value)]);
        const isFirst = !seen.has(identity);
        seen.add(identity);
        return isFirst && entries.length ? [{ spot, entries, measure, identity }] : [];
      });
      const chosenEntries = entriesOf(chosen.datum);
      const isChosen = ({ spot, entries }: (typeof rows)[number]) =>
        spot === chosen || JSON.stringify(entries) === JSON.stringify(chosenEntries);
      const distinct = new Set(rows.map(({ entries }) => JSON.stringify(entries)));
      if (distinct.size < 2) {
        const named = tooltip?.length ? chosenEntries.filter(({ member }) => tooltip.includes(member)) : [];
        // Settings may name what the query does not ask for any more.
        return (named.length ? named : chosenEntries).map(({ label, text }) => ({ label, text }));
      }
      const isIn = ({ member, value }: Entry, entries: readonly Entry[]) =>
        entries.some((other) => other.member === member && other.value === value);
      const common = rows[0]!.entries.filter(
        (entry) => !entry.isMeasure && rows.every(({ entries }) => isIn(entry, entries)),
      );
      const isCommon = (entry: Entry) => !entry.isMeasure && isIn(entry, common);
      const head = chosenEntries.filter(isCommon);
      const measures = new Set(rows.map(({ measure }) => measure?.label));
      return [
        ...head.map(({ label, text }) => ({ label, text })),
        ...rows.map((row) => {
          const { entries, measure, spot } = row;
          const names = entries
            .filter((entry) => !entry.isMeasure && !isCommon(entry))
            .map(({ text }) => text);
          if (measure && (measures.size > 1 || !names.length)) names.push(measure.label);
          return {
            label: names.join(', '),
            text: measure?.text ?? '',
            color: spot.color,
            isChosen: isChosen(row),
          };
        }),
      ];
    },

    /** The row, and the query as it would be if it had asked for what the mark shows. Undefined if there is nothing to ask about. */
    rowOf({ chosen }: Target): { row: Row; member: string; value: unknown; query: Query } | undefined {
      const entries = entriesOf(chosen.datum);
      const measure = measureOf(chosen, entries);
      const member = measure?.member ?? query.measures?.[0];
      if (!entries.length || member === undefined) return undefined;
      const row: Row = {};
      let timeDimensions = query.timeDimensions;
      for (const { key, member: named, value, granularity } of entries) {
        const isPut = !memberOf.has(key) && granularity !== undefined;
        if (!isPut) {
          row[named] = value;
          continue;
        }
        const dimension = named.slice(0, named.lastIndexOf('.'));
        row[`${dimension}.${granularity}`] = value;
        timeDimensions = timeDimensions?.map((time) =>
          time.dimension === dimension ? { ...time, granularity } : time,
        );
      }
      return {
        row,
        member,
        value: measure?.value,
        query: timeDimensions ? { ...query, timeDimensions } : query,
      };
    },
  };
}

const isNaNumber = (value: unknown) => typeof value === 'number' && Number.isNaN(value);
