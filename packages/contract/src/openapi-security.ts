/** How the OpenAPI document describes credentials. */
import type { Operation } from './operation.ts';

const SECURITY = {
  public: [],
  management: [{ bearer: [] }, { apiKey: [] }],
  apiKey: [{ apiKey: [] }, { apiKeyAsBearer: [] }],
  embed: [{ embedToken: [] }],
  console: [{ consoleSession: [] }],
  query: [{ bearer: [] }, { apiKey: [] }],
} satisfies Record<Operation['auth'], object[]>;

/** Our own pages call the API with their cookie. */
const cookieFor = (op: Operation) => {
  if (op.auth !== 'management') return [];
  return [op.method === 'GET' ? { consoleSession: [] } : { consoleSession: [], csrfToken: [] }];
};

export const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or an API key' },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`Api-Key sk-…`, with the scheme word in front of the key',
  },
  apiKeyAsBearer: { type: 'http', scheme: 'bearer', description: 'An API key' },
  embedToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The embed token that a session was exchanged for',
  },
  environmentToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An environment token, with or without `Bearer` in front of it',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-oriel',
    description: 'The cookie of a person who signed in by browser; `oriel` without TLS',
  },
  csrfToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description:
      'The field `csrf` of a form in one of our pages. A change with the cookie needs it, and the `Origin` of this server',
  },
};

export const securityOf = (op: Operation) => [
  ...SECURITY[op.auth],
  ...(op.queryScope && op.queryScope !== 'none' ? [{ environmentToken: [] }] : []),
  ...(op.embed && op.auth !== 'embed' ? SECURITY.embed : []),
  ...cookieFor(op),
];
