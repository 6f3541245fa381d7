import { operations } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { oauthTokens, tokens } from '../sessions/index.ts';
import type { DeviceCodes } from './device-codes.ts';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

export const deviceCodeRoutes = (devices: DeviceCodes) => [
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
    if ((body.grant_type ?? GRANT_TYPE) !== GRANT_TYPE) throw new ApiError('unsupported_grant_type');
    return oauthTokens(await devices.exchange(body.device_code, body.client_id, origin));
  }),
];
