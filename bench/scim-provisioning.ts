/** What others notice while an identity provider creates users by SCIM, one after the other. */
import { Agent, request } from 'node:http';
import type { Anchor, Benchmark, Contender, Metric, RunOptions, Target } from './harness/benchmark.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { runPaced } from './harness/paced-load.ts';
import { measureInTurns } from './harness/rounds.ts';
import { runWrk, wrkVersion } from './harness/wrk.ts';

const USERS = 10_000;
const CONNECTIONS = 8;
const OTHERS = 20;
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export const scimProvisioning: Benchmark = {
  name: 'scim-provisioning',
  description:
    'others’ requests while users are created by SCIM, one after the other, against the same without it',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const oriel = await startOriel();
  const others = await makePeople(oriel);
  const users = options.rows ?? USERS;
  const provisioning = createProvisioning(oriel, users);
  const anyOther = () => others[Math.floor(Math.random() * others.length)]!;
  /** Few enough requests that the server is not busy with them alone. */
  const paced = (path: string, perSecond: number): Load => ({
    name: `GET ${path}, ${perSecond} a second`,
    asked: { p50Ms: { atMost: 1.2 }, perSecond: { atLeast: 0.8 } },
    does: ALONE,
    measure: (seconds) =>
      runPaced(
        { url: oriel.url + path, headers: anyOther, connections: CONNECTIONS, perSecond, warmUpSeconds: 0 },
        seconds,
      ),
  });
  const saturating: Load = {
    name: `GET /api/v1/users/me, as fast as ${CONNECTIONS} connections can`,
    asked: { perSecond: undefined },
    does: `${ALONE} Both want all of the server, so the ratio shows how they share it; nothing is asked of it.`,
    measure: (seconds) =>
      runWrk({ url: `${oriel.url}/api/v1/users/me`, headers: others[0]!, connections: CONNECTIONS }, seconds),
  };
  const loads = [
    paced('/api/v1/users/me', 200),
    paced('/api/v1/deployments/1/reports?first=20', 50),
    saturating,
  ];
  const parts = [];
  for (const load of loads) parts.push(await compare(load, provisioning, options));
  return {
    measured: parts.flatMap(({ measured }) => measured),
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
    facts: {
      wrk: `${wrk}, 1 thread`,
      others: `${OTHERS} people with a key each`,
      scim: provisioning.summary(),
    },
  };
}

const ALONE =
  'Oriel itself, the same requests without the provisioning. Shows what others notice, not how fast the server is. The sender of the provisioning shares the machine with the server, so the ratio holds its cost too.';

interface Load extends Anchor {
  /** What is asked of each metric that is compared. */
  asked: Partial<Record<Metric, Target | undefined>>;
}

async function compare(load: Load, provisioning: Provisioning, options: RunOptions) {
  const anchor: Anchor = { ...load, name: `${load.name}, alone` };
  const subject: Contender = {
    name: `${load.name}, beside the provisioning`,
    measure: (seconds) => provisioning.beside(() => load.measure(seconds)),
  };
  const rounds = await measureInTurns(subject, [anchor], options);
  const metrics = Object.keys(load.asked) as Metric[];
  return {
    measured: rounds.measured,
    comparisons: metrics.map((metric) => rounds.compare(anchor, { metric, asked: load.asked[metric] })),
  };
}

/** The headers of people who are not the provider. */
async function makePeople(oriel: Oriel): Promise<Record<string, string>[]> {
  const people = [];
  for (let n = 0; n < OTHERS; n++) {
    const username = `other-${n}`;
    const { id: userId } = await post(oriel, '/api/v1/users', { username, email: `${username}@example.com` });
    const { key } = await post(oriel, '/api/v1/api-keys', { name: username, userId });
    people.push({ authorization: `Api-Key ${key}` });
  }
  return people;
}

async function post({ url, headers }: Oriel, path: string, body: object) {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`POST ${path} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { id: number; key: string };
}

type Provisioning = ReturnType<typeof createProvisioning>;

/**
 * As Okta and Entra ID do it: they look for the user, create them, and add them to a group, and wait for each answer. A
 * measurement may need more users than asked for: then the provider changes them, from the first one on.
 */
function createProvisioning(oriel: Oriel, users: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = createCaller(oriel, agent);
  const ids: string[] = [];
  let groupId: string | undefined;
  let changed = 0;
  let elapsedMs = 0;

  async function create(n: number) {
    const userName = `provisioned-${n}@example.com`;
    await call('GET', `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`);
    const name = { givenName: 'Provisioned', familyName: `Person ${n}` };
    const { id } = await call('POST', '/Users', { schemas: [USER], userName, externalId: `ext-${n}`, name });
    groupId ??= (await call('POST', '/Groups', { schemas: [GROUP], displayName: 'Provisioned' })).id;
    await call('PATCH', `/Groups/${groupId}`, patch('add', 'members', [{ value: id }]));
    ids.push(id);
  }

  const change = () =>
    call('PATCH', `/Users/${ids[changed++ % ids.length]}`, patch('replace', 'title', `Title ${changed}`));

  return {
    /** Provisions from the start of the work until its end. */
    async beside<T>(work: () => Promise<T>): Promise<T> {
      let isOver = false;
      const provision = async () => {
        const started = performance.now();
        while (!isOver) await (ids.length < users ? create(ids.length) : change());
        elapsedMs += performance.now() - started;
      };
      const provisioned = provision();
      // A failure is thrown when the work has ended.
      provisioned.catch(() => {});
      try {
        return await work();
      } finally {
        isOver = true;
        await provisioned;
      }
    },
    summary() {
      agent.destroy();
      const perSecond = Math.round(((ids.length + changed) * 1000) / elapsedMs);
      return `${ids.length} of ${users} users were looked up, created and added to a group, then ${changed} changed, ${perSecond} a second, by one connection that waits for each answer. Left out: deactivation, deletion, and lists of all users.`;
    },
  };
}

const patch = (op: string, path: string, value: unknown) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op, path, value }],
});

const createCaller =
  ({ url, headers }: Oriel, agent: Agent) =>
  (method: string, path: string, body?: object) =>
    new Promise<{ id: string }>((resolve, reject) => {
      const sent = request(
        `${url}/api/scim/v2${path}`,
        { agent, method, headers: { ...headers, 'content-type': 'application/scim+json' } },
        async (response) => {
          try {
            let text = '';
            for await (const bytes of response) text += bytes;
            if (response.statusCode! >= 300)
              throw new Error(`${method} ${path} answered ${response.statusCode}: ${text}`);
            resolve(text ? JSON.parse(text) : {});
          } catch (error) {
            reject(error);
          }
        },
      );
      sent.once('error', reject);
      sent.end(body && JSON.stringify(body));
    });
