/** `npm run audit:verify`: shows that no sealed entry of the audit log was changed, removed or added. */
import { besideServer } from './beside-server.ts';
import { readArgs, UsageError } from './commands.ts';
import type { Config } from './config.ts';
import { findInstallation, requireSecrets } from './domains/installation/index.ts';
import { CHAIN_KEY } from './platform/audit/seal.ts';
import { type Verification, verifyAuditLog } from './platform/audit/verify.ts';
import { createBox } from './platform/secrets/box.ts';
import { createKeyring } from './platform/secrets/keyring.ts';
import { requireSecretsOf } from './platform/secrets/reseal.ts';
import { StartupError } from './platform/startup-error.ts';

/** Throws a `StartupError` that names the first mismatch. */
export async function verifyLog(config: Config, args: string[]): Promise<Verification> {
  const expected = readSeal(args);
  const verification = await besideServer(config, async ({ db, dataDir }) => {
    const keyring = createKeyring(await requireSecrets(await findInstallation(db), config, dataDir));
    await requireSecretsOf(db, keyring, [CHAIN_KEY]);
    return verifyAuditLog(db, createBox(CHAIN_KEY, keyring), expected);
  });
  if (verification.problem) {
    throw new StartupError(`The audit log is not as it was sealed: ${verification.problem}.`);
  }
  return verification;
}

function readSeal(args: string[]): string | undefined {
  const { seal } = readArgs('audit-verify', args).values;
  if (seal === undefined || /^[1-9]\d{0,15}:[0-9a-f]{64}$/.test(seal)) return seal;
  throw new UsageError('audit-verify', `${seal} is not a seal.`);
}
