/** A chart by Vega, as SVG. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { drillFrom } from '../drill-query.ts';
import type { DrawProps } from '../rows.ts';
import { useScrollHint } from '../scroll-hint.ts';
import { filtersOthers, opensOn, useShared } from '../shared.ts';
import { createReader } from './datum.ts';
import { createDrawing } from './drawing.ts';
import './plain-renderer.ts';
import { createPointing, type PointerController, type PointerHit } from './pointing.ts';
import { createView } from './runtime.ts';
import { marksOf, type Target, unseenTimes } from './spots.ts';
import { Tooltip } from './tooltip.tsx';

export function VegaChart({ widgetId, snapshot, title, rows: { rows, result, query } }: DrawProps) {
  const { board, drill } = useShared();
  const { tokens, formats, say } = board;
  const frame = useRef<HTMLDivElement>(null);
  const pointing = useRef<PointerController | undefined>(undefined);
  const [pointed, setPointed] = useState<PointerHit>();
  const [error, setError] = useState<Error>();
  /** Counts the sizes that the chart was drawn for. */
  const [sizes, setSizes] = useState(0);
  /** Whether it goes on at the side, and is scrolled. */
  const [isWide, setWide] = useState(false);
  const picture = useRef<HTMLDivElement>(null);
  useScrollHint(picture);

  useEffect(() => {
    const element = frame.current!;
    let isOver = false;
    let view: ReturnType<typeof createView> | undefined;
    const card = element.closest('.vega') as HTMLElement;
    let size = sizeOf(card);
    const drawing = createDrawing(snapshot, { rows, result, query });

    const fail = (failure: Error) => {
      if (!isOver) setError(failure);
    };

    async function draw(unseen?: ReadonlySet<number>, over = { width: 0, height: 0 }): Promise<void> {
      const { width, height } = roomIn(card);
      const { spec, config, locale, labels, least } = drawing.draw(
        { tokens, formats, locale: board.locale, isRightToLeft: board.isRightToLeft },
        { width: width - over.width, height: height - over.height, measure: widthIn(tokens.font) },
        unseen,
      );
      view = createView(spec, config, locale, labels, fail, 'svg');
      view.initialize(element);
      // Tooltips of Vega's own would be those of the shape under the pointer.
      view.tooltip(() => {});
      const marks = marksOf(spec);
      const columnFormats = snapshot.preferences?.columnFormats;
      const { annotation } = result;
      const reader = createReader({
        members: drawing.members,
        annotation,
        query,
        isUtc: drawing.isUtc,
        formats,
        columnFormats,
        tooltip: snapshot.preferences?.tooltip,
        marks,
      });
      const open = (target: Target) => {
        const found = reader.rowOf(target);
        if (!found || !opensOn(board, { widgetId, annotation, ...found })) return;
        const format = columnFormats?.[found.member];
        drill(drillFrom({ widgetId, title, format, annotation, ...found }));
      };
      pointing.current = createPointing({ view, frame: element, marks, reader, show: setPointed, open });
      await view.runAsync();
      if (isOver) return;
      // Only what is drawn tells which labels have room (the next ones that have tell the year), and how much small charts
      // need for what is around them.
      const lost = unseenTimes(view.scenegraph().root);
      const drawn = element.firstElementChild!.getBoundingClientRect();
      const more = {
        width: spec.layout ? Math.max(0, Math.ceil(drawn.width - width)) : 0,
        height: spec.layout ? Math.max(0, Math.ceil(drawn.height - Math.max(height, least))) : 0,
      };
      if (!unseen && (lost.size || more.width || more.height)) {
        view.finalize();
        element.replaceChildren();
        return draw(lost, more);
      }
      card.style.minHeight = `${spec.layout ? Math.ceil(drawn.height) : least}px`;
      setWide(drawn.width > width + 1);
      size = sizeOf(card);
      board.rendered(widgetId);
    }

    draw().catch(fail);
    // The size may have changed before the observer looks for the first time.
    const observer = new ResizeObserver(() => {
      // Labels and legends are wrapped for a width.
      if (size !== sizeOf(card)) setSizes((count) => count + 1);
    });
    observer.observe(card);
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
  const { annotation } = result;
  const opens = query.measures?.some((member) => opensOn(board, { widgetId, annotation, member, query }));
  const touchHint = filtersOthers(board, { widgetId, query }) ? 'touchToFilter' : 'touchAgain';
  const [at, count] = pointed?.stop ?? [0, rows.length];
  return (
    <div class="vega">
      <div
        class={isWide ? 'vega-picture scrolls' : 'vega-picture'}
        ref={picture}
        role="img"
        tabIndex={isWide ? 0 : undefined}
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
      {pointed && <Tooltip {...pointed} hint={pointed.isTouched && opens ? say(touchHint) : undefined} />}
    </div>
  );
}

/** Shows which points the tooltip is about. */
function Guide({ dots, rule }: PointerHit) {
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

/** What the card gives the chart, without what an earlier drawing needed. */
function roomIn(card: HTMLElement): DOMRect {
  const { minHeight } = card.style;
  card.style.minHeight = '';
  const room = card.getBoundingClientRect();
  card.style.minHeight = minHeight;
  return room;
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
