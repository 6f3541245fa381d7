/** A fetch that fails the test when a reply is not what the contract and the OpenAPI document promise. */
import {
  allOperations,
  answersNotModified,
  collectionPaths,
  ErrorReply,
  type ErrorShape,
  errorCodesOf,
  errorShapes,
  mayAnswerNothing,
  mayRedirect,
  type Operation,
  replyKindOf,
  successStatus,
} from '@oriel/contract';
import { noteSecrets } from './audited-secrets.ts';
import { type PublishedContract, publish, published } from './published-document.ts';

type Fetch = typeof fetch;
type Head = Pick<Response, 'status' | 'headers'>;
type CheckReply = (method: string, path: string, head: Head, text: string) => void;

export function createCheckedFetch(operations: readonly Operation[]): Fetch {
  return checkingFetch(createChecks(operations, publish(operations)));
}

interface Checks {
  operationAt(method: string, path: string): Operation | undefined;
  checkReply: CheckReply;
  /** An error in one piece of a stream is thrown where the test reads the stream. */
  checkPiece(op: Operation, piece: unknown): void;
}

const checkingFetch =
  ({ operationAt, checkReply, checkPiece }: Checks): Fetch =>
  async (input, init) => {
    noteSecrets(init?.body);
    const response = await fetch(input, init);
    const method = init?.method ?? 'GET';
    const path = new URL(String(input)).pathname;
    const op = operationAt(method, path);
    const kind = op && replyKindOf(op)?.kind;
    const isStreamed = kind === 'ndjson' || kind === 'eventStream' || kind === 'csv' || kind === 'bytes';
    if (!op || !isStreamed || response.status >= 400) {
      // Read once: a clone takes as much processor time as the request.
      const bytes = await response.arrayBuffer();
      checkReply(method, path, response, decoder.decode(bytes));
      return copyOf(response, bytes);
    }
    // Checks the head now and the pieces as they are read. A clone would read the whole stream, and some never end.
    checkReply(method, path, response, '');
    if (kind === 'csv' || kind === 'bytes') return response;
    const checked = response.body!.pipeThrough(pieceChecker(kind, (piece) => checkPiece(op, piece)));
    return copyOf(response, checked);
  };

const decoder = new TextDecoder();

/** A status without a body, such as 204, takes none, not even an empty one. */
const copyOf = ({ status, headers }: Response, body: ArrayBuffer | ReadableStream | null) =>
  new Response(body instanceof ArrayBuffer && !body.byteLength ? null : body, { status, headers });

function createChecks(operations: readonly Operation[], contract: PublishedContract): Checks {
  const { documentedOperation, documentedReply, mismatch } = contract;
  const collections = collectionPaths(operations);
  const patterns = operations.map((op) => {
    const pattern = op.path.replaceAll(/\{\w+\}/g, '[^/]+');
    return { op, pattern: new RegExp(`^${pattern}${collections.has(op.path) ? '/?' : ''}$`) };
  });
  // The most literal path comes first: `/users/me` is not `/users/{id}`, whatever the method.
  const rank = ({ op }: { op: Operation }) => op.path.replaceAll(/[^/{}]+/g, '').replaceAll('{}', '~');
  patterns.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const operationAt = (method: string, path: string) => {
    const meant = patterns.find(({ pattern }) => pattern.test(path))?.op.path;
    return patterns.find(({ op }) => op.path === meant && op.method === method)?.op;
  };

  function check(schema: object, value: unknown, where: string) {
    const wrong = mismatch(schema, value);
    if (!wrong) return;
    throw new Error(
      `${where} with a body that its schema refuses: ${wrong}\n${JSON.stringify(value)?.slice(0, 2000)}`,
    );
  }

  /** An address without an operation may have the form of the operations around it, which a test of its own checks. */
  const shapeOf = (op: Operation | undefined, { status, headers }: Head, text: string): ErrorShape => {
    if (status === 431) return 'standard';
    if (op) return op.errorShape ?? 'standard';
    if (!headers.has('x-error-code')) return 'standard';
    if (headers.get('content-type')?.startsWith('text/html')) return 'page';
    const body = JSON.parse(text);
    if ('schemas' in body) return 'scim';
    return 'error_description' in body || 'errorDescription' in body ? 'oauth' : 'message';
  };

  function checkError(op: Operation | undefined, response: Head, text: string, where: string) {
    const shape = shapeOf(op, response, text);
    const body = shape === 'page' ? text : JSON.parse(text);
    check(shape === 'standard' ? ErrorReply : errorShapes[shape].schema, body, where);
    const code = shape === 'standard' ? body.code : response.headers.get('x-error-code');
    if (shape === 'standard' && body.statusCode !== response.status)
      throw new Error(`${where}, and its body says ${body.statusCode}`);
    if (op && !errorCodesOf(op).includes(code))
      throw new Error(`${where} with ${code}, which ${op.id} does not declare`);
  }

  /** A reply to a change may have an ETag. One to a read must, unless it is a dashboard that begins as its viewer does. */
  const isAlwaysTagged = ({ id, method }: Operation) => method === 'GET' && id !== 'getDashboard';

  /** Compares the reply with the document: content type, schema, error codes and headers. */
  function checkDocumented(op: Operation, response: Head, text: string, where: string) {
    const documented = documentedReply(documentedOperation(op.method, op.path)!, response.status);
    if (!documented) throw new Error(`${where}, which the document does not name for ${op.id}`);
    if (response.headers.get('etag') && !documented.headers?.ETag)
      throw new Error(`${where} with an ETag that the document does not name`);
    for (const [name, { required }] of Object.entries(documented.headers ?? {})) {
      if (required === false || (name === 'ETag' && !isAlwaysTagged(op))) continue;
      if (!response.headers.get(name)) throw new Error(`${where} without the header ${name}`);
    }
    if (!documented.content) {
      if (text !== '') throw new Error(`${where} with a body`);
      return;
    }
    const type = response.headers.get('content-type')?.split(';', 1)[0] ?? '';
    const media = documented.content[type];
    if (!media) throw new Error(`${where} as ${type}, which the document does not name for ${op.id}`);
    if (type.endsWith('json') && !media['x-each']) check(media.schema, JSON.parse(text), where);
  }

  return {
    operationAt,
    checkReply(method, path, response, text) {
      const where = `${method} ${path} answered ${response.status}`;
      if (!response.headers.get('x-request-id')) throw new Error(`${where} without X-Request-Id`);
      if (response.headers.get('x-content-type-options') !== 'nosniff')
        throw new Error(`${where} without nosniff`);
      const op = operationAt(method, path);
      noteSecrets(text);
      if (response.status >= 400) checkError(op, response, text, where);
      else if (
        op &&
        response.status !== successStatus(op) &&
        !(response.status === 304 && answersNotModified(op)) &&
        !(response.status === 204 && mayAnswerNothing(op)) &&
        !(response.status === 303 && mayRedirect(op))
      ) {
        throw new Error(`${where}, not ${successStatus(op)}`);
      }
      if (op) checkDocumented(op, response, text, where);
    },
    checkPiece(op, piece) {
      const documented = documentedReply(documentedOperation(op.method, op.path)!, successStatus(op))!;
      const [media] = Object.values(documented.content!);
      const { line, event } = media!['x-each']!;
      check((line ?? event)!, piece, `${op.id} sent a piece`);
    },
  };
}

/** Passes everything on unchanged, and checks each complete line or event. */
function pieceChecker(kind: 'ndjson' | 'eventStream', check: (piece: unknown) => void) {
  const decoder = new TextDecoder();
  let text = '';
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split(kind === 'ndjson' ? '\n' : '\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const piece = kind === 'ndjson' ? JSON.parse(part) : eventOf(part);
        if (piece !== undefined) check(piece);
      }
      controller.enqueue(chunk);
    },
  });
}

function eventOf(block: string): unknown {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/).slice(0, 2)));
  return fields.data === undefined ? undefined : { ...fields, data: JSON.parse(fields.data) };
}

const checks = createChecks(allOperations, published);
export const { checkReply } = checks;
export const checkedFetch = checkingFetch(checks);
