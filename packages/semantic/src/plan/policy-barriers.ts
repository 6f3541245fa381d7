/**
 * Databases compute conditions in the order that they like. An error, or the time that it takes, would tell the viewer
 * about a row that a policy hides. So what can fail stands behind the policies, in a CASE: it is computed only for rows
 * that the viewer may see. Columns of a select need no barrier, because they are computed for rows that WHERE has kept.
 */
import { type Access, policyConditions, type RowPolicy } from './policies.ts';
import type { Rows } from './rows.ts';
import {
  allOf,
  type Condition,
  type JoinClause,
  joined,
  type Piece,
  type Select,
  type Sql,
  sql,
} from './sql.ts';
import { tokensOf } from './tokens.ts';

/** A condition of a query, or of the model. */
export interface RowCondition {
  readonly condition: Condition;
  /** A column that is compared with a value cannot fail, and an index can find it. */
  readonly canFail: boolean;
}

/** The joins and conditions of a select, with the policies of all its cubes. Call it when everything else was joined. */
export function behindPolicies(
  rows: Rows,
  access: Access,
  conditions: readonly RowCondition[],
  otherJoins: readonly JoinClause[] = [],
): Required<Pick<Select, 'joins' | 'where'>> & Pick<Select, 'barrier'> {
  const policies = policyConditions(rows, access).filter(({ condition }) => condition !== true);
  const all = (found: readonly { readonly condition: Condition }[]) =>
    found.map(({ condition }) => condition);
  if (!policies.length) return { joins: [...rows.joins, ...otherJoins], where: all(conditions) };
  const failing = allOf(all(conditions.filter(({ canFail }) => canFail)));
  const barrier = guarded(allOf(all(policies)), failing);
  const isApart = rows.context.dialect.keeping !== undefined && typeof barrier !== 'boolean';
  return {
    joins: [...rows.joins.map((_, i) => fencedJoin(rows, i, policies)), ...otherJoins],
    ...(isApart ? { barrier } : {}),
    where: [
      ...all(conditions.filter(({ canFail }) => !canFail)),
      ...(isApart ? [] : [barrier]),
      ...all(policies),
    ],
  };
}

/** A condition that is decided already needs no barrier. */
function guarded(guard: Condition, condition: Condition): Condition {
  if (guard === true || typeof condition === 'boolean') return condition;
  return sql`case when ${written(guard)} then ${condition} end`;
}

const written = (condition: Condition): Sql =>
  typeof condition === 'boolean' ? [String(condition)] : condition;

/**
 * A join is computed before a policy that needs both of its sides. But it need not find a partner for rows that the
 * policies of the cubes joined so far hide, nor a partner that its own policy hides, if that policy refuses a missing
 * row too.
 */
function fencedJoin(rows: Rows, index: number, policies: readonly RowPolicy[]): JoinClause {
  const join = rows.joins[index]!;
  const { alias } = join.source;
  const later = new Set(rows.joins.slice(index).map(({ source }) => source.alias));
  const isReady = ({ condition }: RowPolicy) =>
    !aliasesIn(written(condition)).some((name) => later.has(name));
  const before = allOf(policies.filter(isReady).map(({ condition }) => condition));
  later.delete(alias);
  const own = policies.filter(
    (policy) => policy.node?.alias === alias && policy.refusesMissingRow && isReady(policy),
  );
  const partner = allOf(own.map(({ condition }) => condition));
  const guardOf = (part: Sql): Condition => {
    const names = new Set(aliasesIn(part));
    const isPartner = names.delete(alias);
    return allOf([...(names.size ? [before] : []), ...(isPartner ? [partner] : [])]);
  };
  let isFenced = false;
  const barrier = (guard: Condition, part: Sql): Sql => {
    isFenced ||= guard !== true;
    return written(guarded(guard, part));
  };
  const side = (part: Sql) => (isPlainSide(rows, part) ? part : barrier(guardOf(part), part));
  const conjuncts = conjunctsOf(tokensOf(join.on, rows.context.dialect.lexing)).map((conjunct): Sql => {
    const sides = splitAt(conjunct, '=');
    // Databases look up partners by equalities, so these stay equalities.
    const isEquality = sides.length === 2 && !conjunct.some((token) => isToken(token, OPERATOR));
    return isEquality
      ? sql`${side(sides[0]!)} = ${side(sides[1]!)}`
      : barrier(allOf([before, partner]), conjunct);
  });
  return isFenced ? { ...join, on: joined(conjuncts, ' and ') } : join;
}

const isToken = (piece: Piece, pattern: RegExp) => typeof piece === 'string' && pattern.test(piece);
/** Operators that bind weaker than an equality, or as strong. */
const OPERATOR = /^([<>!~]|or|not|is|isnull|notnull|in|like|ilike|similar|between|glob|case|and)$/i;

/** The parts between `and`; one part if there is `or`, `between` or `case`, because an `and` may belong to these. */
const conjunctsOf = (tokens: readonly Piece[]): Sql[] =>
  tokens.some((token) => isToken(token, /^(or|between|case)$/i)) ? [tokens] : splitAt(tokens, 'and');

/** The parts between these words, as far as they do not stand in brackets. */
function splitAt(tokens: readonly Piece[], word: string): Sql[] {
  const parts: Piece[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (isToken(token, /^[([]$/)) depth++;
    if (isToken(token, /^[)\]]$/)) depth--;
    if (depth === 0 && typeof token === 'string' && token.toLowerCase() === word) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts.map(trimmed);
}

function trimmed(tokens: readonly Piece[]): Sql {
  const isText = (token: Piece) => !isToken(token, /^\s*$/);
  const from = tokens.findIndex(isText);
  return from < 0 ? [] : tokens.slice(from, tokens.findLastIndex(isText) + 1);
}

function isPlainSide(rows: Rows, side: Sql): boolean {
  const [table, dot, column] = side;
  if (side.length === 1) return rows.isPlain(side);
  return (
    side.length === 3 && dot === '.' && isToken(column!, /^(\w+|".*")$/s) && rows.isPlain([table!, '.x'])
  );
}

/** The tables whose rows it is computed from. */
export const aliasesIn = (pieces: Sql): string[] =>
  pieces.flatMap((piece, i): string[] => {
    if (typeof piece === 'string') return [];
    if (!('kind' in piece)) return aliasesIn(piece);
    if (piece.kind === 'call') return piece.args.flatMap(aliasesIn);
    return piece.kind === 'name' && pieces[i - 1] !== '.' ? [piece.name] : [];
  });
