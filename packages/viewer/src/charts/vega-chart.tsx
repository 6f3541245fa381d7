/** A chart by Vega, as SVG. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { drillFrom } from '../drill-query.ts';
import { shownOf } from '../format.ts';
import { useShared } from '../shared.ts';
import type { Annotation, Row } from '../types.ts';
import type { DrawProps } from '../widgets/rows.ts';
import { configOf, recolored } from './config.ts';
import { chartLocale, currencyIn, withFormats } from './locale.ts';
import { type Placed, Tooltip, type TooltipLine } from './tooltip.tsx';
import { viewOf } from './vega.ts';

const keyOf = (member: string) => member.replaceAll('.', '__');

/** Entries of legends begin a new line where the next one would be cut off. */
const LEGEND_COLUMN = 100;

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

export function VegaChart({ widgetId, snapshot, title, rows: { rows, result, query } }: DrawProps) {
  const { page, drill } = useShared();
  const { tokens, formats, say } = page;
  const frame = useRef<HTMLDivElement>(null);
  const [placed, setPlaced] = useState<Placed>();
  const [error, setError] = useState<Error>();

  useEffect(() => {
    const element = frame.current!;
    let isOver = false;
    let view: ReturnType<typeof viewOf> | undefined;
    const members = aliasesOf(rows, snapshot.meta?.query ?? query, query);
    const memberOf = new Map(members);
    const times = new Set(Object.keys(result.annotation.timeDimensions));
    const text = JSON.stringify(snapshot.spec);
    const isUtc = /"type":\s*"utc"|utcFormat|"utc/.test(text);
    const values = dataOf(rows, members, result.annotation, isUtc);

    const titles = new Map(
      members.map(([key, member]) => [key, shownOf(result.annotation, member)?.shortTitle]),
    );

    const linesOf = (datum: Record<string, unknown>): TooltipLine[] => {
      const seen = new Set<string>();
      return members.flatMap(([key, member]) => {
        if (!(key in datum) || seen.has(member)) return [];
        seen.add(member);
        const shown = shownOf(result.annotation, member);
        const value =
          times.has(member) && datum[key] instanceof Date
            ? Number(datum[key]) - (isUtc ? 0 : (datum[key] as Date).getTimezoneOffset() * 60_000)
            : datum[key];
        const override = snapshot.preferences?.columnFormats?.[member];
        return [{ label: shown?.shortTitle ?? member, text: formats.value(value, shown, override) }];
      });
    };

    async function draw() {
      const spec = recolored(titled(JSON.parse(text), titles), tokens) as {
        data?: { name: string; values?: Row[]; url?: unknown }[];
        [other: string]: unknown;
      };
      for (const source of spec.data ?? []) {
        delete source.url;
        if (source.name === 'rows') source.values = values;
      }
      // The card is the background.
      delete spec.background;
      const measures = members.flatMap(([key, member]) =>
        query.measures?.includes(member)
          ? [
              {
                key,
                shown: shownOf(result.annotation, member),
                format: snapshot.preferences?.columnFormats?.[member],
              },
            ]
          : [],
      );
      spec.axes = withFormats(quietAxes(spec.axes), spec.scales, measures);
      spec.legends = withFormats(spec.legends, spec.scales, measures);
      const { width, height } = element.getBoundingClientRect();
      if (Array.isArray(spec.legends)) {
        const columns = Math.max(1, Math.floor(width / LEGEND_COLUMN));
        spec.legends = spec.legends.map((legend) => ({ ...legend, columns }));
      }
      spec.autosize = { type: 'fit', contains: 'padding' };
      spec.width = Math.max(80, Math.floor(width));
      spec.height = Math.max(80, Math.floor(height));
      // Sizes that follow the container in the source are signals that look for it; here they are numbers.
      spec.signals = ((spec.signals as { name: string }[]) ?? []).filter(
        ({ name }) => name !== 'width' && name !== 'height',
      );
      view = viewOf(spec, configOf(tokens), chartLocale(page.locale, currencyIn(measures)));
      view.initialize(element);
      view.tooltip((_handler, event, item) => {
        const datum = item?.datum;
        const lines = datum && event.type !== 'mouseout' ? linesOf(datum) : [];
        setPlaced(lines.length ? { x: event.clientX, y: event.clientY, lines } : undefined);
      });
      view.addEventListener('mousemove', (event, item) => {
        const lines = item?.datum ? linesOf(item.datum) : [];
        const { clientX, clientY } = event as MouseEvent;
        setPlaced(lines.length ? { x: clientX, y: clientY, lines } : undefined);
      });
      view.addEventListener('mouseout', () => setPlaced(undefined));
      view.addEventListener('click', (_event, item) => {
        const datum = item?.datum;
        const measure = query.measures?.find((name) => datum && keyOf(name) in datum) ?? query.measures?.[0];
        if (!datum || !measure) return;
        const row: Row = {};
        for (const [key, member] of memberOf) {
          if (!(key in datum)) continue;
          const value = datum[key];
          row[member] = value instanceof Date ? localIso(value, isUtc) : value;
        }
        if (Object.keys(row).length)
          drill(drillFrom({ widgetId, title, member: measure, row, query, value: datum[keyOf(measure)] }));
      });
      await view.runAsync();
      if (!isOver) page.rendered(widgetId);
    }

    draw().catch((failure) => {
      if (!isOver) setError(failure);
    });
    let size = '';
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      const next = `${Math.floor(width)}x${Math.floor(height)}`;
      if (size && size !== next && view)
        view
          .width(Math.max(80, Math.floor(width)))
          .height(Math.max(80, Math.floor(height)))
          .resize()
          .runAsync()
          .catch(() => {});
      size = next;
    });
    observer.observe(element);
    return () => {
      isOver = true;
      observer.disconnect();
      view?.finalize();
      element.replaceChildren();
    };
  }, [rows, tokens, formats, snapshot]);

  if (error) throw error;
  return (
    <>
      <div class="vega" role="img" aria-label={say('chartOf', { title, count: formats.count(rows.length) })}>
        <div class="vega-frame" ref={frame} aria-hidden="true" />
      </div>
      {placed && <Tooltip {...placed} />}
    </>
  );
}

/** Axes and legends without a title of their own have the name of the field: people read that of the member. */
function titled(part: unknown, titles: Map<string, string | undefined>): unknown {
  if (Array.isArray(part)) return part.map((item) => titled(item, titles));
  if (part === null || typeof part !== 'object') return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name,
      name === 'title' && typeof value === 'string'
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

const localIso = (date: Date, isUtc: boolean) =>
  new Date(date.getTime() - (isUtc ? 0 : date.getTimezoneOffset() * 60_000)).toISOString();

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
