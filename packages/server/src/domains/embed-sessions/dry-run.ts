/** What minting would do, found out by doing it in a transaction that is rolled back. */
import type { operations, ReplyOf } from '@oriel/contract';
import type { Tx } from '../../platform/db/database.ts';
import { retrying } from '../../platform/db/database.ts';
import type { ApiError } from '../../platform/errors.ts';
import { valueInForce } from '../user-attributes/index.ts';
import { checks, isWorthAnotherTry, type MintCall, type MintOptions, toInput } from './mint.ts';
import { type SessionRequest, toProblem } from './rules.ts';
import * as store from './store.ts';

type DryRun = Omit<ReplyOf<typeof operations.generateSession>, 'sessionId'>;

/** With one of these, there is nothing that the catalogues could be asked about. */
const STATUSES_THAT_END = [400, 404];

export async function dryRun(options: MintOptions, call: MintCall, request: SessionRequest): Promise<DryRun> {
  const problems: ApiError[] = [];
  for await (const found of checks(options, call.actor, request)) problems.push(...found);
  const stops = problems.some(
    ({ statusCode, code }) => STATUSES_THAT_END.includes(statusCode) || code === 'outside_key_scope',
  );
  const outcome = stops ? nothing(options, request) : await rehearse(options, call, request);
  problems.push(...outcome.problems);
  return { ...outcome.reply, ok: problems.length === 0, errors: problems.flatMap(toErrors) };
}

const toErrors = ({ code, message, issues }: ApiError) =>
  (issues ?? [{ path: '' }]).map(({ path }) => ({ code, message, path }));

const NONE = { before: [], after: [] };

const nothing = (options: MintOptions, request: SessionRequest) => ({
  problems: [] as ApiError[],
  reply: {
    embedTenant: { name: request.embedTenantName ?? options.tenant, created: false },
    user: { externalId: request.externalId ?? null, created: false, changed: [] as string[] },
    groups: NONE as { before: string[]; after: string[] },
    tenantGroups: NONE as { before: string[]; after: string[] },
    definitions: { created: [] as string[], updated: [] as string[] },
    userAttributes: [] as NonNullable<DryRun['userAttributes']>,
  },
});

type Outcome = ReturnType<typeof nothing>;

/** Carries the outcome out of the transaction, which it rolls back. */
class RolledBack extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('rolled back');
    this.outcome = outcome;
  }
}

const rehearse = (options: MintOptions, call: MintCall, request: SessionRequest): Promise<Outcome> =>
  retrying(async () => {
    const input = await toInput(options, call, request, Buffer.alloc(0));
    try {
      return await options.db.transaction<never>(async (tx) => {
        throw new RolledBack(await rehearseIn(tx, options, request, input));
      });
    } catch (error) {
      if (error instanceof RolledBack) return error.outcome;
      throw error;
    }
  }, isWorthAnotherTry);

async function rehearseIn(
  tx: Tx,
  options: MintOptions,
  request: SessionRequest,
  input: store.MintInput,
): Promise<Outcome> {
  const name = request.embedTenantName ?? options.tenant;
  const catalogue = request.creatorMode ? name : null;
  const viewerId = await findViewerId(tx, name, request);
  const before = await store.findRights(tx, viewerId, catalogue);
  const done = await store.rehearseSession(tx, input);
  const after = await store.findRights(tx, done.viewerId, catalogue);
  return {
    problems: done.errors.map((refusal) => toProblem(refusal, request)),
    reply: {
      embedTenant: { name, created: done.tenantIsNew },
      user: { externalId: request.externalId ?? null, created: done.viewerIsNew, changed: done.changed },
      groups: { before: before.groups, after: after.groups },
      tenantGroups: { before: before.tenantGroups, after: after.tenantGroups },
      definitions: done.definitions,
      userAttributes: effectiveAttributes(after, request),
    },
  };
}

const findViewerId = async (tx: Tx, embedTenant: string, { externalId, internalId }: SessionRequest) =>
  (internalId == null
    ? await store.findExternalUserId(tx, embedTenant, externalId!)
    : await store.findInternalUserId(tx, internalId)) ?? null;

/** Each attribute with the value in force, and where that comes from. */
function effectiveAttributes({ attributes }: store.RightsRow, request: SessionRequest) {
  const given = new Set(request.userAttributes?.map(({ name }) => name));
  return attributes.map(({ name, type, value, defaultValue }) => {
    const source =
      value !== null ? (given.has(name) ? 'request' : 'stored') : defaultValue !== null ? 'default' : 'none';
    return { name, value: valueInForce(type, value, defaultValue), source } as const;
  });
}
