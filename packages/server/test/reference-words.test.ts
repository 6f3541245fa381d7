/** The reference says of every operation, parameter and field what it means. */
import { allOperations } from '@oriel/contract';
import { expect, test } from 'vitest';
import { fieldWords, isOnlyForm } from '../../contract/src/words/index.ts';
import { documentedOperations, publishedDocument } from './published-document.ts';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  [keyword: string]: unknown;
}
const components = publishedDocument.components.schemas as Record<string, Schema>;
const says = ({ description, $ref }: Schema): boolean =>
  description ? !isOnlyForm(description) : $ref !== undefined && says(components[$ref.split('/').at(-1)!]!);

const NESTED = ['items', 'anyOf', 'oneOf', 'additionalProperties'];
/** `allOf` only narrows the code of an error, which is described where it is defined. */
function silentFields(schema: Schema, where: string): string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(says(field) ? [] : [`${where}.${name}`]),
    ...silentFields(field, `${where}.${name}`),
  ]);
  const nested = NESTED.flatMap((keyword) => schema[keyword] ?? []).filter((one) => typeof one === 'object');
  return [...fields, ...nested.flatMap((one) => silentFields(one as Schema, where))];
}

test('every field has a sentence', () => {
  const named = Object.entries(components).flatMap(([name, schema]) => silentFields(schema, name));
  const others = documentedOperations.flatMap(({ operation: { operationId, requestBody, responses } }) =>
    [requestBody, ...Object.values(responses ?? {})].flatMap((part) =>
      Object.values(part?.content ?? {}).flatMap((media) =>
        silentFields(media.schema as Schema, operationId),
      ),
    ),
  );
  expect([...named, ...others]).toEqual([]);
});

test('every operation has a sentence of its own, and every parameter has one', () => {
  expect(allOperations.filter(({ description }) => !description).map(({ id }) => id)).toEqual([]);
  const silent = documentedOperations.flatMap(({ operation: { operationId, parameters } }) =>
    parameters
      .filter((parameter) => !parameter.$ref && !says(parameter as Schema))
      .map(({ name }) => `${operationId}.${name}`),
  );
  expect(silent).toEqual([]);
});

test('no sentence repeats only the name, and none is for a schema that is gone', () => {
  const plain = (text: string) => text.toLowerCase().replaceAll(/^the |[^a-z]/g, '');
  const sentences = Object.entries(fieldWords).flatMap(([title, fields]) =>
    Object.entries(fields).map(([field, sentence]) => ({ title, field, sentence })),
  );
  expect(sentences.filter(({ field, sentence }) => plain(field) === plain(sentence))).toEqual([]);
  expect(Object.keys(fieldWords).filter((title) => !components[title])).toEqual([]);
});
