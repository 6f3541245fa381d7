/** A real SMTP server on loopback, which accepts messages or misbehaves. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface MailServer {
  url: string;
  /** What was accepted. */
  messages: { raw: string; parsed: Email; to: string[] }[];
  /** How many sessions began. */
  sessions(): number;
  stop(): Promise<void>;
}

type CloseMoment = 'during' | 'after';

/** Called after each recipient or message. An error's `responseCode` is the answer; a promise lets the client wait for it. */
export interface Answers {
  recipient?: (address: string) => Error | undefined | Promise<Error | undefined>;
  message?: (raw: string, to: string[]) => Error | undefined | Promise<Error | undefined>;
  /** Ends the connection in the middle of a message, or after it and before an answer: to everybody, or to some. */
  closes?: CloseMoment | ((to: string[]) => CloseMoment | undefined);
}

export const answer = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode });

export async function startMailServer(
  answers: Answers = {},
  options: SMTPServerOptions = { disabledCommands: ['AUTH', 'STARTTLS'] },
): Promise<MailServer> {
  const messages: MailServer['messages'] = [];
  let sessions = 0;
  /** The connections of smtp-server know the socket of their session. */
  const end = (id: string) => {
    for (const connection of server.connections as Set<{ id: string; _socket: { destroy(): void } }>) {
      if (connection.id === id) connection._socket.destroy();
    }
  };
  const server = new SMTPServer({
    ...options,
    onConnect(_session, callback) {
      sessions++;
      callback();
    },
    async onRcptTo({ address }, _session, callback) {
      callback((await answers.recipient?.(address)) ?? null);
    },
    async onData(stream, { id, envelope }, callback) {
      const to = envelope.rcptTo.map(({ address }) => address);
      const closes = typeof answers.closes === 'function' ? answers.closes(to) : answers.closes;
      if (closes === 'during') {
        stream.once('data', () => end(id));
        return;
      }
      const raw = await text(stream).catch(() => undefined);
      if (raw === undefined) return; // The client went away in the middle of it.
      if (closes === 'after') return end(id);
      const refusal = await answers.message?.(raw, to);
      if (refusal) return callback(refusal);
      messages.push({ raw, parsed: await PostalMime.parse(raw), to });
      callback();
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  const net = server.server;
  await once(net, 'listening');
  const { port } = net.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    messages,
    sessions: () => sessions,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A server that accepts connections and says nothing. */
export async function startSilentServer() {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const open = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => open.add(socket));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => open.size,
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
