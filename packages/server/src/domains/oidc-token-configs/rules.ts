/** What a token config may say, and what tokens and engines get from it. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { limits } from '@oriel/contract';
import { invalid } from '../../platform/errors.ts';
import { requireBytes } from '../../platform/limits.ts';
import { isPublicAddress } from '../../platform/outbound/addresses.ts';
import { LOCAL_REGION } from '../regions/index.ts';
import type { TokenConfigRow, WantedTokenConfig } from './store.ts';

export type AudienceType = 'AWS' | 'AZURE' | 'GCP' | 'CUSTOM';

export const typeOf = ({ audienceType }: Pick<TokenConfigRow, 'audienceType'>) =>
  audienceType.toUpperCase() as AudienceType;

/** The claims that this server alone sets. */
export const REGISTERED_CLAIMS = ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'];
const DEFAULT_SUB_FORMAT = 'oriel:deployment:{deployment_id}';
const COMPONENT = 'engine';

const DEFAULT_AUDIENCES: Partial<Record<AudienceType, string>> = {
  AWS: 'sts.amazonaws.com',
  AZURE: 'api://AzureADTokenExchange',
};
const GOOGLE_PROVIDER =
  /^(?:(?:https:)?\/\/iam\.googleapis\.com\/)?(projects\/[^/]+\/locations\/[^/]+\/workloadIdentityPools\/[^/]+\/providers\/[^/]+)$/;

/** Returns the audience of tokens. Throws a 400 if the type needs another one. */
export function audienceOf(type: AudienceType, given: string | null | undefined): string {
  const audience = given ?? DEFAULT_AUDIENCES[type];
  if (audience === undefined) throw invalid('customAudience', `is required for ${type}`);
  if (type !== 'GCP') return audience;
  const [, provider] = GOOGLE_PROVIDER.exec(audience) ?? [];
  if (!provider) {
    throw invalid(
      'customAudience',
      'must be the resource name of the provider, projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER',
    );
  }
  return audience === provider ? `//iam.googleapis.com/${provider}` : audience;
}

/** Variables that Node, its libraries or this server read. The path of a token there would break an engine. */
const RESERVED =
  /^(?:(?:NODE|LD|DYLD|UV|V8|DUCKDB|MALLOC|MIMALLOC|GLIBC|GCONV|SSL|OPENSSL|ICU|LC|BASH|PG|ORIEL|AWS|AZURE|GOOGLE)_|PG|(?:PATH|HOME|PWD|SHELL|ENV|IFS|LANG|LANGUAGE|TZ|TMPDIR|USER|LOGNAME|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|MALLOC_CONF|FORCE_COLOR|DEBUG)$)/;

/** Throws a 400. */
export function requireValid(config: WantedTokenConfig) {
  const { customClaims, targetEnvVar } = config;
  requireBytes('customClaims', customClaims, limits.customClaims);
  for (const name of Object.keys(customClaims ?? {})) {
    if (REGISTERED_CLAIMS.includes(name)) {
      throw invalid(`customClaims.${name}`, 'is a claim that this server sets itself');
    }
  }
  if (targetEnvVar === null) return;
  if (typeOf(config) !== 'CUSTOM') {
    throw invalid('targetEnvVar', 'is for CUSTOM only; the others use the variables that their SDKs expect');
  }
  if (RESERVED.test(targetEnvVar)) {
    throw invalid('targetEnvVar', 'is a variable with another meaning; choose another name');
  }
}

/** The type in small letters, with a number if that is taken. */
export function freeName(type: AudienceType, taken: readonly string[]): string {
  const name = type.toLowerCase();
  for (let i = 1; ; i++) {
    const candidate = i === 1 ? name : `${name}-${i}`;
    if (!taken.includes(candidate)) return candidate;
  }
}

export const subjectOf = ({ subFormat }: Pick<TokenConfigRow, 'subFormat'>, deploymentId: number) =>
  (subFormat ?? DEFAULT_SUB_FORMAT)
    .replaceAll('{deployment_id}', String(deploymentId))
    .replaceAll('{component}', COMPONENT)
    .replaceAll('{region}', LOCAL_REGION.name);

type Variables = ReadonlyMap<string, string | null>;

/** The only variables of the deployment that reach an engine, beside its token. */
const PASSED: Record<AudienceType, string[]> = {
  AWS: ['AWS_ROLE_ARN', 'AWS_ROLE_SESSION_NAME', 'AWS_REGION'],
  AZURE: ['AZURE_CLIENT_ID', 'AZURE_TENANT_ID'],
  GCP: ['GOOGLE_CLOUD_PROJECT'],
  CUSTOM: [],
};
/** Environments cannot hold everything that a variable of a deployment can. */
const FITS = /^[\u0020-\u007e]{1,2048}$/;

export const passedVariables = (config: TokenConfigRow, variables: Variables): Record<string, string> =>
  Object.fromEntries(
    PASSED[typeOf(config)].flatMap((name) => {
      const value = variables.get(name);
      return value && FITS.test(value) ? [[name, value]] : [];
    }),
  );

/** The environment variables that name the token of the config, and what SDKs need beside it. */
export function engineVariables(
  config: TokenConfigRow,
  { folder, deploymentId, passed }: { folder: string; deploymentId: number; passed: Record<string, string> },
): Record<string, string> {
  const file = join(folder, config.name);
  switch (typeOf(config)) {
    case 'AWS':
      return {
        AWS_ROLE_SESSION_NAME: `oriel-deployment-${deploymentId}`,
        ...passed,
        // The SDKs for Python and some others read the region by this name only.
        ...(passed.AWS_REGION && { AWS_DEFAULT_REGION: passed.AWS_REGION }),
        AWS_WEB_IDENTITY_TOKEN_FILE: file,
      };
    case 'AZURE':
      return { ...passed, AZURE_FEDERATED_TOKEN_FILE: file };
    case 'GCP':
      return { ...passed, GOOGLE_APPLICATION_CREDENTIALS: googleFileOf(file) };
    case 'CUSTOM':
      return { [config.targetEnvVar ?? defaultVariable(config.name)]: file };
  }
}

const defaultVariable = (name: string) => `ORIEL_TOKEN_FILE_${name.toUpperCase().replaceAll('-', '_')}`;

/** No token file is called so, because their names have no dots. */
const googleFileOf = (tokenFile: string) => `${tokenFile}.json`;

const SERVICE_ACCOUNT = /^[a-z0-9-]+@[a-z0-9.-]+$/;

/** The files of a config beside its token, by their names: what the SDKs of Google call a credential file. */
export function filesBeside(
  config: TokenConfigRow,
  folder: string,
  variables: Variables,
): [name: string, text: string][] {
  if (typeOf(config) !== 'GCP') return [];
  const [, provider] = GOOGLE_PROVIDER.exec(config.audience)!;
  const account = variables.get('GOOGLE_IMPERSONATE_SERVICE_ACCOUNT');
  const credentials = {
    type: 'external_account',
    audience: `//iam.googleapis.com/${provider}`,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: { file: join(folder, config.name) },
    ...(account &&
      SERVICE_ACCOUNT.test(account) && {
        service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
      }),
  };
  return [[googleFileOf(config.name), JSON.stringify(credentials, null, 2)]];
}

const LOCAL_NAME = /^(?:[^.]+|.*\.(?:localhost|local|internal|lan|home\.arpa))\.?$/i;

/** Warns if clouds, which fetch the keys from the issuer, cannot verify the tokens. */
export function warningsOf(publicUrl: string): string[] {
  const { protocol, hostname } = new URL(publicUrl);
  const address = hostname.replace(/^\[|\]$/g, '');
  const isReachable = isIP(address) ? isPublicAddress(address) : !LOCAL_NAME.test(address);
  if (protocol === 'https:' && isReachable) return [];
  return [
    `Tokens name ${publicUrl} as their issuer. Clouds verify only tokens of an https address that they can reach: set ORIEL_PUBLIC_URL.`,
  ];
}
