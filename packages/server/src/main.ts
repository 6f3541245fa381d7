/** The entry point: reads the settings, handles signals and prints. */
import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makeAdminKey } from './admin-key.ts';
import { verifyLog } from './audit-verify.ts';
import { makeBackup } from './backup.ts';
import {
  auditVerifiedBanner,
  backupBanner,
  banner,
  firstAdminBanner,
  newKeyBanner,
  restoredBanner,
  secretRotatedBanner,
} from './banner.ts';
import { VERSION } from './build-info.ts';
import { type CommandName, helpOf, isCommand, requireOwnOptions, UsageError, usageOf } from './commands.ts';
import { type Config, readConfig } from './config.ts';
import { JOB_WORKER_COMMAND, serveJobs } from './job-worker.ts';
import { isRunByNpx, onParentEnd } from './parent.ts';
import { createLogger } from './platform/log.ts';
import { StartupError } from './platform/startup-error.ts';
import { restoreBackup } from './restore.ts';
import { rotateSecretKey } from './rotate-secret.ts';
import { startServer } from './start-server.ts';
import { STOP_WITHIN_MS } from './stop-within.ts';

const called = { env: process.env, path: process.argv[1]! };

async function main() {
  const [command, ...args] = process.argv.slice(2);
  if (command === JOB_WORKER_COMMAND) return serveJobsOfParent();
  const asked = [command, ...args].find((arg) => arg && ASKING.test(arg));
  if (asked) return print(asked === '--version' ? `${VERSION}\n` : helpOf(command, called));
  if (command === undefined) return serve(readConfig(process.env));
  if (!isCommand(command)) {
    throw new StartupError(`There is no command ${command}. See --help for all of them.`);
  }
  requireOwnOptions(command, called);
  const signal = onSignal(command);
  await run[command](readConfig(process.env), args, signal);
  // The command has finished, so a signal that came too late has ended nothing.
  process.exitCode = 0;
}

/**
 * Exits at a signal: the exit stops the database if the command has started one, and rolls back what is not committed.
 * A restore must also remove what it has written, so its signal is aborted instead. Further signals do nothing then,
 * because npm sends a Ctrl-C a second time.
 */
function onSignal(command: CommandName): AbortSignal {
  const told = new AbortController();
  const end = (name: string, exitCode: number) => {
    if (command !== 'restore') process.exit(exitCode);
    if (told.signal.aborted) return;
    process.exitCode = exitCode;
    setTimeout(forceEnd, STOP_WITHIN_MS).unref();
    told.abort(new StartupError(`The restore was ended by ${name}, and nothing is left of it.`));
  };
  process.on('SIGINT', () => end('SIGINT', 130));
  process.on('SIGTERM', () => end('SIGTERM', 143));
  return told.signal;
}

const ASKING = /^(--help|-h|--version)$/;

const run: Record<CommandName, (config: Config, args: string[], signal: AbortSignal) => Promise<void>> = {
  'admin-key': (config, args) =>
    makeAdminKey(config, args, (username, apiKey) => print(newKeyBanner(username, apiKey))),
  'rotate-secret': async (config, args) => print(secretRotatedBanner(await rotateSecretKey(config, args))),
  'audit-verify': async (config, args) => print(auditVerifiedBanner(await verifyLog(config, args))),
  async backup(config, args) {
    const made = await makeBackup(config, args);
    print(backupBanner(made));
    if (made.warning) process.stderr.write(`Warning: ${made.warning}\n`);
  },
  restore: async (config, args, signal) => print(restoredBanner(await restoreBackup(config, args, signal))),
};

function serveJobsOfParent() {
  try {
    serveJobs();
  } catch {
    throw new StartupError(
      `${JOB_WORKER_COMMAND} is for the server itself: to run jobs apart from it, start another one with ORIEL_ROLE=worker.`,
    );
  }
}

/**
 * The environment of a child process. Node and the database driver read variables from it, but it must hold none of our
 * secrets.
 */
const withoutSettings = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => !entry[0].startsWith('ORIEL_')),
  );

async function serve(config: Config) {
  const stopped = new AbortController();
  const log = createLogger(config.logLevel, () => stop('because nobody reads its output any more', 1));
  const starting = startServer(config, log, {
    signal: stopped.signal,
    jobProcess: { script: fileURLToPath(import.meta.url), env: withoutSettings(process.env) },
    showFirstAdmin: (admin, publicUrl, hasDemo) =>
      print(firstAdminBanner(admin, { publicUrl, hasDemo, role: config.role })),
  });

  async function stop(why: string, exitCode: number) {
    if (stopped.signal.aborted) return;
    stopped.abort();
    setTimeout(forceEnd, STOP_WITHIN_MS).unref();
    log.info(`stopping ${why}`);
    const server = await starting.catch(() => undefined);
    const isClean = await server?.stop().then(
      () => true,
      () => false,
    );
    await log.close();
    process.exit(isClean === false ? 1 : exitCode);
  }
  process.on('SIGTERM', () => stop('on SIGTERM', 0));
  process.on('SIGINT', () => stop('on SIGINT', 0));
  if (isRunByNpx(process.env)) onParentEnd(() => stop('because npx, which ran it, has ended', 0));
  process.stdout.on('error', () => stop('because nobody reads its output any more', 1));

  try {
    const server = await starting;
    if (stopped.signal.aborted) return;
    try {
      print(`${banner(server, config)}\n`);
    } catch (error) {
      // The log may have found the same closed pipe and be stopping the server. Both wait for one stop.
      await server.stop().catch(() => {});
      throw error;
    }
  } catch (error) {
    // If a stop was requested in the meantime, it ends the process.
    if (stopped.signal.aborted) return;
    log.debug({ err: error }, 'the start failed');
    await log.close();
    throw error;
  }
}

function forceEnd() {
  process.stderr.write(`The stop took longer than ${STOP_WITHIN_MS / 1000} seconds, and was forced.\n`);
  process.exit(1);
}

/** Writes synchronously and throws if it fails, because the text that is printed here is shown only once. */
function print(text: string) {
  try {
    writeSync(1, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `The output of Oriel cannot be written (${code}), and it must be seen: start Oriel where its output is read.`,
    );
  }
}

// If standard error is closed too, the error cannot be shown anywhere.
process.stderr.on('error', () => {});

main().catch((error: unknown) => {
  if (error instanceof UsageError)
    process.stderr.write(`${usageOf(error.command, called)}${error.message}\n`);
  else if (error instanceof StartupError) process.stderr.write(`${error.message}\n`);
  else console.error(error);
  process.exit(process.exitCode ?? 1);
});
