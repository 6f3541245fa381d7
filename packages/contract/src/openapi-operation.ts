/** How the OpenAPI document describes an operation. */
import { Type } from 'typebox';
import { describeParameter } from './descriptions/index.ts';
import type { Hoist } from './hoist.ts';
import { bodyContent, replyContent } from './openapi-bodies.ts';
import { describeBody, describeOperation, SUCCESS_TEXT } from './openapi-descriptions.ts';
import type { Errors } from './openapi-errors.ts';
import { parameterExampleOf } from './openapi-examples.ts';
import { refToParameter, replyHeaders, requestHeadersOf } from './openapi-headers.ts';
import { securityOf } from './openapi-security.ts';
import {
  answersNotModified,
  bodyKindOf,
  mayAnswerNothing,
  mayRedirect,
  neverSucceeds,
  type Operation,
  replyKindOf,
  sendsEtag,
  successStatus,
} from './operation.ts';

export const operationEntry = (op: Operation, hoist: Hoist, errors: Errors) => ({
  operationId: op.id,
  tags: [op.tag],
  summary: op.summary,
  description: describeOperation(op),
  security: securityOf(op),
  ...(op.permission === 'none' ? {} : { 'x-permission': op.permission }),
  ...(op.crossOrigin ? { 'x-cross-origin': true } : {}),
  parameters: [...parameters(op, hoist), ...requestHeadersOf(op).map(refToParameter)],
  ...body(op, hoist),
  responses: {
    ...(neverSucceeds(op) ? {} : { [successStatus(op)]: success(op, hoist) }),
    ...(mayAnswerNothing(op) ? { 204: nothing(op) } : {}),
    ...(mayRedirect(op) ? { 303: REDIRECT } : {}),
    ...(answersNotModified(op) ? { 304: NOT_MODIFIED } : {}),
    ...errors.repliesOf(op),
  },
});

const PARAMETER_PLACES = { params: 'path', query: 'query', headers: 'header' } as const;

const parameters = (op: Operation, hoist: Hoist) =>
  (['params', 'query', 'headers'] as const).flatMap((part) =>
    Object.entries(op[part]).map(([name, schema]) => {
      const { description: said, deprecated, ...rest } = hoist(schema);
      const place = PARAMETER_PLACES[part];
      const description = describeParameter(op, place, name, said);
      const required = !Type.IsOptional(schema);
      const example = parameterExampleOf(op, name, schema);
      return {
        name,
        in: place,
        required,
        ...(description ? { description } : {}),
        ...(deprecated ? { deprecated } : {}),
        // The reference fills these in. It would send optional ones too, so they get none.
        ...(required && example !== undefined ? { example } : {}),
        schema: rest,
      };
    }),
  );

function body(op: Operation, hoist: Hoist) {
  const kind = bodyKindOf(op);
  if (!kind) return {};
  const content = bodyContent(op, kind, hoist);
  return { requestBody: { description: describeBody(op), required: !op.optionalBody, content } };
}

function success(op: Operation, hoist: Hoist) {
  const reply = replyKindOf(op);
  return {
    description: SUCCESS_TEXT[reply?.kind ?? 'nothing'],
    headers: {
      ...replyHeaders(
        'X-Request-Id',
        ...(sendsEtag(op) ? ['ETag' as const] : []),
        ...(reply?.kind === 'redirect' ? ['Location' as const] : []),
      ),
      ...ownHeaders(op, hoist),
    },
    ...(reply && reply.kind !== 'redirect' ? { content: replyContent(reply, hoist) } : {}),
  };
}

const ownHeaders = (op: Operation, hoist: Hoist) =>
  Object.fromEntries(
    Object.entries(op.replyHeaders).map(([name, schema]) => {
      const { description, ...rest } = hoist(schema);
      return [
        name,
        { ...(description ? { description } : {}), required: !Type.IsOptional(schema), schema: rest },
      ];
    }),
  );

const nothing = (op: Operation) => ({
  description: SUCCESS_TEXT.nothing,
  headers: replyHeaders('X-Request-Id', ...(sendsEtag(op) ? ['ETag' as const] : [])),
});

const REDIRECT = {
  description: SUCCESS_TEXT.redirect,
  headers: replyHeaders('X-Request-Id', 'Location'),
};

const NOT_MODIFIED = {
  description: 'The resource still has the version that `If-None-Match` names',
  headers: replyHeaders('X-Request-Id', 'ETag'),
};
