/** Answers queries: the model and the viewer of the caller, the plans, and the results of the data source. */
import {
  describeMember,
  kindOfMember,
  type MemberKind,
  type Model,
  QueryError,
  type QueryIssue,
  type ShownMember,
  type Viewer,
} from '@oriel/semantic';
import type { Query } from '../../engines/engine.ts';
import { withoutAction } from '../../platform/auth/access.ts';
import { embedOf, sharerOf } from '../../platform/auth/actor.ts';
import { ApiError, isApiError } from '../../platform/errors.ts';
import type { WholeBytes } from '../../platform/http/streams.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { type AnsweringOptions, createAnswering } from './answering.ts';
import { answerText, type CountUnread, sqlAnswerText } from './answers.ts';
import { findBranchTree, requireModeller } from './branch-models.ts';
import { toOwn } from './explain.ts';
import type { MetaCache } from './meta-cache.ts';
import type { Models } from './models.ts';
import type { PlanCache } from './plan-cache.ts';
import type { TaskResult } from './plan-tasks.ts';
import type { PlanCaller, Planner } from './planner.ts';
import { hashOf, type PlanContext, type PlannedQueries, statementHash } from './plans.ts';
import {
  IS_OF_SOURCE,
  IS_SQL,
  type QueryCall,
  type QueryInput,
  readsModel,
  seesSql,
  withApiErrors,
} from './query-calls.ts';
import { type Result, type Results, release } from './results.ts';
import type { OpenSource, Sources } from './sources.ts';
import type { SqlParser } from './sql-parser.ts';
import type { QueryCaller, ViewerInput, Viewers } from './viewers.ts';

export interface Queries {
  plan(call: QueryCall, query: QueryInput): Promise<PlannedQueries>;
  /** Throws a 403 if the caller may not read the SQL of the data model. */
  requireSql(call: QueryCall): Promise<void>;
  load(call: QueryCall, query: QueryInput, options: LoadOptions): Promise<LoadReply>;
  /** Runs the query again for later calls of `load`, and returns nothing of its answer. */
  run(call: QueryCall, query: QueryInput): Promise<void>;
  /**
   * Like `load` and `run`, for SQL that reads cubes and views as tables. Embed viewers need the tenant setting `embedSql`,
   * except for SQL that `isPublished` by people of the account.
   */
  loadSql(
    call: QueryCall,
    text: string,
    options: { isRenewed: boolean; isPublished?: boolean },
  ): Promise<LoadReply>;
  runSql(call: QueryCall, text: string): Promise<void>;
  /** Runs a SELECT in a data source itself, outside of the model and its policies. The caller must have `SqlRunnerRead`. */
  loadSourceSql(call: QueryCall, dataSource: string, text: string): Promise<LoadReply>;
  /** JSON of the cubes and views with the members that are open to the caller. */
  meta(call: QueryCall, onlyViews: boolean): Promise<Uint8Array>;
  /**
   * Tells what the names of members mean: to the caller or, if they may read the model, without policies. Undefined
   * until there is a model with cubes.
   */
  members(call: QueryCall): Promise<ModelMembers | undefined>;
  /**
   * Returns the issues of each query: none if it can be planned on the model for the caller or, if they may read the
   * model, for a viewer whom every policy lets pass.
   */
  check(call: QueryCall, asked: readonly QueryOrSql[]): Promise<readonly (readonly QueryIssue[])[]>;
  /**
   * Equal for two callers if the queries are the same statements with the same values for both: then both get the same
   * rows. `known` caches the hashes of viewers, so that viewers with the same rights are planned for once. Relative
   * ranges are those of `now`, so that the same call is equal later too, unless the model or the rights of the caller
   * have changed.
   */
  fingerprint(call: QueryCall, asked: readonly QueryOrSql[], known: Fingerprints, now: Date): Promise<string>;
  /** The viewer that policies apply to: the caller, or the one that they ask as. */
  viewer(call: QueryCall): Promise<Viewer>;
  /** Explains the query for the viewer, or for the caller. */
  explain(call: QueryCall, query: object, viewer: ViewerInput | undefined): Promise<TaskResult<'explain'>>;
  /** Explains the query to a caller who may not know the model: only what they see of what their own query names. */
  explainOwn(call: QueryCall, query: object): Promise<TaskResult<'explain'>>;
  /** Explains what the viewer, or the caller, sees of every cube and view. */
  explainAccess(
    call: QueryCall,
    viewer: ViewerInput | { userId: number } | undefined,
  ): Promise<TaskResult<'access'>>;
}

/** What the names of members mean. Undefined for names that queries cannot use. */
export interface ModelMembers {
  kindOf(name: string): MemberKind | undefined;
  describe(name: string): ShownMember | undefined;
}

/** A query, or SQL that reads cubes and views as tables. */
export type QueryOrSql = object | string;

/** The hash of the statements by viewer, and whether a source is asked with the access of each person. */
export type Fingerprints = Map<string, Promise<{ hash: string; isPersonal: boolean }>>;

type LoadReply = Uint8Array | WholeBytes;

export interface LoadOptions {
  isMulti: boolean;
  isRenewed: boolean;
}

export interface QueriesOptions extends AnsweringOptions {
  models: Pick<Models, 'find' | 'findDraft'>;
  sources: Sources;
  viewers: Viewers;
  planner: Pick<Planner, 'plan'>;
  plans: PlanCache;
  meta: MetaCache;
  results: Results;
  parser: Pick<SqlParser, 'parse'>;
  tenantSettings: TenantSettings;
}

export function createQueries(options: QueriesOptions): Queries {
  const { models, sources, viewers, planner, plans, meta, results, parser, tenantSettings } = options;
  const { answer, answerSql, answerSourceSql } = createAnswering(options);
  const servedBy = ({ actor, deploymentId }: QueryCall) => ({
    deploymentId,
    branchId: actor.kind === 'tokenHolder' ? actor.branchId : null,
  });

  async function modelOf(call: QueryCall): Promise<Model> {
    const { db, deploymentId, branchName } = call;
    if (branchName === undefined) return models.find(db, servedBy(call));
    const tree = await findBranchTree(db, deploymentId, requireModeller(call).userId, branchName);
    if (tree === null) throw new ApiError('model_not_built');
    return models.findDraft(db, deploymentId, tree);
  }

  const viewerOf = (as: QueryCaller | ViewerInput | { userId: number }) =>
    'kind' in as ? viewers.of(as) : viewers.given(as);

  async function contextOf(
    call: QueryCall,
    as: QueryCaller | ViewerInput | { userId: number } = call.as ?? call.actor,
    now = new Date(),
  ): Promise<PlanContext> {
    const { db, deploymentId } = call;
    const model = await modelOf(call);
    const source = await sources.of(db, deploymentId);
    // The viewer is read last, so that their rights are never older than the query itself.
    const viewer = await viewerOf(as);
    return { model, viewer, source, now };
  }
  const forCaller = (call: QueryCall): PlanCaller => ({
    sharer: sharerOf(call.actor),
    get signal() {
      return call.signal;
    },
  });
  const plan = async (call: QueryCall, query: QueryInput) =>
    plans.plan(query, await contextOf(call), forCaller(call));
  const planOfSql = async (call: QueryCall, text: string, now?: Date) => {
    const by = forCaller(call);
    const tree = await parser.parse(text, by);
    const context = await contextOf(call, undefined, now);
    const made = await planner.plan('sql', tree, tree.length / TREE_GROWTH, context, by);
    return { ...made, source: context.source(made.dataSource) };
  };

  async function statementsFor(call: QueryCall, context: PlanContext, asked: readonly QueryOrSql[]) {
    const parts: unknown[] = [];
    let isPersonal = false;
    const add = (source: OpenSource, statement: Query | undefined) => {
      isPersonal ||= source.personal !== undefined;
      parts.push([source.id, statement && statementHash(statement)]);
    };
    for (const one of asked) {
      if (typeof one === 'string') {
        const { source, statement } = await planOfSql(call, one, context.now);
        add(source, statement);
        continue;
      }
      for (const { source, statement, total } of (await plans.plan(one, context, forCaller(call))).queries) {
        add(source, statement);
        add(source, total);
      }
    }
    return { hash: hashOf(JSON.stringify(parts)), isPersonal };
  }

  async function treeOf(
    asked: QueryOrSql,
    by: PlanCaller,
  ): Promise<{ item: QueryOrSql } | { issues: readonly QueryIssue[] }> {
    if (typeof asked !== 'string') return { item: asked };
    try {
      return { item: await parser.parse(asked, by) };
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return { issues: error.issues };
    }
  }

  async function requireSqlFor(actor: QueryCaller) {
    if (embedOf(actor) && !(await tenantSettings.current()).embedSql)
      throw new ApiError('embed_sql_disabled');
  }

  const countUnreadOf =
    ({ actor }: QueryCall): CountUnread =>
    (bytes) =>
      results.countUnread(sharerOf(actor), bytes);

  return {
    plan: (call, query) => withApiErrors(call, () => plan(call, query)),
    async requireSql(call) {
      if (!(await seesSql(call))) throw withoutAction('SchemaRead');
    },
    meta: (call, onlyViews) =>
      withApiErrors(call, async () => {
        const model = await modelOf(call);
        return meta.of(model, await viewers.of(call.actor), onlyViews);
      }),
    async members(call) {
      try {
        const model = await modelOf(call);
        if (model.cubes.size === 0) return undefined;
        const viewer = readsModel(call) ? undefined : await viewers.of(call.actor);
        return {
          kindOf: (name) => kindOfMember(model, name, viewer),
          describe: (name) => describeMember(model, name, viewer),
        };
      } catch (error) {
        if (isApiError(error, 'model_not_built')) return undefined;
        throw error;
      }
    },
    check: (call, asked) =>
      withApiErrors(call, async () => {
        const by = forCaller(call);
        const context = await contextOf(call);
        const found: (readonly QueryIssue[])[] = [];
        for (let i = 0; i < asked.length; i += CHECKED_TOGETHER) {
          const batch = await Promise.all(asked.slice(i, i + CHECKED_TOGETHER).map((one) => treeOf(one, by)));
          const items = batch.flatMap((one) => ('item' in one ? [one.item] : []));
          const input = { items, isOpen: readsModel(call) };
          const planned = items.length ? await planner.plan('check', input, NEVER_CHEAP, context, by) : [];
          for (const one of batch) found.push('item' in one ? planned.shift()! : one.issues);
        }
        return found;
      }),
    fingerprint: (call, asked, known, now) =>
      withApiErrors(call, async () => {
        const context = await contextOf(call, undefined, now);
        const viewer = hashOf(JSON.stringify(context.viewer));
        const found = known.get(viewer) ?? statementsFor(call, context, asked);
        known.set(viewer, found);
        const { hash, isPersonal } = await found;
        if (!isPersonal) return hash;
        const isOwn = call.actor.kind === 'person' && !call.actor.isReadForOthers;
        return `${hash} ${call.actor.userId} ${isOwn}`;
      }),
    run: (call, query) =>
      withApiErrors(call, async () => {
        const { queries } = await plan(call, query);
        for (const planned of queries) {
          const { result } = await answer(call, planned, { isRenewed: true, mayBeLarge: true });
          release(result);
        }
      }),
    loadSql: (call, text, { isRenewed, isPublished }) =>
      withApiErrors(
        call,
        async () => {
          if (!isPublished) await requireSqlFor(call.actor);
          const planned = await planOfSql(call, text);
          const result = await answerSql(call, planned, isRenewed);
          return sqlAnswerText(planned.columns, result, countUnreadOf(call));
        },
        IS_SQL,
      ),
    runSql: (call, text) =>
      withApiErrors(
        call,
        async () => {
          await requireSqlFor(call.actor);
          release(await answerSql(call, await planOfSql(call, text), true));
        },
        IS_SQL,
      ),
    loadSourceSql: (call, dataSource, text) =>
      withApiErrors(
        call,
        async () => {
          const source = (await sources.of(call.db, call.deploymentId))(dataSource);
          const result = await answerSourceSql(call, source, text);
          return sqlAnswerText(namesOf(result), result, countUnreadOf(call));
        },
        IS_OF_SOURCE,
      ),
    viewer: ({ actor, as = actor }) => viewerOf(as),
    explain: (call, query, given) =>
      withApiErrors(call, async () => {
        const context = await contextOf(call, given);
        const characters = JSON.stringify([query, given]).length;
        return planner.plan('explain', query, characters, context, forCaller(call));
      }),
    explainOwn: (call, query) =>
      withApiErrors(call, async () => {
        // Says what is wrong with the query in the same words as an answer to it.
        await plan(call, query);
        const context = await contextOf(call, undefined);
        const characters = JSON.stringify(query).length;
        const explained = await planner.plan('explain', query, characters, context, forCaller(call));
        return toOwn(explained, query, await seesSql(call));
      }),
    explainAccess: (call, given) =>
      withApiErrors(call, async () => {
        const context = await contextOf(call, given);
        return planner.plan('access', {}, WHOLE_MODEL, context, forCaller(call));
      }),
    load: (call, query, { isMulti, isRenewed }) =>
      withApiErrors(call, async () => {
        const { type, queries } = await plan(call, query);
        const answerOptions = { isRenewed, mayBeLarge: queries.length === 1 };
        const answered = await Promise.all(queries.map((planned) => answer(call, planned, answerOptions)));
        return answerText(type, answered, isMulti || type !== 'regularQuery', countUnreadOf(call));
      }),
  };
}

/** Characters of a query that takes as long to plan as all policies of a large model. */
const WHOLE_MODEL = 20_000;

/** The tree of a statement has about so many characters for each of its own. */
const TREE_GROWTH = 10;

/** Queries that one turn of a thread checks: the largest take a few hundred milliseconds each. */
const CHECKED_TOGETHER = 10;
/** Many queries, of which each may be large, are not planned on the loop. */
const NEVER_CHEAP = Number.POSITIVE_INFINITY;

const namesOf = ({ columns }: Result) => columns.map(({ name }) => name);
