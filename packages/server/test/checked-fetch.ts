/** A fetch that fails the test when a reply is not what the contract promises. */
import {
  allOperations,
  collectionPaths,
  ErrorReply,
  errorCodesOf,
  type Operation,
  successStatus,
} from '@oriel/contract';
import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';

const ajv = ajvFormats.default(new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }));

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
  const op = allOperations.find((candidate) => candidate.method === method && matches(candidate, path));
  const text = await response.text();
  if (response.status >= 400) return checkError(op, response.status, text, where);
  if (!op) return;
  if (response.status !== successStatus(op)) throw new Error(`${where}, not ${successStatus(op)}`);
  if (response.status === 204) {
    if (text !== '') throw new Error(`${where} with a body`);
  } else check(op.reply, text, where);
}

function checkError(op: Operation | undefined, status: number, text: string, where: string) {
  check(ErrorReply, text, where);
  const { statusCode, code } = JSON.parse(text);
  if (statusCode !== status) throw new Error(`${where}, and its body says ${statusCode}`);
  if (op && !errorCodesOf(op).includes(code))
    throw new Error(`${where} with ${code}, which ${op.id} does not declare`);
}

function check(schema: object, text: string, where: string) {
  const valid = ajv.compile(schema);
  if (!valid(JSON.parse(text))) {
    throw new Error(
      `${where} with a body that its schema refuses: ${ajv.errorsText(valid.errors)}\n${text.slice(0, 2000)}`,
    );
  }
}

const collections = collectionPaths(allOperations);

function matches(op: Operation, path: string): boolean {
  const pattern = op.path.replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}${collections.has(op.path) ? '/?' : ''}$`).test(path);
}
