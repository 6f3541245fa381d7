/** Prometheus scrapes a real server, with the samples of deploy/. Run by `npm run test:deploy`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADMIN_KEY,
  cleanUp,
  freePort,
  newDataDir,
  newFolder,
  type RunningServer,
  startServer,
  stop,
  until,
} from '../server-process.ts';
import { outputOf, type Program, replaced, sample, start } from './programs.ts';

const METRICS_TOKEN = 'a-token-for-the-metrics';

let server: RunningServer;
let prometheus: Program;
let api: string;
beforeAll(async () => {
  const settings = {
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
    ORIEL_DEMO: 'false',
    ORIEL_METRICS_TOKEN: METRICS_TOKEN,
  };
  server = await startServer(await newDataDir(), settings);
  const folder = await newFolder();
  const token = join(folder, 'token');
  await writeFile(token, METRICS_TOKEN);
  await writeFile(join(folder, 'oriel.rules.yml'), sample('prometheus/oriel.rules.yml'));
  const file = join(folder, 'prometheus.yml');
  await writeFile(
    file,
    replaced(sample('prometheus/prometheus.yml'), {
      '127.0.0.1:4000': new URL(server.url).host,
      '/etc/prometheus/oriel-metrics-token': token,
      // A short interval, so that the test need not wait.
      '_interval: 15s': '_interval: 1s',
    }),
  );
  expect(await outputOf('promtool', 'check', 'config', file)).toContain('SUCCESS');
  const port = await freePort();
  api = `http://127.0.0.1:${port}/api/v1`;
  prometheus = start('prometheus', [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  // Until then it answers with errors that are no JSON.
  await until('Prometheus is ready', async () => {
    if (prometheus.hasEnded()) throw new Error(prometheus.output);
    return (await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined))?.ok === true;
  });
});
afterAll(async () => {
  await prometheus?.stop();
  await cleanUp();
});

// biome-ignore lint/suspicious/noExplicitAny: the API of Prometheus has no types here.
async function ask(path: string): Promise<any> {
  if (prometheus.hasEnded()) throw new Error(prometheus.output);
  const body = (await (await fetch(api + path)).json()) as { status: string; data: unknown; error?: string };
  if (body.status === 'error') throw new Error(body.error);
  return body.data;
}

const query = async (expr: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> =>
  (await ask(`/query?query=${encodeURIComponent(expr)}`))?.result ?? [];
const numberOf = async (expr: string) => (await query(expr))[0]?.value[1];

test('a server is scraped with its token', async () => {
  await until('the server is up', async () => (await numberOf('up{job="oriel"}')) === '1');
  await server.client(ADMIN_KEY).getMe();
  const requests = 'oriel_http_request_duration_seconds_count{operation="getMe",status="200"}';
  await until('the request is counted', async () => (await numberOf(requests)) === '1');
  expect(await numberOf('oriel_process_up{process="job worker"}')).toBe('1');
});

test('every query of the dashboard is one that Prometheus answers', async () => {
  const { panels } = JSON.parse(sample('grafana/oriel.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(20);
  await server.client(ADMIN_KEY).getMe();
  // A rate needs two values, and a quantile requests in between.
  const mayBeEmpty = /5\.\.|429|oriel_process_request_duration/;
  for (const expr of queries) {
    const real = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '5m');
    if (mayBeEmpty.test(expr)) await query(real);
    else await until(`${real} has a value`, async () => (await query(real)).length > 0);
  }
});

interface Rule {
  name: string;
  health: string;
  state: string;
  lastError?: string;
}
/** A busy machine can make these wait to become alerts. None of the others waits while the server is well. */
const OF_THE_MACHINE = ['OrielSlow', 'OrielEventLoopBlocked', 'OrielWaitsForConnections'];
const rules = async (): Promise<Rule[]> => (await ask('/rules'))?.groups[0]?.rules ?? [];

test('every rule is evaluated, and only a server that is down raises an alert', async () => {
  const isEvaluated = ({ health }: Rule) => health !== 'unknown';
  await until('the rules are evaluated', async () => {
    const all = await rules();
    return all.length > 0 && all.every(isEvaluated);
  });
  const all = await rules();
  expect(all.filter(({ health }) => health !== 'ok')).toEqual([]);
  const mayBe = ({ name }: Rule) => (OF_THE_MACHINE.includes(name) ? ['inactive', 'pending'] : ['inactive']);
  expect(all.filter((rule) => !mayBe(rule).includes(rule.state))).toEqual([]);

  await stop(server);
  const stateOf = async (name: string) => (await rules()).find((rule) => rule.name === name)?.state;
  for (const name of ['OrielDown', 'OrielNoJobWorker']) {
    await until(`${name} is noticed`, async () => (await stateOf(name)) === 'pending');
  }
});
