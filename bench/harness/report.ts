/** The figures as text for the terminal, and as JSON for comparing runs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Comparison, ContenderResult, Outcome, RunOptions, Target } from './benchmark.ts';
import { cacheDir } from './paths.ts';

export interface Report extends RunOptions, Outcome {
  name: string;
  machine: Record<string, string>;
}

export function formatReport(report: Report): string {
  const facts = Object.entries({
    ...report.machine,
    ...report.facts,
    method: `${report.rounds} rounds of ${report.seconds} s each, in turns; medians`,
  });
  return [
    ...facts.map(([name, value]) => `${name.padEnd(12)}${value}`),
    '',
    ...table(['', 'per second', 'mean ms', 'p50 ms', 'p99 ms'], report.measured.map(measuredRow)),
    '',
    ...table(['ratio', 'median', 'lowest', 'highest', 'asked', ''], report.comparisons.map(comparisonRow)),
    '',
    ...anchorLines(report.comparisons),
  ].join('\n');
}

export async function saveReport(report: Report): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const file = join(cacheDir, `${report.name}.json`);
  const comparisons = report.comparisons.map((comparison) => ({ ...comparison, met: isMet(comparison) }));
  await writeFile(file, `${JSON.stringify({ ...report, comparisons }, null, 2)}\n`);
  return file;
}

const measuredRow = ({ name, median }: ContenderResult) => [
  name,
  String(Math.round(median.perSecond)),
  ...[median.meanMs, median.p50Ms, median.p99Ms].map((value) => value?.toFixed(2) ?? '-'),
];

function comparisonRow(comparison: Comparison): string[] {
  const { subject, anchor, metric, ratio, lowest, highest, asked } = comparison;
  const met = isMet(comparison);
  return [
    `${subject} to ${anchor}${metric === 'perSecond' ? '' : `, ${metric}`}`,
    ...[ratio, lowest, highest].map((value) => value.toFixed(2)),
    asked ? askedText(asked) : '-',
    met === undefined ? '' : met ? 'met' : 'short',
  ];
}

/** What each anchor does and does not do. Anchors of one kind share a line. */
function anchorLines(comparisons: Comparison[]): string[] {
  const named = new Map<string, Set<string>>();
  for (const { anchor, anchorDoes } of comparisons) {
    named.set(anchorDoes, (named.get(anchorDoes) ?? new Set()).add(anchor));
  }
  return [...named].map(([does, names]) => {
    const [first] = names;
    return `${first}${names.size > 1 ? ` and ${names.size - 1} more` : ''}: ${does}`;
  });
}

const askedText = (asked: Target) =>
  'atLeast' in asked ? `at least ${asked.atLeast}` : `at most ${asked.atMost}`;

function isMet({ asked, ratio }: Comparison): boolean | undefined {
  if (!asked) return undefined;
  return 'atLeast' in asked ? ratio >= asked.atLeast : ratio <= asked.atMost;
}

/** Aligns the first column to the left, and the others, which hold figures, to the right. */
function table(head: string[], rows: string[][]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row
      .map((cell, column) => (column ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('   ')
      .trimEnd(),
  );
}
