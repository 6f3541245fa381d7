/** Minting sessions for known viewers: through Oriel, and the same statement by pgbench. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contender } from '../harness/benchmark.ts';
import type { Oriel } from '../harness/oriel.ts';
import { runPaced } from '../harness/paced.ts';
import { runPgbench } from '../harness/pgbench.ts';
import { undoAtEnd } from '../harness/undo.ts';
import { runWrk } from '../harness/wrk.ts';
import { mintSql } from './statements.ts';
import { VIEWERS, type Viewers } from './viewers.ts';

export const CONNECTIONS = 32;

export async function makeScripts(viewers: Viewers) {
  const dir = await mkdtemp(join(tmpdir(), 'oriel-bench-scripts-'));
  undoAtEnd(() => rm(dir, { recursive: true, force: true }));
  const origin = {
    userId: viewers.userId,
    apiKeyId: viewers.apiKeyId,
    ip: '127.0.0.1',
    requestId: 'bench-0001',
  };
  const lua = join(dir, 'mint.lua');
  await writeFile(
    lua,
    `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local open = ${luaText(`${viewers.openBody},"externalId":"viewer-`)}
request = function()
  return wrk.format(nil, nil, nil, open .. math.random(1, ${VIEWERS}) .. '"}')
end
`,
  );
  const sql = join(dir, 'mint.sql');
  const half = `${viewers.openBody},"creatorMode":false,"externalId":"viewer-`;
  await writeFile(
    sql,
    `\\set viewer random(1, ${VIEWERS})
${mintSql(`${sqlText(half)} || :viewer::text || '"}'`, `'\\x${'ab'.repeat(32)}'::bytea`, String(VIEWERS), sqlText(JSON.stringify(origin)), 'false')};
`,
  );
  return { dir, lua, sql };
}

export type Scripts = Awaited<ReturnType<typeof makeScripts>>;

const luaText = (text: string) => `[==[${text}]==]`;
// A colon before a word is a variable to pgbench, also within quotes.
const sqlText = (text: string) =>
  `'${text.replaceAll("'", "''").replaceAll(/:(?=[A-Za-z_])/g, "'||chr(58)||'")}'`;

const address = (oriel: Oriel) => `${oriel.url}/api/v1/embed/generate-session`;

export const mintingLoad = (oriel: Oriel, scripts: Scripts) => ({
  url: address(oriel),
  headers: oriel.headers,
  script: scripts.lua,
});

export const throughOriel = (name: string, oriel: Oriel, scripts: Scripts): Contender => ({
  name,
  measure: (seconds) => runWrk({ ...mintingLoad(oriel, scripts), connections: CONNECTIONS }, seconds),
});

export const byPgbench = (oriel: Oriel, scripts: Scripts): Contender => ({
  name: 'pgbench, the same statement',
  measure: (seconds) =>
    runPgbench({ connection: oriel.connection, script: scripts.sql, connections: CONNECTIONS }, seconds),
});

export const pacedThroughOriel = (oriel: Oriel, viewers: Viewers, perSecond: number): Contender => ({
  name: `Oriel, ${Math.round(perSecond)} a second offered`,
  measure: (seconds) =>
    runPaced(
      {
        url: address(oriel),
        headers: oriel.headers,
        body: () => `${viewers.openBody},"externalId":"viewer-${1 + Math.floor(Math.random() * VIEWERS)}"}`,
        connections: CONNECTIONS,
        perSecond,
      },
      seconds,
    ),
});

export const pacedByPgbench = (oriel: Oriel, scripts: Scripts, perSecond: number): Contender => ({
  name: `pgbench, ${Math.round(perSecond)} a second offered`,
  measure: (seconds) =>
    runPgbench(
      {
        connection: oriel.connection,
        script: scripts.sql,
        connections: CONNECTIONS,
        perSecond,
        logDir: scripts.dir,
      },
      seconds,
    ),
});
