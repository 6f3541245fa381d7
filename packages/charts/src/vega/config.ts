/** What Vega draws with, made of the tokens of the theme. */
import type { Tokens } from '../theme.ts';
import { extended } from './palette.ts';

/** Vega-Lite writes its own default colour into the marks. */
const DEFAULT_COLOR = '#4c78a8';

/** The charts of a page have one theme. */
let known: { key: string; colors: string[] } | undefined;

function categoryOf(series: string[], surface: string): string[] {
  const key = [...series, surface].join();
  if (known?.key !== key) known = { key, colors: extended(series, surface) };
  return known.colors;
}

export function configOf(
  { font, ink, inkSoft, line, surface, series, ramp, scheme }: Tokens,
  isRightToLeft = false,
) {
  const text = {
    labelFont: font,
    titleFont: font,
    labelColor: inkSoft,
    titleColor: inkSoft,
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 'normal',
  };
  return {
    // The element around the chart has a label, and the table holds the numbers.
    aria: false,
    background: null,
    font,
    padding: 4,
    group: { stroke: null },
    style: {
      cell: { stroke: null },
      'guide-label': { font, fontSize: 11, fill: inkSoft },
      'guide-title': { font, fontSize: 11, fill: inkSoft },
    },
    title: { font, color: ink, fontSize: 13, anchor: 'start' },
    axis: {
      ...text,
      domain: false,
      ticks: false,
      grid: false,
      gridColor: line,
      gridDash: [2, 3],
      labelPadding: 6,
      titlePadding: 8,
      labelOverlap: true,
      labelSeparation: 8,
      labelLimit: 120,
    },
    axisX: { domain: true, domainColor: line, grid: false, labelFlush: false },
    axisY: { grid: true },
    axisBand: { grid: false },
    legend: {
      ...text,
      symbolType: 'circle',
      symbolSize: 70,
      orient: 'top',
      direction: 'horizontal',
      title: null,
      offset: 8,
      columnPadding: 14,
      gradientLength: 120,
      gradientThickness: 8,
      labelLimit: 120,
      layout: { top: { anchor: isRightToLeft ? 'end' : 'start' } },
    },
    range: {
      category: categoryOf(series, surface),
      ordinal: ramp,
      ramp,
      heatmap: ramp,
      diverging:
        scheme === 'light'
          ? ['#b5542c', '#f3d9cd', '#f2f3f5', '#cdd8f3', '#3451c6']
          : ['#ffb08f', '#6b4637', '#242935', '#3c4a78', '#9db1ff'],
    },
    rect: { fill: series[0] },
    bar: { fill: series[0] },
    arc: { stroke: surface, strokeWidth: 2 },
    line: { stroke: series[0], strokeWidth: 2, strokeCap: 'round', strokeJoin: 'round' },
    area: { fill: series[0] },
    symbol: { fill: series[0], size: 40 },
    rule: { stroke: inkSoft },
    text: { fill: ink, font },
  };
}

/** The spec with the colours that Vega-Lite wrote into it replaced by ours. White is what stands on marks: the surface. */
export function recolored(value: unknown, { series, ink, surface }: Tokens): unknown {
  const tokens = { series, ink, surface } as Tokens;
  if (Array.isArray(value)) return value.map((each) => recolored(each, tokens));
  if (!value || typeof value !== 'object') return value === DEFAULT_COLOR ? series[0] : value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (key !== 'fill' && key !== 'stroke') return [key, recolored(each, tokens)];
      return [key, Array.isArray(each) ? each.map((rule) => painted(rule, tokens)) : painted(each, tokens)];
    }),
  );
}

function painted(rule: unknown, tokens: Tokens): unknown {
  const named = { black: tokens.ink, white: tokens.surface }[String((rule as { value?: unknown })?.value)];
  return named === undefined ? recolored(rule, tokens) : { ...(rule as object), value: named };
}
