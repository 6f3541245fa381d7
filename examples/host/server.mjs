/**
 * A product that shows dashboards of Oriel to its customers: plain Node, to read and to copy.
 * The API key stays on this server. The page gets sessions, and each of them works once.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

/** In your product, these are in your database. `region` decides which rows a viewer sees. */
const CUSTOMERS = {
  alpine: {
    externalId: 'mara@alpine.example',
    embedTenantName: 'alpine-outfitters',
    userProfile: { displayName: 'Mara Keller' },
    userAttributes: [{ name: 'region', value: 'EU' }],
  },
  pacific: {
    externalId: 'joe@pacific.example',
    embedTenantName: 'pacific-trading',
    userProfile: { displayName: 'Joe Tanaka' },
    userAttributes: [{ name: 'region', value: 'APAC' }],
  },
};

const FILES = {
  '/': [new URL('page.html', import.meta.url), 'text/html; charset=utf-8'],
  '/embed.js': [import.meta.resolve('@oriel/viewer/embed'), 'text/javascript; charset=utf-8'],
};

/** `oriel` is the address of Oriel, and `apiKey` a key that may use the deployment. */
export function createHost({ oriel, apiKey, deploymentId = 1, publicId = 'DemoCommerce' }) {
  /** Asks Oriel for a session of this customer. */
  async function createSession(customer) {
    const response = await fetch(new URL('/api/v1/embed/generate-session', oriel), {
      method: 'POST',
      headers: { authorization: `Api-Key ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ deploymentId, ...customer }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`Oriel gave no session: ${answer.message}`);
    return answer.sessionId;
  }

  async function answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, 'http://host');
    const send = (status, type, body) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    if (request.method === 'POST' && pathname === '/session') {
      // In your product, the customer is the one who is signed in. Do not take it from the request.
      const name = searchParams.get('customer');
      if (!Object.hasOwn(CUSTOMERS, name)) return send(404, 'text/plain', 'There is no such customer.');
      return send(200, 'text/plain', await createSession(CUSTOMERS[name]));
    }
    if (pathname === '/settings.json') {
      return send(200, 'application/json', JSON.stringify({ baseUrl: oriel, publicId }));
    }
    if (!Object.hasOwn(FILES, pathname)) return send(404, 'text/plain', 'Not found.');
    const [file, type] = FILES[pathname];
    return send(200, type, await readFile(fileURLToPath(file)));
  }

  return createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error.message);
      response.writeHead(502, { 'content-type': 'text/plain' }).end('The dashboard is not available.');
    });
  });
}
