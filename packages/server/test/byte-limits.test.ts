/** Limits in bytes count bytes, not letters: Cyrillic letters have two, and Japanese ones three. */
import { limits } from '@oriel/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from './world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  ({ id: deploymentId } = await world.deployment());
});
afterAll(() => world?.stop());

/** What `{"x":""}` takes. */
const AROUND = 8;
const SECURITY_CONTEXT_BYTES = 64 * 1024;

const places = {
  'the security context of a session': {
    bytes: SECURITY_CONTEXT_BYTES,
    send: (securityContext: object) =>
      world.admin.generateSession({ body: { deploymentId, externalId: unique('viewer'), securityContext } }),
  },
  'the security context of an environment token': {
    bytes: limits.tokenContext,
    async send(security_context: object) {
      const { items } = await world.admin.getDeploymentEnvironments({ deploymentId });
      const environmentId = items[0]!.id;
      return world.admin.createDeploymentEnvironmentToken({
        ...{ deploymentId, environmentId },
        body: { security_context },
      });
    },
  },
  'the meta of a report': {
    bytes: limits.meta,
    send: (meta: object) =>
      world.admin.createReport({ deploymentId, body: { name: unique('Report'), meta } }),
  },
};

test.each(Object.entries(places))('%s', async (_name, { bytes, send }) => {
  for (const [letter, size] of [
    ['x', 1],
    ['ж', 2],
    ['字', 3],
  ] as const) {
    const most = Math.floor((bytes - AROUND) / size);
    const status = (count: number) =>
      send({ x: letter.repeat(count) }).then(
        () => 'taken',
        (error) => error.status,
      );
    expect([letter, await status(most), await status(most + 1)]).toEqual([letter, 'taken', 400]);
  }
});
