import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Bytes, Form, Html, HtmlOrRedirect, Redirect } from '../kinds.ts';
import { operation } from '../operation.ts';
import { appPageHeaders } from '../page-headers.ts';
import { Shape } from '../schemas.ts';
import { GivenPassword, PASSWORD_BODY_BYTES, PASSWORD_LENGTH } from '../sign-in.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Pages:
    'Pages for people, as HTML. Those of the app need scripts, all others work without. Programs use the other operations.',
} satisfies TagDefinitions;

export const errors = {
  passwords_differ: { status: 400, message: 'The two passwords are not the same.' },
  password_too_short: { status: 400, message: `Use at least ${PASSWORD_LENGTH.min} characters.` },
  asset_not_found: { status: 404, message: 'There is no such file.' },
} as const satisfies ErrorDefinitions;

const common = { tag: 'Pages', permission: 'none', errorShape: 'page', audit: 'none' } as const;
const page = {
  ...common,
  method: 'GET',
  reply: Html,
  replyHeaders: {
    'content-security-policy': Type.String(),
    'referrer-policy': Type.String({ description: 'Addresses with secrets are not sent to other servers' }),
  },
} as const;
const form = { ...common, method: 'POST', reply: Redirect(303) } as const;
const cookie = {
  'set-cookie': Type.String({ description: 'Begins or ends the session of the browser' }),
};

/** The cookie of the session that the browser has, which ends when another one takes its place. */
const headers = { cookie: Type.Optional(Type.String()) };

const text = (maxLength: number, description?: string) => Type.String({ maxLength, description });
/** An empty field of a form is an empty text, so texts have no minimum: the page says what is missing. */
const optional = (maxLength: number, description?: string) => Type.Optional(text(maxLength, description));
const next = optional(2048, 'The page of this server to go to after signing in');
const csrf = text(100, 'A token that only the pages of this session contain');
const link = text(255, 'The secret of the link');
const newPassword = { newPassword: GivenPassword, repeated: GivenPassword };

export const startPage = operation({
  ...common,
  id: 'startPage',
  method: 'GET',
  path: '/',
  summary: 'Show the app, or go to the page to sign in',
  description: 'Clients that are not browsers go to the API reference.',
  auth: 'public',
  headers: { accept: Type.Optional(Type.String()), ...headers },
  reply: HtmlOrRedirect,
  replyHeaders: appPageHeaders,
});

export const pageAsset = operation({
  id: 'pageAsset',
  tag: 'Pages',
  method: 'GET',
  path: '/assets/{file}',
  summary: 'Get a file that the pages use',
  description: 'The name contains a hash of the content, so that browsers may keep the file.',
  auth: 'public',
  permission: 'none',
  params: { file: Type.String({ maxLength: 100, examples: ['style-2VXA4KQF.css'] }) },
  reply: Bytes('text/css', 'image/svg+xml'),
  replyHeaders: { 'cache-control': Type.String() },
  errors: ['asset_not_found'],
  audit: 'none',
});

export const signInPage = operation({
  ...page,
  id: 'signInPage',
  path: '/sign-in',
  summary: 'Show the form to sign in',
  description: 'Whoever is signed in already is sent to the page that they would see after signing in.',
  auth: 'public',
  reply: HtmlOrRedirect,
  headers,
  query: { next, notice: Type.Optional(Type.Enum(['signed-out', 'signed-out-everywhere'])) },
});

export const signInByForm = operation({
  ...form,
  id: 'signInByForm',
  path: '/sign-in',
  summary: 'Sign in by browser',
  description:
    'A wrong password and an unknown name get the same answer. Too many attempts are refused for a while.',
  auth: 'public',
  headers,
  body: Form(Shape('SignInForm', { username: text(255, 'Or the email'), password: GivenPassword, next })),
  bodyLimitBytes: PASSWORD_BODY_BYTES,
  replyHeaders: cookie,
  errors: ['sign_in_failed', 'rate_limited'],
});

export const forgotPasswordPage = operation({
  ...page,
  id: 'forgotPasswordPage',
  path: '/forgot-password',
  summary: 'Show the form to ask for a new password',
  description:
    'If the server can send mail. Otherwise the page says to ask an admin, who can [create a link](#tag/Users-Admin/operation/createResetLink).',
  auth: 'public',
  query: { notice: Type.Optional(Type.Enum(['sent'])) },
});

export const forgotPasswordByForm = operation({
  ...form,
  id: 'forgotPasswordByForm',
  path: '/forgot-password',
  summary: 'Ask for a new password by mail',
  description:
    'A name that nobody has gets the same answer. Whoever has a password gets a mail with a link that sets a new one. A link that was mailed in the last 15 minutes stays, and no other one is mailed.',
  auth: 'public',
  body: Form(Shape('ForgotPasswordForm', { username: text(255, 'Or the email') })),
  errors: ['rate_limited'],
});

export const signOutByForm = operation({
  ...form,
  id: 'signOutByForm',
  path: '/sign-out',
  summary: 'Sign out by browser',
  description: 'Ends the session of this browser or, if asked for, all sessions of the person.',
  auth: 'console',
  body: Form(
    Shape('SignOutForm', {
      csrf,
      everywhere: Type.Optional(Type.Boolean({ description: 'On all devices' })),
      next,
    }),
  ),
  replyHeaders: cookie,
  audit: 'session',
});

export const devicePage = operation({
  ...page,
  id: 'devicePage',
  path: '/device',
  summary: 'Show the form for the code of a device, or what approving the code allows',
  description:
    'The person types the code that the device shows, and sees which program asks before they answer. The page says who is signed in, and lets somebody else sign in.',
  auth: 'console',
  query: {
    user_code: optional(100, 'As the person typed it'),
    notice: Type.Optional(Type.Enum(['approved', 'refused'])),
  },
  errors: ['device_code_not_found', 'user_not_found'],
});

export const answerDeviceByForm = operation({
  ...form,
  id: 'answerDeviceByForm',
  path: '/device',
  summary: 'Approve or refuse the code of a device',
  description: 'Whoever approves gives the device a session with all of their own rights.',
  auth: 'console',
  body: Form(Shape('DeviceForm', { csrf, userCode: text(100), answer: Type.Enum(['approve', 'refuse']) })),
  errors: ['device_code_not_found', 'user_not_found'],
  audit: 'deviceCode',
});

export const invitationPage = operation({
  ...page,
  id: 'invitationPage',
  path: '/invitation',
  summary: 'Show the form to accept an invitation',
  description: 'The link is checked first, so that nobody types a password in vain.',
  auth: 'public',
  headers,
  query: { link: Type.Optional(link) },
  errors: ['link_not_valid'],
});

const passwordForm = {
  ...form,
  auth: 'public',
  headers,
  body: Form(Shape('PasswordForm', { link, ...newPassword })),
  bodyLimitBytes: PASSWORD_BODY_BYTES,
  replyHeaders: cookie,
  errors: ['link_not_valid', 'passwords_differ', 'password_too_short', 'password_too_easy', 'sign_in_failed'],
  audit: 'user',
} as const;

export const acceptInvitationByForm = operation({
  ...passwordForm,
  id: 'acceptInvitationByForm',
  path: '/invitation',
  summary: 'Accept an invitation, and sign in',
  description:
    'The link works once. The person gets the password that they chose, and a session of this browser.',
});

export const resetPasswordPage = operation({
  ...page,
  id: 'resetPasswordPage',
  path: '/reset-password',
  summary: 'Show the form to set a new password',
  description: 'The link is checked first, so that nobody types a password in vain.',
  auth: 'public',
  headers,
  query: { link: Type.Optional(link) },
  errors: ['link_not_valid'],
});

export const resetPasswordByForm = operation({
  ...passwordForm,
  id: 'resetPasswordByForm',
  path: '/reset-password',
  summary: 'Set a new password, and sign in',
  description: 'The link works once. All sessions of the person end, and this browser gets a new one.',
});
