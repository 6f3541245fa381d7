/**
 * `npm run test:fuzz` runs external tools. Linters read the OpenAPI document, and schemathesis sends the built server
 * requests that the document allows and requests that it does not. The run fails on errors in the document, on every
 * 5xx and on every reply that differs from the document. `npm run test:fuzz -- --seconds 60` takes less time.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ADMIN_KEY, startOriel } from '../bench/harness/oriel.ts';
import { undoAll, undoAtEnd } from '../bench/harness/undo.ts';
import { root } from './install.mjs';

const REDOCLY = '@redocly/cli@2.73.0';
const SPECTRAL = '@stoplight/spectral-cli@6.16.3';
const SCHEMATHESIS = 'schemathesis==4.32.5';

/** Installed separately, so that it is not a dependency of the product. */
const cache = join(root, 'node_modules', '.cache', 'oriel-fuzz');
const venv = join(cache, 'venv');
const npmTool = (name: string) => join(cache, 'node_modules', '.bin', name);

/** These operations come last, because they can delete what the others need: our API key and the demo deployment. */
const LAST = ['deleteApiKey', 'updateApiKey', 'deleteDeployment'];
/** The share of the time for the operations that come last. */
const LAST_SHARE = 0.1;

/** Leaves out the phase `coverage`, which makes texts of exact lengths from patterns and needs minutes per operation. */
const PHASES = ['examples', 'fuzzing', 'stateful'];

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

async function main() {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '300' }, seed: { type: 'string' } },
  });
  const seconds = Number(values.seconds);
  if (!(seconds >= 10)) throw new Error('--seconds takes a number from 10.');
  install();
  await run('redocly', npmTool('redocly'), ['lint', join(root, 'openapi.json')]);
  await run('spectral', npmTool('spectral'), ['lint', join(root, 'openapi.json'), '-r', rulesetFile()]);

  const { url } = await startOriel();
  const document = await documentFile(url);
  const seed = values.seed ?? String(Math.trunc(Math.random() * 1e9));
  console.log(`\nFuzzing ${url} for ${seconds} seconds with the seed ${seed}`);
  const fuzz = (share: number, filter: string) =>
    run('schemathesis', join(venv, 'bin', 'schemathesis'), [
      'run',
      document,
      ...['--url', url],
      ...['--header', `Authorization: Api-Key ${ADMIN_KEY}`],
      ...['--max-time', String(Math.max(1, Math.round(seconds * share)))],
      ...['--phases', PHASES.join(','), '--checks', CHECKS.join(',')],
      // Few examples at a time, because the tool repeats all operations until its time is over.
      ...['--max-examples', '25'],
      ...['--workers', '2', '--request-timeout', '20', '--warnings', 'off', '--seed', seed],
      ...['--generation-database', ':memory:', '--suppress-health-check', 'all', '--continue-on-failure'],
      ...LAST.flatMap((id) => [`--${filter}-operation-id`, id]),
    ]);
  await fuzz(1 - LAST_SHARE, 'exclude');
  await fuzz(LAST_SHARE, 'include');
}

function install() {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true}\n');
  step('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', REDOCLY, SPECTRAL]);
  if (!existsSync(join(venv, 'bin', 'pip'))) step('python3', ['-m', 'venv', venv]);
  step(join(venv, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', SCHEMATHESIS]);
}

function step(command: string, args: string[]) {
  const { status, error } = spawnSync(command, args, { cwd: cache, stdio: 'inherit' });
  if (status === 0) return;
  throw new Error(
    `\`${command} ${args.join(' ')}\` failed${error ? `: ${error.message}` : ''}. ` +
      'Fuzzing needs npm, Python 3.10 or later with venv and pip, and the registries of both.',
  );
}

function rulesetFile(): string {
  const file = join(cache, 'spectral.yaml');
  writeFileSync(file, "extends: ['spectral:oas']\n");
  return file;
}

/**
 * The server's own document without the header `X-Request-Id`: the tool fills headers with ids that it has seen, which
 * are numbers, and it cannot send numbers as headers.
 */
async function documentFile(url: string): Promise<string> {
  const document = (await (await fetch(`${url}/api/v1/spec`)).json()) as {
    paths: Record<string, { parameters?: unknown }>;
  };
  for (const path of Object.values(document.paths)) delete path.parameters;
  const file = join(cache, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
}

/** Continues after a failure, so that every tool can report its findings. */
async function run(name: string, command: string, args: string[]) {
  console.log(`\n— ${name}`);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const child = spawn(command, args, { cwd: cache, stdio: 'inherit', env });
  undoAtEnd(() => void child.kill());
  const [code] = await once(child, 'close');
  if (code === 0) return;
  console.error(`${name} found something`);
  process.exitCode = 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => undoAll().then(() => process.exit(130)));
}

await main()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  })
  .finally(undoAll);
