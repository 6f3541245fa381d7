/** Manages connections: how many there are, what is left unread on them, and how they end. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const DISCARD_MAX_BYTES = 64 * 1024 * 1024;
const DISCARD_MAX_MS = 10_000;
/** How long a stop waits for requests that are still being sent. */
const STOP_GRACE_MS = 5000;

/**
 * When a server closes, Node waits for every connection, even for idle ones. So we end idle connections at once, and
 * the others after their last reply. Requests that have not arrived completely a few seconds later are cut off. If
 * there are too many connections, the one that has been idle for longest is closed. If none is idle, the one that has
 * been sending its request for longest is closed.
 */
export function manageConnections(
  app: FastifyInstance,
  maxConnections: number,
  stopGraceMs: number = STOP_GRACE_MS,
) {
  const quiet = new Set<Socket>();
  /** Connections whose request has not arrived completely. */
  const sending = new Set<Socket>();
  let open = 0;
  let closing = false;
  app.server.on('connection', (socket: Socket) => {
    open++;
    quiet.add(socket);
    socket.once('close', () => {
      open--;
      quiet.delete(socket);
      sending.delete(socket);
    });
    if (open > maxConnections) makeRoom(quiet, sending, socket);
  });
  app.server.on('request', (request, response) => {
    const { socket } = request;
    quiet.delete(socket);
    if (!request.complete && announcesBody(request)) {
      sending.add(socket);
      request.once('end', () => sending.delete(socket));
    }
    response.once('close', () => {
      sending.delete(socket);
      if (closing) socket.end();
      else if (!socket.destroyed) quiet.add(socket);
    });
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    if (!request.raw.complete && announcesBody(request.raw)) discardRest(request.raw);
    done();
  });
  app.addHook('preClose', (done) => {
    closing = true;
    for (const socket of quiet) socket.destroy();
    const cutOff = () => {
      for (const socket of [...quiet, ...sending]) socket.destroy();
    };
    const timer = setTimeout(cutOff, stopGraceMs);
    app.server.once('close', () => clearTimeout(timer));
    done();
  });
}

/** Closes a connection: the new one, which counts as idle, only if every other connection is being served. */
function makeRoom(quiet: Set<Socket>, sending: Set<Socket>, fresh: Socket) {
  const [quietest] = quiet;
  const [slowest] = sending;
  const leaving = quietest === fresh ? (slowest ?? fresh) : quietest;
  if (!leaving) return;
  quiet.delete(leaving);
  sending.delete(leaving);
  leaving.destroy();
}

const announcesBody = ({ headers }: IncomingMessage) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/**
 * Continues to read what a client still sends after its reply. Some clients read only after they have sent everything.
 * If the connection were closed at once, they would never see the reply.
 */
function discardRest(request: IncomingMessage) {
  let left = DISCARD_MAX_BYTES;
  const cut = () => request.socket.destroy();
  const timer = setTimeout(cut, DISCARD_MAX_MS).unref();
  request.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  request.on('error', () => {});
}
