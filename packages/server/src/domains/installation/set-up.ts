/** Finds or creates at the start of a server: the installation itself, its first admin and the demo. */
import { randomBytes } from 'node:crypto';
import type { Database, Tx } from '../../platform/db/database.ts';
import { type DemoStep, fillDemo, prepareDemo } from '../../platform/demo.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { generateApiKey, hashApiKey, insertApiKey } from '../api-keys/index.ts';
import { countAllDeployments } from '../deployments/index.ts';
import { ADMIN_ROLE, countPeople, createUser, hashPassword, verifyPassword } from '../users/index.ts';
import { fingerprintOf, requireSecret } from './fingerprint.ts';
import * as store from './store.ts';

const DEFAULT_ADMIN_EMAIL = 'admin@example.com';

export interface AdminSettings {
  email: string | undefined;
  password: string | undefined;
  apiKey: string | undefined;
}

/** The first admin, if this start has created it. Secrets that were given in the settings are not shown again. */
export interface FirstAdmin {
  email: string;
  generatedPassword: string | undefined;
  generatedApiKey: string | undefined;
}

export interface SetupResult {
  firstAdmin: FirstAdmin | undefined;
  /** A line for the log for each setting that is given but has no effect. */
  withoutEffect: string[];
}

/** Runs in one transaction, on one server at a time. If a start is interrupted at any point, the next one completes it. */
export async function setUpInstallation(
  db: Database,
  options: {
    tenant: string;
    admin: AdminSettings;
    /** The steps that fill an empty installation, in this order; empty if no demo is wanted. */
    demo: DemoStep[];
    secretKeys: Keys;
    /** The file of the secret key, if it was missing and this start has generated it. */
    missingKeyFile: string | undefined;
    /** Called just before the commit. If the process stopped between the commit and this call, nobody could log in. */
    showFirstAdmin: (admin: FirstAdmin, hasDemo: boolean) => void;
  },
): Promise<SetupResult> {
  const { admin, tenant } = options;
  const fingerprints = options.secretKeys.map(fingerprintOf);
  const password = await preparePassword(db, admin);

  return db.transaction(async (tx) => {
    const installation = await store.lockInstallation(tx, fingerprints[0]!, tenant);
    requireSecret(installation, fingerprints, options.missingKeyFile);
    if (installation.tenant !== tenant) {
      throw new StartupError(
        `This database was set up with the tenant name ${installation.tenant}, but the setting is now ${tenant}: set ORIEL_TENANT to ${installation.tenant}.`,
      );
    }
    const isEmpty = (await countPeople(tx)) === 0;
    const firstAdmin = isEmpty ? await createFirstAdmin(tx, admin, password) : undefined;
    const withoutEffect = isEmpty ? [] : await settingsWithoutEffect(tx, admin, password);
    const wantsDemo =
      options.demo.length > 0 && !installation.demoSeededAt && (await countAllDeployments(tx)) === 0;
    if (wantsDemo) await seedDemo(tx, options.demo);
    if (firstAdmin) options.showFirstAdmin(firstAdmin, wantsDemo);
    return { firstAdmin, withoutEffect };
  });
}

/** Hashing takes long, so it happens before the transaction. */
interface PreparedPassword {
  generated: string | undefined;
  /** Null if there are users already. */
  hash: string | null;
  /** Whether the setting is given, but is not the password of the admin. */
  isWithoutEffect: boolean;
}

async function preparePassword(db: Database, { email, password }: AdminSettings): Promise<PreparedPassword> {
  if ((await countPeople(db)) > 0) {
    const stored = await store.findPasswordHash(db, email ?? DEFAULT_ADMIN_EMAIL);
    const isRight = password === undefined || (await verifyPassword(stored ?? null, password, null));
    return { generated: undefined, hash: null, isWithoutEffect: !isRight };
  }
  const generated = password === undefined ? randomBytes(18).toString('base64url') : undefined;
  return { generated, hash: await hashPassword(password ?? generated!), isWithoutEffect: false };
}

async function createFirstAdmin(
  tx: Tx,
  settings: AdminSettings,
  password: PreparedPassword,
): Promise<FirstAdmin> {
  const email = settings.email ?? DEFAULT_ADMIN_EMAIL;
  const profile = { passwordHash: password.hash, firstName: null, picture: null, externalId: null };
  const admin = await createUser(tx, { username: email, email, ...profile }, [ADMIN_ROLE]);
  const apiKey = settings.apiKey ?? generateApiKey();
  await insertApiKey(tx, {
    name: 'First admin',
    userId: admin.id,
    keyHash: hashApiKey(apiKey),
    deploymentIds: null,
    expiresAt: null,
  });
  const generatedApiKey = settings.apiKey === undefined ? apiKey : undefined;
  return { email, generatedPassword: password.generated, generatedApiKey };
}

/** There is no warning for the settings of the first start if they are still true. */
async function settingsWithoutEffect(
  tx: Tx,
  { email, apiKey }: AdminSettings,
  { isWithoutEffect }: PreparedPassword,
): Promise<string[]> {
  const lines: string[] = [];
  const say = (name: string, what: string) =>
    lines.push(`${name} has no effect: it is used only while the database has no user, and ${what}`);
  if (apiKey !== undefined && !(await store.hasApiKey(tx, hashApiKey(apiKey)))) {
    say('ORIEL_ADMIN_API_KEY', 'this key is not valid; the command `admin-key` creates a valid one');
  }
  if (isWithoutEffect) {
    say(
      'ORIEL_ADMIN_PASSWORD',
      'this is not the password of that admin; another admin can make a reset link',
    );
  }
  if (email !== undefined && !(await store.hasUser(tx, email))) {
    say('ORIEL_ADMIN_EMAIL', 'no user has this email');
  }
  return lines;
}

async function seedDemo(tx: Tx, steps: DemoStep[]) {
  const adminId = await store.findFirstAdminId(tx);
  if (adminId === undefined) return;
  await fillDemo(await prepareDemo(steps), { tx, adminId, isFirst: true });
}
