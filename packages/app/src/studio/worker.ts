/** Compiles the model of the studio beside the page, so that typing never waits for it. */
import {
  type ChangedPart,
  type Cube,
  changedValues,
  compareModels,
  compileModel,
  draftCubes,
  formatYaml,
  type Model,
  proposeKeys,
  renameMember,
  type View,
} from '@oriel/semantic';
import type {
  Answer,
  CompileResult,
  DraftedTable,
  KnownCube,
  MeaningChange,
  Order,
  ShownProblem,
} from './messages.ts';

const files = new Map<string, string>();
/** What the page knows, as JSON by name. */
const known = new Map<string, string>();
let model: Model | undefined;

addEventListener('message', ({ data }: MessageEvent<Order>) => {
  postMessage(answerTo(data));
});

function answerTo(order: Order): Answer {
  const { id } = order;
  switch (order.kind) {
    case 'compile':
      return { id, kind: 'compiled', compiled: compile(order) };
    case 'compare':
      return { id, kind: 'compared', changes: compare(order.before) };
    case 'rename': {
      const { files: changed, shownBy, ...renamed } = renameMember(files, order);
      return { id, kind: 'renamed', renamed: { ...renamed, files: [...changed], shownBy: [...shownBy] } };
    }
    case 'format':
      return { id, kind: 'formatted', texts: order.texts.map(formatYaml) };
    case 'propose':
      return { id, kind: 'proposed', tables: proposeKeys(order.tables) as DraftedTable[] };
    case 'draft': {
      const { tables, dataSource } = order;
      const drafts = draftCubes(tables, dataSource === undefined ? {} : { dataSource });
      return {
        id,
        kind: 'drafted',
        drafts: drafts.map(({ table, path, text }) => ({
          table: `${table.schema}.${table.name}`,
          path,
          text,
        })),
      };
    }
  }
}

function compile({ changed, isAll }: Extract<Order, { kind: 'compile' }>): CompileResult {
  if (isAll) files.clear();
  for (const [path, text] of changed) {
    if (text === null) files.delete(path);
    else files.set(path, text);
  }
  const compiled = compileModel(files);
  model = compiled.model;
  const shown =
    (isError: boolean) =>
    ({ file, line, column, message, hint }: (typeof compiled.errors)[number]): ShownProblem => ({
      file,
      line,
      column,
      message,
      hint,
      isError,
    });
  return {
    problems: [...compiled.errors.map(shown(true)), ...compiled.warnings.map(shown(false))],
    ...(model ? whatChanged(model) : { changed: [], removed: [] }),
  };
}

/** Most letters change one cube of hundreds, and the page has to read whatever is sent. */
function whatChanged(now: Model): Pick<CompileResult, 'changed' | 'removed'> {
  const cubes = [...[...now.cubes.values()].map(cubeOf), ...[...now.views.values()].map(viewOf(now))];
  const names = new Set(cubes.map(({ name }) => name));
  const removed = [...known.keys()].filter((name) => !names.has(name));
  for (const name of removed) known.delete(name);
  const changed = cubes.filter((cube) => {
    const text = JSON.stringify(cube);
    if (known.get(cube.name) === text) return false;
    known.set(cube.name, text);
    return true;
  });
  return { changed, removed };
}

function compare(before: [string, string][]): MeaningChange[] | null {
  const other = compileModel(new Map(before)).model;
  if (!model || !other) return null;
  const now = model;
  return compareModels(other, now).map((part: ChangedPart) => ({
    name: part.member === undefined ? part.cube : `${part.cube}.${part.member}`,
    what: part.what,
    change: part.change,
    values: changedValues(other, now, part),
  }));
}

const described = ({
  name,
  title,
  description,
}: {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
}) => ({
  name,
  title,
  description,
});

const cubeOf = (cube: Cube): KnownCube => ({
  ...described(cube),
  isView: false,
  file: cube.place.file,
  line: cube.place.line,
  table: 'table' in cube.from ? cube.from.table : '',
  query: 'query' in cube.from ? cube.from.query : '',
  dataSource: cube.dataSource,
  members: [
    ...[...cube.dimensions.values()].map((one) => ({
      ...described(one),
      isPublic: cube.public && one.public,
      kind: 'dimension' as const,
      type: one.type,
    })),
    ...[...cube.measures.values()].map((one) => ({
      ...described(one),
      isPublic: cube.public && one.public,
      kind: 'measure' as const,
      type: one.type,
    })),
    ...[...cube.segments.values()].map((one) => ({
      ...described(one),
      isPublic: cube.public && one.public,
      kind: 'segment' as const,
      type: '',
    })),
    ...[...cube.hierarchies.values()].map((one) => ({
      ...described(one),
      isPublic: false,
      kind: 'hierarchy' as const,
      type: '',
    })),
  ],
  joins: [...cube.joins.values()].map(({ to, relationship }) => ({ to, relationship })),
  isOpen: cube.policies.length === 0,
});

const viewOf =
  ({ cubes }: Model) =>
  (view: View): KnownCube => ({
    ...described(view),
    isView: true,
    file: view.place.file,
    line: view.place.line,
    table: '',
    query: '',
    dataSource: cubes.get(view.root)?.dataSource ?? '',
    members: [...view.members.values()].map((one) => ({
      ...described(one),
      isPublic: view.public && one.public,
      kind: one.kind,
      type: '',
    })),
    joins: [...new Set([...view.members.values()].map(({ cube }) => cube))].map((to) => ({
      to,
      relationship: '',
    })),
    isOpen: view.policies.length === 0,
  });
