/** What the samples in deploy/ name exists: settings, metrics, ports, addresses, limits. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodyLimitOf, operations } from '@oriel/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../src/config.ts';
import { createMetrics } from '../src/platform/http/metrics.ts';
import { STOP_WITHIN_MS } from '../src/stop-within.ts';
import { createWorld, SECRET_KEY, type World } from './world.ts';

const folder = join(import.meta.dirname, '../../../deploy');
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== '.env')
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const get = async (path: string) => (await fetch(world.url + path)).text();
/** On a busy machine a server may not be ready for a while. */
const answers = (path: string) => expect.poll(() => get(path)).toMatch(/^{"status":"(ok|ready)"}$/);

test('every setting that a sample names is one', () => {
  const names = files.flatMap((file) => read(file).match(/\bORIEL_[A-Z_]+/g) ?? []);
  expect(names).toContain('ORIEL_TRUST_PROXY');
  expect(readConfig(Object.fromEntries(names.map((name) => [name, '']))).unknown).toEqual([]);
});

test('the README names every sample', () => {
  const readme = read('README.md');
  const others = files.filter((file) => file !== 'README.md' && !file.startsWith('kubernetes/'));
  expect(others.filter((file) => !readme.includes(`](${file})`))).toEqual([]);
});

const SECRETS = { POSTGRES_PASSWORD: '4f1c9be2a7', ORIEL_SECRET_KEY: SECRET_KEY };

const given: Record<string, string> = { ...SECRETS, ORIEL_PUBLIC_URL: 'https://analytics.example.com' };
const compose = read('compose.yaml').replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name) => given[name] ?? '""');
const { services } = parse(compose, { merge: true });

test('a server and a worker accept the settings of the compose file', () => {
  const configs = ['server', 'worker'].map((name) => readConfig({ ...IMAGE, ...services[name].environment }));
  expect(configs.map(({ role, port }) => [role, port])).toEqual([
    ['web', 4000],
    ['worker', 4000],
  ]);
  expect(services.server.ports).toEqual(['127.0.0.1:4000:4000']);
  expect(new URL(configs[0]!.databaseUrl!).password).toBe(services.postgres.environment.POSTGRES_PASSWORD);
});

/** What the image sets. */
const IMAGE = Object.fromEntries(
  [.../^ENV (.*)$/m.exec(read('Dockerfile'))![1]!.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [
    name!,
    value!,
  ]),
);

const { resources } = parse(read('kubernetes/kustomization.yaml')) as { resources: string[] };
const manifests = resources.flatMap((file) =>
  parseAllDocuments(read(`kubernetes/${file}`)).map((document) => document.toJS()),
);
const manifest = (kind: string, name: string) =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name);

test('the manifests name the port of the image, addresses that answer, and their own labels', async () => {
  expect(['kustomization.yaml', ...resources].sort()).toEqual(readdirSync(join(folder, 'kubernetes')).sort());
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
  const { data } = manifests.find(({ kind }) => kind === 'ConfigMap');
  expect(deployments).toHaveLength(2);
  for (const { spec } of deployments) {
    const [container] = spec.template.spec.containers;
    const own = Object.fromEntries(
      container.env.map(({ name, value }: Record<string, string>) => [name, value]),
    );
    const ORIEL_DATABASE_URL = 'postgres://oriel@db.example.com/oriel';
    const config = readConfig({ ...IMAGE, ...data, ...own, ...SECRETS, ORIEL_DATABASE_URL });
    expect(container.ports).toEqual([{ name: 'http', containerPort: config.port }]);
    const probes = [container.livenessProbe, container.readinessProbe].map(({ httpGet }) => httpGet);
    expect(probes.map(({ port }) => port)).toEqual(['http', 'http']);
    for (const { path } of probes) await answers(path);
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
  }
  const service = manifest('Service', 'oriel');
  const budget = manifests.find(({ kind }) => kind === 'PodDisruptionBudget');
  expect(service.spec.selector).toEqual(deployments[0].spec.selector.matchLabels);
  expect(budget.spec.selector).toEqual(deployments[0].spec.selector);
});

const [server, worker] = ['oriel-server', 'oriel-worker'].map((name) => manifest('Deployment', name).spec);

test('nothing kills a server that still stops', () => {
  const preStop = Number(
    server.template.spec.containers[0].lifecycle.preStop.exec.command.join(' ').replace(/^sleep /, ''),
  );
  expect(preStop).toBeGreaterThan(0);
  const seconds = {
    'the server in Kubernetes': server.template.spec.terminationGracePeriodSeconds - preStop,
    'the worker in Kubernetes': worker.template.spec.terminationGracePeriodSeconds,
    'the server in compose': Number(/^(\d+)s$/.exec(services.server.stop_grace_period)![1]),
    'the worker in compose': Number(/^(\d+)s$/.exec(services.worker.stop_grace_period)![1]),
    systemd: Number(/^TimeoutStopSec=(\d+)$/m.exec(read('systemd/oriel.service'))![1]),
  };
  for (const [where, given] of Object.entries(seconds)) {
    expect(given * 1000, where).toBeGreaterThan(STOP_WITHIN_MS);
  }
});

test('while a version or a machine is replaced, a server answers', () => {
  expect(server.replicas).toBeGreaterThan(1);
  for (const { strategy } of [server, worker]) {
    expect(strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
  }
  const { minAvailable } = manifest('PodDisruptionBudget', 'oriel-server').spec;
  expect(minAvailable).toBeGreaterThan(0);
  expect(minAvailable).toBeLessThan(server.replicas);
});

test('a server of the compose file starts when its database accepts connections', () => {
  expect(services.postgres.healthcheck.test).toContain('pg_isready');
  for (const { depends_on } of [services.server, services.worker]) {
    expect(depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  }
});

test('in a container, nobody is root, gets more rights, or changes the program', () => {
  for (const { template } of [server, worker]) {
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(template.spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
  for (const service of [services.server, services.worker]) {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  }
});

test('the ingress passes on everything to the servers except metrics', () => {
  const [rule] = manifest('Ingress', 'oriel').spec.rules;
  // biome-ignore lint/suspicious/noExplicitAny: manifests have no types here.
  const paths = rule.http.paths.map(({ path, pathType, backend }: any) => [
    path,
    pathType,
    manifest('Service', backend.service.name).spec.selector,
  ]);
  expect(paths).toEqual([
    ['/metrics', 'Exact', undefined],
    ['/', 'Prefix', manifest('Deployment', 'oriel-server').spec.selector.matchLabels],
  ]);
});

test('nobody reaches the pods of the manifests, and they reach nobody, except by a policy that names who', () => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
  const [nobody, ...others] = policies;
  expect(nobody).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  const labels = manifest('Deployment', 'oriel-server').spec.template.metadata.labels;
  for (const { podSelector, ingress = [], egress = [] } of others) {
    expect(labels).toMatchObject(podSelector.matchLabels);
    for (const { from, to, ports } of [...ingress, ...egress]) {
      expect((from ?? to).flatMap((peer: object) => Object.keys(peer))).not.toEqual([]);
      expect(ports).not.toEqual([]);
    }
    for (const { ports } of ingress) expect(ports).toEqual([{ port: 'http' }]);
  }
});

test('the image, the proxies and Prometheus use the default port, and the health check an address that answers', async () => {
  const dockerfile = read('Dockerfile');
  const port = String(readConfig({}).port);
  expect(readConfig(IMAGE)).toMatchObject({ host: '0.0.0.0', dataDir: '/var/lib/oriel', unknown: [] });
  expect([IMAGE.ORIEL_PORT, /^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]]).toEqual([port, port]);
  for (const file of ['nginx/oriel.conf', 'caddy/Caddyfile', 'prometheus/prometheus.yml']) {
    const ports = [...read(file).matchAll(/\b(?:127|10)\.0\.0\.\d:(\d+)/g)].map(([, port]) => port);
    expect(new Set(ports), file).toEqual(new Set([port]));
  }
  const addresses = [dockerfile, read('caddy/Caddyfile')].map(
    (text) => /\/(healthz|readyz)\b/.exec(text)![0],
  );
  for (const path of addresses) await answers(path);
});

test('the proxies let through the largest body of an operation', () => {
  const largest = Math.max(...Object.values(operations).map(bodyLimitOf));
  const nginx = Number(/client_max_body_size (\d+)m;/.exec(read('nginx/oriel.conf'))![1]);
  const caddy = Number(/max_size (\d+)MiB/.exec(read('caddy/Caddyfile'))![1]);
  const mebibytes = Math.ceil(largest / 2 ** 20);
  expect([nginx, caddy]).toEqual([mebibytes, mebibytes]);
});

test('a server has every metric that the alerts and the dashboard name, with these labels', async () => {
  await world.admin.getMe();
  // Values that are read from the database may come with a later request.
  await expect.poll(() => get('/metrics')).toContain('lane="');
  // The server of this test has no child processes, so it has no values of them.
  const ofProcesses = createMetrics();
  ofProcesses.ofProcess('engine').observeRequest('answered', 1);
  const text = (await get('/metrics')) + (await ofProcesses.text());
  const known = new Set(['up']);
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
    for (const suffix of suffixes) known.add(name + suffix);
  }
  const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name]) => name));
  // Prometheus adds them.
  labels.add('instance').add('job');

  const rules: { expr: string }[] = parse(read('prometheus/oriel.rules.yml')).groups[0].rules;
  const queries = JSON.parse(read('grafana/oriel.json')).panels.flatMap(
    ({ targets = [] }: { targets?: { expr: string }[] }) => targets,
  ) as { expr: string }[];
  for (const { expr } of [...rules, ...queries]) {
    const names = expr.match(/\b(up|(oriel|process|nodejs)_\w+)\b/g) ?? [];
    expect(names, expr).not.toEqual([]);
    expect(
      names.filter((name) => !known.has(name)),
      expr,
    ).toEqual([]);
    const matched = [...expr.matchAll(/[{,] ?(\w+)(?:=|!=|=~|!~)"/g)].map(([, name]) => name!);
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '));
    const unknown = [...matched, ...grouped].filter((name) => !labels.has(name));
    expect(unknown, expr).toEqual([]);
  }
});
