/** Checks after each test file that no secret of its requests and replies is in the audit log. */
import pg from 'pg';

const kept = new Set<string>();
/** The newest ones, so that the check stays fast. */
const KEPT_MAX = 300;
const TEXT_MAX = 100_000;
const DISTINCT_MIN = 6;
const FIELD = /^[a-z_]+__[a-z_]+$/;

const SECRET =
  /"(?:key|password|\w*token|sessionId|\w*secret|device_?code)":"([^"\\]{8,500})"|[?&](?:link|code|token)=([\w.-]{16,})/gi;

/** Keeps the secrets in the JSON of a request or a reply. */
export function noteSecrets(text: unknown) {
  if (typeof text !== 'string' || text.length > TEXT_MAX) return;
  for (const [, field, parameter] of text.matchAll(SECRET)) {
    const secret = (field ?? parameter)!;
    // Tests also send texts such as `xxxxxxxx`, which are in names too, and charts name a field as their `key`.
    if (new Set(secret).size >= DISTINCT_MIN && !FIELD.test(secret)) kept.add(secret);
  }
  for (const secret of kept) {
    if (kept.size <= KEPT_MAX) break;
    kept.delete(secret);
  }
}

/** By database: the last entry that was checked. */
const checked = new Map<string, number>();

/** With a connection of its own, because a test may have stopped the server. */
export async function requireNoSecrets(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      'select id, operation, concat(resource_id, before, after) as text from audit_log where id > $1 order by id',
      [checked.get(databaseUrl) ?? 0],
    );
    checked.set(databaseUrl, rows.at(-1)?.id ?? 0);
    for (const { id, operation, text } of rows) {
      const secret = [...kept].find((one) => text.includes(one));
      if (secret)
        throw new Error(`the audit entry ${id} of ${operation} holds a secret: ${text.slice(0, 500)}`);
    }
  } finally {
    await client.end();
  }
}
