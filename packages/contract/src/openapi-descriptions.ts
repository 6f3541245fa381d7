/** The sentences of the OpenAPI document that follow from the properties of an operation. */
import type { ReplyKind } from './kinds.ts';
import { sizeText } from './limits.ts';
import { bodyKindOf, bodyLimitOf, isDeploymentOperation, type Operation, takesApiKey } from './operation.ts';

export const STATUS_TEXT: Record<number, string> = {
  400: 'The request is malformed, or refers to something that does not exist',
  401: 'The credential is missing or not valid',
  403: 'The caller may not do this',
  404: 'It does not exist, or the caller may not know that it exists',
  405: 'The path does not take this method',
  408: 'The request did not arrive in time',
  409: 'The current state does not allow it',
  412: 'The resource has changed since it was read',
  413: 'The body is too large',
  415: 'The operation does not take a body of this type',
  429: 'Too many requests',
  431: 'The headers are too large',
  500: 'Something went wrong on our side',
  501: 'The server does not support this',
  502: 'Another server, which this one asked, failed or sent something else than expected',
  503: 'The service cannot answer right now',
  504: 'The answer took too long',
};

/** What a reader needs before the first call. */
export const INTRODUCTION = `The API of Oriel: data models, queries, content, embed sessions, and the people who may use them.

- **Key.** Send \`Authorization: Api-Key sk-…\`, or a token as \`Authorization: Bearer …\`. At \`/docs\`, put either into the box at the top; the page adds the scheme. \`getMe\` shows whose key it is.
- **Examples.** Each body has one. With the demo, where the deployment is 1, most work as they are; the others need something that you have made before, such as the group that they change.
- **Errors.** The reply has a \`code\` for programs, which never changes, a \`message\` for people, and the \`requestId\` of the log.
- **Lists.** Ask for the next page with \`after\` and the \`pageInfo.endCursor\` of the last one.`;

/** From what most come for to what is rare: embedding, data and questions, content, people, and then the account. */
const READING_ORDER: readonly string[] = [
  'Embed',
  'Embed Tenants',
  'Dashboard Embed Access',
  'App Theme',
  'Users',
  'API Keys',
  'Deployments',
  'Deployment Creation',
  'Env Variables',
  'Data Sources',
  'Data Model',
  'Data Model Uploads',
  'Environments',
  'Queries',
  'Workspace',
  'Folders',
  'Workbooks',
  'Reports',
  'Users Admin',
  'User Groups',
  'Roles',
  'Resource Policies',
  'User Attributes',
  'User Attribute Values',
  'Sign-in',
  'SCIM',
  'Tenant Settings',
  'Audit Log',
  'Regions',
  'OpenAPI Spec',
  'Pages',
];

/** Areas that the list does not name come last, by name. */
export function inReadingOrder<T>(areas: [string, T][]): [string, T][] {
  const place = (name: string) => (READING_ORDER.includes(name) ? READING_ORDER.indexOf(name) : Infinity);
  return areas.sort(([a], [b]) => (place(a) === place(b) ? (a < b ? -1 : 1) : place(a) - place(b)));
}

export const SUCCESS_TEXT: Record<ReplyKind['kind'] | 'nothing', string> = {
  json: 'Success',
  jsonText: 'Success',
  ndjson: 'One JSON value per line. `x-each` describes one',
  csv: 'A line of column names, then one line per row',
  html: 'A page',
  eventStream: 'Events as they happen. `x-each` describes one, with its data parsed as JSON',
  redirect: 'A redirect to the address in `Location`',
  bytes: 'The content',
  nothing: 'Done',
};

export const describeOperation = (op: Operation) =>
  [op.description, needs(op), alsoTakes(op), scope(op), origins(op), bounds(op)].filter(Boolean).join(' ');

export const describeBody = (op: Operation) =>
  `At most ${sizeText(bodyLimitOf(op))}${bodyKindOf(op)?.kind === 'multipart' ? ' in all' : ''}`;

/** Who may call the operation. */
function needs(op: Operation): string {
  if (op.auth === 'public') return 'Needs no credential.';
  if (op.auth === 'embed') return 'Needs an embed token.';
  if (op.permission === 'none')
    return op.auth === 'apiKey' ? 'Needs an API key.' : 'Needs a valid credential.';
  if (op.permissionOn === 'resource')
    return `Needs \`${op.permission}\` on the resource, by role, by policy or as its owner.`;
  return `Needs the action \`${op.permission}\`.`;
}

function alsoTakes({ auth, embed, queryScope }: Operation): string {
  const environment =
    queryScope === 'none'
      ? 'Environment tokens are refused.'
      : queryScope && `Environment tokens with the scope \`${queryScope}\` are accepted too.`;
  const embedded =
    auth !== 'embed' &&
    embed &&
    `Embed tokens ${embed === 'creator' ? 'in creator mode ' : ''}are accepted too.`;
  return [environment, embedded].filter(Boolean).join(' ');
}

const SCOPED_KEYS = {
  allowed: 'API keys that are scoped to deployments are accepted like any other.',
  refused: 'API keys that are scoped to deployments are refused.',
  handler: 'API keys that are scoped to deployments reach only what is within their scope.',
} satisfies Record<NonNullable<Operation['scopedKeys']>, string>;

/** What an API key can do that is scoped to deployments. */
function scope(op: Operation): string {
  if (op.scopedKeys) return SCOPED_KEYS[op.scopedKeys];
  return takesApiKey(op) && isDeploymentOperation(op)
    ? 'The scope of a scoped API key must include the deployment.'
    : '';
}

const origins = ({ crossOrigin }: Operation) =>
  crossOrigin ? 'Pages of other origins may call it, if `embedAllowedOrigins` allows theirs.' : '';

/** The rate limit and the time limit. */
function bounds({ rate, timeoutMs }: Operation): string {
  const often = rate && `One caller may call it ${rate.max} times in ${rate.perSeconds} seconds.`;
  const long = timeoutMs && `It is stopped after ${timeoutMs / 1000} seconds.`;
  return [often, long].filter(Boolean).join(' ');
}
