/** What a start prints: where the server is and, the first time, how to get in. */
import type { RunningServer } from './start-server.ts';

export function banner({ publicUrl, dataDir, firstAdmin }: RunningServer, embedded: boolean): string {
  const facts: [string, string][] = [
    ['API reference', `${publicUrl}/docs`],
    ['Database', embedded ? `embedded PostgreSQL, in ${dataDir}` : 'as ORIEL_DATABASE_URL says'],
  ];
  const lines = [`Oriel is running at ${publicUrl}`, '', ...table(facts)];
  if (!firstAdmin) return `${lines.join('\n')}\n`;

  const { email, generatedPassword, generatedApiKey } = firstAdmin;
  const key = generatedApiKey ?? '$ORIEL_ADMIN_API_KEY';
  const admin: [string, string][] = [
    ['Sign-in', email],
    ['Password', generatedPassword ?? 'the one in ORIEL_ADMIN_PASSWORD'],
    ['API key', generatedApiKey ?? 'the one in ORIEL_ADMIN_API_KEY'],
  ];
  return [
    ...lines,
    '',
    'The first admin. This is shown once, so keep it:',
    '',
    ...table(admin),
    '',
    'Try it:',
    '',
    `  curl -H "Authorization: Api-Key ${key}" ${publicUrl}/api/v1/users/me`,
    `  curl -H "Authorization: Api-Key ${key}" ${publicUrl}/api/v1/deployments`,
    '',
  ].join('\n');
}

const table = (rows: [string, string][]) => rows.map(([name, value]) => `  ${name.padEnd(15)}${value}`);
