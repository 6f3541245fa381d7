import { writeSync } from 'node:fs';
import { banner, firstAdminBanner } from './banner.ts';
import { readConfig } from './config.ts';
import { createLogger } from './platform/log.ts';
import { StartupError } from './platform/startup-error.ts';
import { startServer } from './start-server.ts';

/** A stop that takes longer than this is forced: nothing that was answered can be lost by it. */
const STOP_WITHIN_MS = 45_000;

async function main() {
  const config = readConfig(process.env);
  const log = createLogger(config.logLevel);
  for (const name of config.unknown) log.warn(`${name} is not a setting of Oriel, and is ignored`);

  const starting = startServer(config, log, undefined, (admin, publicUrl, hasDemo) =>
    writeSync(1, firstAdminBanner(admin, publicUrl, hasDemo)),
  );
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    log.info(`stopping on ${signal}`);
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    const server = await starting.catch(() => undefined);
    await server?.stop();
    await log.close();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  const server = await starting;
  process.stdout.write(`${banner(server, config.databaseUrl === undefined)}\n`);
}

main().catch((error: unknown) => {
  if (error instanceof StartupError) process.stderr.write(`${error.message}\n`);
  else console.error(error);
  process.exit(1);
});
