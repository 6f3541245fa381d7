/** The files that are made from the contract, and from the list of keys of models, and checked in, so that a review shows what a change does to them. */
import {
  allOperations,
  bodyKindOf,
  type ErrorDefinition,
  errorCatalogue,
  errorCodesOf,
  type Operation,
  openApiDocument,
  replyKindOf,
} from '@oriel/contract';
import { expectedOperations } from '../packages/contract/coverage.ts';
import { keyDescriptions } from './key-descriptions.ts';

export const generatedFiles = (): Record<string, string> => ({
  'openapi.json': `${JSON.stringify(openApiDocument(allOperations), null, 2)}\n`,
  'packages/client/src/routes.gen.ts': clientRoutes(),
  'docs/status-codes.md': statusCodes(),
  'docs/coverage.md': coverage(),
  'docs/audit-resources.md': auditResources(),
  'packages/semantic/src/language/descriptions.gen.ts': keyDescriptions(),
});

function clientRoutes(): string {
  const lines = Object.entries(clientRoutesOf(allOperations)).map(([id, line]) => `  ${id}: '${line}',`);
  return `// Made by \`npm run generate\` from the contract.\nexport const routes: Record<string, string> = {\n${lines.join('\n')}\n};\n`;
}

/** What the client must know about each operation, by id; see `route.ts` of the client. JSON is the default. */
export const clientRoutesOf = (operations: readonly Operation[]): Record<string, string> =>
  Object.fromEntries(
    [...operations].sort((a, b) => (a.id < b.id ? -1 : 1)).map((op) => [op.id, clientRoute(op)]),
  );

function clientRoute(op: Operation): string {
  const query = Object.keys(op.query).sort().join('&');
  const options = {
    body: bodyKindOf(op)?.kind ?? 'json',
    reply: replyKindOf(op)?.kind ?? 'json',
    headers: Object.keys(op.headers).join(',') || 'json',
  };
  const said = Object.entries(options).filter(([, value]) => value !== 'json');
  return [`${op.method} ${op.path}${query && `?${query}`}`, ...said.map((pair) => pair.join('='))].join(' ');
}

function statusCodes(): string {
  const rows = Object.entries(errorCatalogue)
    .sort(([a, x], [b, y]) => x.status - y.status || (a < b ? -1 : 1))
    .map(([code, { status, message, deprecated }]: [string, ErrorDefinition]) => {
      const instead = deprecated ? ` Deprecated: \`${deprecated}\` is sent instead.` : '';
      return `| ${status} | \`${code}\` | ${message}${instead} |`;
    });
  const perOperation = allOperations.map(
    (op) =>
      `| \`${op.id}\` | ${errorCodesOf(op)
        .map((code) => `\`${code}\``)
        .join(', ')} |`,
  );
  return [
    '# Status codes',
    '',
    'Made by `npm run generate` from the contract.',
    '',
    'Success is 200 with a body and 204 without one. Most errors have this body:',
    '',
    '```json',
    JSON.stringify(
      {
        statusCode: 400,
        error: 'Bad Request',
        code: 'invalid_request',
        message: 'name: is required',
        requestId: '5d0c1f6a2b3e-1a',
        issues: [{ path: 'name', message: 'is required' }],
      },
      null,
      2,
    ),
    '```',
    '',
    '`code` is stable and for programs, `message` is for people. A 5xx shows no details except the request id, which is also in the header `X-Request-Id` and in the log.',
    '',
    'Three codes mean "not now", each with `Retry-After`: 429 `too_many_at_once` if you have too much under way yourself, 503 `busy` if the server or what you ask for is busy with the work of others, and 504 `timed_out` if it took too long. 429 `rate_limited` is about a span of time instead: too many attempts or calls within it. A deprecated code is not sent any more, and is listed for programs that know it.',
    '',
    'Some operations have the form of errors that their clients expect. There the header `X-Error-Code` holds the code:',
    '',
    '| Operations | Body |',
    '|---|---|',
    '| `/query/api/v1/…` | `{ "error": message }` |',
    '| `/api/scim/v2/…` | that of SCIM (RFC 7644): `schemas`, `status`, `detail`, `scimType` |',
    '| `/auth/device/…`, `/auth/oauth2/refresh` | that of OAuth (RFC 6749): `error`, which is a code of OAuth, and `error_description`; `errorDescription` where the body of the request is JSON |',
    '| pages for browsers | HTML |',
    '',
    '| Status | Code | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
    '## By operation',
    '',
    '| Operation | Codes |',
    '|---|---|',
    ...perOperation,
    '',
  ].join('\n');
}

function auditResources(): string {
  const types = [...new Set(allOperations.map(({ audit }) => audit))]
    .filter((type) => type !== 'none')
    .sort();
  const rows = types.map((type) => {
    const ids = allOperations.filter(({ audit }) => audit === type).map(({ id }) => `\`${id}\``);
    return `| \`${type}\` | ${ids.join(', ')} |`;
  });
  return [
    '# What the audit log names',
    '',
    'Made by `npm run generate` from the contract.',
    '',
    'The filters `resourceType` and `operation` of the [audit log](audit-log.md) take these names. An operation may also change resources of other types: a sign-in with a provider can create a `user`. The types of events that change nothing are in [The audit log](audit-log.md).',
    '',
    '| `resourceType` | `operation` |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function coverage(): string {
  const builtIds = new Set(allOperations.map(({ id }) => id));
  const expectedIds = new Set(expectedOperations.map(({ id }) => id));
  const built = expectedOperations.filter(({ id }) => builtIds.has(id));
  const missing = expectedOperations.filter(({ id }) => !builtIds.has(id));
  const others = allOperations.filter(({ id }) => !expectedIds.has(id));
  const table = (operations: readonly { id: string; tag: string; method: string; path: string }[]) => [
    '| Operation | Area | Address |',
    '|---|---|---|',
    ...operations.map(({ id, method, path, tag }) => `| \`${id}\` | ${tag} | \`${method} ${path}\` |`),
    '',
  ];
  return [
    '# Coverage',
    '',
    `Made by \`npm run generate\`. It lists the operations of the API. Of the specification, ${built.length} of ${expectedOperations.length} are built.`,
    '',
    '## Of the specification',
    '',
    ...table(built),
    ...(others.length ? ['## Beyond the specification', '', ...table(others)] : []),
    ...(missing.length ? ['## Not built yet', '', ...table(missing)] : []),
  ].join('\n');
}
