/** The row type of each `one<Row>(…)`, `maybeOne<Row>(…)` and `many<Row>(…)` of the server, from the compiler. */
import { relative } from 'node:path';
import {
  isCallExpression,
  isPropertyAccessExpression,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';
import { API, type Checker, type Type, TypeFlags, type TypeReference } from 'typescript/unstable/sync';

/** The kinds of values. `unknown` means any value. */
export type Kind = 'string' | 'number' | 'boolean' | 'null' | 'buffer' | 'array' | 'object' | 'unknown';

export interface Column {
  kinds: Kind[];
  /** Whether the column may be left out of the select. */
  isOptional: boolean;
  /** The kinds of the items of an array. */
  items?: Kind[];
}

/** The columns of a row, by name. */
export type RowType = Record<string, Column>;
/** The row types, by the place of the call, such as `packages/server/src/domains/roles/store.ts:16`. */
export type RowTypes = Record<string, RowType>;

const METHODS = /^(one|maybeOne|many)$/;

export function collectRowTypes(root: string): RowTypes {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] }).getProjects();
    const { program, checker } = project!;
    const found: RowTypes = {};
    for (const name of program.getSourceFileNames()) {
      const file = relative(root, name);
      if (!/^packages\/server\/src\/.*\.ts$/.test(file) || /\.(test|system)\.ts$/.test(file)) continue;
      const source = program.getSourceFile(name)!;
      if (!/\.(one|maybeOne|many)\b/.test(source.text)) continue;
      visit(source, (node) => addCall(found, { file, source, checker }, node));
    }
    return found;
  } finally {
    api.close();
  }
}

function visit(node: Node, see: (node: Node) => void) {
  see(node);
  node.forEachChild((child) => visit(child, see));
}

interface Context {
  file: string;
  source: SourceFile;
  checker: Checker;
}

function addCall(found: RowTypes, { file, source, checker }: Context, node: Node) {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return;
  const { name } = node.expression;
  if (!METHODS.test(name.text)) return;
  const owner = checker.getSymbolAtLocation(name)?.getParent()?.name;
  if (owner !== 'Queryable') return;
  const start = source.text.indexOf(name.text, name.pos);
  const place = `${file}:${source.text.slice(0, start).split('\n').length}`;
  const [row] = node.typeArguments ?? [];
  const type = row && checker.getTypeFromTypeNode(row);
  if (!type) throw new Error(`${place}: name the type of the row, as in ${name.text}<Row>(…)`);
  if (type.isTypeParameter()) throw new Error(`${place}: the type of the row must be known where it is read`);
  if (found[place])
    throw new Error(`${place}: two statements begin in this line; put them on different lines`);
  found[place] = rowType(checker, type);
}

function rowType(checker: Checker, type: Type): RowType {
  const properties = checker.getPropertiesOfType(type);
  return Object.fromEntries(
    properties.map((property) => [property.name, column(checker, checker.getTypeOfSymbol(property)!)]),
  );
}

function column(checker: Checker, type: Type): Column {
  const members = type.isUnionType() ? type.getTypes() : [type];
  const kinds = members.filter(({ flags }) => !(flags & TypeFlags.Undefined)).map((m) => kindOf(checker, m));
  const items = members
    .filter((member): member is TypeReference => checker.isArrayType(member))
    .flatMap((array) => checker.getTypeArguments(array))
    .flatMap((item) => column(checker, item).kinds);
  return {
    kinds: [...new Set(kinds)],
    isOptional: members.some(({ flags }) => flags & TypeFlags.Undefined),
    ...(items.length ? { items: [...new Set(items)] } : {}),
  };
}

function kindOf(checker: Checker, type: Type): Kind {
  const { flags } = type;
  if (flags & TypeFlags.StringLike) return 'string';
  if (flags & TypeFlags.NumberLike) return 'number';
  if (flags & TypeFlags.BooleanLike) return 'boolean';
  if (flags & TypeFlags.Null) return 'null';
  if (flags & (TypeFlags.AnyOrUnknown | TypeFlags.TypeParameter)) return 'unknown';
  if (checker.isArrayType(type) || checker.isTupleType(type)) return 'array';
  return type.getSymbol()?.name === 'Buffer' ? 'buffer' : 'object';
}
