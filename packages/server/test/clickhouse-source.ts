/** Databases of the ClickHouse that `npm run test:clickhouse` starts. */
import type { ServerSource } from '../src/engines/data-sources.ts';

/** Undefined if there is no ClickHouse. */
export function clickHouseSource(database: string): ServerSource | undefined {
  const url = process.env.ORIEL_TEST_CLICKHOUSE_URL;
  if (!url) return undefined;
  const { hostname: host, port, username: user, password } = new URL(url);
  return {
    name: 'default',
    type: 'clickhouse',
    host,
    port: Number(port),
    database,
    user,
    password,
    tls: 'off',
  };
}

/** Makes the database anew. Columns are made as other databases make them: with nulls, and with microseconds. */
export async function createInClickHouse(
  { host, port, database, user, password }: ServerSource,
  sql: string,
) {
  const settings = 'data_type_default_nullable=1&default_table_engine=Memory';
  const send = async (body: string, more = '') => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const response = await fetch(`http://${host}:${port}/?${settings}${more}`, {
      method: 'POST',
      headers: { authorization },
      body,
    });
    if (!response.ok) throw new Error(await response.text());
  };
  await send(`drop database if exists ${database}`);
  await send(`create database ${database}`);
  for (const statement of sql.split(/;\s*(?:\n|$)/).filter((text) => text.trim())) {
    await send(statement.replace(/timestamp(?=[,)])/g, "DateTime64(6, 'UTC')"), `&database=${database}`);
  }
}
