/** `npm run bench` runs all benchmarks, or only the named ones: `npm run bench -- users-me --rounds 3`. */
import { parseArgs } from 'node:util';
import { app } from './app.ts';
import { auditLog } from './audit-log.ts';
import { dataModels } from './data-models.ts';
import { day } from './day.ts';
import { embedDatabases } from './embed-databases.ts';
import { embedExchange } from './embed-exchange.ts';
import { embedSessions } from './embed-sessions.ts';
import { embeddedPage } from './embedded-page.ts';
import type { Benchmark } from './harness/benchmark.ts';
import { describeMachine } from './harness/machine.ts';
import { formatReport, saveReport } from './harness/report.ts';
import { undoAll } from './harness/undo.ts';
import { modelBuild } from './model-build.ts';
import { modelCompiler } from './model-compiler.ts';
import { notifications } from './notifications.ts';
import { overload } from './overload.ts';
import { queryCached } from './query-cached.ts';
import { queryDashboard } from './query-dashboard.ts';
import { queryUncached } from './query-uncached.ts';
import { reportsList } from './reports-list.ts';
import { scimProvisioning } from './scim-provisioning.ts';
import { studio } from './studio.ts';
import { usage } from './usage.ts';
import { usersList } from './users-list.ts';
import { usersMe } from './users-me.ts';

const benchmarks: Benchmark[] = [
  usersMe,
  reportsList,
  usersList,
  auditLog,
  dataModels,
  scimProvisioning,
  embedSessions,
  embedExchange,
  embedDatabases,
  overload,
  modelBuild,
  modelCompiler,
  queryCached,
  queryUncached,
  queryDashboard,
  embeddedPage,
  app,
  studio,
  notifications,
  usage,
  day,
];

const DEFAULTS = { rounds: '5', seconds: '2' };

let interrupted = false;

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: DEFAULTS.rounds },
      seconds: { type: 'string', default: DEFAULTS.seconds },
      // Only for benchmarks that create data: a smaller number is useful for a quick try.
      rows: { type: 'string' },
      // Only for benchmarks that have scenes: one of them, for a quick try.
      scene: { type: 'string' },
    },
  });
  const options = {
    rounds: atLeastOne(values.rounds),
    seconds: atLeastOne(values.seconds),
    ...(values.rows !== undefined && { rows: atLeastOne(values.rows) }),
    ...(values.scene !== undefined && { scene: values.scene }),
  };
  for (const benchmark of choose(positionals, values.scene)) {
    console.log(`${benchmark.name}: ${benchmark.description}\n`);
    try {
      const outcome = await benchmark.run(options);
      const report = { name: benchmark.name, machine: await describeMachine(), ...options, ...outcome };
      console.log(formatReport(report));
      console.log(`\nWritten to ${await saveReport(report)}\n`);
    } finally {
      await undoAll();
    }
  }
}

function choose(names: string[], scene?: string): Benchmark[] {
  const unknown = names.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name));
  if (unknown.length) {
    const known = benchmarks.map(({ name, description }) => `  ${name.padEnd(16)}${description}`);
    throw new Error(`There is no benchmark ${unknown.join(', ')}. There are:\n${known.join('\n')}`);
  }
  const chosen = names.length ? benchmarks.filter(({ name }) => names.includes(name)) : benchmarks;
  const without = scene !== undefined && chosen.find(({ scenes }) => !scenes?.includes(scene));
  if (without)
    throw new Error(
      `${without.name} has no scene ${scene}. It has: ${without.scenes?.join(', ') ?? 'none'}. Name the benchmark before --scene.`,
    );
  return chosen;
}

function atLeastOne(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`"${text}" is not a whole number from 1 to 9999999.`);
  return Number(text);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    if (interrupted) return;
    interrupted = true;
    console.error(`\nStopping what the benchmark started (${signal})…`);
    await undoAll();
    process.exit(130);
  });
}

main().catch((error: unknown) => {
  // An error after a Ctrl-C is caused by it, and the signal handler ends the process.
  if (interrupted) return;
  console.error(`The benchmark could not run. ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
});
