/** Gives the row types to the tests, and lists at the end the statements that no test ran. */
import { mkdtempSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { hashInputs, place } from '../../../../scripts/build-files.mjs';
import { root } from '../../../../scripts/install.mjs';
import { collectRowTypes, type RowTypes } from './collect.ts';

const FILE = 'oriel-row-types.json';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absent while files are watched, because later changes would make the row types wrong, or if they are not wanted. */
    rowTypes: { types: RowTypes; calledDir: string } | null;
  }
}

export async function provideRowTypes(project: TestProject): Promise<() => Promise<void>> {
  if (project.vitest.config.watch || process.env.ORIEL_TEST_ROW_TYPES === 'false') {
    project.provide('rowTypes', null);
    return async () => {};
  }
  const types = await keptRowTypes();
  const calledDir = mkdtempSync(join(tmpdir(), 'oriel-row-types-'));
  project.provide('rowTypes', { types, calledDir });
  return async () => {
    const files = await readdir(calledDir);
    const texts = await Promise.all(files.map((file) => readFile(join(calledDir, file), 'utf8')));
    await rm(calledDir, { recursive: true });
    const called = new Set(texts.flatMap((text) => JSON.parse(text) as string[]));
    const never = Object.keys(types).filter((place) => !called.has(place));
    if (!never.length || !(await isWhole(project))) return;
    console.log(
      `${never.length} of ${Object.keys(types).length} statements that return rows were run by no test:`,
    );
    for (const place of never) console.log(`  ${place}`);
  };
}

/** Returns the row types from the cache until a source changes, because the compiler takes seconds for them. */
async function keptRowTypes(): Promise<RowTypes> {
  const sources = ['packages/server/src', 'packages/contract/src', 'packages/semantic/src'];
  const others = ['package-lock.json', 'tsconfig.json', 'packages/server/test/row-types/collect.ts'];
  const inputs = await hashInputs(sources, others);
  const cache = join(root, 'node_modules', '.cache');
  const kept = await readFile(join(cache, FILE), 'utf8').then(JSON.parse, () => undefined);
  if (kept?.inputs === inputs) return kept.types;
  const types = collectRowTypes(root);
  await mkdir(cache, { recursive: true });
  await place(cache, FILE, JSON.stringify({ inputs, types }));
  return types;
}

/** Whether the run includes every test. */
async function isWhole({ vitest }: TestProject): Promise<boolean> {
  const all = await vitest.globTestSpecifications();
  return vitest.state.getFiles().length === all.length && !vitest.config.testNamePattern;
}
