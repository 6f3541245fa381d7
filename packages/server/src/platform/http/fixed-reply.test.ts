import fastify from 'fastify';
import { expect, test } from 'vitest';
import { createLateReply } from './fixed-reply.ts';

test('content that could not be read is read again for the next reader, and then kept', async () => {
  const results = [new Error('too many open files'), Buffer.from('{}'), Buffer.from('[]')];
  const read = async () => {
    const result = results.shift()!;
    if (result instanceof Error) throw result;
    return result;
  };
  const app = fastify();
  app.get('/', createLateReply('application/json', read));
  const replies = [];
  for (let i = 0; i < 3; i++) replies.push(await app.inject('/'));
  expect(replies.map(({ statusCode }) => statusCode)).toEqual([500, 200, 200]);
  expect(replies.slice(1).map(({ body }) => body)).toEqual(['{}', '{}']);
});
