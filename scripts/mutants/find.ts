import { join } from 'node:path';
import { transform } from 'esbuild';
import { API } from 'typescript/unstable/sync';
import { root } from '../install.mjs';
import { InstrumentedFile, type Mutant } from './operators.ts';

/** The lines to change, by path; undefined for all lines. */
export type Sources = Map<string, Set<number> | undefined>;

/** `folder` is that of a project of TypeScript. */
export async function findMutants(sources: Sources, folder = root) {
  const mutants: Mutant[] = [];
  const instrumented: Record<string, string> = {};
  let lastId = 0;
  const api = new API({ cwd: folder });
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] }).getProjects();
    for (const [file, lines] of sources) {
      const source = project!.program.getSourceFile(join(folder, file));
      if (!source) continue;
      const made = new InstrumentedFile(source, file, () => ++lastId);
      const chosen = made.mutants.filter(({ line, lastLine }) => isTouched(line, lastLine, lines));
      if (!chosen.length) continue;
      await transform(made.text, { loader: 'ts', sourcefile: file });
      mutants.push(...chosen);
      instrumented[join(folder, file)] = made.text;
    }
  } finally {
    api.close();
  }
  return { mutants, instrumented };
}

const isTouched = (line: number, lastLine: number, lines: Set<number> | undefined) =>
  !lines || [...lines].some((one) => one >= line && one <= lastLine);
