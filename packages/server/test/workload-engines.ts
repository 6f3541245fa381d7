/** Engines with an identity, seen from outside: their processes, and a service that takes their tokens. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { expect } from 'vitest';
import { engineUser } from '../src/engines/engine-user.ts';
import type { World } from './world.ts';

export interface EngineProcess {
  pid: number;
  env: Record<string, string>;
}

/** The processes of engines of this world with an identity. */
const engines = ({ server }: World): EngineProcess[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/environ`, 'utf8');
        const isEngine = basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('node');
        if (!isEngine || !text.includes(`${server.dataDir}/engine-identities/`)) return [];
        const env = Object.fromEntries(
          text.split('\0').flatMap((line) => {
            const at = line.indexOf('=');
            return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
          }),
        );
        return [{ pid: Number(pid), env }];
      } catch {
        return [];
      }
    });

/** Starts the engine of a deployment, and returns its process: the one whose environment has this variable. */
export async function engineWithVariable(
  world: World,
  deploymentId: number,
  variable: string,
): Promise<EngineProcess> {
  const before = new Set(engines(world).map(({ pid }) => pid));
  expect(await world.admin.testDataSource({ deploymentId, name: 'default' })).toMatchObject({
    isReachable: true,
  });
  const [engine] = engines(world).filter(({ pid, env }) => !before.has(pid) && env[variable]);
  if (!engine) throw new Error(`no engine has the variable ${variable}`);
  return engine;
}

/** Reads a file as the engine itself sees it. */
export const readAs = ({ pid, env }: EngineProcess, variable: string) =>
  readFile(`/proc/${pid}/root${env[variable]}`, 'utf8');

export interface Trust {
  issuer: string;
  audience: string;
  subject: string;
  roleArn: string;
}

/** Does what the token service of AWS does with a web identity token. */
export async function startTokenService(trust: Trust): Promise<{ url: string; server: Server }> {
  const assume = async (form: URLSearchParams) => {
    const token = form.get('WebIdentityToken')!;
    if (form.get('Action') !== 'AssumeRoleWithWebIdentity' || form.get('RoleArn') !== trust.roleArn) {
      throw new Error('AccessDenied');
    }
    if (decodeJwt(token).iss !== trust.issuer) throw new Error('InvalidIdentityToken: unknown issuer');
    const found = await fetch(`${trust.issuer}/.well-known/openid-configuration`);
    const { issuer, jwks_uri } = (await found.json()) as { issuer: string; jwks_uri: string };
    if (issuer !== trust.issuer) throw new Error('InvalidIdentityToken: another issuer');
    await jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), {
      algorithms: ['RS256'],
      issuer: trust.issuer,
      audience: trust.audience,
      subject: trust.subject,
      requiredClaims: ['exp', 'iat'],
    });
    return credentialsFor(form.get('RoleSessionName')!);
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    try {
      response.end(await assume(new URLSearchParams(text)));
    } catch (error) {
      const [code] = (error as Error).message.split(':');
      const message = (error as Error).message.replaceAll('"', '&quot;');
      response
        .writeHead(403, { 'content-type': 'text/xml' })
        .end(
          `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
        );
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, server };
}

const credentialsFor = (
  sessionName: string,
) => `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <Credentials>
      <AccessKeyId>ASIA${sessionName}</AccessKeyId>
      <SecretAccessKey>secret</SecretAccessKey>
      <SessionToken>session</SessionToken>
      <Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;

/** Runs a program with the environment and the user of the engine, and returns what it prints. */
export async function runAsEngine(
  { env }: EngineProcess,
  program: string,
  args: readonly string[],
  more: Record<string, string> = {},
): Promise<string> {
  const options = { env: { ...env, ...more }, cwd: '/', ...engineUser()?.ids };
  return (await promisify(execFile)(program, args, options)).stdout;
}
