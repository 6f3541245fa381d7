/** A chart by Vega, as SVG, with the same spec, colours and labels as in pages. */
import { createDrawing, type Rows, type Snapshot, unseenTimes } from '@oriel/charts/pure';
import { createView } from '@oriel/charts/vega';
import { textMetrics } from 'vega-scenegraph';
import { BOLD, FONT_FAMILY, widthOf } from './fonts.ts';
import type { Look, Piece } from './pieces.ts';
import { round } from './texts.ts';

interface TextItem {
  fontSize?: number;
  fontWeight?: number | string;
}

// Without a canvas, Vega only estimates how wide texts are, and labels would lie over each other.
textMetrics.width = ({ fontSize, fontWeight }: TextItem, text: unknown) => {
  const weight = fontWeight === 'bold' ? 700 : Number(fontWeight) || 400;
  return widthOf(String(text ?? ''), fontSize ?? 11, weight >= BOLD ? BOLD : 400);
};

/** Labels of charts. */
const LABEL_SIZE = 11;

export function chartPiece(snapshot: Snapshot, rows: Rows, width: number, look: Look, id: string): Piece {
  const drawing = createDrawing(snapshot, rows);
  const roomOf = (height: number) => ({
    width,
    height,
    measure: (text: string) => widthOf(text, LABEL_SIZE),
  });
  return {
    least: drawing.draw(look, roomOf(0)).least,
    async draw({ x, y, height }) {
      const svg = await svgOf((unseen) => drawing.draw(look, roomOf(height), unseen));
      // Small charts may need more than there is, because nobody can scroll a picture.
      const [, drawnWidth, drawnHeight] = /^<svg[^>]*? width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
      const scale = Math.min(1, width / Number(drawnWidth), height / Number(drawnHeight)) || 1;
      const place = `translate(${round(x)},${round(y)})${scale < 1 ? ` scale(${scale})` : ''}`;
      return `<g transform="${place}">${within(svg, id)}</g>`;
    },
  };
}

type Draw = (unseen?: ReadonlySet<number>) => ReturnType<ReturnType<typeof createDrawing>['draw']>;

async function svgOf(draw: Draw, unseen?: ReadonlySet<number>): Promise<string> {
  const { spec, config, locale, labels } = draw(unseen);
  let refusal: Error | undefined;
  const refuse = (problem: Error) => {
    refusal = problem;
  };
  const view = createView(spec, config, locale, labels, refuse, 'none');
  try {
    await view.runAsync();
    if (refusal) throw refusal;
    // Only the drawn chart tells which labels have room. The year moves from labels that are lost to the next ones.
    const lost = unseen ? new Set<number>() : unseenTimes(view.scenegraph().root);
    if (lost.size) return await svgOf(draw, lost);
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

/**
 * Returns the content of a chart's SVG for a place among others: its ids do not collide with theirs. Nothing in it may
 * name a file or an address, which the program that makes the pixels would open.
 */
export function within(svg: string, id: string): string {
  const inner = svg.replace(/^[\s\S]*?<svg\b[^>]*>/, '').replace(/<\/svg>\s*$/, '');
  return inner
    .replaceAll(/<image\b[^>]*(?:\/>|>(?:[\s\S]*?<\/image>)?)/gi, '')
    .replaceAll(/<\/?a\b[^>]*>/gi, '')
    .replaceAll(/\s(?:xlink:)?href="[^"]*"/gi, '')
    .replaceAll(/url\(\s*(?!["']?#)[^)]*\)/gi, 'none')
    .replaceAll(/\bid="([^"]*)"/g, `id="${id}-$1"`)
    .replaceAll(/url\((["']?)#([^)"']*)\1\)/g, `url(#${id}-$2)`)
    .replaceAll(/font-family="[^"]*"/g, `font-family="${FONT_FAMILY}"`);
}
