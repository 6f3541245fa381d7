/** Checks the rules for all operations on operations of every kind; see `../sweep.test.ts` and `../openapi.test.ts`. */
import { errorCodesOf, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publish, wholeSchemas } from '../published-document.ts';
import { addressOf, bodySchemaOf, requestOf, validBody } from '../samples.ts';
import { example } from './example-contract.ts';
import { type ExampleServer, startExample } from './example-server.ts';

let server: ExampleServer;
beforeAll(async () => {
  server = await startExample();
});
afterAll(() => server.stop());

const operations = Object.values(example) as unknown as Operation[];
const cases = (list: readonly Operation[]) => list.map((op) => [op.id, op] as const);
const isProtected = (op: Operation) => op.auth !== 'public';

describe('without a credential, every protected operation is a 401', () => {
  test.each(cases(operations.filter(isProtected)))('%s', async (_id, op) => {
    for (const key of [null, 'wrong']) {
      expect((await server.raw(op.method, addressOf(op), { key, ...requestOf(op) })).status).toBe(401);
    }
  });
});

describe('requests that the contract allows are accepted', () => {
  const succeeding = operations.filter(({ id }) => !id.startsWith('fail'));
  test.each(cases(succeeding))('%s', async (_id, op) => {
    const response = await server.raw(op.method, addressOf(op), requestOf(op));
    await response.body?.cancel();
    expect(response.status).toBeLessThan(400);
  });
});

describe('unknown fields are refused by name', () => {
  test.each(cases(operations.filter(bodySchemaOf)))('%s', async (_id, op) => {
    const init = requestOf(op, { ...validBody(op), ephemeralTtlSeconds: 60 });
    const response = await server.raw(op.method, addressOf(op), init);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('ephemeralTtlSeconds: is not a known field');
  });
});

describe('the document', () => {
  const published = publish(operations);

  test('names every operation and all its error codes', () => {
    expect(published.documentedOperations.map(({ operation }) => operation.operationId).sort()).toEqual(
      operations.map(({ id }) => id).sort(),
    );
    for (const op of operations) {
      const documented = published.documentedOperation(op.method, op.path)!;
      const described = Object.keys(documented.responses).map(
        (status) => published.documentedReply(documented, Number(status))!.description,
      );
      for (const code of errorCodesOf(op)) expect(described.join()).toContain(code);
    }
  });

  test('contains only schemas that can be compiled', () => {
    for (const { schema } of wholeSchemas(published)) published.mismatch(schema, undefined);
  });

  test('describes the kinds of bodies and replies', () => {
    const typesOf = (id: keyof typeof example) => {
      const { method, path, status = 200 } = example[id];
      const documented = published.documentedOperation(method, path)!;
      const { content = {} } = published.documentedReply(documented, status) ?? {};
      return [Object.keys(documented.requestBody?.content ?? {}), Object.keys(content)];
    };
    expect(typesOf('postForm')).toEqual([['application/x-www-form-urlencoded'], ['application/json']]);
    expect(typesOf('postFormOrJson')[0]).toEqual(['application/x-www-form-urlencoded', 'application/json']);
    expect(typesOf('postScim')).toEqual([
      ['application/scim+json', 'application/json'],
      ['application/scim+json'],
    ]);
    expect(typesOf('postFiles')[0]).toEqual(['multipart/form-data']);
    expect(typesOf('postBytes')[0]).toEqual(['application/zip', 'text/plain']);
    expect(typesOf('getRows')[1]).toEqual(['application/x-ndjson']);
    expect(typesOf('getTable')[1]).toEqual(['text/csv']);
    expect(typesOf('getPage')[1]).toEqual(['text/html']);
    expect(typesOf('getEvents')[1]).toEqual(['text/event-stream']);
    expect(typesOf('getContent')[1]).toEqual(['image/png', 'application/octet-stream']);
  });

  const operation = (id: keyof typeof example) =>
    published.documentedOperation(example[id].method, example[id].path)!;

  test('describes files: their number, size and content types', () => {
    const { description, content } = operation('postFiles').requestBody!;
    const { schema, encoding } = content['multipart/form-data']!;
    expect(schema).toMatchObject({
      properties: {
        name: { type: 'string' },
        files: {
          type: 'array',
          minItems: 1,
          maxItems: 3,
          items: { type: 'string', format: 'binary', description: 'At most 300 KB' },
        },
        logo: {
          type: 'string',
          format: 'binary',
          contentMediaType: 'image/png',
          description: 'At most 1 KB',
        },
      },
      required: ['name', 'files'],
    });
    expect(encoding).toEqual({ files: { contentType: '*/*' }, logo: { contentType: 'image/png' } });
    expect(description).toBe('At most 1.1 MB in all');
  });

  test('does not describe bytes that are a whole body as text', () => {
    const bodies = Object.values(operation('postBytes').requestBody!.content);
    const replies = Object.values(operation('getContent').responses[200]!.content!);
    for (const { schema } of [...bodies, ...replies]) expect(schema).not.toHaveProperty('type');
  });

  test('describes a stream as text, and its lines or events beside that', () => {
    const [rows] = Object.values(operation('getRows').responses[200]!.content!);
    expect(rows).toEqual({
      schema: { type: 'string' },
      'x-each': { line: { $ref: '#/components/schemas/ExampleRow' } },
    });
    const [events] = Object.values(operation('getEvents').responses[200]!.content!);
    expect(events).toMatchObject({ schema: { type: 'string' }, 'x-each': { event: { anyOf: [{}, {}] } } });
  });

  test('says how large each body may be', () => {
    expect(operation('postForm').requestBody!.description).toBe('At most 1 KB');
    expect(operation('postFormOrJson').requestBody!.description).toBe('At most 4 KB');
    expect(operation('putThing').requestBody!.description).toBe('At most 256 KB');
    expect(operation('postBytes').requestBody!.description).toBe('At most 300 KB');
  });

  test('describes headers, rate limits and time limits', () => {
    expect(operation('getWithHeaders').parameters).toMatchObject([
      { name: 'x-branch', in: 'header', required: true },
      { name: 'x-depth', in: 'header', required: false },
    ]);
    expect(Object.keys(operation('getWithHeaders').responses[200]!.headers!)).toContain('x-branch-of');
    expect(Object.keys(operation('getElsewhere').responses[303]!.headers!)).toContain('Location');
    expect(operation('getRarely').description).toContain('2 times in 3600 seconds');
    expect(operation('getSlowly').description).toContain('stopped after 3 seconds');
  });
});
