/**
 * Tokens as engines get them and as others verify them. DuckDB's own extensions for clouds are not part of Oriel, so a
 * small program with the environment and the user of the engine's process asks for credentials, as SDKs do.
 */
import { readFile, stat } from 'node:fs/promises';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  type EngineProcess,
  engineWithVariable,
  readAs,
  runAsEngine,
  startTokenService,
} from '../../../test/workload-engines.ts';
import { createOwnWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import { engineUser } from '../../engines/engine-user.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createWorkloadKeys } from '../signing-keys/index.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
  await world.server.db.pool.query('update tenant_settings set use_creator_mode = true');
});
afterAll(() => world.stop());
afterEach(async () => {
  vi.useRealTimers();
  for (const { id } of await world.admin.listOidcTokenConfigs())
    await world.admin.deleteOidcTokenConfig({ id });
});

/** What SDKs do: they read the variables and the file, and exchange the token. */
const ASSUME_ROLE = `
  const { readFileSync } = require('node:fs');
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME } = process.env;
  fetch(process.argv[1], { method: 'POST', body: new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', RoleArn: AWS_ROLE_ARN,
    RoleSessionName: AWS_ROLE_SESSION_NAME, WebIdentityToken: readFileSync(file, 'utf8') }) })
    .then((reply) => reply.text()).then((text) => process.stdout.write(text));`;

const runAs = (engine: EngineProcess, code: string, ...args: string[]) =>
  runAsEngine(engine, process.execPath, ['-e', code, ...args]);
const engineWith = (deploymentId: number, variable: string) =>
  engineWithVariable(world, deploymentId, variable);

test('an engine exchanges its token for credentials of a cloud, which verifies it by discovery', async () => {
  const { id: deploymentId } = await world.deployment();
  const roleArn = 'arn:aws:iam::123456789012:role/analytics';
  await world.admin.setEnvVariables({
    deploymentId,
    body: {
      env_variables: [
        { name: 'AWS_ROLE_ARN', value: roleArn },
        { name: 'AWS_SECRET_ACCESS_KEY', value: 'not for engines' },
      ],
    },
  });
  await world.admin.createOidcTokenConfig({ body: { audienceType: 'aws' } });
  const engine = await engineWith(deploymentId, 'AWS_WEB_IDENTITY_TOKEN_FILE');
  expect(engine.env).toMatchObject({
    AWS_ROLE_ARN: roleArn,
    AWS_ROLE_SESSION_NAME: `oriel-deployment-${deploymentId}`,
  });
  expect(engine.env).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
  const subject = `oriel:deployment:${deploymentId}`;
  const trust = { issuer: world.url, audience: 'sts.amazonaws.com', roleArn };
  const trusting = await startTokenService({ ...trust, subject });
  const ofAnother = await startTokenService({ ...trust, subject: `${subject}0` });
  expect(await runAs(engine, ASSUME_ROLE, trusting.url)).toContain(`ASIAoriel-deployment-${deploymentId}`);
  expect(await runAs(engine, ASSUME_ROLE, ofAnother.url)).toContain('unexpected &quot;sub&quot;');

  const embedded = await world.embedded({ deploymentId, externalId: 'ada' });
  const asWorkload = `process.env.AWS_ROLE_ARN; fetch(process.argv[1], { method: 'POST', body: process.argv[2] })
    .then((reply) => reply.text()).then((text) => process.stdout.write(text))`;
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    RoleArn: roleArn,
    RoleSessionName: 'x',
    WebIdentityToken: embedded.token,
  });
  expect(await runAs(engine, asWorkload, trusting.url, form.toString())).toContain('InvalidIdentityToken');
  for (const { server } of [trusting, ofAnother]) server.close();
});

test('a token of a workload opens nothing here, and its keys verify no embed token', async () => {
  const { id: deploymentId } = await world.deployment();
  // The claims of an embed token, as far as a config can set them.
  const embedded = await world.embedded({ deploymentId, externalId: 'ada' });
  const { iss: _iss, sub, aud, iat: _iat, exp: _exp, ...customClaims } = decodeJwt(embedded.token);
  await world.admin.createOidcTokenConfig({
    body: {
      audienceType: 'CUSTOM',
      customAudience: aud as string,
      subFormat: sub!,
      customClaims,
      targetEnvVar: 'FORGED_TOKEN',
    },
  });
  const engine = await engineWith(deploymentId, 'FORGED_TOKEN');
  const token = await readAs(engine, 'FORGED_TOKEN');
  for (const path of ['/api/v1/embed/session', '/api/v1/users/me', `/api/v1/deployments/${deploymentId}`]) {
    const refused = await fetch(world.url + path, { headers: { authorization: `Bearer ${token}` } });
    expect([path, refused.status]).toEqual([path, 401]);
  }
  const jwksOf = (path: string) => createRemoteJWKSet(new URL(path, world.url));
  const [embedKeys, workloadKeys] = [
    jwksOf('/.well-known/jwks.json'),
    jwksOf('/.well-known/workload-jwks.json'),
  ];
  await expect(jwtVerify(embedded.token, embedKeys)).resolves.toBeDefined();
  await expect(jwtVerify(token, workloadKeys)).resolves.toBeDefined();
  await expect(jwtVerify(token, embedKeys)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  await expect(jwtVerify(embedded.token, workloadKeys)).rejects.toMatchObject({
    code: 'ERR_JWKS_NO_MATCHING_KEY',
  });
});

test('a relying party that knows only the address of this server accepts a token, and only for itself', async () => {
  const { id: deploymentId } = await world.deployment();
  await world.admin.createOidcTokenConfig({
    body: {
      audienceType: 'Custom',
      customAudience: 'warehouse',
      subFormat: 'acme:{deployment_id}',
      customClaims: { nonce: 'of the session' },
      targetEnvVar: 'WAREHOUSE_TOKEN_FILE',
    },
  });
  const token = await readAs(await engineWith(deploymentId, 'WAREHOUSE_TOKEN_FILE'), 'WAREHOUSE_TOKEN_FILE');
  const accept = async (clientId: string) => {
    const config = await oidc.discovery(new URL(world.url), clientId, undefined, oidc.None(), {
      execute: [oidc.allowInsecureRequests, oidc.useIdTokenResponseType],
    });
    return oidc.implicitAuthentication(
      config,
      new URL(`https://a.example/#id_token=${token}`),
      'of the session',
    );
  };
  expect(await accept('warehouse')).toMatchObject({
    iss: world.url,
    sub: `acme:${deploymentId}`,
    aud: 'warehouse',
  });
  await expect(accept('lake')).rejects.toMatchObject({ code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' });
});

test('the files are in a folder of the engine, readable by it alone', async () => {
  const { id: deploymentId } = await world.deployment();
  const provider = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/o';
  await world.admin.setEnvVariables({
    deploymentId,
    body: {
      env_variables: [{ name: 'GOOGLE_IMPERSONATE_SERVICE_ACCOUNT', value: 'a@b.iam.gserviceaccount.com' }],
    },
  });
  for (const audienceType of ['AZURE', 'GCP']) {
    const customAudience = audienceType === 'GCP' ? provider : null;
    await world.admin.createOidcTokenConfig({ body: { audienceType, customAudience } });
  }
  const engine = await engineWith(deploymentId, 'AZURE_FEDERATED_TOKEN_FILE');
  expect(decodeJwt(await readAs(engine, 'AZURE_FEDERATED_TOKEN_FILE')).aud).toBe(
    'api://AzureADTokenExchange',
  );
  const google = JSON.parse(await readAs(engine, 'GOOGLE_APPLICATION_CREDENTIALS'));
  expect(google).toMatchObject({
    type: 'external_account',
    audience: provider,
    service_account_impersonation_url: expect.stringContaining(
      '/serviceAccounts/a@b.iam.gserviceaccount.com:',
    ),
  });
  expect(
    decodeJwt(await readFile(`/proc/${engine.pid}/root${google.credential_source.file}`, 'utf8')).aud,
  ).toBe(provider);

  const uid = engineUser()?.ids?.uid ?? process.getuid!();
  const { AZURE_FEDERATED_TOKEN_FILE: file, GOOGLE_APPLICATION_CREDENTIALS: credentials } = engine.env;
  const seen = await Promise.all(
    [file!, credentials!, file!.replace(/\/[^/]+$/, '')].map((path) => stat(path)),
  );
  expect(seen.map((found) => [found.uid, found.mode & 0o777])).toEqual([
    [uid, 0o400],
    [uid, 0o400],
    [uid, 0o700],
  ]);
});

test('a change of configs or variables gives the next query an engine with other tokens; without configs there are none', async () => {
  const { id: deploymentId } = await world.deployment();
  const { id } = await world.admin.createOidcTokenConfig({
    body: { audienceType: 'CUSTOM', customAudience: 'a', targetEnvVar: 'A_TOKEN' },
  });
  const first = await engineWith(deploymentId, 'A_TOKEN');
  await world.admin.updateOidcTokenConfig({ id, body: { customAudience: 'b', targetEnvVar: 'B_TOKEN' } });
  const second = await engineWith(deploymentId, 'B_TOKEN');
  expect(second.env).not.toHaveProperty('A_TOKEN');
  expect(decodeJwt(await readAs(second, 'B_TOKEN')).aud).toBe('b');
  expect(decodeJwt(await readAs(first, 'A_TOKEN')).aud).toBe('a');
  await world.admin.updateOidcTokenConfig({ id, body: { isEnabled: false } });
  await expect(engineWith(deploymentId, 'B_TOKEN')).rejects.toThrow('no engine has');
});

test('a new key is published for a day before it signs, and the old one until its last token has ended', async () => {
  const { id: deploymentId } = await world.deployment();
  const { id } = await world.admin.createOidcTokenConfig({ body: { audienceType: 'AWS' } });
  const kidNow = async () => (await world.admin.previewOidcToken({ id, body: { deploymentId } })).header.kid;
  const published = async () => (await world.client().getWorkloadJwks()).keys.map(({ kid }) => kid);
  const old = await kidNow();
  const age = (hours: number) =>
    world.server.db.pool.query(
      'update workload_keys set created_at = created_at - make_interval(hours => $1)',
      [hours],
    );
  const keys = createWorkloadKeys({
    essential: world.server.db,
    createCache: () => ({ get: () => undefined, load: (_key, read) => read() }),
    box: (column) => createBox(column, createKeyring([SECRET_KEY])),
  });
  await age(31 * 24);
  await keys.rotate();
  await expect.poll(async () => (await published()).length).toBe(2);
  const young = (await published()).find((kid) => kid !== old)!;
  expect(await kidNow()).toBe(old);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 });
  expect(await kidNow()).toBe(young);
  expect(await published()).toContain(old);
  await age(3 * 24);
  await keys.rotate();
  await expect.poll(published).toEqual([young]);
});
