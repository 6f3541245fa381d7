/** Rules for the whole OpenAPI document. Every test also checks that replies match it. */
import { allOperations, bodyKindOf, hasBody, type Operation, operations, takesApiKey } from '@oriel/contract';
import { describe, expect, test } from 'vitest';
import {
  type DocumentedReply,
  documentedOperation,
  documentedOperations,
  documentedReply,
  everySchema,
  mismatch,
  publishedDocument,
  wholeSchemas,
} from './published-document.ts';

type Json = Record<string, unknown>;
/** A body with its examples; those of errors are in the components. */
type BodyExamples = { schema: Json; example?: unknown; examples?: Record<string, { $ref: string }> };

const documented = (op: Operation) => documentedOperation(op.method, op.path)!;
const parameterNames = (op: Operation) =>
  documented(op).parameters.map(({ name, $ref }) => name ?? $ref?.split('/').at(-1));
const headersOf = (op: Operation, status: number) =>
  Object.keys(documentedReply(documented(op), status)?.headers ?? {});

/** The shapes of the contract by their titles. */
const shapes = new Map<string, Json>();
const collect = (schema: unknown) => {
  if (typeof schema !== 'object' || schema === null) return;
  const { title, properties } = schema as { title?: unknown; properties?: Json };
  if (typeof title === 'string' && properties) shapes.set(title, properties);
  Object.values(schema).forEach(collect);
};
/** The document shows the fields of a multipart body together with its files, so they have no name of their own. */
const namedIn = (op: Operation) => {
  const body = bodyKindOf(op);
  return body?.kind === 'multipart' ? body.schema.properties : body;
};
for (const op of allOperations) collect([op.params, op.query, namedIn(op), op.reply]);

test.each([...shapes])('%s has every property of the contract, with any name', (title, properties) => {
  const component = publishedDocument.components.schemas[title] as { properties: Json };
  expect(Object.keys(component.properties)).toEqual(Object.keys(properties));
});

test('the shapes that have a title property keep it', () => {
  const titled = [...shapes].filter(([, properties]) => 'title' in properties).map(([name]) => name);
  expect(titled).toEqual(expect.arrayContaining(['Report', 'User', 'RegionResponse', 'DashboardConfig']));
});

test('every operation of the contract is in the document, and nothing else', () => {
  const ids = documentedOperations.map(({ operation }) => operation.operationId).sort();
  expect(ids).toEqual(Object.keys(operations).sort());
});

test('every example fits its schema', () => {
  const wrong = everySchema().flatMap(({ where, schema }) =>
    ((schema.examples ?? []) as unknown[])
      .map((example) => ({ where, example, why: mismatch(schema, example) }))
      .filter(({ why }) => why),
  );
  expect(wrong).toEqual([]);
  expect(everySchema().filter(({ schema }) => schema.examples).length).toBeGreaterThan(20);
});

test('every example of a parameter, a body and an error fits its schema', () => {
  const shared = publishedDocument.components.examples as Record<string, { value: unknown }>;
  const inMedia = (where: string, content: DocumentedReply['content'] = {}) =>
    Object.values(content).flatMap((media) => {
      const { schema, example, examples = {} } = media as BodyExamples;
      const refs = Object.values(examples).map(({ $ref }) => shared[$ref.split('/').at(-1)!]!.value);
      return [...(example === undefined ? [] : [example]), ...refs].map((value) => ({
        where,
        schema,
        value,
      }));
    });
  const shown = documentedOperations.flatMap(({ operation }) => {
    const { operationId, parameters, requestBody, responses } = operation;
    return [
      ...parameters
        .filter(({ example }) => example !== undefined)
        .map(({ name, schema, example }) => ({ where: `${operationId} ${name}`, schema, value: example })),
      ...inMedia(operationId, requestBody?.content),
      ...Object.keys(responses).flatMap((status) =>
        inMedia(`${operationId} ${status}`, documentedReply(operation, Number(status))!.content),
      ),
    ];
  });
  const wrong = shown.flatMap(({ where, schema, value }) => {
    const why = mismatch(schema!, value);
    return why ? [`${where}: ${why}`] : [];
  });
  expect(wrong).toEqual([]);
  expect(shown.length).toBeGreaterThan(1000);
});

test('every schema can be compiled, with every reference in it', () => {
  // Which compiles the schemas within it too.
  for (const { schema } of wholeSchemas()) mismatch(schema, undefined);
});

test('every object says whether it allows other fields', () => {
  const silent = everySchema().filter(
    ({ schema }) =>
      [schema.type].flat()[0] === 'object' &&
      !('additionalProperties' in schema) &&
      !('patternProperties' in schema) &&
      // The codes of an error reply are separate from the closed schema of all errors.
      Object.keys((schema.properties as Json) ?? {}).join() !== 'code',
  );
  expect(silent.map(({ where }) => where)).toEqual([]);
});

test('words that few generators of clients know are not used', () => {
  expect(everySchema().filter(({ schema }) => 'patternProperties' in schema)).toEqual([]);
  const { children } = publishedDocument.components.schemas.SourceTreeNode!.properties as Json;
  expect(children).toMatchObject({ items: { $ref: '#/components/schemas/SourceTreeNode' } });
  const { schema } = documented(operations.uploadFile).requestBody!.content['multipart/form-data']!;
  expect((schema.properties as Json).file).toMatchObject({ type: 'string', format: 'binary' });
});

test('a body is required exactly where the contract requires one', () => {
  for (const op of allOperations.filter(hasBody)) {
    expect([op.id, documented(op).requestBody?.required]).toEqual([op.id, !op.optionalBody]);
  }
  expect(documented(operations.duplicateWorkbook).requestBody?.required).toBe(false);
});

test('says for each operation what an API key can do that is scoped to deployments', () => {
  const words = {
    allowed: 'scoped to deployments are accepted',
    refused: 'scoped to deployments are refused',
    handler: 'only what is within their scope',
  };
  for (const op of allOperations.filter(takesApiKey)) {
    const expected = op.scopedKeys ? words[op.scopedKeys] : 'must include the deployment';
    expect([op.id, documented(op).description]).toEqual([op.id, expect.stringContaining(expected)]);
  }
});

test('says in words which operations embed tokens can call too', () => {
  for (const op of allOperations.filter(({ auth }) => auth === 'management')) {
    const words = { viewer: /Embed tokens are accepted too/, creator: /Embed tokens in creator mode are/ };
    const { description } = documented(op);
    if (op.embed) expect([op.id, description]).toEqual([op.id, expect.stringMatching(words[op.embed])]);
    else expect([op.id, description]).toEqual([op.id, expect.not.stringContaining('Embed tokens')]);
  }
});

test('an operation that always refuses has no success', () => {
  const statuses = Object.keys(documented(operations.postScimBulk).responses ?? {});
  expect(statuses).toContain('501');
  expect(statuses.filter((status) => status.startsWith('2'))).toEqual([]);
});

test('every component is used', () => {
  const { securitySchemes, ...referred } = publishedDocument.components;
  // Linters and generators of clients do not look into `x-` keywords.
  const text = JSON.stringify(publishedDocument, (key, value) => (key === 'x-each' ? undefined : value));
  const unused = [
    ...Object.entries(referred).flatMap(([kind, components]) =>
      Object.keys(components as Json)
        .map((name) => `#/components/${kind}/${name}`)
        .filter((reference) => !text.includes(`"${reference}"`)),
    ),
    ...Object.keys(securitySchemes as Json).filter((name) => !text.includes(`"${name}":[]`)),
  ];
  expect(unused).toEqual([]);
});

describe('deprecated parts are marked', () => {
  test('`data` and `count` beside `items`', () => {
    const lists = Object.entries(publishedDocument.components.schemas).flatMap(([name, { properties }]) =>
      properties && 'items' in (properties as Json)
        ? [[name, properties as Record<string, Json>] as const]
        : [],
    );
    expect(lists.length).toBeGreaterThan(10);
    for (const [name, { data, count }] of lists) {
      for (const older of [data, count]) {
        if (older) expect([name, older.deprecated]).toEqual([name, true]);
      }
    }
  });

  test('parameters that page in the older way', () => {
    for (const { operation } of documentedOperations) {
      for (const { name, deprecated } of operation.parameters) {
        const older = name === 'limit' || name === 'page' || name === 'offset';
        expect([operation.operationId, name, deprecated ?? false]).toEqual([
          operation.operationId,
          name,
          older,
        ]);
      }
    }
  });
});

describe('headers', () => {
  const { getReport, updateReport, deleteReport, upsertReportByPublicId, getRole } = operations;

  test('a read of a resource with a version returns an ETag, and a change takes If-Match', () => {
    expect(headersOf(getReport, 200)).toContain('ETag');
    expect(parameterNames(getReport)).not.toContain('If-Match');
    expect(headersOf(updateReport, 200)).toContain('ETag');
    expect(parameterNames(updateReport)).toContain('If-Match');
    expect(documentedReply(documented(updateReport), 412)).toBeDefined();
    expect(headersOf(deleteReport, 204)).not.toContain('ETag');
    expect(parameterNames(deleteReport)).toContain('If-Match');
    expect(parameterNames(deleteReport)).not.toContain('If-None-Match');
    expect(parameterNames(upsertReportByPublicId)).toEqual(
      expect.arrayContaining(['If-Match', 'If-None-Match']),
    );
    expect(headersOf(getRole, 200)).not.toContain('ETag');
  });

  test('every operation takes and every reply sends X-Request-Id; 429, 503 and 504 send Retry-After', () => {
    for (const op of allOperations) {
      const { parameters } = publishedDocument.paths[op.path] as unknown as { parameters: Json[] };
      expect(parameters).toEqual([{ $ref: '#/components/parameters/X-Request-Id' }]);
      for (const status of Object.keys(documented(op).responses).map(Number)) {
        const waits = [429, 503, 504].includes(status);
        expect(headersOf(op, status)).toContain('X-Request-Id');
        expect([op.id, status, headersOf(op, status).includes('Retry-After')]).toEqual([
          op.id,
          status,
          waits,
        ]);
      }
    }
  });
});

test('every operation has a described tag, a summary, a description and a 4xx', () => {
  const described = publishedDocument.tags.filter(({ description }) => description).map(({ name }) => name);
  for (const { operation } of documentedOperations) {
    expect(described).toEqual(expect.arrayContaining(operation.tags));
    expect(operation.summary).not.toBe('');
    expect(operation.description).not.toBe('');
    expect(Object.keys(operation.responses).some((status) => status.startsWith('4'))).toBe(true);
    for (const status of Object.keys(operation.responses)) {
      expect(documentedReply(operation, Number(status))?.description).not.toMatch(/undefined|^$/);
    }
  }
});

test('the cookie of a browser is a credential of every operation that takes it, and a change needs its token too', () => {
  const securityOf = (path: string, method: string) => publishedDocument.paths[path]![method]!.security;
  expect(securityOf('/api/v1/users/me', 'get')).toContainEqual({ consoleSession: [] });
  expect(securityOf('/api/v1/users/me', 'put')).toContainEqual({ consoleSession: [], csrfToken: [] });
  expect(JSON.stringify(securityOf('/api/v1/embed/generate-session', 'post'))).not.toContain(
    'consoleSession',
  );
});
