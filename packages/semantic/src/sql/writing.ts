/** What the writers of expressions have in common. */
import { joined, type Sql, value } from '../plan/sql.ts';
import { writeLocal } from '../times/moments.ts';
import type { Growth } from './growth.ts';
import type { Scope } from './scopes.ts';
import { listOf, unsupported } from './tree.ts';

export interface WriteContext {
  readonly scope: Scope;
  readonly nowMs: number;
  /** How deep the expression is nested. */
  readonly depth: number;
  readonly growth: Growth;
  /** How long the parts of the expression may be, in the order in which they are written. */
  readonly lengths: number[];
  expression(node: unknown, writing: WriteContext): Sql;
  /** Writes a select inside of the expression. */
  select(node: unknown, scope: Scope): { readonly sql: Sql; readonly lengths: readonly number[] };
}

export const DEPTH_MAX = 100;

export const expressionList = (nodes: unknown, writing: WriteContext): Sql =>
  joined(
    listOf(nodes).map((node) => writing.expression(node, writing)),
    ', ',
  );

const ARGUMENTS_MAX = 100;

export function argumentList(nodes: unknown, writing: WriteContext): Sql {
  if (listOf(nodes).length <= ARGUMENTS_MAX) return expressionList(nodes, writing);
  throw unsupported(`A function takes at most ${ARGUMENTS_MAX} arguments.`);
}

const UNITS_MS = { minute: 60_000, day: 86_400_000 };

/** In whole minutes or days, so that the answer can be used again for a while. */
export const now = (nowMs: number, unit: keyof typeof UNITS_MS): Sql => [
  value('local', writeLocal(Math.floor(nowMs / UNITS_MS[unit]) * UNITS_MS[unit])),
];
