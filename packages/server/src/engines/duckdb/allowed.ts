/**
 * Whether DuckDB may run a statement. The folder and the network are closed to it anyway; this closes what is left: the
 * catalogue, settings, variables, logs, checkpoints, and SQL that is made from texts. DuckDB's own parser says what is in
 * the statement, and everything that is not known to be harmless is refused.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { EngineError } from '../engine.ts';
import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from './allowed-functions.ts';

/** All kinds of nodes: of selects, of tables, of modifiers and of expressions. */
const KINDS = new Set(
  `SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE
  BASE_TABLE JOIN SUBQUERY EMPTY EXPRESSION_LIST TABLE_FUNCTION CTE EMPTY_FROM
  ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER
  ORDER_DEFAULT ASCENDING DESCENDING
  COLUMN_REF CONSTANT VALUE_CONSTANT PARAMETER VALUE_PARAMETER FUNCTION CAST OPERATOR_CAST CASE CASE_EXPR
  COMPARISON COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN COMPARE_GREATERTHAN COMPARE_LESSTHANOREQUALTO
  COMPARE_GREATERTHANOREQUALTO COMPARE_DISTINCT_FROM COMPARE_NOT_DISTINCT_FROM COMPARE_IN COMPARE_NOT_IN
  BETWEEN COMPARE_BETWEEN COMPARE_NOT_BETWEEN CONJUNCTION CONJUNCTION_AND CONJUNCTION_OR
  OPERATOR OPERATOR_NOT OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_COALESCE OPERATOR_NULLIF OPERATOR_TRY
  OPERATOR_UNPACK ARRAY_EXTRACT ARRAY_SLICE ARRAY_CONSTRUCTOR STRUCT_EXTRACT GROUPING_FUNCTION
  STAR COLLATE LAMBDA LAMBDA_REF DEFAULT VALUE_DEFAULT POSITIONAL_REFERENCE
  WINDOW WINDOW_AGGREGATE WINDOW_RANK WINDOW_RANK_DENSE WINDOW_NTILE WINDOW_PERCENT_RANK WINDOW_CUME_DIST
  WINDOW_ROW_NUMBER WINDOW_FIRST_VALUE WINDOW_LAST_VALUE WINDOW_LEAD WINDOW_LAG WINDOW_NTH_VALUE WINDOW_FILL`.split(
    /\s+/,
  ),
);

/** Views of DuckDB's own that can be read without naming their schema. */
const SYSTEM_NAME = /^(duckdb|pg|pragma|sqlite|information_schema)(_|$)/i;
const NAME = /^[A-Za-z_]\w*$/;
const SCHEMA = 'files';
const CATALOG = 'memory';

type Tree = { readonly [key: string]: unknown };

/** Enough for the statements of busy dashboards. */
const KEPT_MAX = 1000;
const KEPT_CHARACTERS_MAX = 4_000_000;

export interface AllowedStatements {
  /** Throws an `EngineError` that says what is not allowed. */
  require(connection: DuckDBConnection, sql: string): Promise<void>;
}

/** A cache of statements that were allowed, because the same ones come again and again. */
export function createAllowedStatements(): AllowedStatements {
  const kept = new Set<string>();
  let characters = 0;
  return {
    async require(connection, sql) {
      if (kept.delete(sql)) {
        // Moves the statement to the end of the set, so that the cache evicts the least recently used one first.
        kept.add(sql);
        return;
      }
      requireAllowed(await parse(connection, sql));
      // Another query may have added it meanwhile.
      if (kept.has(sql)) return;
      kept.add(sql);
      characters += sql.length;
      for (const oldest of kept) {
        if (kept.size <= KEPT_MAX && characters <= KEPT_CHARACTERS_MAX) break;
        kept.delete(oldest);
        characters -= oldest.length;
      }
    },
  };
}

const PARSE = 'select json_serialize_sql($1::varchar, skip_null := true, skip_empty := true)';

async function parse(connection: DuckDBConnection, sql: string): Promise<Tree> {
  const reader = await connection.runAndReadAll(PARSE, [sql]);
  try {
    return JSON.parse(String(reader.getRowsJS()[0]?.[0]));
  } catch {
    throw refused('This statement contains a value that cannot be checked.');
  }
}

const refused = (message: string) => new EngineError('query_refused', message);

/** `tree` is what `json_serialize_sql` makes of a statement. */
export function requireAllowed(tree: Tree) {
  if (tree.error === true) {
    if (tree.error_type === 'parser' || tree.error_type === 'syntax') {
      throw new EngineError('query_invalid', `Parser Error: ${tree.error_message}`);
    }
    throw refused('Only a SELECT can be run.');
  }
  const statements = tree.statements as readonly Tree[];
  if (statements.length !== 1) {
    throw refused(`Only one statement can be run, but there are ${statements.length}.`);
  }
  const nodes = nodesIn(statements[0]!);
  const named = new Set(nodes.flatMap(({ cte_map: map }) => (map ? namesOf(map as Tree) : [])));
  for (const node of nodes) requireNode(node, named);
}

/** Without recursion, because a statement can be nested deeply. */
function nodesIn(root: Tree): Tree[] {
  const found: Tree[] = [];
  const waiting: unknown[] = [root];
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    if (typeof item !== 'object' || item === null) continue;
    if (!Array.isArray(item)) found.push(item as Tree);
    for (const [key, child] of Object.entries(item))
      if (key !== 'value' || !('is_null' in item)) waiting.push(child);
  }
  return found;
}

function namesOf({ map }: Tree): string[] {
  return (map as readonly Tree[]).map(({ key }) => {
    const name = String(key);
    if (!NAME.test(name) || SYSTEM_NAME.test(name))
      throw refused(`\`${name}\` cannot be the name of a WITH query.`);
    return name.toLowerCase();
  });
}

function requireNode(node: Tree, named: ReadonlySet<string>) {
  for (const kind of [node.class, node.type]) {
    if (typeof kind === 'string' && !KINDS.has(kind) && !kind.endsWith('_TYPE_INFO'))
      throw refused(`Statements cannot contain ${kind}.`);
  }
  if (node.type === 'BASE_TABLE') requireTable(node, named);
  if (node.type === 'TABLE_FUNCTION') requireTableFunction(node);
  if (typeof node.function_name === 'string') requireFunction(node, ALLOWED_FUNCTIONS);
}

function requireTable(node: Tree, named: ReadonlySet<string>) {
  const [catalog, schema, table] = [node.catalog_name, node.schema_name, String(node.table_name)];
  const isKnown = schema
    ? schema === SCHEMA && (catalog ?? CATALOG) === CATALOG
    : named.has(table.toLowerCase());
  if (isKnown) return;
  const name = [catalog, schema, table].filter(Boolean).join('.');
  throw refused(
    `The table \`${name}\` cannot be read: tables are the files of the deployment, such as \`files.orders\`.`,
  );
}

function requireTableFunction({ function: called }: Tree) {
  const { class: kind } = called as Tree;
  if (kind !== 'FUNCTION') throw refused('This function cannot be read as a table.');
  requireFunction(called as Tree, ALLOWED_TABLE_FUNCTIONS);
}

function requireFunction({ function_name: name, schema, catalog }: Tree, allowed: ReadonlySet<string>) {
  const isBuiltIn = (!schema || schema === 'main') && (!catalog || catalog === 'system');
  if (isBuiltIn && allowed.has(String(name).toLowerCase())) return;
  const full = [catalog, schema, name].filter(Boolean).join('.');
  throw refused(`The function \`${full}\` cannot be used in a data model or a report.`);
}
