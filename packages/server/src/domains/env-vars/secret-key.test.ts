/** The secret key that variables are sealed with: replacing it, and starting without it. */
import { randomUUID } from 'node:crypto';
import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { integrationOf } from '../../../test/oauth.ts';
import { ADMIN_KEY, createOwnWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import { readConfig } from '../../config.ts';
import { forgetSecrets } from '../../forget-secrets.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { rotateSecretKey } from '../../rotate-secret.ts';
import { fingerprintsOf } from '../installation/index.ts';
import { ENV_VARIABLE_COLUMN, LOST } from './env-vars.ts';

const NEW_KEY = 'T7rWq2Zb9mYt4cVh8sKd1fLx6gNp5aEu';
const OTHER_KEY = 'b3Jx8vQn2LkWz7yTf5cRm1dHs9gPa6Eu';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const clientOf = ({ url }: { url: string }) => createOrielClient({ baseUrl: url, apiKey: ADMIN_KEY });

test('the secret key is replaced while servers read and write variables', async () => {
  const both = { ORIEL_SECRET_KEY: NEW_KEY, ORIEL_SECRET_KEY_PREVIOUS: SECRET_KEY };
  const set = (client: World['admin'], name: string, value: string) =>
    client.setEnvVariables({ deploymentId, body: { env_variables: [{ name, value }] } });
  await set(world.admin, 'DB_PASS', 'correct horse');
  const client = clientOf(await world.anotherServer(both));
  const written = new Map<string, string>();
  let isOver = false;
  const writing = (async () => {
    for (let i = 0; !isOver; i++) {
      const [name, value] = [`V${i % 20}`, `value ${i}`];
      await set(client, name, value);
      written.set(name, value);
    }
  })();
  await expect.poll(() => written.size).toBeGreaterThan(5);
  const settings = { ...both, ORIEL_DATABASE_URL: world.databaseUrl, ORIEL_PORT: '0' };
  expect(await rotateSecretKey(readConfig(settings), [])).toBeGreaterThan(0);
  isOver = true;
  await writing;

  const onlyNew = clientOf(await world.anotherServer({ ORIEL_SECRET_KEY: NEW_KEY }));
  const { items } = await onlyNew.getEnvVariables({ deploymentId });
  const values = new Map(items.map(({ name, value }) => [name, value]));
  expect(values).toEqual(new Map([...written, ['DB_PASS', 'correct horse']]));
});

test('a server does not start without the key of a variable, and says so', async () => {
  const id = randomUUID();
  const sealed = createBox(ENV_VARIABLE_COLUMN, createKeyring([SECRET_KEY])).seal(id, Buffer.from('x'));
  await world.server.db.pool.query('insert into env_variables values ($1, $2, $3, $4)', [
    id,
    deploymentId,
    'LATE',
    sealed,
  ]);
  await expect(world.anotherServer({ ORIEL_SECRET_KEY: NEW_KEY })).rejects.toThrow(
    /another secret key.*\(variables of deployments, in the table env_variables\): set ORIEL_SECRET_KEY_PREVIOUS/,
  );
});

test('if the key is lost, the names of variables stay, and each can be set again', async () => {
  const id = (await world.deployment()).id;
  const variables = ['B', 'A'].map((name) => ({ name, value: 'x' }));
  await world.admin.setEnvVariables({ deploymentId: id, body: { env_variables: variables } });
  const integration = integrationOf(world, 'https://login.example.com');
  const { id: integrationId } = await world.admin.createOAuthIntegration({ body: integration });
  const [fingerprint] = fingerprintsOf([OTHER_KEY]);
  const lost = await forgetSecrets({ connectionString: world.databaseUrl }, fingerprint!);
  expect(lost.find(({ deploymentId }) => deploymentId === id)).toEqual({
    deploymentId: id,
    names: ['A', 'B'],
  });

  // The keys of embed tokens are sealed too. A restore leaves them out.
  await world.server.db.pool.query('delete from signing_keys');
  const another = await world.anotherServer({ ORIEL_SECRET_KEY: OTHER_KEY });
  const client = clientOf(another);
  const { items } = await client.getEnvVariables({ deploymentId: id });
  expect(items).toEqual(['A', 'B'].map((name) => ({ name, value: LOST })));
  await client.setEnvVariables({ deploymentId: id, body: { env_variables: [{ name: 'A', value: 'y' }] } });
  const read = await client.getEnvVariables({ deploymentId: id });
  expect(read.items).toEqual([
    { name: 'A', value: 'y' },
    { name: 'B', value: LOST },
  ]);
  // So does an integration, whose secret can be given again.
  expect((await client.initiateOAuthFlow({ integrationId })).authorizationUrl).toContain('login.example.com');
  await client.updateOAuthIntegration({
    id: integrationId,
    body: integrationOf(another, 'https://login.example.com'),
  });
});
