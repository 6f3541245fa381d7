/** Finds out what minting would do: mints in a transaction that is rolled back. */
import type { ErrorCode, operations, ReplyOf } from '@oriel/contract';
import { retrying, type Tx } from '../../platform/db/database.ts';
import type { ApiError } from '../../platform/errors.ts';
import { fitsDefault, valueInForce } from '../user-attributes/index.ts';
import { checks, isWorthAnotherTry, type MintCall, type MintOptions, toInput } from './mint.ts';
import { type SessionRequest, toProblem } from './rules.ts';
import * as store from './store.ts';

type DryRun = ReplyOf<typeof operations.dryRunSession>;

/** After one of these errors, the server does not know which user, or which groups and attributes, to check. */
const CODES_THAT_END: ErrorCode[] = [
  'identity_required',
  'invalid_external_id',
  'not_allowed_with_internal_id',
  'creator_mode_required',
  'embed_tenant_required',
  'outside_key_scope',
  'user_not_found',
  'forbidden',
];

export async function dryRun(options: MintOptions, call: MintCall, request: SessionRequest): Promise<DryRun> {
  const problems: ApiError[] = [];
  for await (const found of checks(options, call.actor, request)) problems.push(...found);
  const stops = problems.some(({ code }) => CODES_THAT_END.includes(code));
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
    userAttributes: [] as DryRun['userAttributes'],
  },
});

type Outcome = ReturnType<typeof nothing>;

/** Carries the outcome out of the transaction, which it rolls back. */
class RollbackSignal extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('rolled back');
    this.outcome = outcome;
  }
}

const rehearse = (options: MintOptions, call: MintCall, request: SessionRequest): Promise<Outcome> =>
  retrying(async () => {
    const input = await toInput(options, call, withoutFaults(request), Buffer.alloc(0));
    try {
      return await options.db.transaction<never>(async (tx) => {
        throw new RollbackSignal(await rehearseIn(tx, options, request, input));
      });
    } catch (error) {
      if (error instanceof RollbackSignal) return error.outcome;
      throw error;
    }
  }, isWorthAnotherTry);

/** Removes errors that were already found, so that the database can find the other ones. */
function withoutFaults(request: SessionRequest): SessionRequest {
  return {
    ...request,
    userAttributes: once(request.userAttributes),
    groupDefinitions: once(request.groupDefinitions),
    tenantGroupDefinitions: once(request.tenantGroupDefinitions),
    userAttributeDefinitions:
      once(request.userAttributeDefinitions)?.map((definition) => {
        const { type, defaultValue } = definition;
        const fits = defaultValue == null || fitsDefault(type, defaultValue);
        return fits ? definition : { ...definition, defaultValue: null };
      }) ?? null,
  };
}

const once = <T extends { name: string }>(items: T[] | null | undefined): T[] | null =>
  items?.filter(({ name }, i) => items.findIndex((item) => item.name === name) === i) ?? null;

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
      // If there is an error, no value of the request was stored.
      userAttributes: effectiveAttributes(after, done.errors.length ? [] : (request.userAttributes ?? [])),
    },
  };
}

const findViewerId = async (tx: Tx, embedTenant: string, { externalId, internalId }: SessionRequest) =>
  (internalId == null
    ? await store.findExternalUserId(tx, embedTenant, externalId!)
    : await store.findInternalUserId(tx, internalId)) ?? null;

/** Each attribute with the value that is in force and the source of that value. */
function effectiveAttributes({ attributes }: store.RightsRow, applied: readonly { name: string }[]) {
  const given = new Set(applied.map(({ name }) => name));
  return attributes.map(({ name, type, value, defaultValue }) => {
    const source =
      value !== null ? (given.has(name) ? 'request' : 'stored') : defaultValue !== null ? 'default' : 'none';
    return { name, value: valueInForce(type, value, defaultValue), source } as const;
  });
}
