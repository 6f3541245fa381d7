/** A server with viewers who were all seen before, and the scripts that mint sessions for them. */
import { type Oriel, startOriel } from '../harness/oriel.ts';
import { makeScripts, type Scripts } from './minting.ts';
import { makeViewers, USERS_MAX, type Viewers } from './viewers.ts';

export interface Account {
  oriel: Oriel;
  viewers: Viewers;
  scripts: Scripts;
}

export async function openAccount(external?: {
  url: string;
  connection: Oriel['connection'];
}): Promise<Account> {
  const started = await startOriel({
    settings: {
      ORIEL_MAX_EXTERNAL_USERS: String(USERS_MAX),
      ...(external && { ORIEL_DATABASE_URL: external.url }),
    },
  });
  const oriel = external ? { ...started, connection: external.connection } : started;
  const viewers = await makeViewers(oriel.connection);
  return { oriel, viewers, scripts: await makeScripts(viewers) };
}
