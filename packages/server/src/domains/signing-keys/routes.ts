import { operations } from '@oriel/contract';
import { handle } from '../../platform/http/routes.ts';
import { SIGNING_ALGORITHM, type SigningKeys } from './signing-keys.ts';

export const signingKeyRoutes = (keys: SigningKeys) => [
  handle(operations.getJwks, async () => ({
    keys: (await keys.all()).map(({ id, publicKey }) => {
      const { kty, crv, x } = publicKey.export({ format: 'jwk' }) as { kty: string; crv: string; x: string };
      return { kty, crv, x, kid: id, alg: SIGNING_ALGORITHM, use: 'sig' };
    }),
  })),
];
