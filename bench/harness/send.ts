import { type Agent, type IncomingMessage, request } from 'node:http';

/** A POST if there is a body, otherwise a GET. Resolves when the headers of a 200 are there; read or resume the rest. */
export const send = (agent: Agent, url: string, headers: Record<string, string>, body?: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const written =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { agent, method, headers: { ...headers, ...written } }, (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.resume();
      reject(new Error(`${method} ${new URL(url).pathname}: ${response.statusCode}`));
    });
    sent.once('error', reject);
    sent.end(body);
  });
