import { allOperations, type ErrorShape, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentedOperation } from '../../../test/published-document.ts';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

/** Pages are for browsers, and show a person where to sign in instead. */
const guarded = allOperations.filter(({ auth, errorShape }) => auth !== 'public' && errorShape !== 'page');

/** Where the errors of each form hold their message. */
const MESSAGE_KEYS: Record<Exclude<ErrorShape, 'page'>, string> = {
  standard: 'message',
  oauth: 'error_description',
  scim: 'detail',
  message: 'error',
};

const ask = async (
  path: string,
  authorization?: string,
  { method = 'GET', errorShape: shape = 'standard' }: Partial<Operation> = {},
) => {
  const response = await world.raw(method, path, {
    apiKey: null,
    headers: authorization ? { authorization } : {},
  });
  const body = (await response.json()) as Record<string, string>;
  return {
    status: response.status,
    message: body[MESSAGE_KEYS[shape as keyof typeof MESSAGE_KEYS]]!,
    how: response.headers.get('www-authenticate'),
  };
};

describe('the error for a missing or malformed credential says how to send one', () => {
  test.each([
    [undefined, 'no Authorization header'],
    ['Basic YWRhOnNlY3JldA==', 'scheme `Basic`'],
    ['Digest username="ada"', 'scheme `Digest`'],
    ['sk-0123456789abcdef', 'no scheme'],
    ['Api-Key', 'nothing after `Api-Key`'],
    ['Bearer', 'nothing after `Bearer`'],
    ['Api-Key 0123456789abcdef', 'does not begin with `sk-`'],
    ['Api-Key sk-short', '8 to 253'],
    ['Api-Key sk-0123456789abcdef sk-0123456789abcdef', 'more than one'],
  ])('%s', async (authorization, message) => {
    const refused = await ask('/api/v1/users/me', authorization);
    expect(refused).toMatchObject({ status: 401, how: 'Api-Key, Bearer' });
    expect(refused.message).toContain(message);
    expect(refused.message).toContain('`Authorization: Api-Key sk-…`');
  });

  test('an operation for embed tokens says that it takes no API key', async () => {
    const { message, how } = await ask('/api/v1/embed/session', 'Api-Key sk-0123456789abcdef');
    expect(how).toBe('Bearer');
    expect(message).toContain('takes no API key');
    expect(message).toContain('embed session');
  });

  test('on every operation that needs a credential', async () => {
    for (const op of guarded) {
      const { status, message } = await ask(op.path.replaceAll(/\{\w+\}/g, '1'), undefined, op);
      expect([op.id, status]).toEqual([op.id, 401]);
      expect(message).toContain('Send `Authorization: ');
    }
  });

  test('and names the embed token only where the operation and its document accept one', async () => {
    for (const op of guarded) {
      const { message, how } = await ask(op.path.replaceAll(/\{\w+\}/g, '1'), undefined, op);
      const { security } = documentedOperation(op.method, op.path)!;
      const takesEmbedToken = security.some((scheme) => 'embedToken' in scheme);
      expect([op.id, message.includes('embed session')]).toEqual([op.id, takesEmbedToken]);
      const takesApiKey = security.some((scheme) => 'apiKey' in scheme);
      expect([op.id, how]).toEqual([op.id, takesApiKey ? 'Api-Key, Bearer' : 'Bearer']);
    }
  });
});

test('the error repeats nothing that could be a secret, and is the same for every key', async () => {
  for (const secret of ['c2VjcmV0c2VjcmV0', 'my-secret-password-of-this-service'])
    for (const header of [secret, `${secret} ${secret}`, `Api-Key ${secret}`, `Basic ${secret}`])
      expect((await ask('/api/v1/users/me', header)).message).not.toContain(secret);
  const { apiKey, apiKeyId } = await world.person();
  await world.admin.deleteApiKey({ id: apiKeyId });
  const [revoked, unknown] = [
    await ask('/api/v1/users/me', `Api-Key ${apiKey}`),
    await ask('/api/v1/users/me', 'Api-Key sk-this-was-never-a-key'),
  ];
  expect(revoked).toEqual(unknown);
});

test("the error for a viewer's token on an operation for creators says that it needs creator mode", async () => {
  const { id: deploymentId } = await world.deployment();
  const { client } = await world.embedded({ deploymentId, externalId: 'ann' });
  await expect(client.getReports({ deploymentId })).rejects.toMatchObject({
    status: 403,
    code: 'creator_mode_only',
  });
  await expect(client.getDeployments()).rejects.toMatchObject({ status: 403, code: 'forbidden' });
});
