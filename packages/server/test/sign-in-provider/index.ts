/** Starts a real OpenID Connect provider beside a test, and tells it what to do. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Account, Answer, Order } from './process.ts';

export type { Account, Answer } from './process.ts';

export const CLIENT_ID = 'oriel';
export const CLIENT_SECRET = 'a-secret-that-only-the-provider-and-oriel-know';

export interface SignInProvider {
  issuer: string;
  /** The settings of a server that uses it. */
  env: Record<string, string>;
  /** Sends people back to these servers from now on. */
  serve(...urls: string[]): Promise<void>;
  /** Signs this person in at the next sign-in. */
  expect(account: Account): Promise<void>;
  /** Answers at this path in place of the provider. */
  answer(path: string, answer: Answer): Promise<void>;
  /** The token endpoint answers with this ID token, signed with the key of the provider, another one, or none. */
  issue(claims: JWTPayload, key?: SigningKey | 'none'): Promise<void>;
  /** The provider answers as itself again. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  jwk: object;
}

export async function newKey(kid: string): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' } };
}

export async function startProvider(): Promise<SignInProvider> {
  const child = fork(join(import.meta.dirname, 'process.ts'), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { tell, issuer } = await connect(child);
  const ownKey = await newKey('first');
  const answer = (path: string, given: Answer) => tell({ path, answer: given });

  return {
    issuer,
    env: {
      ORIEL_OIDC_ISSUER: issuer,
      ORIEL_OIDC_CLIENT_ID: CLIENT_ID,
      ORIEL_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      ORIEL_ALLOW_PRIVATE_REMOTES: 'true',
    },
    serve: (...urls) =>
      tell({ client: { id: CLIENT_ID, secret: CLIENT_SECRET, urls, signingKey: ownKey.jwk } }),
    expect: (account) => tell({ account }),
    answer,
    async issue(claims, key = ownKey) {
      const id_token = await sign(claims, key);
      const tokens = { access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token };
      await answer('/token', { body: JSON.stringify(tokens) });
    },
    reset: () => tell({ reset: true }),
    async stop() {
      if (child.exitCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** Waits until the child has started. Every order is answered after it was obeyed. */
async function connect(child: ChildProcess) {
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  const waiting = new Map<number, () => void>();
  let orders = 0;
  const issuer = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the provider has ended:\n${errors}`)));
    child.on('message', (message: { issuer: string } | { done: number }) => {
      if ('issuer' in message) resolve(message.issuer);
      else waiting.get(message.done)?.();
    });
  });
  const tell = (order: Order) =>
    new Promise<void>((resolve) => {
      const id = ++orders;
      waiting.set(id, resolve);
      child.send({ id, order });
    });
  return { issuer, tell };
}

function sign(claims: JWTPayload, key: SigningKey | 'none'): Promise<string> | string {
  if (key !== 'none') {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid }).sign(key.privateKey);
  }
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'none' })}.${encode(claims)}.`;
}
