/** The files `manifest.json` and `catalog.json` of dbt, as far as cubes are made from them. */
import { entries, type Fields, fields, isFields, list, text, texts } from './json.ts';

/** The artifacts cannot be used; the message says why, for people. */
export class DbtModelError extends Error {}

export type DbtResource = 'model' | 'seed' | 'snapshot' | 'source';

export interface DbtColumn {
  readonly name: string;
  readonly description: string | undefined;
  readonly dataType: string | undefined;
  readonly isQuoted: boolean;
  readonly meta: Fields;
  readonly tags: readonly string[];
  readonly constraints: readonly DbtConstraint[];
}

export interface DbtConstraint {
  readonly type: string;
  readonly columns: readonly string[];
  /** A relation, or a call such as `ref('customers')`. */
  readonly to: string | undefined;
  readonly toColumns: readonly string[];
}

/** A table that dbt makes or reads. */
export interface DbtNode {
  readonly id: string;
  readonly resource: DbtResource;
  readonly package: string;
  readonly name: string;
  /** For a source, the name of the group that it is in. */
  readonly sourceName: string | undefined;
  /** Its path below the folder of the models. */
  readonly path: string;
  /** How dbt writes the table in SQL. Ephemeral models have none. */
  readonly relation: string | undefined;
  readonly isEphemeral: boolean;
  readonly isTimeSpine: boolean;
  readonly version: string | undefined;
  readonly isLatestVersion: boolean;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly meta: Fields;
  readonly columns: readonly DbtColumn[];
  readonly constraints: readonly DbtConstraint[];
  readonly primaryKey: readonly string[];
}

/** A generic data test: `unique`, `relationships`, `dbt_utils.unique_combination_of_columns`. */
export interface DbtTest {
  readonly id: string;
  readonly name: string;
  readonly node: string;
  readonly column: string | undefined;
  readonly arguments: Fields;
  readonly dependsOn: readonly string[];
  /** It looks at a part of the rows only, so it says nothing about all of them. */
  readonly isPartial: boolean;
}

export interface Manifest {
  readonly projectName: string | undefined;
  readonly dbtVersion: string | undefined;
  readonly schemaVersion: number;
  readonly counts: { readonly macros: number; readonly models: number; readonly sources: number };
  readonly nodes: readonly DbtNode[];
  readonly tests: readonly DbtTest[];
  readonly semanticModels: readonly Fields[];
  readonly metrics: readonly Fields[];
  readonly savedQueries: readonly Fields[];
}

export interface CatalogColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string | undefined;
}
/** The columns that the tables have in the data source, by the ids of nodes. */
export type Catalog = ReadonlyMap<string, readonly CatalogColumn[]>;

const VERSION_MIN = 10;
/** The newest that is known here. Newer ones are read in the same way, as dbt keeps most of what it writes. */
export const VERSION_KNOWN = 12;

/** Ids are in the order of their characters, so that the same project always becomes the same files. */
const byId = <T extends { id: string }>(items: readonly T[]) =>
  [...items].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));

/** Throws a `DbtModelError` if this is no manifest that can be read. */
export function readManifest(value: unknown): Manifest {
  const metadata = fields(fields(value).metadata);
  const schema = text(metadata.dbt_schema_version);
  if (schema === undefined || !isFields(fields(value).nodes))
    throw new DbtModelError(
      'This is not the manifest.json of dbt: it has no `metadata.dbt_schema_version` or no `nodes`.',
    );
  const version = Number(/\/manifest\/v(\d{1,4})\.json$/.exec(schema)?.[1] ?? Number.NaN);
  if (Number.isNaN(version))
    throw new DbtModelError(`This is not the manifest.json of dbt, but ${shown(schema)}.`);
  if (version < VERSION_MIN) {
    throw new DbtModelError(
      `This manifest has version ${version}. Those from version ${VERSION_MIN} (dbt 1.6) on can be read.`,
    );
  }
  const { nodes, sources, macros, semantic_models, metrics, saved_queries } = fields(value);
  const all = [...entries(nodes), ...entries(sources)];
  return {
    projectName: text(metadata.project_name),
    dbtVersion: text(metadata.dbt_version),
    schemaVersion: version,
    counts: {
      macros: Object.keys(fields(macros)).length,
      models: all.filter(([, node]) => node.resource_type === 'model').length,
      sources: entries(sources).length,
    },
    nodes: byId(all.flatMap(([id, node]) => nodeOf(id, node) ?? [])),
    tests: byId(all.flatMap(([id, node]) => testOf(id, node) ?? [])),
    semanticModels: sorted(semantic_models),
    metrics: sorted(metrics),
    savedQueries: sorted(saved_queries),
  };
}

const shown = (text: string) => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);

const sorted = (value: unknown): Fields[] =>
  byId(entries(value).map(([id, item]) => ({ id, item }))).map(({ id, item }) => ({
    ...item,
    unique_id: id,
  }));

const RESOURCES: readonly string[] = ['model', 'seed', 'snapshot', 'source'] satisfies DbtResource[];

function nodeOf(id: string, node: Fields): DbtNode | undefined {
  const name = text(node.name);
  if (name === undefined || !RESOURCES.includes(String(node.resource_type))) return undefined;
  const config = fields(node.config);
  const version = node.version ?? undefined;
  const tags = unique([...texts(node.tags), ...texts(config.tags)]);
  const meta = { ...fields(node.meta), ...fields(config.meta) };
  return {
    id,
    resource: node.resource_type as DbtResource,
    package: text(node.package_name) ?? '',
    name,
    sourceName: text(node.source_name),
    path: text(node.path) ?? '',
    relation: text(node.relation_name),
    isEphemeral: config.materialized === 'ephemeral',
    isTimeSpine: isFields(node.time_spine) || name === 'metricflow_time_spine',
    version: version === undefined ? undefined : String(version),
    isLatestVersion: version === undefined || String(node.latest_version ?? version) === String(version),
    description: text(node.description),
    tags,
    meta,
    columns: entries(node.columns).map(([key, column]) =>
      withoutInherited(columnOf(key, column), { tags, meta }),
    ),
    constraints: constraintsOf(node.constraints),
    primaryKey: texts(node.primary_key),
  };
}

const unique = (items: readonly string[]) => [...new Set(items)];

function columnOf(key: string, column: Fields): DbtColumn {
  const config = fields(column.config);
  return {
    name: text(column.name) ?? key,
    description: text(column.description),
    dataType: text(column.data_type),
    isQuoted: column.quote === true,
    meta: { ...fields(column.meta), ...fields(config.meta) },
    tags: unique([...texts(column.tags), ...texts(config.tags)]),
    constraints: constraintsOf(column.constraints),
  };
}

/** dbt 2 gives columns the tags and `meta` of their table, if they have none of their own. */
const withoutInherited = (column: DbtColumn, { tags, meta }: Pick<DbtNode, 'tags' | 'meta'>): DbtColumn => ({
  ...column,
  tags: isEqual(column.tags, tags) ? [] : column.tags,
  meta: isEqual(column.meta, meta) ? {} : column.meta,
});

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const constraintsOf = (value: unknown): DbtConstraint[] =>
  list(value)
    .map(fields)
    .map((constraint) => ({
      type: text(constraint.type) ?? '',
      columns: texts(constraint.columns),
      to: text(constraint.to),
      toColumns: texts(constraint.to_columns),
    }));

function testOf(id: string, node: Fields): DbtTest | undefined {
  if (node.resource_type !== 'test') return undefined;
  const metadata = fields(node.test_metadata);
  const name = text(metadata.name);
  const dependsOn = texts(fields(node.depends_on).nodes);
  const attached = text(node.attached_node) ?? (dependsOn.length === 1 ? dependsOn[0] : undefined);
  if (name === undefined || attached === undefined) return undefined;
  const given = fields(metadata.kwargs);
  const namespace = text(metadata.namespace);
  return {
    id,
    name: namespace === undefined || namespace === 'dbt' ? name : `${namespace}.${name}`,
    node: attached,
    column: text(given.column_name) ?? text(node.column_name),
    arguments: { ...given, ...fields(given.arguments) },
    dependsOn,
    isPartial: text(fields(node.config).where) !== undefined,
  };
}

/** Throws a `DbtModelError` if this is no catalog. */
export function readCatalog(value: unknown): Catalog {
  const { metadata, nodes, sources } = fields(value);
  const schema = text(fields(metadata).dbt_schema_version);
  if (schema === undefined || !/\/catalog\/v\d+\.json$/.test(schema) || !isFields(nodes))
    throw new DbtModelError('This is not the catalog.json of dbt, which `dbt docs generate` makes.');
  const indexOf = (column: Fields) => (typeof column.index === 'number' ? column.index : 0);
  return new Map(
    [...entries(nodes), ...entries(sources)].map(([id, node]) => [
      id,
      entries(node.columns)
        .sort(([, a], [, b]) => indexOf(a) - indexOf(b))
        .map(([key, column]) => ({
          name: text(column.name) ?? key,
          type: text(column.type) ?? '',
          comment: text(column.comment),
        })),
    ]),
  );
}
