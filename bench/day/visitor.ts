/** What one viewer of an embedded dashboard causes, as requests to a server. */
import { Agent, request } from 'node:http';
import type { Oriel } from '../harness/oriel.ts';

const DEPLOYMENT = 1;
const DASHBOARD = 'DemoCommerce';
const REGIONS = ['EU', 'US', 'APAC'];
const QUERIES = [
  { measures: ['orders.count'], dimensions: ['orders.status'] },
  { measures: ['orders.count'], dimensions: ['orders.channel'] },
  { measures: ['orders.count'], dimensions: ['orders.warehouse'] },
  { measures: ['orders.count'], timeDimensions: [{ dimension: 'orders.ordered_at', granularity: 'month' }] },
];
/** The company's own people list reports, once for so many visits. */
const VISITS_FOR_A_LIST = 10;

export function visitor({
  servers,
  customers,
  sockets = 64,
}: {
  servers: Oriel[];
  customers: number;
  sockets?: number;
}) {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  /** By the kind of request, in milliseconds. */
  const latencies = new Map<string, number[]>();
  let calls = 0;

  async function call(
    kind: string,
    path: string,
    { body, token }: { body?: object; token?: string } = {},
  ): Promise<Record<string, string>> {
    const { url, headers } = servers[calls++ % servers.length]!;
    const started = performance.now();
    const text = await send(agent, `${url}${path}`, {
      headers: token === undefined ? headers : { authorization: `Bearer ${token}` },
      body: body && JSON.stringify(body),
    });
    const all = latencies.get(kind) ?? [];
    all.push(performance.now() - started);
    latencies.set(kind, all);
    return JSON.parse(text);
  }

  /** The backend of the company mints a session, and the page of the viewer uses it. */
  async function visit(n: number): Promise<void> {
    const session = {
      deploymentId: DEPLOYMENT,
      externalId: `viewer-${n}`,
      embedTenantName: `customer-${n % customers}`,
      groups: ['analysts'],
      userAttributes: [{ name: 'region', value: REGIONS[n % REGIONS.length] }],
    };
    const { sessionId } = await call('mint', '/api/v1/embed/generate-session', { body: session });
    const { token } = await call('exchange', '/api/v1/embed/session/token', { body: { sessionId } });
    await call('session', '/api/v1/embed/session', { token });
    await call('dashboard', `/api/v1/embed/dashboard/${DASHBOARD}`, { token });
    for (const query of [QUERIES[n % QUERIES.length]!, QUERIES[(n + 1) % QUERIES.length]!]) {
      await call('query', `/query/api/v1/deployments/${DEPLOYMENT}/load`, { token, body: { query } });
    }
    if (n % VISITS_FOR_A_LIST === 0) {
      await call('list', `/api/v1/deployments/${DEPLOYMENT}/reports?first=50&includeCount=false`);
    }
  }

  return {
    agent,
    latencies,
    visit,
    get: (path: string) => call('get', path),
    post: (kind: string, path: string, body: object) => call(kind, path, { body }),
  };
}

const send = (
  agent: Agent,
  url: string,
  { headers, body }: { headers: Record<string, string>; body: string | undefined },
) =>
  new Promise<string>((resolve, reject) => {
    const written = body === undefined ? {} : { 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(url, { agent, method, headers: { ...headers, ...written } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.once('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${method} ${new URL(url).pathname}: ${response.statusCode}`));
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
