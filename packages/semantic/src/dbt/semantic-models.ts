/** Semantic models of dbt: entities become keys and joins, dimensions become dimensions of the cube of their table. */
import { modelName, takeName } from '../drafts/names.ts';
import { UNITS } from '../language/intervals.ts';
import type { DimensionType } from '../model.ts';
import { type AddNote, addJoin, type CubeColumn, type CubePlan, columnOfCube } from './cubes.ts';
import { type Fields, fields, list, text, texts } from './json.ts';
import { NotExpressibleError, rewriteSql } from './sql.ts';
import { descriptionOf, metaOf, titleOf, withoutUndefined } from './yaml-text.ts';

/** A dimension or measure, as it is written. */
export type Member = { readonly name: string } & Readonly<Record<string, unknown>>;

/** The members of a cube while they are collected. */
export interface CubeMembers {
  readonly cube: CubePlan;
  /** Names of members of all kinds. */
  readonly taken: Set<string>;
  /** Dimensions of semantic models, in the place of the columns that they show. */
  readonly ofColumns: Map<string, Member>;
  readonly dimensions: Member[];
  readonly measures: Member[];
}

interface Entity {
  readonly name: string;
  readonly type: string;
  /** The column, in small letters; undefined if it is computed. */
  readonly column: string | undefined;
  readonly sql: string;
}

export interface SemanticModel {
  readonly id: string;
  readonly name: string;
  readonly source: Fields;
  readonly members: CubeMembers;
  readonly entities: ReadonlyMap<string, Entity>;
  readonly primaryEntity: string | undefined;
  readonly aggTimeDimension: string | undefined;
  /** Names of members, by the names of dimensions in dbt. */
  readonly dimensions: Map<string, { readonly member: string; readonly isTime: boolean }>;
}

const small = (name: string) => name.toLowerCase();
const PLAIN = /^\s*([A-Za-z_][A-Za-z0-9_]*|"[^"]+")\s*$/;

/** The column that SQL names, in small letters, if it is a column and nothing else. */
function columnIn({ columns }: CubePlan, sql: string): string | undefined {
  const [, name] = PLAIN.exec(sql) ?? [];
  const column = name?.startsWith('"') ? name.slice(1, -1) : name;
  return column !== undefined && (columns.has(small(column)) || columns.size === 0)
    ? small(column)
    : undefined;
}

/** Words that are values and no columns. */
const VALUES = /^(true|false|null|current_\w+|localtime\w*)$/i;

/** SQL over the columns of a table, with the cube before each of them. */
export const sqlOfCube = (cube: CubePlan, sql: string): string =>
  rewriteSql([sql], (name) =>
    cube.columns.has(small(name)) ? `{CUBE}.${columnOfCube(cube, small(name))}` : undefined,
  );

/** What an expression is in a member: the column, or SQL. */
export function expressionOf(
  cube: CubePlan,
  expression: string,
): { column: string | undefined; sql: string } {
  const column = columnIn(cube, expression);
  if (column === undefined) {
    // A name that is no column that we know is taken for one: the files may not list all.
    const [, name] = PLAIN.exec(expression) ?? [];
    if (name !== undefined && !VALUES.test(name)) return { column, sql: `{CUBE}.${name}` };
    const sql = sqlOfCube(cube, expression);
    // Brackets: without them, a lone name such as `true` would be read as a column.
    return { column, sql: name === undefined ? sql : `(${sql})` };
  }
  const name = columnOfCube(cube, column);
  return { column, sql: /^[A-Za-z_]\w*$/.test(name) ? name : `{CUBE}.${name}` };
}

export function readSemanticModels(
  sources: readonly Fields[],
  members: ReadonlyMap<string, CubeMembers>,
  note: AddNote,
): SemanticModel[] {
  const models = sources.flatMap((source) => {
    const id = String(source.unique_id);
    const node = texts(fields(source.depends_on).nodes).find((other) => members.has(other));
    const of = node === undefined ? undefined : members.get(node);
    if (!of) {
      note('left_out', id, 'Its model is not part of this sync, so its metrics are not either.');
      return [];
    }
    return [modelOf(id, source, of, note)];
  });
  for (const model of models) addEntityKeys(model);
  for (const model of models) addEntityJoins(model, models, note);
  for (const model of models) addDimensions(model, note);
  return models;
}

function modelOf(id: string, source: Fields, members: CubeMembers, note: AddNote): SemanticModel {
  const entities = new Map<string, Entity>();
  for (const entity of list(source.entities).map(fields)) {
    const name = text(entity.name);
    if (name === undefined) continue;
    try {
      const value = expressionOf(members.cube, text(entity.expr) ?? name);
      entities.set(name, { name, type: text(entity.type) ?? '', ...value });
    } catch (error) {
      if (!(error instanceof NotExpressibleError)) throw error;
      note('left_out', id, `The entity \`${name}\`: ${error.message}.`);
    }
  }
  const primary = [...entities.values()].find(({ type }) => type === 'primary');
  return {
    id,
    name: text(source.name) ?? id,
    source,
    members,
    entities,
    primaryEntity: text(source.primary_entity) ?? primary?.name,
    aggTimeDimension: text(fields(source.defaults).agg_time_dimension),
    dimensions: new Map(),
  };
}

const isUnique = ({ type }: Entity) => type === 'primary' || type === 'unique';

function addEntityKeys({ entities, members: { cube } }: SemanticModel) {
  for (const entity of entities.values()) {
    if (!isUnique(entity) || entity.column === undefined || !cube.columns.has(entity.column)) continue;
    cube.uniques.push([entity.column]);
    if (entity.type === 'primary' && !cube.key.length) cube.key = [entity.column];
  }
}

function addEntityJoins(model: SemanticModel, models: readonly SemanticModel[], note: AddNote) {
  for (const entity of model.entities.values()) {
    if (entity.type !== 'foreign' || entity.column === undefined) continue;
    const target = ownerOf(entity.name, model, models);
    const column = target?.entities.get(entity.name)?.column;
    if (!target || column === undefined) continue;
    const [from, to] = [model.members.cube, target.members.cube];
    addJoin({ id: model.id, from, to, columns: [entity.column], toColumns: [column] }, note);
  }
}

/** The semantic model in which the entity tells rows apart. */
const ownerOf = (entity: string, from: SemanticModel, models: readonly SemanticModel[]) =>
  models.find((model) => {
    const own = model.entities.get(entity);
    return model.members.cube !== from.members.cube && own !== undefined && isUnique(own);
  });

function addDimensions(model: SemanticModel, note: AddNote) {
  const { members, source, id, dimensions } = model;
  const { cube, taken, ofColumns } = members;
  for (const dimension of list(source.dimensions).map(fields)) {
    const name = text(dimension.name);
    if (name === undefined || dimensions.has(name)) continue;
    try {
      const { column, sql } = expressionOf(cube, text(dimension.expr) ?? name);
      const isTime = dimension.type === 'time';
      const shown = column === undefined ? undefined : ofColumns.get(column);
      // Two semantic models of one table often have the same dimension.
      if (shown?.name === modelName(name)) {
        dimensions.set(name, { member: shown.name, isTime });
        continue;
      }
      const known = column === undefined ? undefined : cube.columns.get(column);
      const member = takeName(modelName(name), taken);
      if (member !== modelName(name))
        note('changed', id, `The dimension \`${name}\` is \`${member}\` here, because the name is taken.`);
      const made = dimensionOf(member, { sql, dimension, column: known, isTime });
      if (column !== undefined && !ofColumns.has(column)) ofColumns.set(column, made);
      else members.dimensions.push(made);
      dimensions.set(name, { member, isTime });
    } catch (error) {
      if (!(error instanceof NotExpressibleError)) throw error;
      note('left_out', id, `The dimension \`${name}\`: ${error.message}.`);
    }
  }
}

function dimensionOf(
  name: string,
  {
    sql,
    dimension,
    column,
    isTime,
  }: { sql: string; dimension: Fields; column: CubeColumn | undefined; isTime: boolean },
): Member {
  const type: DimensionType = isTime ? 'time' : (column?.type ?? 'string');
  return withoutUndefined({
    name,
    title: titleOf(text(dimension.label)),
    description: descriptionOf(text(dimension.description) ?? column?.description),
    sql,
    type,
    meta: metaOf({ ...column?.meta, ...fields(fields(dimension.config).meta) }) ?? undefined,
  });
}

export interface DimensionReference {
  /** The reference in braces. */
  readonly text: string;
  /** The cubes to go through, from that of the semantic model. */
  readonly path: readonly string[];
  readonly member: string;
}

/**
 * Finds a dimension as dbt names it: entities to go along, and its name. `metric_time` is the time of the semantic model.
 * Throws `NotExpressibleError` if there is no such way.
 */
export function referTo(
  given: string,
  { from, models, grain, along = [] }: ReferOptions & { models: readonly SemanticModel[] },
): DimensionReference {
  const parts = [...along, ...given.split('__')];
  let granularity = grain;
  if (granularity === undefined && parts.length > 1 && isUnit(parts.at(-1)!)) granularity = parts.pop();
  const name = parts.pop()!;
  const isMetricTime = name === 'metric_time' && parts.length === 0;
  let at = from;
  const path = [from.members.cube.name];
  for (const entity of parts) {
    if (entity === at.primaryEntity) continue;
    const target = at.entities.has(entity) ? ownerOf(entity, at, models) : undefined;
    const isJoined = target && isJoinedBy(at, target, entity);
    if (!isJoined) throw new NotExpressibleError(`no join leads along the entity \`${entity}\``);
    at = target;
    path.push(at.members.cube.name);
  }
  const wanted = isMetricTime ? from.aggTimeDimension : name;
  const found = wanted === undefined ? undefined : at.dimensions.get(wanted);
  if (!found) throw new NotExpressibleError(`there is no dimension \`${given}\``);
  if (granularity !== undefined && !isUnit(granularity))
    throw new NotExpressibleError(`\`${granularity}\` is a granularity of the project`);
  const whole = [
    ...path.slice(1),
    found.member,
    ...(granularity !== undefined && found.isTime ? [granularity] : []),
  ];
  return { text: `{${whole.join('.')}}`, path, member: found.member };
}

export interface ReferOptions {
  readonly from: SemanticModel;
  readonly grain?: string | undefined;
  readonly along?: readonly string[] | undefined;
}

const isUnit = (word: string) => (UNITS as readonly string[]).includes(word);

function isJoinedBy(from: SemanticModel, to: SemanticModel, entity: string): boolean {
  const here = from.entities.get(entity)?.column;
  const there = to.entities.get(entity)?.column;
  const [one, other] = [from.members.cube, to.members.cube];
  const isEdge = (a: CubePlan, b: CubePlan, columnA?: string, columnB?: string) =>
    a.joins.some(
      ({ to: cube, columns, toColumns }) =>
        cube === b && columns.length === 1 && columns[0] === columnA && toColumns[0] === columnB,
    );
  return isEdge(one, other, here, there) || isEdge(other, one, there, here);
}
