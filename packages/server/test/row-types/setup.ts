/**
 * In every test, the result of each statement is compared with the row type of its call, and a difference fails the test
 * that was running. The calls are recorded, so that the end of the run can name those that were never made.
 */
import { channel } from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { QueryResult } from 'pg';
import { afterAll, afterEach, expect, inject } from 'vitest';
import type { RowTypes } from './collect.ts';
import { compare } from './compare.ts';

const root = join(import.meta.dirname, '../../../..');

export interface ObservedRowTypes {
  types: RowTypes;
  /** The place of each call in the sources, by its place in the compiled code that runs. */
  places: Map<string, string | undefined>;
  called: Set<string>;
  problems: Set<string>;
}

/** One for the whole process, because this module runs once for each test file. */
const shared = globalThis as { orielRowTypes?: ObservedRowTypes };

const rowTypes = inject('rowTypes');
if (rowTypes && !shared.orielRowTypes) {
  const seen: ObservedRowTypes = {
    types: rowTypes.types,
    places: new Map(),
    called: new Set(),
    problems: new Set(),
  };
  shared.orielRowTypes = seen;
  channel('oriel:results').subscribe((message) => {
    const place = placeOfCall(seen.places);
    if (!place) return;
    const type = seen.types[place];
    if (!type) {
      seen.problems.add(`${place}: a row is read here, and collect.ts did not find the call`);
      return;
    }
    seen.called.add(place);
    // A statement that fails has no columns, and its caller gets the error.
    (message as Promise<QueryResult>).then(
      (result) => {
        for (const problem of compare(type, result)) seen.problems.add(`${place}: ${problem}`);
      },
      () => {},
    );
  });
}

afterEach(() => {
  const problems = [...(shared.orielRowTypes?.problems ?? [])];
  shared.orielRowTypes?.problems.clear();
  expect(problems, 'row types that differ from what their statements return').toEqual([]);
});

afterAll(() => {
  if (!rowTypes || !shared.orielRowTypes) return;
  mkdirSync(rowTypes.calledDir, { recursive: true });
  const { called } = shared.orielRowTypes;
  writeFileSync(join(rowTypes.calledDir, `${process.pid}.json`), JSON.stringify([...called]));
});

/** Returns the place where the server's own code reads a row, or nothing if a test reads it. */
function placeOfCall(known: ObservedRowTypes['places']): string | undefined {
  const running = runningPlace();
  if (!known.has(running)) known.set(running, writtenPlace());
  return known.get(running);
}

/** Finds the call without the source map: it runs for each statement, so it must be fast. */
function runningPlace(): string {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) =>
    sites.map((site) => `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`).join('\n');
  const { stack } = new Error();
  Error.prepareStackTrace = prepareStackTrace;
  return callIn(stack!) ?? '';
}

function writtenPlace(): string | undefined {
  const place = /(?:\()?([^()\s]+:\d+):\d+\)?$/.exec(callIn(new Error().stack!) ?? '')?.[1];
  const file = place && relative(root, place.replace(/^file:\/\//, ''));
  return file && /^packages\/server\/src\/(?!.*\.(test|system)\.ts)/.test(file) ? file : undefined;
}

/** The line behind those of the database's own code. A transaction that called it stands further down. */
function callIn(stack: string): string | undefined {
  const lines = stack.split('\n');
  const isOwn = (line: string) => line.includes('/platform/db/database.ts');
  return lines.slice(lines.findIndex(isOwn)).find((line) => !isOwn(line));
}
