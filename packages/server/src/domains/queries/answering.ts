/** Asks data sources for the rows of planned statements, unless the results are known. */
import { setMaxListeners } from 'node:events';
import type { Query } from '../../engines/engine.ts';
import { embedOf, sharerOf } from '../../platform/auth/actor.ts';
import { ApiError } from '../../platform/errors.ts';
import type { OwnAccess, SourceAccess } from '../oauth-integrations/index.ts';
import type { AnsweredQuery } from './answers.ts';
import { type Freshness, freshnessOf } from './freshness.ts';
import { hashOf, keyOf, type PlannedQuery } from './plans.ts';
import type { QueryCall } from './query-calls.ts';
import type { Result, Results } from './results.ts';
import type { OpenSource } from './sources.ts';

/** The receiver of a result must read or release it. */
export interface Answerer {
  answer(
    call: QueryCall,
    planned: PlannedQuery,
    options: { isRenewed: boolean; mayBeLarge: boolean },
  ): Promise<AnsweredQuery>;
  answerSql(call: QueryCall, planned: PlannedSql, isRenewed: boolean): Promise<Result>;
  /** Runs SQL of the data source itself. */
  answerSourceSql(call: QueryCall, source: OpenSource, text: string): Promise<Result>;
}

export interface AnsweringOptions {
  results: Pick<Results, 'known' | 'find'>;
  sourceAccess: SourceAccess;
  /** How long a statement of an embed viewer may run. */
  embedQueryMs: number;
}

type PlannedSql = Pick<PlannedQuery, 'source' | 'statement' | 'refreshKeys'>;

type ResultOptions = Freshness & { isRenewed: boolean; mayBeLarge: boolean };

export function createAnswering({ results, sourceAccess, embedQueryMs }: AnsweringOptions): Answerer {
  /**
   * Each person has results of their own from a source that they ask with their own access. They are shared with
   * nobody.
   */
  const resultOf = (
    call: QueryCall,
    source: OpenSource,
    statement: Query,
    how: ResultOptions,
  ): Result | Promise<Result> =>
    source.personal
      ? ownAccess(call, source.personal).then((access) => resultFor(call, source, statement, how, access))
      : resultFor(call, source, statement, how);

  async function ownAccess({ db, actor, as }: QueryCall, personal: NonNullable<OpenSource['personal']>) {
    if (as)
      throw new ApiError('forbidden', {
        message: 'The data source gives each person their own rows, which nobody else can be shown.',
      });
    return sourceAccess.of(db, actor, personal);
  }

  const resultFor = (
    call: QueryCall,
    source: OpenSource,
    statement: Query,
    { maxAgeMs, version, ...options }: ResultOptions,
    access?: OwnAccess,
  ): Result | Promise<Result> => {
    const asked = access ? { id: `${source.id} ${access.key}`, version: source.version } : source;
    const key = keyOf(asked, statement, version);
    const known = options.isRenewed ? undefined : results.known(key, maxAgeMs);
    if (known) return known;
    call.watch?.onAsk();
    const { signal } = call;
    const sharer = sharerOf(call.actor);
    // Each of several queries listens.
    setMaxListeners(0, signal);
    return results.find({
      ...options,
      key,
      maxAgeMs,
      sharer,
      atOnce: Math.max(1, source.engine.places - 1),
      signal,
      run(ended, how) {
        call.watch?.onRun();
        const limits = {
          ...how,
          signal: ended,
          sharer,
          ...(embedOf(call.actor) && { timeoutMs: embedQueryMs }),
        };
        if (!access) return source.engine.query(statement, limits);
        return access.run((credential) => source.engine.query(statement, { ...limits, credential }));
      },
    });
  };

  const freshnessFor = (
    call: QueryCall,
    { source, refreshKeys }: Pick<PlannedQuery, 'source' | 'refreshKeys'>,
    isRenewed: boolean,
  ) =>
    freshnessOf(refreshKeys, async (sql, maxAgeMs) => {
      const how = { isRenewed, mayBeLarge: false, maxAgeMs, version: [] };
      return hashOf(rowsText(await resultOf(call, source, { sql, rowForm: 'arrays' }, how)));
    });

  async function answer(
    call: QueryCall,
    planned: PlannedQuery,
    options: { isRenewed: boolean; mayBeLarge: boolean },
  ): Promise<AnsweredQuery> {
    const { source, statement, total } = planned;
    const isRenewed = options.isRenewed || planned.isRenewed;
    const whole = { isRenewed, mayBeLarge: false };
    const freshness = await freshnessFor(call, planned, isRenewed);
    // Count first: if counting fails there is no result file to release.
    const counted = total && (await resultOf(call, source, total, { ...whole, ...freshness }));
    const how = { ...freshness, isRenewed, mayBeLarge: options.mayBeLarge };
    const result = await resultOf(call, source, statement, how);
    call.watch?.onAnswer(result.rowCount);
    return { planned, result, total: counted && Number(JSON.parse(rowsText(counted))[0][0]) };
  }

  async function answerSql(call: QueryCall, planned: PlannedSql, isRenewed: boolean): Promise<Result> {
    const freshness = await freshnessFor(call, planned, isRenewed);
    const how = { ...freshness, isRenewed, mayBeLarge: true };
    const result = await resultOf(call, planned.source, planned.statement, how);
    call.watch?.onAnswer(result.rowCount);
    return result;
  }

  async function answerSourceSql(call: QueryCall, source: OpenSource, text: string): Promise<Result> {
    const how = { maxAgeMs: 0, version: [], isRenewed: true, mayBeLarge: true };
    const result = await resultOf(call, source, { sql: text, rowForm: 'arrays' }, how);
    call.watch?.onAnswer(result.rowCount);
    return result;
  }

  return { answer, answerSql, answerSourceSql };
}

const rowsText = ({ rows }: Result) => rows.toString();
