/** From the files of a data model to a model that can answer queries, or to what is wrong with them. */
import { readFile } from './language/files.ts';
import type { Model } from './model.ts';
import { createProblems, PROBLEMS_MAX, type Problem, type Problems } from './problems.ts';
import { refuseCircles } from './resolve/circles.ts';
import { resolveCube } from './resolve/cubes.ts';
import { buildGraph, warnOfAmbiguity } from './resolve/graph.ts';
import { collectNames } from './resolve/names.ts';
import { warnOfOpenRows } from './resolve/open-rows.ts';
import { type Context, refuseCycles, refuseLongChains } from './resolve/references.ts';
import { createSize, MODEL_CHARACTERS_MAX } from './resolve/size.ts';
import { resolveView } from './resolve/views.ts';
import { ALIASED_CHARACTERS_MAX } from './yaml.ts';

export interface CompileResult {
  /** The model; undefined if there are errors. */
  readonly model: Model | undefined;
  /** At most a hundred, in the order of files and lines. */
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** How many cubes the files define, even if some are wrong. */
  readonly cubesCount: number;
}

export const CUBES_MAX = 5000;

/** Never throws: whatever is in the files, the result says what is wrong. */
export function compileModel(files: ReadonlyMap<string, string>): CompileResult {
  const problems = createProblems();
  const sources = modelSources(files, problems);
  const repeats = { charactersLeft: ALIASED_CHARACTERS_MAX };
  const raws = sources.map((source) => readFile(source, problems, repeats));
  const size = createSize(problems);
  const names = collectNames(raws, { problems, size });
  const cubesCount = names.cubes.size;
  if (cubesCount > CUBES_MAX) {
    const spot = [...names.cubes.values()][CUBES_MAX]!.raw.name.spot;
    problems.add(spot, 'too_large', `A model has at most ${CUBES_MAX} cubes.`);
    return { model: undefined, errors: inOrder(problems.list), warnings: [], cubesCount };
  }
  for (const { kinds, raw } of names.cubes.values()) {
    if (size.add(raw.name.spot, { members: kinds.size })) continue;
    return { model: undefined, errors: inOrder(problems.list), warnings: [], cubesCount };
  }
  const graph = buildGraph(names, problems);
  const context: Context = {
    names,
    graph,
    problems,
    size,
    uses: new Map(),
    passes: new Map(),
    conditions: new Map(),
  };
  const cubes = new Map([...names.cubes].map(([name, cube]) => [name, resolveCube(cube, context)]));
  refuseCycles(context);
  refuseLongChains(context);
  const views = new Map([...names.views].map(([name, view]) => [name, resolveView(view, cubes, context)]));
  // Circles can be followed only if every reference was resolved.
  if (!problems.list.length) refuseCircles({ cubes, views }, context);
  const warnings = createProblems();
  if (!problems.list.length) {
    warnOfAmbiguity(names, graph, warnings);
    warnOfOpenRows(names, graph, warnings);
  }
  const errors = inOrder(problems.list);
  return {
    model: errors.length ? undefined : { cubes, views },
    errors,
    warnings: [...inOrder(problems.notes), ...warnings.list].slice(0, PROBLEMS_MAX),
    cubesCount,
  };
}

const CODE = /\.(js|ts|mjs|cjs|py|jinja|jinja2)$/i;
const YAML = /\.ya?ml$/i;
const FOLDER = /^(model|schema)\//;

/**
 * YAML files below `model/` are the model, and so are others that have a line which begins with `cubes:` or `views:`.
 * A repository may hold other files too, which have nothing to do with the model.
 */
export const isModelFile = (path: string, text: string) =>
  YAML.test(path) && (FOLDER.test(path) || /^(cubes|views):/m.test(text));

function modelSources(files: ReadonlyMap<string, string>, problems: Problems) {
  let characters = 0;
  const sources = [];
  for (const [file, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const source = { file, text };
    if (FOLDER.test(file) && CODE.test(file)) {
      const message = 'A model is made of YAML files only, because a model cannot run code.';
      problems.add({ source, offset: 0 }, 'code_file', message, 'Write the cubes of this file as YAML.');
    }
    if (!isModelFile(file, text)) continue;
    characters += text.length;
    if (characters > MODEL_CHARACTERS_MAX) {
      problems.add(
        { source, offset: 0 },
        'too_large',
        'The files of the model together are larger than 20 MB.',
      );
      return [];
    }
    sources.push(source);
  }
  return sources;
}

const inOrder = (problems: readonly Problem[]) =>
  [...problems].sort((a, b) =>
    a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1,
  );
