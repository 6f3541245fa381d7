/** A chart by Vega, as SVG. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { canDrill, drillFrom } from '../drill-query.ts';
import { measureIn, shownOf } from '../format.ts';
import { useShared } from '../shared.ts';
import type { Annotation, Row } from '../types.ts';
import type { DrawProps } from '../widgets/rows.ts';
import { axisFormats } from './axis-formats.ts';
import { configOf, recolored } from './config.ts';
import { createReader } from './datum.ts';
import { fitSpec } from './fit-spec.ts';
import { chartLocale, currencyIn, withFormats } from './locale.ts';
import { showAlone } from './lone-points.ts';
import { createPointing, type Pointed, type Pointing } from './pointing.ts';
import { marksOf, type SpecMark, type Target, unseenTimes } from './spots.ts';
import { keyOf, withGrains } from './time-units.ts';
import { Tooltip } from './tooltip.tsx';
import { viewOf } from './vega.ts';

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
  const pointing = useRef<Pointing | undefined>(undefined);
  const [pointed, setPointed] = useState<Pointed>();
  const [error, setError] = useState<Error>();
  /** Counts the sizes that the chart was drawn for. */
  const [sizes, setSizes] = useState(0);

  useEffect(() => {
    const element = frame.current!;
    let isOver = false;
    let view: ReturnType<typeof viewOf> | undefined;
    const size = sizeOf(element);
    const members = aliasesOf(rows, snapshot.meta?.query ?? query, query);
    const { spec: source, names } = withGrains(snapshot.spec, snapshot.meta?.query ?? query, query);
    const text = JSON.stringify(source);
    const isUtc = /"type":\s*"utc"|utcFormat|"utc/.test(text);
    const values = dataOf(rows, members, result.annotation, isUtc);

    const titles = new Map(
      members.map(([key, member]) => [key, shownOf(result.annotation, member)?.shortTitle]),
    );

    const fail = (failure: Error) => {
      if (!isOver) setError(failure);
    };

    async function draw(unseen: ReadonlySet<number> = new Set()): Promise<void> {
      const spec = recolored(titled(JSON.parse(text), titles), tokens) as {
        data?: { name: string; values?: Row[]; url?: unknown }[];
        marks?: SpecMark[];
        [other: string]: unknown;
      };
      for (const source of spec.data ?? []) {
        delete source.url;
        if (source.name === 'rows') source.values = values;
      }
      // The card is the background.
      delete spec.background;
      const measures = members.flatMap(([key, member]) =>
        measureIn(query, member)
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
      showAlone(spec);
      const { width, height } = element.getBoundingClientRect();
      const least = fitSpec(spec, values, {
        width,
        height,
        isRightToLeft: page.isRightToLeft,
        measure: widthIn(tokens.font),
      });
      (element.closest('.vega') as HTMLElement).style.minHeight = `${least}px`;
      // Sizes that follow the container in the source are signals that look for it; here they are numbers.
      spec.signals = ((spec.signals as { name: string }[]) ?? []).filter(
        ({ name }) => name !== 'width' && name !== 'height',
      );
      const currency = currencyIn(measures);
      view = viewOf(
        spec,
        configOf(tokens, page.isRightToLeft),
        chartLocale(page.locale, currency),
        (own) => axisFormats(own, page.locale, currency, formats.points, unseen),
        fail,
      );
      view.initialize(element);
      // Tooltips of Vega's own would be those of the shape under the pointer.
      view.tooltip(() => {});
      const marks = marksOf(spec);
      const columnFormats = snapshot.preferences?.columnFormats;
      const { annotation } = result;
      const named = [...members, ...names];
      const reader = createReader({
        members: named,
        annotation,
        query,
        isUtc,
        formats,
        columnFormats,
        marks,
      });
      const open = (target: Target) => {
        const found = reader.rowOf(target);
        if (!found || !canDrill(annotation, found.member)) return;
        const format = columnFormats?.[found.member];
        drill(drillFrom({ widgetId, title, format, annotation, ...found }));
      };
      pointing.current = createPointing({ view, frame: element, marks, reader, show: setPointed, open });
      await view.runAsync();
      if (isOver) return;
      // Only what is drawn tells which labels have room. The next ones that have tell the year.
      const lost = unseenTimes(view.scenegraph().root);
      if (lost.size && !unseen.size) {
        view.finalize();
        element.replaceChildren();
        return draw(lost);
      }
      page.rendered(widgetId);
    }

    draw().catch(fail);
    // The size may have changed before the observer looks for the first time.
    const observer = new ResizeObserver(() => {
      // Labels and legends are wrapped for a width.
      if (size !== sizeOf(element)) setSizes((count) => count + 1);
    });
    observer.observe(element);
    return () => {
      isOver = true;
      observer.disconnect();
      pointing.current = undefined;
      setPointed(undefined);
      view?.finalize();
      element.replaceChildren();
    };
  }, [rows, tokens, formats, snapshot, sizes]);

  // What is shown for a finger or a key stays until something else happens.
  useEffect(() => {
    if (!pointed) return;
    const leave = (event: Event) => {
      if (event.type === 'scroll' || !frame.current?.contains(event.target as Node))
        pointing.current?.leave();
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('scroll', leave, true);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('scroll', leave, true);
    };
  }, [pointed === undefined]);

  if (error) throw error;
  const opens = query.measures?.some((member) => canDrill(result.annotation, member));
  const [at, count] = pointed?.stop ?? [0, rows.length];
  return (
    <div class="vega">
      <div
        class="vega-picture"
        role="img"
        aria-label={say('chartOf', { title, count: formats.count(rows.length) })}
      >
        <div
          class="vega-frame"
          ref={frame}
          aria-hidden="true"
          onPointerLeave={(event) => event.pointerType !== 'touch' && pointing.current?.leave()}
        />
        {pointed && pointed.dots.length > 0 && <Guide {...pointed} />}
      </div>
      <div
        class="vega-keys no-print"
        role="slider"
        tabIndex={0}
        aria-label={say('valuesOf', { title })}
        aria-valuemin={0}
        aria-valuenow={at}
        aria-valuemax={count}
        aria-valuetext={pointed?.lines.map(({ label, text }) => `${label}: ${text}`).join(', ') ?? title}
        onKeyDown={(event) => pointing.current?.press(event.key) && event.preventDefault()}
        onBlur={() => pointing.current?.leave()}
      />
      {pointed && <Tooltip {...pointed} hint={pointed.isTouched && opens ? say('touchAgain') : undefined} />}
    </div>
  );
}

/** Shows which points the tooltip is about. */
function Guide({ dots, rule }: Pointed) {
  return (
    <svg class="vega-guide" aria-hidden="true">
      {rule && <line {...rule} />}
      {dots.map(({ x, y, color, isChosen }) => (
        <circle
          key={`${x} ${y} ${color}`}
          cx={x}
          cy={y}
          r={isChosen ? 5 : 3.5}
          style={{ fill: color ?? 'var(--accent)' }}
        />
      ))}
    </svg>
  );
}

function sizeOf(element: HTMLElement): string {
  const { width, height } = element.getBoundingClientRect();
  return `${Math.floor(width)}x${Math.floor(height)}`;
}

/** How wide labels are. */
function widthIn(font: string): (text: string) => number {
  const context = document.createElement('canvas').getContext('2d');
  if (context) context.font = `11px ${font}`;
  return (text) => context?.measureText(text).width ?? text.length * 6.4;
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
