/** The headers of the pages of the app. */
import { Type } from 'typebox';

export const appPageHeaders = {
  'content-security-policy': Type.String(),
  'referrer-policy': Type.String(),
  'cache-control': Type.String({ description: 'The page holds a token of the session, so nobody keeps it' }),
};
