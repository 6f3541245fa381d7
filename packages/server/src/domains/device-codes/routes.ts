import { operations } from '@oriel/contract';
import { ApiError, invalid } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { oauthTokens, type Sessions, tokens } from '../sessions/index.ts';
import type { DeviceCodes } from './device-codes.ts';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
const REFRESH_TYPE = 'refresh_token';

/** Which field is required depends on the grant. */
function given(path: string, value: string | null | undefined): string {
  if (value == null) throw invalid(path, 'is required');
  return value;
}

const DEVICE_CODE_PATH = operations.createDeviceCode.path;
const TOKEN_PATH = operations.exchangeDeviceCode.path;

export const deviceCodeRoutes = (devices: DeviceCodes, sessions: Sessions, publicUrl: string) => [
  handle(operations.createDeviceCode, async ({ origin }, { body }) => {
    if ('clientId' in body) return devices.start(body.clientId, origin);
    const started = await devices.start(body.client_id, origin);
    return {
      device_code: started.deviceCode,
      user_code: started.userCode,
      verification_uri: started.verificationUri,
      verification_uri_complete: started.verificationUriComplete,
      expires_in: started.expiresIn,
      interval: started.interval,
    };
  }),

  handle(operations.exchangeDeviceCode, async ({ origin }, { body }) => {
    if ('deviceCode' in body) return tokens(await devices.exchange(body.deviceCode, body.clientId, origin));
    const { grant_type = GRANT_TYPE, device_code, refresh_token, client_id } = body;
    if (grant_type === REFRESH_TYPE)
      return oauthTokens(await sessions.refresh(given('refresh_token', refresh_token), client_id, origin));
    if (grant_type !== GRANT_TYPE) {
      const message = `This address takes the \`grant_type\` \`${GRANT_TYPE}\` or \`${REFRESH_TYPE}\`.`;
      throw new ApiError('unsupported_grant_type', { message });
    }
    return oauthTokens(await devices.exchange(given('device_code', device_code), client_id, origin));
  }),

  handle(operations.getOAuthMetadata, () => ({
    issuer: publicUrl,
    device_authorization_endpoint: publicUrl + DEVICE_CODE_PATH,
    token_endpoint: publicUrl + TOKEN_PATH,
    grant_types_supported: [GRANT_TYPE, REFRESH_TYPE],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['none'],
  })),
];
