declare module 'vega-dataflow' {
  export const transforms: Record<string, unknown>;
}
declare module 'vega-encode';
declare module 'vega-regression';
declare module 'vega-transforms';
declare module 'vega-view-transforms';
declare module 'vega-interpreter' {
  export const expressionInterpreter: Record<
    string,
    (context: object, expression: unknown) => (...given: unknown[]) => unknown
  >;
}
declare module 'vega-parser' {
  export function parse(spec: object, config: object, options: { ast: boolean }): object;
}
declare module 'vega-scenegraph' {
  export interface Drawn {
    fill?: unknown;
    stroke?: unknown;
  }
  export class SVGRenderer {
    style(element: Element, item: Drawn | null): void;
  }
  export class SVGHandler {}
  /** Something drawn, with what it was drawn from. */
  export class Item {}
  export function renderModule(name: string, module: object): void;
  /** How wide Vega takes texts to be. */
  export const textMetrics: {
    width(item: { fontSize?: number; fontWeight?: number | string }, text: unknown): number;
  };
}
declare module 'vega-view' {
  export interface Item {
    mark: Mark;
    datum?: Record<string, unknown>;
    x?: number;
    y?: number;
    x2?: number;
    y2?: number;
    width?: number;
    height?: number;
    orient?: string;
    opacity?: number;
    text?: unknown;
    defined?: boolean;
    stroke?: unknown;
    fill?: unknown;
    bounds?: { x1: number; y1: number; x2: number; y2: number };
    /** The marks of a group. */
    items?: Mark[];
  }
  export interface Mark {
    marktype: string;
    role: string;
    name?: string;
    items: Item[];
  }
  export class View {
    constructor(runtime: object, options: object);
    initialize(element: HTMLElement): View;
    locale(): import('./axis-formats.ts').VegaLocale;
    locale(locale: object): View;
    width(value: number): View;
    height(value: number): View;
    hover(): View;
    container(): HTMLElement | null;
    tooltip(handler: () => void): View;
    scenegraph(): { root: Mark };
    addEventListener(type: string, handler: (event: Event, item: Item | null) => void): View;
    runAsync(): Promise<View>;
    toSVG(scale?: number): Promise<string>;
    resize(): View;
    finalize(): View;
  }
}
