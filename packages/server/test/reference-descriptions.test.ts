/** The reference says of every operation, parameter and field what it means. */
import { allOperations } from '@oriel/contract';
import { expect, test } from 'vitest';
import { everywhere } from '../../contract/src/descriptions/everywhere.ts';
import { fieldWords, isOnlyForm } from '../../contract/src/descriptions/index.ts';
import { otherParameters, pathParameters } from '../../contract/src/descriptions/parameters.ts';
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

const shows = (description: unknown, sentence: string) => String(description ?? '').startsWith(sentence);

test('no sentence repeats only the name, and each is shown for a field that exists', () => {
  const plain = (text: string) => text.toLowerCase().replaceAll(/^the |[^a-z]/g, '');
  const sentences = Object.entries(fieldWords).flatMap(([title, fields]) =>
    Object.entries(fields).map(([field, sentence]) => ({ title, field, sentence })),
  );
  expect(sentences.filter(({ field, sentence }) => plain(field) === plain(sentence))).toEqual([]);
  expect(Object.keys(fieldWords).filter((title) => !components[title])).toEqual([]);
  // Schemas share sentences of fields that only some of them have.
  const isShown = ({ field, sentence }: { field: string; sentence: string }) =>
    sentences.some(
      (other) =>
        other.field === field &&
        other.sentence === sentence &&
        shows(components[other.title]?.properties?.[field]?.description, sentence),
    );
  expect(sentences.filter((one) => !isShown(one))).toEqual([]);
  const shared = Object.entries(everywhere).filter(
    ([field, sentence]) =>
      !Object.values(components).some(({ properties }) => shows(properties?.[field]?.description, sentence)),
  );
  expect(shared).toEqual([]);
});

test('each sentence for a parameter is shown for one that exists', () => {
  const parameters = documentedOperations.flatMap(({ path, operation }) =>
    operation.parameters.map((parameter) => ({
      ...parameter,
      description: parameter.description,
      path,
      id: operation.operationId,
    })),
  );
  const isPath = (name: string) =>
    parameters.some((one) => one.in === 'path' && `${one.path}/`.includes(`/${name}/`));
  expect(Object.keys(pathParameters).filter((name) => !isPath(name))).toEqual([]);
  const silent = Object.entries(otherParameters).filter(
    ([key, sentence]) =>
      !parameters.some(
        ({ id, name, description }) => [name, `${id}.${name}`].includes(key) && shows(description, sentence),
      ),
  );
  expect(silent).toEqual([]);
});

test('the areas are in the order of reading, from embedding to what is rare', () => {
  const areas = [
    ['Embed', 'Embed Tenants', 'Dashboard Embed Access', 'App Theme'],
    ['Users', 'API Keys', 'Deployments', 'Deployment Creation', 'Env Variables', 'Data Sources'],
    ['Data Model', 'Data Model Uploads', 'Environments', 'Queries'],
    ['Workspace', 'Folders', 'Workbooks', 'Reports'],
    ['Users Admin', 'User Groups', 'Roles', 'Resource Policies', 'User Attributes', 'User Attribute Values'],
    ['Sign-in', 'SCIM', 'Tenant Settings', 'Audit Log', 'Regions', 'OpenAPI Spec', 'Pages'],
  ].flat();
  const named = publishedDocument.tags.map(({ name }) => name).filter((name) => areas.includes(name));
  expect(named).toEqual(areas);
});
