/**
 * `npm run test:mutants` makes small faults in the lines that a change has touched, one at a time, and expects a test to
 * notice each. See CONTRIBUTING.md, "Mutants".
 *
 *     npm run test:mutants                                      # what differs from main
 *     npm run test:mutants -- --since HEAD~3
 *     npm run test:mutants -- --all packages/semantic/src/plan  # all lines of a folder
 *     npm run test:mutants -- --all packages/semantic/src/plan/facts.ts:17  # one line
 *     … --every 5                                               # a sample: the first of each five
 *     … --patience 20                                           # for each mutant, only the best tests of so many seconds
 *     … --minutes 20 --tests permissions --tests sweep          # at most so long; more test files than the nearest
 *     … --only --tests jobs.test                                # these test files only
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { root } from './install.mjs';
import { accepted } from './mutants/accepted.ts';
import { findMutants, type Sources } from './mutants/find.ts';
import type { Mutant } from './mutants/operators.ts';
import { nearestTests } from './mutants/tests.ts';
import { type Results, tryMutants } from './mutants/try.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    since: { type: 'string' },
    every: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '600' },
    patience: { type: 'string', default: '600' },
    tests: { type: 'string', multiple: true, default: [] },
    only: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const SOURCE =
  /^packages\/(server|semantic|contract|client)\/src\/.*(?<!\.gen|\.test|\.system|-thread|draw-process)\.ts$/;

/** The lines of each source that are to be tried. */
function chosenLines(): Sources {
  if (values.all) {
    const lines: Sources = new Map();
    for (const place of positionals.length ? positionals : ['packages']) {
      const [path, line] = place.split(':') as [string, string?];
      const files = git('ls-files', path).split('\n');
      for (const file of files.filter((one) => SOURCE.test(one)))
        lines.set(file, line ? new Set([...(lines.get(file) ?? []), Number(line)]) : undefined);
    }
    return lines;
  }
  const since = values.since ?? baseOfChange();
  const lines: Sources = new Map();
  let file = '';
  for (const line of git('diff', '--unified=0', '--no-color', since, '--', ...positionals).split('\n')) {
    if (line.startsWith('+++ ')) file = line.replace(/^\+\+\+ (b\/)?/, '');
    const [, start, count = '1'] = /^@@ .* \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (!start || !SOURCE.test(file)) continue;
    const touched = lines.get(file) ?? new Set<number>();
    for (let i = 0; i < Number(count); i++) touched.add(Number(start) + i);
    lines.set(file, touched);
  }
  return lines;
}

/** Where the branch has left main, or the commit before the last one on main itself. */
function baseOfChange(): string {
  const base = git('merge-base', 'main', 'HEAD');
  return base === git('rev-parse', 'HEAD') && !git('status', '--porcelain') ? 'HEAD~1' : base;
}

const describe = ({ file, line, operator, text }: Mutant) =>
  `${file}:${line} without the ${operator}: ${text.slice(0, 140)}`;

function report(mutants: Mutant[], results: Results) {
  const of = (outcome: string) => mutants.filter(({ id }) => results.get(id)?.outcome === outcome);
  const isAccepted = (mutant: Mutant) =>
    accepted.some(({ file, text }) => file === mutant.file && text === mutant.text);
  const survivors = [...of('survived'), ...of('unreached')].sort((a, b) => a.id - b.id);
  const equivalent = survivors.filter(isAccepted);
  const open = survivors.filter((mutant) => !isAccepted(mutant));
  if (open.length) console.log('\nSurvived:');
  for (const mutant of open)
    console.log(
      `  ${describe(mutant)}${results.get(mutant.id)!.outcome === 'unreached' ? '  (reached by no test)' : ''}`,
    );
  const unreached = open.filter(({ id }) => results.get(id)!.outcome === 'unreached').length;
  const untried = mutants.length - results.size;
  console.log(
    `\n${mutants.length} mutants: ${of('killed').length} killed, ${open.length} survived${unreached ? ` (${unreached} reached by no test)` : ''}, ${equivalent.length} equivalent` +
      `${untried ? `, ${untried} not tried` : ''}`,
  );
  return open.length;
}

const { mutants: found, instrumented } = await findMutants(chosenLines());
const mutants = found.filter((_, i) => i % Number(values.every) === 0);
if (values.list) for (const mutant of mutants) console.log(describe(mutant));
if (!mutants.length) console.log('There is nothing to change in these lines.');
if (!mutants.length || values.list) process.exit(0);
const sources = values.only ? [] : [...new Set(mutants.map(({ file }) => file))];
const tests = nearestTests(sources, values.tests);
console.log(
  `${mutants.length} mutants in ${Object.keys(instrumented).length} files, and ${tests.length} test files`,
);
let last = Date.now();
const results = await tryMutants({
  mutants,
  instrumented,
  tests,
  patienceMs: Number(values.patience) * 1000,
  until: Date.now() + Number(values.minutes) * 60_000,
  onResult(id, { outcome, by }) {
    const mutant = mutants.find((one) => one.id === id)!;
    const seconds = ((Date.now() - last) / 1000).toFixed(1);
    last = Date.now();
    const why = by ? `\n    ${by.slice(0, 160)}` : '';
    console.log(`${outcome === 'killed' ? '✓' : '✗'} ${outcome} (${seconds} s)  ${describe(mutant)}${why}`);
  },
});
process.exit(report(mutants, results) ? 1 : 0);
