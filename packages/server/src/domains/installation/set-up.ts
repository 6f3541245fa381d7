/** What a start finds or makes: the installation itself, its first admin and the demo. */
import { createHmac } from 'node:crypto';
import { generateApiKey, hashApiKey } from '../../platform/auth/api-keys.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { type DemoStep, seededRandom } from '../../platform/demo.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { insertApiKey } from '../api-keys/index.ts';
import { countAllDeployments, demoDeployment } from '../deployments/index.ts';
import { demoTenantSettings } from '../tenant-settings/index.ts';
import { demoAttributes } from '../user-attributes/index.ts';
import { demoGroups } from '../user-groups/index.ts';
import { ADMIN_ROLE, countPeople, createUser, generatePassword, hashPassword } from '../users/index.ts';
import { demoContent } from '../workspace/index.ts';
import * as store from './store.ts';

/** In the order in which they build on each other. */
const DEMO_STEPS: DemoStep[] = [demoDeployment, demoGroups, demoAttributes, demoTenantSettings, demoContent];
const DEMO_SEED = 20_260_101;

export interface AdminSettings {
  email: string;
  password: string | undefined;
  apiKey: string | undefined;
}

/** The first admin, when this start made it. What was given in the settings is not repeated. */
export interface FirstAdmin {
  email: string;
  generatedPassword: string | undefined;
  generatedApiKey: string | undefined;
}

/** All or nothing, and one server at a time: however often or wherever the start is cut off, the next one completes it. */
export async function setUpInstallation(
  db: Database,
  options: {
    admin: AdminSettings;
    demo: boolean;
    secretKey: Buffer;
    /** Called just before the admin is kept: were we cut off after that, nobody could ever get in. */
    showFirstAdmin: (admin: FirstAdmin, hasDemo: boolean) => void;
  },
): Promise<{ firstAdmin: FirstAdmin | undefined }> {
  const password = options.admin.password ?? generatePassword();
  const passwordHash = await hashPassword(password);
  const fingerprint = createHmac('sha256', options.secretKey).update('fingerprint').digest('base64url');

  return db.transaction(async (tx) => {
    const installation = await store.lockInstallation(tx, fingerprint);
    if (installation.secretFingerprint !== fingerprint) {
      throw new StartupError(
        'This database was set up with another secret key: set ORIEL_SECRET_KEY to that one, or use the data dir that holds it.',
      );
    }
    const firstAdmin =
      (await countPeople(tx)) === 0
        ? await createFirstAdmin(tx, options.admin, password, passwordHash)
        : undefined;
    const wantsDemo = options.demo && !installation.demoSeededAt && (await countAllDeployments(tx)) === 0;
    if (wantsDemo) await seedDemo(tx);
    if (firstAdmin) options.showFirstAdmin(firstAdmin, wantsDemo);
    return { firstAdmin };
  });
}

async function createFirstAdmin(
  tx: Tx,
  settings: AdminSettings,
  password: string,
  passwordHash: string,
): Promise<FirstAdmin> {
  const { email } = settings;
  const profile = { firstName: null, picture: null, externalId: null };
  const admin = await createUser(tx, { username: email, email, passwordHash, ...profile }, [ADMIN_ROLE]);
  const apiKey = settings.apiKey ?? generateApiKey();
  await insertApiKey(tx, {
    name: 'First admin',
    userId: admin.id,
    keyHash: hashApiKey(apiKey),
    deploymentIds: null,
    expiresAt: null,
  });
  return {
    email,
    generatedPassword: settings.password === undefined ? password : undefined,
    generatedApiKey: settings.apiKey === undefined ? apiKey : undefined,
  };
}

async function seedDemo(tx: Tx) {
  const adminId = await store.findFirstAdminId(tx);
  if (adminId === undefined) return;
  const random = seededRandom(DEMO_SEED);
  for (const step of DEMO_STEPS) await step({ tx, adminId, random });
  await store.noteDemoSeeded(tx);
}
