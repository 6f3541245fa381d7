/**
 * The rules for generating embed sessions, as the specification states them, with plain maps. Written independently of
 * the server's code.
 */
export type AttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';
export type Value = string | number | boolean | string[] | number[] | null;

export interface GroupDefinition {
  name: string;
  description?: string | null;
}
export interface AttributeDefinition {
  name: string;
  type: AttributeType;
  displayName?: string | null;
  defaultValue?: string | null;
  description?: string | null;
}

export interface Request {
  deploymentId: number;
  externalId?: string | null;
  internalId?: string | null;
  email?: string | null;
  userProfile?: { displayName?: string | null; picture?: string | null } | null;
  embedTenantName?: string | null;
  creatorMode?: boolean | null;
  userAttributes?: { name: string; value: Value }[] | null;
  groups?: string[] | null;
  userAttributeDefinitions?: AttributeDefinition[] | null;
  groupDefinitions?: GroupDefinition[] | null;
  tenantGroups?: string[] | null;
  tenantGroupDefinitions?: GroupDefinition[] | null;
  embedTenantProfile?: { displayName?: string | null } | null;
  securityContext?: object | null;
  settings?: { showDashboardChat?: boolean | null } | null;
}

export interface Attribute {
  type: AttributeType;
  displayName: string | null;
  defaultValue: string | null;
  description: string | null;
}

/** The account has one catalogue, and each embed tenant has one. */
export interface Catalogue {
  groups: Map<string, string | null>;
  attributes: Map<string, Attribute>;
}

export interface Tenant extends Catalogue {
  displayName: string | null;
}

/** The memberships and values of a user in one catalogue. */
export interface Holdings {
  groups: Set<string>;
  tenantGroups: Set<string>;
  values: Map<string, Value>;
}

export interface User {
  email: string | null;
  displayName: string | null;
  picture: string | null;
  /** What the user has in the account's catalogue, and in the catalogue of their embed tenant. */
  account: Holdings;
  own: Holdings;
}

export interface Account {
  tenantName: string;
  maxExternalUsers: number;
  deploymentIds: Set<number>;
  catalogue: Catalogue;
  /** The active internal users. */
  internalUsers: Set<string>;
}

const FORBIDDEN_WITH_INTERNAL_ID = [
  'groups',
  'userAttributes',
  'groupDefinitions',
  'userAttributeDefinitions',
  'securityContext',
  'userProfile',
  'tenantGroups',
  'tenantGroupDefinitions',
  'embedTenantProfile',
] as const;
const DEFINITIONS = ['groupDefinitions', 'userAttributeDefinitions', 'tenantGroupDefinitions'] as const;

export const newHoldings = (): Holdings => ({
  groups: new Set(),
  tenantGroups: new Set(),
  values: new Map(),
});
const newTenant = (): Tenant => ({
  displayName: null,
  groups: new Map(),
  attributes: new Map(),
});

export interface Effects {
  tenantCreated: boolean;
  userCreated: boolean;
  changed: string[];
  created: string[];
  updated: string[];
}

export class SessionModel {
  readonly account: Account;
  tenants = new Map<string, Tenant>();
  /** The users, by embed tenant and external id. */
  users = new Map<string, User>();

  constructor(account: Account) {
    this.account = account;
  }

  tenantOf = (request: Request) => request.embedTenantName ?? this.account.tenantName;
  userKey = (request: Request) => `${this.tenantOf(request)}/${request.externalId}`;
  catalogueOf = (request: Request): Catalogue =>
    request.creatorMode ? (this.tenants.get(this.tenantOf(request)) ?? newTenant()) : this.account.catalogue;

  holdingsOf(request: Request): Holdings {
    const user = this.users.get(this.userKey(request));
    return (request.creatorMode ? user?.own : user?.account) ?? newHoldings();
  }

  /** Changes the state if the request is valid. Otherwise returns the codes of the first step that finds an error. */
  generate(request: Request, scope: Set<number> | null): { refusals: Set<string> } | { effects: Effects } {
    for (const step of [bodyProblems(request), this.references(request, scope)])
      if (step.size) return { refusals: step };
    const before = { tenants: structuredClone(this.tenants), users: structuredClone(this.users) };
    const effects: Effects = {
      tenantCreated: false,
      userCreated: false,
      changed: [],
      created: [],
      updated: [],
    };
    const refusals = this.apply(request, effects);
    if (refusals.size === 0) return { effects };
    Object.assign(this, before);
    return { refusals };
  }

  private references(request: Request, scope: Set<number> | null): Set<string> {
    const { deploymentId, internalId } = request;
    if (scope && !scope.has(deploymentId)) return new Set(['outside_key_scope']);
    if (!this.account.deploymentIds.has(deploymentId)) return new Set(['deployment_not_found']);
    // The owner of the scoped key is not an admin, so the reply must not show whether the user exists.
    if (internalId != null && scope) return new Set(['forbidden']);
    if (internalId != null && !this.account.internalUsers.has(internalId)) return new Set(['user_not_found']);
    return new Set();
  }

  private apply(request: Request, effects: Effects): Set<string> {
    const tenantName = this.tenantOf(request);
    if (!this.tenants.has(tenantName)) {
      this.tenants.set(tenantName, newTenant());
      effects.tenantCreated = true;
    }
    const tenant = this.tenants.get(tenantName)!;
    tenant.displayName = request.embedTenantProfile?.displayName ?? tenant.displayName;
    for (const definition of groupDefinitions(request)) defineGroup(tenant.groups, definition, effects);
    for (const definition of request.userAttributeDefinitions ?? [])
      if (!defineAttribute(tenant.attributes, definition, effects))
        return new Set(['attribute_type_conflict']);
    const catalogue = this.catalogueOf(request);
    const named = [...(request.groups ?? []), ...(request.tenantGroups ?? [])];
    if (named.some((name) => !catalogue.groups.has(name))) return new Set(['groups_not_found']);
    const unfit = attributeProblems(request, catalogue);
    if (unfit.size || request.externalId == null) return unfit;
    return this.provision(request, effects);
  }

  private provision(request: Request, effects: Effects): Set<string> {
    const key = this.userKey(request);
    if (!this.users.has(key)) {
      if (this.users.size >= this.account.maxExternalUsers) return new Set(['external_user_limit_reached']);
      const nobody = { email: null, displayName: null, picture: null };
      this.users.set(key, { ...nobody, account: newHoldings(), own: newHoldings() });
      effects.userCreated = true;
    }
    const user = this.users.get(key)!;
    const wanted = { email: request.email, ...request.userProfile };
    for (const field of ['email', 'displayName', 'picture'] as const) {
      const value = wanted[field] ?? user[field];
      if (value !== user[field] && !effects.userCreated) effects.changed.push(field);
      user[field] = value;
    }
    const holdings = this.holdingsOf(request);
    if (request.groups) holdings.groups = new Set(request.groups);
    if (request.tenantGroups) user.own.tenantGroups = new Set(request.tenantGroups);
    for (const { name, value } of request.userAttributes ?? []) {
      if (value === null) holdings.values.delete(name);
      else holdings.values.set(name, value);
    }
    return new Set();
  }
}

function bodyProblems(request: Request): Set<string> {
  const problems = new Set<string>();
  const has = (field: keyof Request) => request[field] != null;
  if (has('externalId') === has('internalId')) problems.add('identity_required');
  else if (has('internalId') && FORBIDDEN_WITH_INTERNAL_ID.some(has))
    problems.add('not_allowed_with_internal_id');
  else if (has('externalId') && !/^(?!\s)[^A-Z]*(?<!\s)$/.test(request.externalId!))
    problems.add('invalid_external_id');
  if (!request.creatorMode && [...DEFINITIONS, 'tenantGroups' as const].some(has))
    problems.add('creator_mode_required');
  if (request.creatorMode && !has('embedTenantName') && DEFINITIONS.some(has))
    problems.add('embed_tenant_required');
  if (hasDuplicates(request.userAttributes)) problems.add('duplicate_attribute_name');
  if (DEFINITIONS.some((field) => hasDuplicates(request[field]))) problems.add('duplicate_definition_name');
  for (const { type, defaultValue } of request.userAttributeDefinitions ?? [])
    if (defaultValue != null && defaultOf(type, defaultValue) === undefined)
      problems.add('invalid_default_value');
  return problems;
}

const hasDuplicates = (items: { name: string }[] | null | undefined) =>
  items != null && new Set(items.map(({ name }) => name)).size < items.length;

/** Both fields upsert into the same catalogue. If both name a group, their definitions are merged. */
function groupDefinitions(request: Request): GroupDefinition[] {
  const both = new Map<string, GroupDefinition>();
  for (const { name, description } of [
    ...(request.groupDefinitions ?? []),
    ...(request.tenantGroupDefinitions ?? []),
  ])
    both.set(name, { name, description: description || both.get(name)?.description });
  return [...both.values()];
}

function defineGroup(
  groups: Map<string, string | null>,
  { name, description }: GroupDefinition,
  effects: Effects,
) {
  const stored = groups.get(name);
  // A description is never cleared.
  const wanted = description || (stored ?? null);
  if (stored === undefined) effects.created.push(name);
  else if (wanted !== stored) effects.updated.push(name);
  groups.set(name, wanted);
}

/** Returns whether the type allows it. */
function defineAttribute(attributes: Map<string, Attribute>, wanted: AttributeDefinition, effects: Effects) {
  const stored = attributes.get(wanted.name);
  if (stored && stored.type !== wanted.type) return false;
  const after: Attribute = {
    type: wanted.type,
    displayName: wanted.displayName ?? stored?.displayName ?? null,
    defaultValue: wanted.defaultValue ?? stored?.defaultValue ?? null,
    description: wanted.description || (stored?.description ?? null),
  };
  if (!stored) effects.created.push(wanted.name);
  else if (JSON.stringify(after) !== JSON.stringify(stored)) effects.updated.push(wanted.name);
  attributes.set(wanted.name, after);
  return true;
}

function attributeProblems(request: Request, catalogue: Catalogue): Set<string> {
  const problems = new Set<string>();
  for (const { name, value } of request.userAttributes ?? []) {
    const attribute = catalogue.attributes.get(name);
    if (!attribute) problems.add('user_attributes_not_found');
    else if (value !== null && !fits(attribute.type, value)) problems.add('attribute_value_mismatch');
  }
  return problems;
}

function fits(type: AttributeType, value: unknown): boolean {
  if (type === 'string_array') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  if (type === 'number_array') return Array.isArray(value) && value.every((item) => typeof item === 'number');
  return typeof value === type;
}

/** Returns undefined if the text does not fit the type. */
export function defaultOf(type: AttributeType, text: string): Value | undefined {
  if (type === 'string') return text;
  try {
    const value = JSON.parse(text);
    return fits(type, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
