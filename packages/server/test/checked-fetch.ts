/** A fetch that fails the test when a reply is not what the contract and the OpenAPI document promise. */
import {
  allOperations,
  collectionPaths,
  ErrorReply,
  errorCodesOf,
  type Operation,
  successStatus,
} from '@oriel/contract';
import { documentedOperation, documentedReply, mismatch } from './published-document.ts';

export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const path = new URL(String(input)).pathname;
  await checkReply(init?.method ?? 'GET', path, response.clone());
  return response;
};

export async function checkReply(method: string, path: string, response: Response) {
  const where = `${method} ${path} answered ${response.status}`;
  if (!response.headers.get('x-request-id')) throw new Error(`${where} without X-Request-Id`);
  if (response.headers.get('x-content-type-options') !== 'nosniff')
    throw new Error(`${where} without nosniff`);
  const op = operationAt(method, path);
  const text = await response.text();
  if (response.status >= 400) checkError(op, response.status, text, where);
  else if (op && response.status !== successStatus(op)) {
    throw new Error(`${where}, not ${successStatus(op)}`);
  }
  if (op) checkDocumented(op, response, text, where);
}

function checkError(op: Operation | undefined, status: number, text: string, where: string) {
  check(ErrorReply, text, where);
  const { statusCode, code } = JSON.parse(text);
  if (statusCode !== status) throw new Error(`${where}, and its body says ${statusCode}`);
  if (op && !errorCodesOf(op).includes(code))
    throw new Error(`${where} with ${code}, which ${op.id} does not declare`);
}

/** What the document says of this operation and status: schema, error codes and headers. */
function checkDocumented(op: Operation, response: Response, text: string, where: string) {
  const documented = documentedReply(documentedOperation(op.method, op.path)!, response.status);
  if (!documented) throw new Error(`${where}, which the document does not name for ${op.id}`);
  if (response.headers.get('etag') && !documented.headers?.ETag)
    throw new Error(`${where} with an ETag that the document does not name`);
  for (const name of Object.keys(documented.headers ?? {})) {
    // A change tells the new version as a service; what is read must tell it.
    if (name === 'ETag' && op.method !== 'GET') continue;
    if (!response.headers.get(name)) throw new Error(`${where} without the header ${name}`);
  }
  if (documented.content) check(documented.content['application/json'].schema, text, where);
  else if (text !== '') throw new Error(`${where} with a body`);
}

function check(schema: object, text: string, where: string) {
  const wrong = mismatch(schema, JSON.parse(text));
  if (wrong)
    throw new Error(`${where} with a body that its schema refuses: ${wrong}\n${text.slice(0, 2000)}`);
}

const collections = collectionPaths(allOperations);
const patterns = allOperations.map((op) => {
  const pattern = op.path.replaceAll(/\{\w+\}/g, '[^/]+');
  return { op, pattern: new RegExp(`^${pattern}${collections.has(op.path) ? '/?' : ''}$`) };
});

const operationAt = (method: string, path: string) =>
  patterns.find(({ op, pattern }) => op.method === method && pattern.test(path))?.op;
