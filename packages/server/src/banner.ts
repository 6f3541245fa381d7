/** The text that is printed at a start: where the server is and, the first time, how to log in. */
import type { Config } from './config.ts';
import type { FirstAdmin } from './domains/installation/index.ts';
import type { RunningServer } from './start-server.ts';

export function banner(
  { publicUrl, dataDir }: RunningServer,
  { databaseUrl, role }: Pick<Config, 'databaseUrl' | 'role'>,
): string {
  const facts: [string, string][] = [
    role === 'worker' ? ['Runs', 'jobs only, without API'] : ['API reference', `${publicUrl}/docs`],
    ['Database', databaseUrl ? 'as ORIEL_DATABASE_URL says' : `embedded PostgreSQL, in ${dataDir}`],
  ];
  return [`Oriel is running at ${publicUrl}`, '', ...table(facts), ''].join('\n');
}

export function firstAdminBanner(
  admin: FirstAdmin,
  { publicUrl, hasDemo, role }: { publicUrl: string; hasDemo: boolean; role: Config['role'] },
): string {
  const curl = (rest: string) => `  curl -H "Authorization: Api-Key $ORIEL_ADMIN_API_KEY" ${rest}`;
  const session = '{"deploymentId":1,"externalId":"ada","groups":["analysts"]}';
  const commands = hasDemo
    ? [
        curl(`"${publicUrl}/api/v1/deployments/1/reports?first=10"`),
        curl('-H "Content-Type: application/json" \\'),
        `    -d '${session}' ${publicUrl}/api/v1/embed/generate-session`,
      ]
    : [curl(`${publicUrl}/api/v1/users/me`), curl(`${publicUrl}/api/v1/deployments`)];
  return [
    `The first admin is ${admin.email}.`,
    '',
    ...showApiKey(admin.generatedApiKey),
    ...(role === 'worker'
      ? ['This server runs jobs only. Use the key with a server whose ORIEL_ROLE is `web` or `all`.']
      : ['Try it in another terminal:', '', ...commands]),
    '\n',
  ].join('\n');
}

/** A line to paste, if the key was generated and not given in the settings. */
const showApiKey = (generated: string | undefined) =>
  generated
    ? ['The API key is shown once, so keep it:', '', `  export ORIEL_ADMIN_API_KEY=${generated}`, '']
    : [];

export const newKeyBanner = (username: string, apiKey: string) =>
  [`A new API key of the admin ${username}.`, '', ...showApiKey(apiKey), ''].join('\n');

export const secretRotatedBanner = (count: number) =>
  [
    `Everything in the database is sealed with the newest secret key. Values that were sealed again: ${count}.`,
    'Remove the previous key (ORIEL_SECRET_KEY_PREVIOUS, or secret.key.previous in the data dir) and restart the',
    'servers. Keep it together with the backups that were made before.',
    '',
  ].join('\n');

const table = (rows: [string, string][]) => rows.map(([name, value]) => `  ${name.padEnd(15)}${value}`);
