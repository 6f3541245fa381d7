/** What the fields of signing in mean: passwords, devices, sessions, identities. */
import type { FieldWords } from './index.ts';

const clientId =
  'A name that you choose for your program; people see it when they approve, and in the list of sessions';
const deviceCode = 'What the device asks with; the person never sees it';
const passwords = {
  currentPassword: 'The password as it is now, so that nobody else can change it',
  newPassword: 'What the person signs in with from now on',
  repeated: 'The new password once more, so that a slip of the finger shows',
};

export const signIn: FieldWords = {
  LoginInput: { password: 'A wrong one is refused in the same way as an unknown user' },
  SignInForm: { password: 'A wrong one is refused in the same way as an unknown user' },
  ChangePasswordInput: passwords,
  PasswordForm: passwords,
  DeviceCodeInput: { clientId },
  OAuthDeviceCodeInput: { client_id: clientId },
  DeviceCodes: { deviceCode },
  OAuthDeviceCodes: { device_code: deviceCode },
  DeviceTokenInput: {
    grantType: 'May be left out: there is only one',
    deviceCode,
    clientId: 'The same as when the code was made',
  },
  OAuthDeviceTokenInput: {
    device_code: deviceCode,
    refresh_token: 'The newest refresh token, if `grant_type` is `refresh_token`',
    client_id: 'The same as when the code was made',
  },
  DeviceForm: {
    userCode: 'The code that the device shows',
    answer: '`approve` gives the device a session with all rights of the person',
  },
  RefreshInput: { refreshToken: 'The newest refresh token; one that was used before ends the session' },
  OAuthRefreshInput: { refresh_token: 'The newest refresh token; one that was used before ends the session' },
  OAuthTokens: {
    access_token: 'For `Authorization: Bearer …`',
    token_type: 'How to send the access token',
    refresh_token: 'Works once: it is exchanged for new tokens',
  },
  OAuthMetadata: {
    issuer: 'The address of this server, as everybody should call it',
    device_authorization_endpoint: 'Where a device gets its code',
    token_endpoint: 'Where codes and refresh tokens are exchanged',
    grant_types_supported: 'What `grant_type` can be',
    token_endpoint_auth_methods_supported: 'Only `none`: programs have no secret of their own',
  },
  Session: {
    id: 'The number of the session, which is not secret',
    userAgent: 'The program, as it named itself when the person signed in',
    createdAt: 'When the person signed in',
    lastUsedAt: 'When its tokens were renewed last; null if never',
    expiresAt: 'When it ends if it is not used before',
  },
  UserSession: {
    id: 'The number of the session, which is not secret',
    userAgent: 'The program, as it named itself when the person signed in',
    createdAt: 'When the person signed in',
    lastUsedAt: 'When its tokens were renewed last; null if never',
    expiresAt: 'When it ends if it is not used before',
  },
  Identity: {
    id: 'The number of the link between the user and the provider',
    createdAt: 'When the user first signed in with it',
  },
};
