/** The tokens of deployments. This server only signs them: none of its operations takes one. */
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Platform } from '../../platform/module.ts';
import { type SigningKeys, WORKLOAD_ALGORITHM } from '../signing-keys/index.ts';
import { subjectOf } from './rules.ts';
import type { TokenConfigRow } from './store.ts';

export const TOKEN_LIFE_SECONDS = 3600;

export interface WorkloadTokens {
  /** What a token would say now. */
  draft(config: TokenConfigRow, deploymentId: number): Promise<Draft>;
  sign(config: TokenConfigRow, deploymentId: number): Promise<string>;
}

interface Draft {
  header: { alg: string; kid: string; typ: string };
  claims: Record<string, unknown>;
}

export function createWorkloadTokens(
  { publicUrl, log }: Pick<Platform, 'publicUrl' | 'log'>,
  keys: SigningKeys,
): WorkloadTokens {
  async function drafted(config: TokenConfigRow, deploymentId: number) {
    const { id: kid, privateKey } = await keys.current();
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...config.customClaims,
      iss: publicUrl,
      sub: subjectOf(config, deploymentId),
      aud: config.audience,
      iat: now,
      nbf: now,
      exp: now + TOKEN_LIFE_SECONDS,
      jti: randomUUID(),
    };
    return { privateKey, header: { alg: WORKLOAD_ALGORITHM, kid, typ: 'JWT' }, claims };
  }

  return {
    async draft(config, deploymentId) {
      const { header, claims } = await drafted(config, deploymentId);
      return { header, claims };
    },
    async sign(config, deploymentId) {
      const { header, claims, privateKey } = await drafted(config, deploymentId);
      const token = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
      const { aud, sub, jti } = claims;
      log.info({ deploymentId, config: config.name, aud, sub, jti }, 'signed a token for an engine');
      return token;
    },
  };
}
