/** How the OpenAPI document describes the bodies of requests and of replies. */
import type { TProperties } from 'typebox';
import type { Hoist, Json } from './hoist.ts';
import type { BodyKind, ReplyKind } from './kinds.ts';
import { asForm, bodyExampleOf } from './openapi-examples.ts';
import { binary, content, multipart, TEXT } from './openapi-media.ts';
import { bodyTypesOf, type Operation, replyTypesOf } from './operation.ts';

export function bodyContent(op: Operation, body: BodyKind, hoist: Hoist): Json {
  if (body.kind === 'bytes') return binary(bodyTypesOf(body));
  const given = bodyExampleOf(op, body);
  const example = given === undefined ? {} : { example: given };
  if (body.kind === 'formOrJson') {
    const [form, json] = bodyTypesOf(body) as [string, string];
    const formExample = given === undefined ? {} : { example: asForm(given) };
    return {
      [form]: { schema: hoist(body.form), ...formExample },
      [json]: { schema: hoist(body.schema), ...example },
    };
  }
  if (body.kind !== 'multipart')
    return content(bodyTypesOf(body), { schema: hoist(body.schema), ...example });
  const { schema, encoding } = multipart(body);
  return content(bodyTypesOf(body), { schema: hoist(schema), encoding, ...example });
}

export function replyContent(reply: ReplyKind, hoist: Hoist): Json {
  const types = replyTypesOf(reply);
  switch (reply.kind) {
    case 'json':
    case 'jsonText':
      return content(types, { schema: hoist(reply.schema) });
    case 'ndjson':
      return content(types, { schema: TEXT, 'x-each': { line: hoist(reply.schema) } });
    case 'eventStream':
      return content(types, {
        schema: TEXT,
        'x-each': { event: { anyOf: eventSchemas(reply.events, hoist) } },
      });
    case 'bytes':
      return binary(types);
    default:
      return content(types, { schema: TEXT });
  }
}

const eventSchemas = (events: TProperties, hoist: Hoist) =>
  Object.entries(events).map(([name, schema]) => ({
    type: 'object',
    properties: {
      event: { enum: [name], description: 'The name of the event' },
      data: { ...hoist(schema), description: 'What happened, as JSON' },
      id: { type: 'string', description: 'Where to go on from after the connection was lost' },
    },
    required: ['event', 'data'],
    additionalProperties: false,
  }));
