import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collectFiles, orderedOperations } from './catalogue.ts';
import {
  allOperations,
  type ErrorDefinition,
  errorCatalogue,
  errorCodesOf,
  isAudited,
  isCompressible,
  isDeploymentOperation,
  Nothing,
  operation,
  takesApiKey,
} from './index.ts';
import { Id } from './schemas.ts';

const example = <const Id extends string>(id: Id, path: string) =>
  operation({
    id,
    tag: 'Users',
    method: 'GET',
    path,
    summary: 'Example',
    auth: 'public',
    permission: 'none',
    reply: Nothing,
    audit: 'none',
  });
const getThing = example('getThing', '/api/v1/things/{id}');

test('an operation is exported under its id', () => {
  expect(() => orderedOperations({ getOther: getThing })).toThrow(
    'the operation getThing is exported as getOther',
  );
});

test('two operations with the same method and path are refused, even if their parameters have different names', () => {
  const readThing = example('readThing', '/api/v1/things/{thingId}');
  expect(() => orderedOperations({ getThing, readThing })).toThrow(
    'getThing and readThing are both GET /api/v1/things/{}',
  );
});

test('two files cannot define the same id, tag or error code', () => {
  const twice = (exported: Record<string, unknown>) => () =>
    collectFiles({ 'a.ts': exported, 'b.ts': exported });
  expect(twice({ getThing })).toThrow('getThing is in a.ts and in b.ts');
  expect(twice({ tags: { Things: 'Things.' } })).toThrow('Things is in a.ts and in b.ts');
  expect(twice({ errors: { no_thing: { status: 404, message: 'No.' } } })).toThrow(
    'no_thing is in a.ts and in b.ts',
  );
});

test('a file of operations exports nothing else', () => {
  expect(() => collectFiles({ 'a.ts': { limit: 5 } })).toThrow(
    'a.ts exports limit, which is not an operation',
  );
});

test('only account-wide operations that take an API key say how they treat a scoped key, and all of them do', () => {
  const saying = allOperations.filter(({ scopedKeys }) => scopedKeys !== undefined);
  const accountWide = allOperations.filter((op) => takesApiKey(op) && !isDeploymentOperation(op));
  expect(saying.map(({ id }) => id)).toEqual(accountWide.map(({ id }) => id));
  expect(accountWide.length).toBeGreaterThan(40);
});

test('an account-wide operation that changes something refuses scoped keys, or limits them itself', () => {
  const changing = allOperations.filter((op) => isAudited(op) && op.scopedKeys !== undefined);
  expect(changing.length).toBeGreaterThan(30);
  expect(changing.filter(({ scopedKeys }) => scopedKeys === 'allowed')).toEqual([]);
});

test('the type requires `scopedKeys` on account-wide operations with an API key, and forbids it on others', () => {
  const spec = {
    id: 'x',
    tag: 'Users',
    method: 'GET',
    summary: 'x',
    permission: 'none',
    reply: Nothing,
    audit: 'none',
  } as const;
  const accountWide = { ...spec, path: '/x', auth: 'management' } as const;
  const inDeployment = { ...accountWide, path: '/x/{deploymentId}', params: { deploymentId: Id } } as const;
  // @ts-expect-error: an account-wide operation must give `scopedKeys`
  operation(accountWide);
  operation({ ...accountWide, scopedKeys: 'allowed' });
  // @ts-expect-error: the deployment in the path decides
  operation({ ...inDeployment, scopedKeys: 'allowed' });
  operation(inDeployment);
  // @ts-expect-error: the operation takes no API key
  operation({ ...accountWide, auth: 'public', scopedKeys: 'allowed' });
  operation({ ...accountWide, auth: 'public' });
});

/** Fields of replies that are named like a secret, but hold a shortened one. */
const HARMLESS = ['getDeploymentEnvironmentTokens.token'];

test('no reply with a secret is compressed', () => {
  const fieldsOf = (schema: unknown): string[] =>
    typeof schema !== 'object' || schema === null
      ? []
      : Object.entries(schema).flatMap(([name, value]) =>
          name === 'properties' ? [...Object.keys(value), ...fieldsOf(value)] : fieldsOf(value),
        );
  const named = allOperations
    .filter(isCompressible)
    .flatMap(({ id, reply }) => [...new Set(fieldsOf(reply))].map((field) => `${id}.${field}`))
    .filter((field) => /\.(key|password|sessionId|\w*(token|secret|link))$/i.test(field));
  expect(named).toEqual(HARMLESS);
});

test('three codes mean "not now", for every operation and with a time to try again', () => {
  const codes = ['too_many_at_once', 'busy', 'timed_out'] as const;
  expect(codes.map((code) => errorCatalogue[code].status)).toEqual([429, 503, 504]);
  for (const code of codes) expect(errorCatalogue[code].retryAfterSeconds).toBeGreaterThan(0);
  for (const op of allOperations) expect(errorCodesOf(op), op.id).toEqual(expect.arrayContaining([...codes]));
});

test('a deprecated code names the code that is sent instead, and the server does not send it', () => {
  const catalogue: Record<string, ErrorDefinition> = errorCatalogue;
  const deprecated = Object.entries(catalogue).filter(([, { deprecated }]) => deprecated !== undefined);
  expect(deprecated.map(([code]) => code).sort()).toEqual([
    'answers_not_read',
    'query_timed_out',
    'source_busy',
    'too_many_queries',
    'tree_busy',
  ]);
  const src = join(import.meta.dirname, '../../server/src');
  const files = (readdirSync(src, { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'));
  const texts = files.map((file) => readFileSync(join(src, file), 'utf8')).join('\n');
  for (const [code, { deprecated: instead }] of deprecated) {
    expect(catalogue[instead!], code).toMatchObject({ retryAfterSeconds: expect.any(Number) });
    expect(catalogue[instead!]!.deprecated).toBeUndefined();
    expect(texts).not.toContain(`'${code}'`);
  }
});
