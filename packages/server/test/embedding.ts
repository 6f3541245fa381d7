/** A world for tests of embedding: a deployment, creator mode, and short functions to mint and read a session. */
import type { OrielError } from '@oriel/client';
import { createOwnWorld, createWorld, unique, type World } from './world.ts';

export type SessionRequest = Parameters<World['embedded']>[0];
/** The fields that a test sets; by default a deployment and a new viewer. Some tests set wrong values on purpose. */
export type SessionOptions = Partial<Record<keyof SessionRequest, unknown>>;

export interface Refusal {
  status: number;
  code: string;
  message: string;
  issues?: { path: string; message: string }[];
}

export interface Embedding {
  world: World;
  deploymentId: number;
  /** Runs any SQL, and returns the rows. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of any table
  rows(text: string, values?: unknown[]): Promise<any[]>;
  request(options?: SessionOptions): SessionRequest;
  mint(options?: SessionOptions): Promise<string>;
  /** Mints such a session, which must fail, and returns the error. */
  refusal(options: SessionOptions, apiKey?: string): Promise<Refusal>;
  /** Mints such a session and returns what the server knows about the viewer. */
  see(options?: SessionOptions): ReturnType<World['admin']['getEmbedSession']>;
  rehearse(options?: SessionOptions): ReturnType<World['admin']['dryRunSession']>;
  /** The id of a new group of the account. */
  accountGroup(name?: string): Promise<string>;
  /** A new attribute of the account, by name. */
  accountAttribute(type: string, defaultValue?: string): Promise<string>;
  /** The name of an embed tenant that no other test uses. */
  tenant(): string;
  stop(): Promise<void>;
}

/** In the world that all files share. */
export const createEmbedding = async (): Promise<Embedding> => embeddingIn(await createWorld());

/** In a separate world. */
export async function createOwnEmbedding(env: Record<string, string> = {}): Promise<Embedding> {
  const world = await createOwnWorld({ env });
  await world.server.db.pool.query('update tenant_settings set use_creator_mode = true');
  return embeddingIn(world);
}

async function embeddingIn(world: World): Promise<Embedding> {
  const rows: Embedding['rows'] = async (text, values) =>
    (await world.server.db.pool.query(text, values)).rows;
  const { id: deploymentId } = await world.deployment();
  const request = (options: SessionOptions = {}) =>
    ({
      deploymentId,
      ...('internalId' in options ? {} : { externalId: unique('viewer') }),
      ...options,
    }) as SessionRequest;
  const rehearse: Embedding['rehearse'] = (options) => world.admin.dryRunSession({ body: request(options) });
  return {
    world,
    deploymentId,
    rows,
    request,
    rehearse,
    mint: async (options) => (await world.admin.generateSession({ body: request(options) })).sessionId,
    async refusal(options, apiKey) {
      const client = apiKey ? world.client(apiKey) : world.admin;
      return client.generateSession({ body: request(options) }).then(
        () => {
          throw new Error('the call succeeded');
        },
        ({ status, code, message, issues }: OrielError & Refusal) => ({
          status,
          code,
          message,
          ...(issues ? { issues } : {}),
        }),
      );
    },
    see: async (options) => (await world.embedded(request(options))).client.getEmbedSession(),
    async accountGroup(name = unique('group')) {
      await world.admin.createUserGroup({ body: { name } });
      return name;
    },
    async accountAttribute(type, defaultValue) {
      const name = unique(type);
      await rows('insert into user_attributes (name, type, default_value) values ($1, $2, $3)', [
        name,
        type,
        defaultValue ?? null,
      ]);
      return name;
    },
    tenant: () => unique('tenant'),
    stop: () => world.stop(),
  };
}
