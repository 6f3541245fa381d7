/** What one viewer of an embedded dashboard causes, as requests to a server. */
import { Agent } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Oriel } from '../harness/oriel.ts';
import { send } from '../harness/send.ts';

const DEPLOYMENT = 1;
const DASHBOARD = 'DemoCommerce';
const REGIONS = ['EU', 'US', 'APAC'];
const QUERIES = [
  { measures: ['orders.count'], dimensions: ['orders.status'] },
  { measures: ['orders.count'], dimensions: ['orders.channel'] },
  { measures: ['orders.count'], dimensions: ['orders.warehouse'] },
  { measures: ['orders.count'], timeDimensions: [{ dimension: 'orders.ordered_at', granularity: 'month' }] },
];
/** The number of visits for each list of reports that the company's own people open. */
const VISITS_FOR_A_LIST = 10;

let visitors = 0;

/** Makes visits. Its viewers are new to the server: no other visitor uses their ids. */
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
  /** The latencies by the kind of request, in milliseconds. */
  const latencies = new Map<string, number[]>();
  const own = ++visitors;
  let calls = 0;

  async function call(
    kind: string,
    path: string,
    { body, token }: { body?: object; token?: string } = {},
  ): Promise<Record<string, string>> {
    const { url, headers } = servers[calls++ % servers.length]!;
    const started = performance.now();
    const credential = token === undefined ? headers : { authorization: `Bearer ${token}` };
    const response = await send(agent, url + path, credential, body && JSON.stringify(body));
    const reply = await text(response);
    const all = latencies.get(kind) ?? [];
    all.push(performance.now() - started);
    latencies.set(kind, all);
    return JSON.parse(reply);
  }

  /** The backend of the company mints a session, and the page of the viewer uses it. */
  async function visit(n: number): Promise<void> {
    const session = {
      deploymentId: DEPLOYMENT,
      externalId: `viewer-${own}-${n}`,
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
