/**
 * The seconds that the slowest test files took, in `test-times.json`, for a run that knows no earlier one. `npm run
 * update-test-times` writes them after a whole run of `npm test`, which says if they are outdated.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

const FILE = join(root, 'scripts', 'test-times.json');
/** The number of files to keep. All others take about the same time, so their order does not matter. */
const KEPT = 60;
/** How many of the slowest files must be among those that are kept. */
const SLOWEST = 15;

const exists = (name) => existsSync(join(root, name));

/** The seconds of each file when it last ran, the slowest first, as Vitest keeps them. */
function lastTimes() {
  const folder = join(root, 'node_modules', '.vite', 'vitest');
  const runs = (existsSync(folder) ? readdirSync(folder) : [])
    .map((name) => join(folder, name, 'results.json'))
    .filter((file) => existsSync(file))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (!runs.length) return [];
  return JSON.parse(readFileSync(runs[0], 'utf8'))
    .results.map(([name, { duration }]) => [name.replace(/^.*?:/, ''), Math.round(duration / 1000)])
    .filter(([name]) => exists(name))
    .sort(([, a], [, b]) => b - a);
}

/** Compares the order only, because machines are not equally fast. Says nothing before all of the files have run. */
export function areOutdated() {
  const kept = Object.keys(JSON.parse(readFileSync(FILE, 'utf8')));
  const last = lastTimes().map(([name]) => name);
  if (!kept.every((name) => last.includes(name) || !exists(name))) return false;
  return !kept.every(exists) || last.slice(0, SLOWEST).some((name) => !kept.includes(name));
}

if (process.argv[1] === join(root, 'scripts', 'test-times.mjs')) {
  const slowest = Object.fromEntries(lastTimes().slice(0, KEPT));
  writeFileSync(FILE, `${JSON.stringify(slowest, null, 2)}\n`);
}
