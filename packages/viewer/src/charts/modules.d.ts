declare module 'vega-dataflow' {
  export const transforms: Record<string, unknown>;
}
declare module 'vega-encode';
declare module 'vega-transforms';
declare module 'vega-view-transforms';
declare module 'vega-interpreter' {
  export const expressionInterpreter: unknown;
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
  export function renderModule(name: string, module: object): void;
}
declare module 'vega-view' {
  export interface Item {
    datum?: Record<string, unknown>;
    tooltip?: unknown;
  }
  export class View {
    constructor(runtime: object, options: object);
    initialize(element: HTMLElement): View;
    width(value: number): View;
    height(value: number): View;
    hover(): View;
    container(): HTMLElement | null;
    tooltip(handler: (handler: unknown, event: MouseEvent, item: Item, value: unknown) => void): View;
    addEventListener(type: string, handler: (event: Event, item: Item | null) => void): View;
    runAsync(): Promise<View>;
    resize(): View;
    finalize(): View;
  }
}
