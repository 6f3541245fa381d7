/** What an operator should look after, from what is known about the server. */

export interface Facts {
  hasMail: boolean;
  /** Whether the secret key was made by the server, and is a file in its data dir. */
  hasKeyInDataDir: boolean;
  allowsPrivateRemotes: boolean;
  installedAt: number;
  lastBackupAt: number | undefined;
  disk: { freeBytes: number; bytes: number } | undefined;
  /** The version of this server. */
  version: string;
  /** The newest release, as the operator says. */
  latestRelease?: string | undefined;
  now: number;
}

export interface Notice {
  code:
    | 'mail_not_set'
    | 'no_recent_backup'
    | 'secret_key_in_data_dir'
    | 'private_remotes_allowed'
    | 'disk_nearly_full'
    | 'new_release';
  severity: 'info' | 'warning';
  message: string;
  values: { free?: string; total?: string; days?: string; latest?: string; version?: string };
  whatToDo: string;
}

const DAY_MS = 86_400_000;
const BACKUP_WITHIN_MS = 7 * DAY_MS;
const FREE_SHARE = 0.1;
/** A large disk that is almost full still has room. */
const FREE_ENOUGH_BYTES = 20 * 1024 ** 3;

export function noticesOf(facts: Facts): Notice[] {
  const { disk, now } = facts;
  const found: Notice[] = [];
  if (disk && disk.freeBytes < disk.bytes * FREE_SHARE && disk.freeBytes < FREE_ENOUGH_BYTES)
    found.push({
      code: 'disk_nearly_full',
      severity: 'warning',
      values: { free: gigabytes(disk.freeBytes), total: gigabytes(disk.bytes) },
      message: `The disk of the data dir is nearly full: ${gigabytes(disk.freeBytes)} of ${gigabytes(disk.bytes)} are free.`,
      whatToDo:
        'Free some space, or move the data dir to a larger disk. A full disk stops the embedded database.',
    });
  if (now - (facts.lastBackupAt ?? facts.installedAt) > BACKUP_WITHIN_MS)
    found.push({
      code: 'no_recent_backup',
      severity: 'warning',
      values: facts.lastBackupAt ? { days: String(Math.floor((now - facts.lastBackupAt) / DAY_MS)) } : {},
      message: facts.lastBackupAt
        ? `The last backup by \`npm run backup\` was ${Math.floor((now - facts.lastBackupAt) / DAY_MS)} days ago.`
        : 'There was no backup by `npm run backup` yet.',
      whatToDo:
        'Run `npm run backup` regularly, for example every night, and keep the file on another machine. If your database is backed up in another way, this notice can be ignored.',
    });
  if (facts.hasKeyInDataDir)
    found.push({
      code: 'secret_key_in_data_dir',
      severity: 'warning',
      values: {},
      message:
        'The secret key is only in the data dir of this server. Without it, stored secrets cannot be read.',
      whatToDo:
        'Copy the content of `secret.key` to where you keep passwords, and give it to the server as ORIEL_SECRET_KEY.',
    });
  if (!facts.hasMail)
    found.push({
      code: 'mail_not_set',
      severity: 'info',
      values: {},
      message:
        'This server sends no mail: people get no invitations, no new passwords and no reports by mail.',
      whatToDo: 'Set ORIEL_SMTP_URL and ORIEL_MAIL_FROM, and start the server again.',
    });
  if (facts.allowsPrivateRemotes)
    found.push({
      code: 'private_remotes_allowed',
      severity: 'info',
      values: {},
      message:
        'Outgoing requests may reach private addresses. Whoever may name an address, for example of a webhook, can reach services of your network.',
      whatToDo: 'If no data source, git host or webhook needs it, remove ORIEL_ALLOW_PRIVATE_REMOTES.',
    });
  if (facts.latestRelease && isNewer(facts.latestRelease, facts.version))
    found.push({
      code: 'new_release',
      severity: 'info',
      values: { latest: facts.latestRelease, version: facts.version },
      message: `Release ${facts.latestRelease} is out. This server is ${facts.version}.`,
      whatToDo: 'Read its notes, make a backup, and install it.',
    });
  return found;
}

/** Compares three numbers. What follows them, such as `-beta`, does not count. */
function isNewer(latest: string, version: string): boolean {
  const [a, b] = [latest, version].map((text) => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number));
  const at = [0, 1, 2].find((i) => (a![i] ?? 0) !== (b![i] ?? 0));
  return at !== undefined && (a![at] ?? 0) > (b![at] ?? 0);
}

const gigabytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GB`;
