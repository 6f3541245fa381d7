/** Finds the errors in a request for a session that can be found without the database. */
import type { BodyOf, operations } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';
import { type AttributeType, defaultWords, fitsDefault, valueWords } from '../user-attributes/index.ts';

export type SessionRequest = BodyOf<typeof operations.generateSession>;

const SECURITY_CONTEXT_MAX_BYTES = 64 * 1024;

/** Fields that are not allowed for an internal user, whose values a session does not change. */
const EXTERNAL_ONLY = [
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
const CREATOR_ONLY = [...DEFINITIONS, 'tenantGroups'] as const;

/** Returns every error, the most important first. Null means the same as absent. */
export function problemsOf(request: SessionRequest): ApiError[] {
  return [
    ...identityProblems(request),
    ...creatorProblems(request),
    ...duplicates(request),
    ...defaultProblems(request),
    ...contextProblems(request),
  ];
}

const problem = (code: ConstructorParameters<typeof ApiError>[0], path: string, message: string) =>
  new ApiError(code, { message, issues: [{ path, message }] });

function identityProblems(request: SessionRequest): ApiError[] {
  const { externalId, internalId } = request;
  if ((externalId == null) === (internalId == null)) return [new ApiError('identity_required')];
  if (internalId != null) {
    return EXTERNAL_ONLY.filter((field) => request[field] != null).map((field) =>
      problem('not_allowed_with_internal_id', field, `\`${field}\` is not allowed with \`internalId\`.`),
    );
  }
  if (externalId === externalId!.toLowerCase().trim()) return [];
  return [problem('invalid_external_id', 'externalId', '`externalId` must be lowercase and trimmed.')];
}

function creatorProblems(request: SessionRequest): ApiError[] {
  const given = CREATOR_ONLY.filter((field) => request[field] != null);
  if (!request.creatorMode) {
    return given.map((field) =>
      problem('creator_mode_required', field, `\`${field}\` needs \`creatorMode: true\`.`),
    );
  }
  if (request.embedTenantName != null) return [];
  return DEFINITIONS.filter((field) => request[field] != null).map((field) =>
    problem('embed_tenant_required', field, `\`${field}\` needs an \`embedTenantName\`.`),
  );
}

const duplicates = (request: SessionRequest): ApiError[] => [
  ...repeated(request.userAttributes).map(({ name, i }) =>
    problem('duplicate_attribute_name', `userAttributes[${i}].name`, `The attribute ${name} is given twice.`),
  ),
  ...DEFINITIONS.flatMap((field) =>
    repeated(request[field]).map(({ name, i }) =>
      problem('duplicate_definition_name', `${field}[${i}].name`, `${name} is defined twice.`),
    ),
  ),
];

function repeated(items: readonly { name: string }[] | null | undefined) {
  const seen = new Set<string>();
  return (items ?? []).flatMap(({ name }, i) => {
    if (seen.has(name)) return [{ name, i }];
    seen.add(name);
    return [];
  });
}

const defaultProblems = (request: SessionRequest): ApiError[] =>
  (request.userAttributeDefinitions ?? []).flatMap(({ name, type, defaultValue }, i) =>
    defaultValue == null || fitsDefault(type, defaultValue)
      ? []
      : [
          problem(
            'invalid_default_value',
            `userAttributeDefinitions[${i}].defaultValue`,
            `The default value of ${name} must be ${defaultWords(type)}.`,
          ),
        ],
  );

function contextProblems({ securityContext }: SessionRequest): ApiError[] {
  if (securityContext == null) return [];
  if (Buffer.byteLength(JSON.stringify(securityContext)) <= SECURITY_CONTEXT_MAX_BYTES) return [];
  return [
    problem('security_context_too_large', 'securityContext', '`securityContext` is larger than 64 KB.'),
  ];
}

/**
 * Groups and tenant groups share one catalogue. If both lists describe one group, the description in
 * `tenantGroupDefinitions` is used.
 */
export function definedGroups({ groupDefinitions, tenantGroupDefinitions }: SessionRequest) {
  if (groupDefinitions == null || tenantGroupDefinitions == null)
    return groupDefinitions ?? tenantGroupDefinitions;
  const byName = new Map(groupDefinitions.map((definition) => [definition.name, definition]));
  for (const { name, description } of tenantGroupDefinitions)
    byName.set(name, { name, description: description || byName.get(name)?.description });
  return [...byName.values()];
}

/** An error that the database found; see mint_embed_session. */
export type Refusal =
  | { code: 'attribute_type_conflict' | 'attribute_value_mismatch'; name: string; type: AttributeType }
  | { code: 'groups_not_found'; field: 'groups' | 'tenantGroups'; names: string[] }
  | { code: 'user_attributes_not_found'; names: string[] }
  | { code: 'external_user_limit_reached' };

/** Turns a refusal into the error that the caller sees. */
export function toProblem(refusal: Refusal, request: SessionRequest): ApiError {
  const at = (field: 'userAttributes' | 'userAttributeDefinitions', name: string) =>
    `${field}[${request[field]?.findIndex((item) => item.name === name)}]`;
  switch (refusal.code) {
    case 'attribute_type_conflict': {
      const { name, type } = refusal;
      const path = `${at('userAttributeDefinitions', name)}.type`;
      return problem(refusal.code, path, `The attribute ${name} is a ${type}: cannot change type.`);
    }
    case 'attribute_value_mismatch': {
      const { name, type } = refusal;
      const path = `${at('userAttributes', name)}.value`;
      return problem(refusal.code, path, `The value of the attribute ${name} must be ${valueWords(type)}.`);
    }
    case 'groups_not_found': {
      const message = `Groups with names ${refusal.names.join(', ')} not found`;
      const where = request.creatorMode ? '. In creator mode, they must be groups of the embed tenant.' : '';
      return new ApiError(refusal.code, {
        message,
        issues: [{ path: refusal.field, message: message + where }],
      });
    }
    case 'user_attributes_not_found': {
      const where = request.creatorMode
        ? 'In creator mode, it must be an attribute of the embed tenant: define it with `userAttributeDefinitions`, or leave it out.'
        : 'It must be an attribute of the account.';
      const issues = refusal.names.map((name) => ({
        path: `${at('userAttributes', name)}.name`,
        message: `There is no attribute ${name}. ${where}`,
      }));
      return new ApiError(refusal.code, { issues });
    }
    case 'external_user_limit_reached':
      return new ApiError(refusal.code);
  }
}
