import { Type } from 'typebox';
import { operation } from '../operation.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'OpenAPI Spec': 'This document.',
} satisfies TagDefinitions;

export const getSpec = operation({
  id: 'getSpec',
  conditional: 'sent',
  tag: 'OpenAPI Spec',
  method: 'GET',
  path: '/api/v1/spec',
  summary: 'Get this OpenAPI document',
  description: 'The document that this reference is made from. Generators of clients take it as it is.',
  auth: 'public',
  permission: 'none',
  reply: Type.Object({}, { additionalProperties: true }),
  audit: 'none',
});
