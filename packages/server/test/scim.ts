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
  (world: World, authorization?: string): ScimClient =>
  async (method, path, body, headers = {}) => {
    const response = await world.raw(method, `/api/scim/v2${path}`, {
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

/** A user that no other test uses. */
export async function createUser(scim: ScimClient, fields: object = {}): Promise<Reply['body']> {
  const userName = unique('scim');
  const emails = [{ value: `${userName}@example.com`, type: 'work', primary: true }];
  const { status, body } = await scim('POST', '/Users', { schemas: [USER], userName, emails, ...fields });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}
