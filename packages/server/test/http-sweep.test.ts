/** Sends malformed requests to every operation of the contract, including future ones. */
import { allOperations, bodyKindOf, errorCodesOf, type Operation, patternMessages } from '@oriel/contract';
import { type TSchema, Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCodeOf } from './error-code.ts';
import { addressOf, bodySchemaOf, requestOf, validBody } from './samples.ts';
import { createOwnWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

interface JsonSchema {
  type?: string | string[];
  format?: string;
  pattern?: string;
  maximum?: number;
  minimum?: number;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
}

const typesOf = ({ type }: JsonSchema) => [type ?? []].flat();
const cases = (list: readonly Operation[]) => list.map((op) => [op.id, op] as const);
const send = (op: Operation, address = addressOf(op), body: unknown = validBody(op)) =>
  world.raw(op.method, address, requestOf(op, body));

/** Every schema inside a schema, with its path. */
function* within(schema: JsonSchema, path: string[] = []): Generator<{ schema: JsonSchema; path: string[] }> {
  yield { schema, path };
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* within(member, [...path, name]);
  if (schema.items) yield* within(schema.items, [...path, '0']);
  for (const member of schema.anyOf ?? []) yield* within(member, path);
  if (typeof schema.additionalProperties === 'object')
    yield* within(schema.additionalProperties, [...path, 'x']);
}

const withParameters = ({ params, query }: Operation) =>
  ([...Object.entries(params), ...Object.entries(query)] as [string, TSchema][]).map(
    ([name, schema]) => [name, schema as JsonSchema] as const,
  );

describe('every integer parameter has a maximum, and a larger value is a 400', () => {
  const integers = (op: Operation) =>
    withParameters(op).filter(([, schema]) => typesOf(schema).includes('integer'));
  const at = (op: Operation, name: string, value: string) => {
    const [path, query] = addressOf(op).split('?') as [string, string?];
    if (name in op.params) {
      return op.path.replaceAll(/\{(\w+)\}/g, (_, each) => (each === name ? value : '1'));
    }
    const search = new URLSearchParams(query);
    search.set(name, value);
    return `${path}?${search}`;
  };
  const FAR_BEYOND = [2n ** 63n, -(2n ** 63n) - 1n, 10n ** 400n];
  let turn = 0;
  test.each(cases(allOperations.filter((op) => integers(op).length > 0)))('%s', async (_id, op) => {
    for (const [name, { minimum, maximum }] of integers(op)) {
      expect([name, Number.isSafeInteger(maximum), Number.isSafeInteger(minimum)]).toEqual([
        name,
        true,
        true,
      ]);
      expect((await send(op, at(op, name, String(maximum)))).status).toBeLessThan(500);
      const beyond = [BigInt(maximum!) + 1n, BigInt(minimum!) - 1n, FAR_BEYOND[turn++ % FAR_BEYOND.length]];
      for (const value of beyond) expect((await send(op, at(op, name, String(value)))).status).toBe(400);
    }
  });
});

describe('a date and time that PostgreSQL does not accept is a 400', () => {
  const BAD = [
    '2036-01-31T09:30:00+23:59',
    '0000-01-01T00:00:00Z',
    '99999-01-01T00:00:00Z',
    '2036-12-31T23:59:60Z',
    '2036-01-31T24:00:00Z',
    '2036-02-30T00:00:00Z',
    'infinity',
  ];
  const ODD = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:58Z', '2036-02-29T00:00:00.123456789-15:59'];
  const isDate = ({ format }: JsonSchema) => format === 'date-time';
  const inBody = (op: Operation) =>
    [...within((bodySchemaOf(op) ?? {}) as JsonSchema)].filter(({ schema }) => isDate(schema));
  const inQuery = (op: Operation) =>
    Object.entries(op.query as Record<string, JsonSchema>).filter(([, s]) => isDate(s));

  const dated = allOperations.filter((op) => inBody(op).length > 0 || inQuery(op).length > 0);
  test('there is something to check', () => expect(dated.map(({ id }) => id)).toContain('createApiKey'));

  test.each(cases(dated))('%s', async (_id, op) => {
    for (const { path } of inBody(op)) {
      const body = (value: string) => place(validBody(op), path, value);
      for (const bad of BAD) expect((await send(op, addressOf(op), body(bad))).status).toBe(400);
      for (const odd of ODD) expect((await send(op, addressOf(op), body(odd))).status).toBeLessThan(500);
    }
    for (const [name] of inQuery(op)) {
      const address = (value: string) => {
        const url = new URL(addressOf(op), world.url);
        url.searchParams.set(name, value);
        return url.pathname + url.search;
      };
      for (const bad of BAD) expect((await send(op, address(bad))).status).toBe(400);
      for (const odd of ODD) expect((await send(op, address(odd))).status).toBeLessThan(500);
    }
  });

  function place(target: object, [name, ...rest]: string[], value: string): object {
    const below = (target as Record<string, object>)[name!] ?? (rest[0] === '0' ? [] : {});
    const placed = rest.length ? place(below, rest, value) : value;
    return Array.isArray(target) ? [placed] : { ...target, [name!]: placed };
  }
});

describe('bodies', () => {
  const withBody = allOperations.filter((op) => bodyKindOf(op)?.kind === 'json');

  test.each(cases(withBody))(
    '%s refuses null, numbers that would be rounded, and repeated keys',
    async (_id, op) => {
      const codeFor = async (body: string) => {
        const response = await send(op, addressOf(op), body);
        return [response.status, await errorCodeOf(response)];
      };
      expect(await codeFor('null')).toEqual([400, 'invalid_request']);
      expect(await codeFor('{"a":{"b":[9007199254740993]}}')).toEqual([400, 'integer_too_large']);
      expect(await codeFor('{"a":1,"\\u0061":2}')).toEqual([400, 'duplicate_key']);
    },
  );
});

test('every operation lists the error for a malformed address', () => {
  for (const op of allOperations) expect(errorCodesOf(op)).toContain('invalid_url');
});

describe('messages are for people', () => {
  test('every pattern of the contract has a rule in words', () => {
    for (const op of allOperations) {
      const schemas = [
        Type.Object(op.params),
        Type.Object(op.query),
        Type.Object(op.headers),
        bodySchemaOf(op) ?? {},
      ] as JsonSchema[];
      for (const { schema } of schemas.flatMap((each) => [...within(each)])) {
        if (schema.pattern)
          expect([op.id, Object.keys(patternMessages)]).toEqual([
            op.id,
            expect.arrayContaining([schema.pattern]),
          ]);
      }
    }
  });

  test.each(cases(allOperations.filter(bodySchemaOf)))(
    '%s never shows a pattern or a message of the validator',
    async (_id, op) => {
      const wrong = [0, '', [], {}, 'x'.repeat(100), true].map((value) =>
        Object.fromEntries(
          Object.keys((bodySchemaOf(op) as JsonSchema).properties ?? {}).map((name) => [name, value]),
        ),
      );
      for (const body of wrong) {
        const response = await send(op, addressOf(op), body);
        expect(response.status).toBeLessThan(500);
        if (response.status !== 400) continue;
        const {
          detail,
          errorDescription,
          error,
          message = detail ?? errorDescription ?? error,
          issues = [],
        } = (await response.json()) as {
          message?: string;
          /** In the forms of SCIM, OAuth and the query API. */
          detail?: string;
          errorDescription?: string;
          error?: string;
          issues?: { message: string }[];
        };
        for (const text of [message, ...issues.map((issue) => issue.message)])
          expect(text).not.toMatch(/must NOT|must match|\^|\\[us]|\[a-z|anyOf|undefined|null or/);
      }
    },
  );
});
