/** A thread that compiles Vega-Lite to Vega, one dashboard after the other; see `charts.ts`. */
import { parentPort } from 'node:worker_threads';
import { parse } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { hardenThread } from '../../platform/harden-thread.ts';
import type { ChartAnswer, ChartTask } from './charts.ts';
import { requireCompiledExpressions, requireSourceExpressions } from './expression-rules.ts';
import { missingFields } from './spec-fields.ts';
import { requireVega, SpecError } from './spec-rules.ts';

interface Signal {
  name: string;
  init?: string;
}

/** Warnings of Vega-Lite are for authors, and there is nobody here who reads them. */
const SILENT = {
  level: () => SILENT,
  error: () => SILENT,
  warn: () => SILENT,
  info: () => SILENT,
  debug: () => SILENT,
};

/** The page sets the size, so the spec need not measure its container. */
const withoutContainer = (signals: Signal[]) =>
  signals.map((signal) =>
    signal.init?.includes('containerSize')
      ? { name: signal.name, value: signal.name === 'width' ? 480 : 240 }
      : signal,
  );

const isSingleView = (spec: object) =>
  !['facet', 'repeat', 'concat', 'hconcat', 'vconcat'].some((name) => name in spec) &&
  !('encoding' in spec && ['row', 'column', 'facet'].some((name) => name in (spec.encoding as object)));

/**
 * Several views have these sizes where they have none of their own. They mean "as large as there is room" to whatever draws
 * them; see `fit-cells.ts` in `packages/charts`.
 */
const UNSIZED = { config: { view: { continuousWidth: 220, continuousHeight: 150, discreteWidth: 220 } } };

function requireCompiled(vega: object) {
  requireVega(vega);
  requireCompiledExpressions(vega);
}

function compileChart(source: object) {
  const { $schema: _schema, ...spec } = source as { $schema?: string };
  requireSourceExpressions(spec);
  const size = isSingleView(spec) ? { width: 'container', height: 'container' } : UNSIZED;
  const whole = { ...size, ...spec, data: { name: 'rows' } } as unknown as TopLevelSpec;
  const vega = compile(whole, { logger: SILENT as never }).spec as { signals?: Signal[]; $schema?: string };
  delete vega.$schema;
  if (vega.signals) vega.signals = withoutContainer(vega.signals);
  requireCompiled(vega);
  // Throws if an expression cannot be understood, or names a function that there is not.
  parse(vega as never, undefined, { ast: true } as never);
  return vega;
}

hardenThread();

parentPort!.on('message', (tasks: ChartTask[]) => {
  const answers = tasks.map(({ spec, stored, given }): ChartAnswer => {
    try {
      if (stored) requireCompiled(stored);
      return { vega: compileChart(spec), missing: given ? missingFields(spec, given) : [] };
    } catch (error) {
      const path = error instanceof SpecError ? error.path : '';
      return { problem: { path, message: `does not compile: ${(error as Error).message}`.slice(0, 500) } };
    }
  });
  parentPort!.postMessage(answers);
});
