/** The text that is printed at a start: where the server is and, the first time, how to log in. */
import type { Backup } from './backup.ts';
import type { Config } from './config.ts';
import { DEMO_DASHBOARDS } from './domains/dashboards/index.ts';
import type { FirstAdmin } from './domains/installation/index.ts';
import type { LostVariables } from './forget-secrets.ts';
import type { Verification } from './platform/audit/verify.ts';
import type { RestoreSummary } from './restore.ts';
import type { RunningServer } from './start-server.ts';

export function banner(
  { publicUrl, dataDir }: RunningServer,
  { databaseUrl, role }: Pick<Config, 'databaseUrl' | 'role'>,
): string {
  const uses: [string, string][] =
    role === 'worker'
      ? [['Runs', 'jobs only, without API']]
      : [
          ['In a browser', `${publicUrl}/`],
          ['API reference', `${publicUrl}/docs`],
        ];
  const facts: [string, string][] = [
    ...uses,
    ['Database', databaseUrl ? 'as ORIEL_DATABASE_URL says' : `embedded PostgreSQL, in ${dataDir}`],
  ];
  return [`Oriel is running at ${publicUrl}`, '', ...table(facts), ''].join('\n');
}

export function firstAdminBanner(
  admin: FirstAdmin,
  { publicUrl, hasDemo, role }: { publicUrl: string; hasDemo: boolean; role: Config['role'] },
): string {
  const curl = (rest: string) => `  curl -H "Authorization: Api-Key $ORIEL_ADMIN_API_KEY" ${rest}`;
  const account = `{\\"email\\":\\"${admin.email}\\",\\"password\\":\\"$ORIEL_ADMIN_PASSWORD\\"}`;
  const region = '{"name":"region","value":"EU"}';
  const session = `{"deploymentId":1,"externalId":"ada","groups":["analysts"],"userAttributes":[${region}]}`;
  const commands = hasDemo
    ? [
        curl(`"${publicUrl}/api/v1/deployments/1/reports?first=10"`),
        curl('-H "Content-Type: application/json" \\'),
        `    -d '${session}' ${publicUrl}/api/v1/embed/generate-session`,
        '',
        'With the `sessionId` of the reply, a browser shows the dashboards of the demo, once for each session:',
        '',
        ...DEMO_DASHBOARDS.map(
          ({ publicId }) => `  ${publicUrl}/embed/dashboard/${publicId}#session=<sessionId>`,
        ),
      ]
    : [curl(`${publicUrl}/api/v1/users/me`), curl(`${publicUrl}/api/v1/deployments`)];
  return [
    `The first admin is ${admin.email}.`,
    '',
    ...showSecrets(admin),
    ...(role === 'worker'
      ? ['This server runs jobs only. Use the key with a server whose ORIEL_ROLE is `web` or `all`.']
      : [
          'Open this address in a browser, and sign in with that email and password:',
          '',
          `  ${publicUrl}/`,
          '',
          'Or try the API in another terminal:',
          '',
          ...commands,
          '',
          'Get an access token of the admin:',
          '',
          '  curl -H "Content-Type: application/json" \\',
          `    -d "${account}" ${publicUrl}/auth/login`,
        ]),
    '\n',
  ].join('\n');
}

/** Lines to paste into a shell. Shows only generated secrets, not those given in the settings. */
function showSecrets({ generatedPassword, generatedApiKey }: Omit<FirstAdmin, 'email'>): string[] {
  const shown = Object.entries({
    ORIEL_ADMIN_PASSWORD: generatedPassword,
    ORIEL_ADMIN_API_KEY: generatedApiKey,
  })
    .filter(([, secret]) => secret !== undefined)
    .map(([name, secret]) => `  export ${name}=${secret}`);
  if (!shown.length) return [];
  const title =
    shown.length === 2
      ? 'The password and the API key are shown once, so keep them:'
      : `The ${generatedPassword ? 'password' : 'API key'} is shown once, so keep it:`;
  return [title, '', ...shown, ''];
}

export const newKeyBanner = (username: string, generatedApiKey: string) =>
  [
    `A new API key of the admin ${username}.`,
    '',
    ...showSecrets({ generatedPassword: undefined, generatedApiKey }),
    '',
  ].join('\n');

export const secretRotatedBanner = (count: number) =>
  [
    `Everything in the database is sealed with the newest secret key. Values that were sealed again: ${count}.`,
    'Remove the previous key (ORIEL_SECRET_KEY_PREVIOUS, or secret.key.previous in the data dir) and restart the',
    'servers. Keep it together with the backups that were made before.',
    '',
  ].join('\n');

export function auditVerifiedBanner(verification: Verification): string {
  const { entries, unsealed, droppedMonths, sealedSince, newestSeal } = verification;
  const facts: [string, string][] = [
    ['Sealed', sealedSince === undefined ? 'no entries yet' : `${entries} entries, since ${sealedSince}`],
    ['Not sealed yet', `${unsealed} entries, about which nothing is known`],
    ['Dropped', droppedMonths.length ? `${droppedMonths.toSorted().join(', ')}, by retention` : 'no months'],
  ];
  return [
    'No sealed entry of the audit log was changed, removed or added.',
    '',
    ...table(facts),
    ...(newestSeal === undefined
      ? []
      : [
          '',
          'Keep the newest seal outside of the database, and give it to a later run with --seal:',
          '',
          `  ${newestSeal}`,
        ]),
    '',
  ].join('\n');
}

export const backupBanner = ({ file, bytes, tables, rows, files, hasSecretKey }: Backup) =>
  [
    `The backup is whole: ${file}`,
    '',
    ...table([
      ['Size', `${bytes} bytes`],
      ['Database', `${rows} rows of ${tables} tables`],
      ['Files', `${files} of deployments`],
      [
        'Secret key',
        hasSecretKey
          ? 'in the backup: who reads the file can read every stored secret'
          : 'not in the backup: keep secret.key or ORIEL_SECRET_KEY in another safe place',
      ],
    ]),
    '',
  ].join('\n');

export const restoredBanner = ({ createdAt, into, rows, tables, files, lost }: RestoreSummary) =>
  [
    `Everything is as it was in the backup of ${createdAt}${lost ? ', except for what needs the lost secret key' : ''}.`,
    '',
    ...table([
      ['Database', `${rows} rows of ${tables} tables, ${into}`],
      ['Files', `${files} of deployments`],
      ['Embed tokens', 'all have ended, so that none stands for somebody else: pages ask for new sessions'],
      ...(lost ? lostFacts(lost) : []),
    ]),
    '',
    'Start Oriel with the same settings as this command.',
    '',
  ].join('\n');

const lostFacts = (lost: LostVariables): [string, string][] => [
  ...lost.map(({ deploymentId, names }): [string, string] => [
    'Variables',
    `lost in deployment ${deploymentId}, set them again: ${names.join(', ')}`,
  ]),
  [
    'Audit log',
    'all entries are there, but nobody can show any more that they were not changed before today',
  ],
  ['Sign-ins', 'people sign in again after an hour; links of invitations and new passwords have ended'],
  ['Kept', 'API keys and passwords'],
];

const table = (rows: [string, string][]) => rows.map(([name, value]) => `  ${name.padEnd(15)}${value}`);
