/** A call that asks queries: who asks, of what, and how errors are told to them. */
import { EngineError } from '../../engines/engine.ts';
import { mayIn } from '../../platform/auth/access.ts';
import { embedOf } from '../../platform/auth/actor.ts';
import type { Database } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { parseJson } from '../../platform/http/json-body.ts';
import { findAppConfig } from '../tenant-settings/index.ts';
import { toApiError } from './errors.ts';
import type { QueryCaller, ViewerInput } from './viewers.ts';

export interface QueryCall {
  actor: QueryCaller;
  db: Database;
  /** The signal is made when it is first read, because most answers are there at once. */
  readonly signal: AbortSignal;
  deploymentId: number;
  /** A branch whose model is asked, as its reader sees it, instead of the one that is served. */
  branchName?: string | undefined;
  /** The viewer whose rows are read, if not the caller. The caller must be allowed to see them. */
  as?: QueryCaller | ViewerInput | undefined;
  /** Told what happens to the queries of this call. */
  watch?: QueryWatch | undefined;
}

export interface QueryWatch {
  /** A result is not known, so that the data source must be asked. */
  onAsk(): void;
  /** The data source works on a statement. */
  onRun(): void;
  /** One query has its answer. */
  onAnswer(rowCount: number): void;
}

/** One query, or several. */
export type QueryInput = object | readonly object[];

/** Several queries in one request. */
const QUERIES_MAX = 20;

/** The query in a text, such as one in an address. Throws a 400 that names the field. */
export function queryIn(text: string, field = 'query'): QueryInput {
  const query = parseJson(text, `The text of \`${field}\``);
  const isQuery = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (Array.isArray(query)) {
    if (query.length < 1 || query.length > QUERIES_MAX)
      throw invalid(field, `must have 1 to ${QUERIES_MAX} queries`);
    if (query.every(isQuery)) return query;
  } else if (isQuery(query)) return query as object;
  throw invalid(field, 'must be a query, which is an object, or a list of queries');
}

/** Whether the caller may read the SQL of the data model, which tells of columns and values that policies hide. */
export async function seesSql({ actor, db, deploymentId }: QueryCall): Promise<boolean> {
  if (actor.kind === 'tokenHolder') return false;
  if (mayIn(actor, deploymentId, 'SchemaRead')) return true;
  if (!embedOf(actor)?.creatorMode) return false;
  return (await findAppConfig(db)).appConfig.creatorMode?.showGeneratedSql === true;
}

/** Whether the caller may read the data model itself. */
export const readsModel = ({ actor, deploymentId }: QueryCall) =>
  actor.kind === 'person' && mayIn(actor, deploymentId, 'SchemaRead');

/** Errors as callers are told them, with the words of the data source only for callers who may read the SQL. */
export async function withApiErrors<T>(
  call: QueryCall,
  work: () => Promise<T>,
  { isSql, isOfSource = false }: { isSql: boolean; isOfSource?: boolean } = { isSql: false },
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const showsSource = error instanceof EngineError && (isOfSource || (await seesSql(call)));
    throw toApiError(error, { showsSource, isSql });
  }
}

export const IS_SQL = { isSql: true };
/** A caller who may ask the data source itself may read what it says. */
export const IS_OF_SOURCE = { isSql: true, isOfSource: true };
