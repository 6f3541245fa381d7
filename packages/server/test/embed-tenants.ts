/** Puts embed tenants and their users directly into the database of a world. */
import { unique, type World } from './world.ts';

export interface Viewer {
  id: number;
  externalId: string;
}

export async function newTenant(world: World, displayName: string | null = null): Promise<string> {
  const name = unique('acme');
  const text = 'insert into embed_tenants (name, display_name) values ($1, $2)';
  await world.server.db.pool.query(text, [name, displayName]);
  return name;
}

export async function newViewer(
  world: World,
  tenant: string,
  given: { externalId?: string; email?: string; firstName?: string } = {},
): Promise<Viewer> {
  const { externalId = unique('viewer'), email = null, firstName = null } = given;
  const { rows } = await world.server.db.pool.query(
    `insert into users (embed_tenant, external_id, username, email, first_name)
     values ($1, $2, $2, $3, $4) returning id`,
    [tenant, externalId, email, firstName],
  );
  return { id: rows[0].id, externalId };
}

export async function newViewers(world: World, tenant: string, count: number): Promise<Viewer[]> {
  const viewers: Viewer[] = [];
  for (let i = 0; i < count; i++) viewers.push(await newViewer(world, tenant));
  return viewers;
}
