/** Requests as identity providers send them. */
import { unique, type World } from './world.ts';

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the replies of SCIM have many forms, and every one is checked by its schema
  body: any;
}

export type ScimClient = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Reply>;

export const scimClient =
  (world: Pick<World, 'raw'>, authorization?: string, base = '/api/scim/v2'): ScimClient =>
  async (method, path, body, headers = {}) => {
    const response = await world.raw(method, base + path, {
      headers: {
        'content-type': 'application/scim+json',
        ...(authorization ? { authorization } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
  };

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export const patchOf = (...Operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});

export const filtered = (list: 'Users' | 'Groups', filter: string) =>
  `/${list}?filter=${encodeURIComponent(filter)}`;

/** What Okta sends for a new person. */
export const oktaUser = (userName: string) => ({
  schemas: [USER],
  userName,
  name: { givenName: 'Test', familyName: 'User' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Test User',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
});

export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** What Entra ID sends for a new person. */
export const entraUser = (userName: string) => ({
  schemas: [USER, ENTERPRISE],
  externalId: unique('0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef'),
  userName,
  active: true,
  emails: [{ primary: true, type: 'work', value: `${userName}@testuser.com` }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
  [ENTERPRISE]: { department: 'Sales' },
});

/** As both look for a person before they create one. */
export const searchFor = (userName: string) =>
  `${filtered('Users', `userName eq "${userName}"`)}&startIndex=1&count=100`;

/** A user that no other test uses. */
export async function createUser(scim: ScimClient, fields: object = {}): Promise<Reply['body']> {
  const userName = unique('scim');
  const emails = [{ value: `${userName}@example.com`, type: 'work', primary: true }];
  const { status, body } = await scim('POST', '/Users', { schemas: [USER], userName, emails, ...fields });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}
