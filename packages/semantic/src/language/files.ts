/** Cubes and views, as a file writes them. */
import { expression } from '../expressions.ts';
import type { Relationship } from '../model.ts';
import type { Problems, Source } from '../problems.ts';
import {
  allOr,
  list,
  mention,
  type Name,
  name,
  needed,
  neverBlank,
  object,
  oneOf,
  optional,
  orElse,
  type Reader,
  text,
  truth,
  withSchema,
} from '../read.ts';
import { type RepeatBudget, readYaml, shorten } from '../yaml.ts';
import { described, dimension, hierarchy, measure, NO_NAME, OLDER_KEYS, segment } from './members.ts';
import { policy } from './policies.ts';
import { refreshKey } from './refresh-keys.ts';
import { definitions, type Schema } from './schemas.ts';

const RELATIONSHIPS: readonly Relationship[] = ['many_to_one', 'one_to_many', 'one_to_one'];
const OLDER_RELATIONSHIPS = {
  belongs_to: 'many_to_one',
  has_many: 'one_to_many',
  has_one: 'one_to_one',
} as const;

const NO_SQL = { parts: [''], spot: NO_NAME.spot };

const join = object({
  what: 'a join',
  fields: {
    name: needed(mention, NO_NAME),
    relationship: needed(oneOf(RELATIONSHIPS, { older: OLDER_RELATIONSHIPS }), 'many_to_one'),
    sql: needed(expression, NO_SQL),
  },
});
export type RawJoin = ReturnType<typeof join>;

const TABLE_PART = '(?:[A-Za-z_][A-Za-z0-9_$]*|"[^"\\\\\\u0000-\\u001f]+"|`[^`\\\\\\u0000-\\u001f]+`)';
const TABLE = new RegExp(`^${TABLE_PART}(?:\\.${TABLE_PART}){0,3}$`);
/** In SQL, a hyphen outside of quotes is a minus. */
const HYPHENS = /(?<=^|\.)[A-Za-z_][A-Za-z0-9_$]*(?:-[A-Za-z0-9_$]+)+(?=\.|$)/g;

/** A name, perhaps with a schema and a catalogue before it. Anything else would be SQL that nobody checked. */
const tableName: Reader<string> = withSchema(
  (value, problems) => {
    const written = value.kind === 'text' ? value.text.trim() : '';
    const given = /["`]/.test(written) ? written : written.replace(HYPHENS, '"$&"');
    if (!TABLE.test(given)) {
      const hint = 'Write `schema.table`. Use `sql` for a query.';
      problems.add(value, 'bad_value', `\`${shorten(written)}\` is not the name of a table.`, hint);
    }
    return given;
  },
  { type: 'string', minLength: 1 },
);

const POLICIES_MAX = 200;

const NO_PRE_AGGREGATIONS = 'Pre-aggregations are not used yet: queries read the tables.';

const cube = object({
  what: 'a cube',
  fields: {
    ...described,
    extends: optional(mention),
    sql_table: optional(tableName),
    sql: optional(expression),
    data_source: optional(name),
    refresh_key: optional(refreshKey),
    joins: orElse(list('`joins`', join), []),
    dimensions: orElse(list('`dimensions`', dimension), []),
    measures: orElse(list('`measures`', measure), []),
    segments: orElse(list('`segments`', segment), []),
    hierarchies: orElse(list('`hierarchies`', hierarchy), []),
    access_policy: neverBlank(optional(list('`access_policy`', policy, { min: 1, max: POLICIES_MAX }))),
  },
  older: OLDER_KEYS,
  unused: {
    sql_alias: 'Oriel chooses the alias of a cube in SQL.',
    pre_aggregations: NO_PRE_AGGREGATIONS,
    rollups: NO_PRE_AGGREGATIONS,
    rewrite_queries: 'Queries are not rewritten for pre-aggregations, which are not used yet.',
  },
  refused: {
    calendar: 'Calendar cubes are not supported. Use `granularities` of a time dimension.',
    context_members: 'There are no context members. Use a view.',
  },
});
export type RawCube = ReturnType<typeof cube>;

const includedObject = object({
  what: 'an item of `includes`',
  fields: { ...described, name: needed(mention, NO_NAME), alias: optional(name) },
  older: OLDER_KEYS,
});
export type RawIncluded = ReturnType<typeof includedObject>;

/** The name of a member, or an object that also gives it another name, title or description. */
const included: Reader<RawIncluded> = withSchema(
  (value, problems) =>
    value.kind === 'text'
      ? {
          ...NOTHING_INCLUDED,
          name: mention(value, problems),
          where: { spot: value, characters: value.characters, keys: new Map() },
        }
      : includedObject(value, problems),
  { anyOf: [mention.schema!, includedObject.schema!] },
);

const NOTHING_INCLUDED = {
  title: undefined,
  description: undefined,
  public: undefined,
  meta: undefined,
  alias: undefined,
};

const FOLDER_NAME_MAX = 200;
const FOLDERS_MAX = 200;

const viewCube = object({
  what: 'an item of `cubes` in a view',
  fields: {
    join_path: needed(mention, NO_NAME),
    includes: neverBlank(needed(allOr('`includes`', included), [])),
    excludes: neverBlank(orElse(list('`excludes`', mention), [] as readonly Name[])),
    prefix: orElse(truth, false),
    alias: optional(name),
  },
  refused: { split: 'A view is one table. Make another view.' },
});
export type RawViewCube = ReturnType<typeof viewCube>;

/** Members that belong together for people, and folders in it. */
export interface RawFolder {
  readonly name: string;
  readonly includes: readonly (Name | RawFolder)[];
}

const folderItem: Reader<Name | RawFolder> = withSchema(
  (value, problems) => (value.kind === 'text' ? mention(value, problems) : folder(value, problems)),
  { anyOf: [mention.schema!, { $ref: '#/$defs/folder_of_a_view' }] },
);

const folder: Reader<RawFolder> = object({
  what: 'a folder of a view',
  fields: {
    name: needed(text(FOLDER_NAME_MAX), ''),
    includes: needed(list('`includes`', folderItem, { min: 1 }), [] as readonly (Name | RawFolder)[]),
  },
});

const view = object({
  what: 'a view',
  fields: {
    ...described,
    extends: optional(mention),
    cubes: orElse(list('`cubes`', viewCube, { min: 1 }), []),
    folders: orElse(list('`folders`', folder, { max: FOLDERS_MAX }), []),
    access_policy: neverBlank(optional(list('`access_policy`', policy, { min: 1, max: POLICIES_MAX }))),
  },
  older: OLDER_KEYS,
  refused: {
    dimensions: 'A view has no dimensions of its own. Define them in a cube, and include them.',
    measures: 'A view has no measures of its own. Define them in a cube, and include them.',
    includes: 'Give `includes` for each item of `cubes`.',
    excludes: 'Give `excludes` for each item of `cubes`.',
  },
});
export type RawView = ReturnType<typeof view>;

const modelFile = object({
  what: 'a file of the model',
  fields: { cubes: orElse(list('`cubes`', cube), []), views: orElse(list('`views`', view), []) },
});

/** JSON Schema of a file of the model. */
export const modelSchema = (): Schema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A file of an Oriel data model',
  ...modelFile.schema,
  $defs: definitions(),
});

export interface RawFile {
  readonly cubes: readonly RawCube[];
  readonly views: readonly RawView[];
}

export function readFile(source: Source, problems: Problems, repeats: RepeatBudget): RawFile {
  const value = readYaml(source, problems, repeats);
  return value && value.kind !== 'nothing' ? modelFile(value, problems) : { cubes: [], views: [] };
}
