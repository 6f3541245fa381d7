/** The forms that an error can have on the wire. An operation has one for all its errors. */
import { type TSchema, Type } from 'typebox';
import { ErrorReply, Shape } from './schemas.ts';

const SCIM_ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

const oauthCode = Type.String({
  description: 'A code of RFC 6749 or RFC 8628',
  examples: ['invalid_grant'],
});
const forPeople = Type.String({ description: 'For people' });

/** The keys name the standard or the kind of client that expects the form. */
export const errorShapes = {
  standard: { schema: ErrorReply, contentType: 'application/json' },
  /** RFC 6749, 5.2, and the same in camelCase for callers whose own body is JSON. */
  oauth: {
    contentType: 'application/json',
    schema: Type.Union([
      Shape('OAuthError', { error: oauthCode, error_description: forPeople }),
      Shape('OAuthJsonError', { error: oauthCode, errorDescription: forPeople }),
    ]),
  },
  /** RFC 7644, 3.12. */
  scim: {
    contentType: 'application/scim+json',
    schema: Shape('ScimError', {
      schemas: Type.Array(Type.Enum([SCIM_ERROR]), { minItems: 1, maxItems: 1 }),
      status: Type.String({ description: 'The HTTP status, as text', examples: ['404'] }),
      detail: Type.String({ description: 'For people' }),
      scimType: Type.Optional(Type.String({ examples: ['uniqueness'] })),
    }),
  },
  message: {
    contentType: 'application/json',
    schema: Shape('MessageError', { error: Type.String({ description: 'For people' }) }),
  },
  /** For browsers. */
  page: { contentType: 'text/html', schema: Type.String({ description: 'A page that says what is wrong' }) },
} as const satisfies Record<string, { schema: TSchema; contentType: string }>;

export type ErrorShape = keyof typeof errorShapes;

/** What an error of any form is made from. */
export interface Failure {
  statusCode: number;
  message: string;
  oauthError?: string;
  scimType?: string;
  /** The body of the request is JSON. */
  isJson?: boolean;
}

const OAUTH_BY_STATUS: Record<number, string> = {
  401: 'invalid_client',
  403: 'access_denied',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
  504: 'server_error',
};

/** The body of an error in the forms of other standards and clients. */
export const errorBodies: Record<Exclude<ErrorShape, 'standard' | 'page'>, (failure: Failure) => object> = {
  oauth: ({ statusCode, message, oauthError, isJson }) => ({
    error: oauthError ?? OAUTH_BY_STATUS[statusCode] ?? 'invalid_request',
    ...(isJson ? { errorDescription: message } : { error_description: oauthText(message) }),
  }),
  scim: ({ statusCode, message, scimType }) => ({
    schemas: [SCIM_ERROR],
    status: String(statusCode),
    detail: message,
    ...(scimType ? { scimType } : {}),
  }),
  message: ({ message }) => ({ error: message }),
};

/** RFC 6749 allows only printable ASCII without quotes and backslashes. */
const oauthText = (message: string) => message.replaceAll(/["\\]/g, "'").replaceAll(/[^ -~]/g, '?');
