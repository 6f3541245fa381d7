/** From the artifacts of a dbt project to the files of a data model, without any I/O. */
import { CUBES_MAX } from '../compile.ts';
import { modelName, takeName } from '../drafts/names.ts';
import { MODEL_CHARACTERS_MAX } from '../resolve/size.ts';
import { type AddNote, type CubeColumn, type CubeJoin, columnOfCube, type Note, planCubes } from './cubes.ts';
import { DbtModelError, type Manifest, readCatalog, readManifest, VERSION_KNOWN } from './manifest.ts';
import { Metrics } from './metrics.ts';
import { type CubeMembers, type Member, readSemanticModels } from './semantic-models.ts';
import type { DbtSettings } from './settings.ts';
import { planViews } from './views.ts';
import { descriptionOf, metaOf, withoutUndefined, yamlText } from './yaml-text.ts';

export interface DbtFile {
  readonly path: string;
  readonly text: string;
}

export interface DbtConversion {
  readonly files: readonly DbtFile[];
  /** The number of cubes. */
  readonly modelCount: number;
  /** What was left out or changed: the first of these notes, and the number of all. */
  readonly notes: readonly Note[];
  readonly notesCount: number;
  readonly counts: Manifest['counts'];
}

const NOTES_MAX = 1000;
const NOTE_MAX = 1000;
/** A file of a data model has at most 1 MB. */
const FILE_CHARACTERS_MAX = 500_000;

/** Takes parsed JSON. Throws a `DbtModelError` if nothing can be made of it. */
export function convertDbt(
  manifestJson: unknown,
  catalogJson: unknown,
  settings: DbtSettings,
): DbtConversion {
  const manifest = readManifest(manifestJson);
  const catalog = catalogJson === undefined ? undefined : readCatalog(catalogJson);
  const notes: Note[] = [];
  let notesCount = 0;
  const note = (kind: Note['kind'], resource: string, message: string) => {
    notesCount++;
    if (notes.length >= NOTES_MAX) return;
    notes.push({
      kind,
      resource: resource.slice(0, NOTE_MAX),
      message: message.slice(0, NOTE_MAX).toWellFormed(),
    });
  };
  const { schemaVersion } = manifest;
  if (schemaVersion > VERSION_KNOWN) {
    const message = `The manifest has version ${schemaVersion}, and ${VERSION_KNOWN} is the newest that is known here. It was read in the same way: look at the files with care.`;
    note('changed', 'manifest.json', message);
  }
  const taken = new Set<string>();
  const cubes = planCubes(manifest, catalog, settings, taken, note);
  if (!cubes.length) throw new DbtModelError(nothingSelected(manifest, settings));
  if (cubes.length > CUBES_MAX)
    throw new DbtModelError(
      `The selection has ${cubes.length} tables, and a data model at most ${CUBES_MAX} cubes.`,
    );
  const members = new Map<string, CubeMembers>(
    cubes.map((cube) => [
      cube.node.id,
      { cube, taken: new Set<string>(), ofColumns: new Map(), dimensions: [], measures: [] },
    ]),
  );
  const models = readSemanticModels(manifest.semanticModels, members, note);
  const metrics = new Metrics(models, manifest.metrics, note);
  metrics.writeAll();
  const views = planViews(manifest.savedQueries, { metrics, models, settings, taken, note });
  const described = new Map(models.map(({ members: of, source }) => [of.cube, source.description]));
  const files: DbtFile[] = [];
  let characters = 0;
  const add = (id: string, name: string, content: object) => {
    const text = yamlText(content);
    if (text.length > FILE_CHARACTERS_MAX) {
      note('left_out', id, `Its file would have more than ${FILE_CHARACTERS_MAX} characters.`);
      return;
    }
    characters += text.length;
    if (characters > MODEL_CHARACTERS_MAX)
      throw new DbtModelError('The files of the model would be larger than 20 MB.');
    files.push({ path: `${settings.folder}/${name}.yml`, text });
  };
  for (const of of members.values()) {
    const { node, name } = of.cube;
    add(node.id, name, { cubes: [cubeOf(of, described.get(of.cube), note)] });
  }
  for (const { id, name, view } of views) add(id, name, { views: [view] });
  return { files, modelCount: cubes.length, notes, notesCount, counts: manifest.counts };
}

function nothingSelected({ counts }: Manifest, { select }: DbtSettings): string {
  const selected = select.length ? ` that ${select.slice(0, 5).join(', ')} selects` : '';
  return `There is no table to make a cube of${selected}: the manifest has ${counts.models} models and ${counts.sources} sources. Nothing was changed.`;
}

function cubeOf(of: CubeMembers, otherDescription: unknown, note: AddNote) {
  const { cube, taken, ofColumns, dimensions, measures } = of;
  const { node, name, table, columns, key, joins } = cube;
  const shown: Member[] = [...columns].map(([id, column]) => ({
    ...(ofColumns.get(id) ?? dimensionOf(column, taken)),
    ...(key.includes(id) && { primary_key: true }),
  }));
  const meta = metaOf({ ...node.meta, ...(node.tags.length && { tags: node.tags }) });
  if (meta === null) note('left_out', node.id, 'Its `meta` is larger than 16 KB, or nested too deeply.');
  const description =
    node.description ?? (typeof otherDescription === 'string' ? otherDescription : undefined);
  return withoutUndefined({
    name,
    description: descriptionOf(description),
    sql_table: table,
    meta: meta ?? undefined,
    joins: joins.length ? joins.map((join) => joinOf(join, cube)) : undefined,
    dimensions: [...shown, ...dimensions].length ? [...shown, ...dimensions] : undefined,
    measures: [...(taken.has('count') ? [] : [{ name: 'count', type: 'count' }]), ...measures],
  });
}

function dimensionOf(column: CubeColumn, taken: Set<string>): Member {
  const wanted = modelName(column.name);
  // `count` is the number of rows, and metrics keep their names.
  const name = takeName(taken.has(wanted) || wanted === 'count' ? `${wanted}_column` : wanted, taken);
  const isPlain = /^[A-Za-z_]\w*$/.test(column.sql);
  return withoutUndefined({
    name,
    description: descriptionOf(column.description),
    sql: isPlain ? column.sql : `{CUBE}.${column.sql}`,
    type: column.type,
    meta: metaOf(column.meta) ?? undefined,
  });
}

const joinOf = ({ to, relationship, columns, toColumns }: CubeJoin, from: CubeMembers['cube']) => ({
  name: to.name,
  relationship,
  sql: columns
    .map(
      (column, i) => `{CUBE}.${columnOfCube(from, column)} = {${to.name}}.${columnOfCube(to, toColumns[i]!)}`,
    )
    .join(' and '),
});
