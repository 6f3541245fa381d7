/** Programs between a server and its database: proxies that disturb connections, and a pooler. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';

export interface DatabaseProxy {
  /** The same database, through the proxy. */
  url: string;
  close(): Promise<void>;
}

/** A proxy that removes the startup options of each connection, because poolers ignore them. */
export const dropStartupOptions = (databaseUrl: string): Promise<DatabaseProxy> =>
  startProxy(databaseUrl, (client, database) => {
    client.once('data', (first) => {
      database.write(withoutOptions(first));
      client.pipe(database);
    });
    database.pipe(client);
  });

/** A proxy that can stop passing data on, without closing the connections. */
export async function startMutableProxy(databaseUrl: string) {
  let isMute = false;
  const pass = (from: Socket, to: Socket) => from.on('data', (data) => void (isMute || to.write(data)));
  const proxy = await startProxy(databaseUrl, (client, database) => {
    pass(client, database);
    pass(database, client);
  });
  return {
    ...proxy,
    mute(mute: boolean) {
      isMute = mute;
    },
  };
}

/** A proxy that can end new connections in the same packet that says that they are ready. */
export async function startPoisoningProxy(databaseUrl: string) {
  let shareOf = 0;
  let count = 0;
  let poisoned = 0;
  const proxy = await startProxy(databaseUrl, (client, database) => {
    const isPoisoned = shareOf > 0 && count++ % shareOf === 0;
    let isReady = false;
    client.pipe(database);
    database.on('data', (data) => {
      const becomesReady = !isReady && data.includes(READY);
      isReady ||= becomesReady;
      if (!isPoisoned || !becomesReady) return client.write(data);
      poisoned++;
      client.end(Buffer.concat([data, ENDED_BY_ADMIN]));
      database.destroy();
    });
  });
  return {
    ...proxy,
    /** From now on, ends every n-th new connection; 0 for none. Returns the number of ended connections so far. */
    poison(everyNth: number): number {
      shareOf = everyNth;
      return poisoned;
    },
  };
}

/** A pooler in transaction mode with one connection to the database. */
export async function startTransactionPooler(databaseUrl: string): Promise<DatabaseProxy> {
  const backend = new pg.Client({ connectionString: databaseUrl });
  backend.on('error', () => {});
  await backend.connect();
  const { stream } = (backend as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('data');
  let holder: Socket | undefined;
  let expected = 0;
  const waiting: [Socket, Buffer][] = [];

  const forward = () => {
    const next = waiting.findIndex(([client]) => !holder || holder === client);
    if (next < 0) return;
    const [[client, message]] = waiting.splice(next, 1) as [[Socket, Buffer]];
    holder = client;
    if (message[0] === code('Q') || message[0] === code('S')) expected++;
    stream.write(message);
    forward();
  };
  readMessages(stream, (message) => {
    holder?.write(message);
    if (message[0] !== code('Z')) return;
    expected--;
    if (expected === 0 && message[5] === code('I')) holder = undefined;
    forward();
  });
  const proxy = await listen(
    databaseUrl,
    createServer((client) => {
      client.on('error', () => {});
      client.once('data', () => {
        client.write(Buffer.concat([AUTHENTICATED, READY]));
        readMessages(client, (message) => {
          if (message[0] === code('X')) return client.end();
          waiting.push([client, message]);
          forward();
        });
      });
    }),
  );
  return {
    url: proxy.url,
    async close() {
      await proxy.close();
      stream.destroy();
    },
  };
}

const code = (letter: string) => letter.charCodeAt(0);
const READY = Buffer.from([code('Z'), 0, 0, 0, 5, code('I')]);
const AUTHENTICATED = Buffer.from([code('R'), 0, 0, 0, 8, 0, 0, 0, 0]);
const ENDED_BY_ADMIN = errorMessage({ S: 'FATAL', V: 'FATAL', C: '57P01', M: 'terminating connection' });

function errorMessage(fields: Record<string, string>): Buffer {
  const body = Object.entries(fields).map(([field, text]) => `${field}${text}\0`);
  const text = Buffer.from(`${body.join('')}\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

function withoutOptions(startup: Buffer): Buffer {
  const fields = startup.toString('utf8', 8).split('\0');
  const at = fields.indexOf('options');
  if (at % 2 === 0) fields.splice(at, 2);
  const rest = Buffer.from(fields.join('\0'));
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeInt32BE(rest.length + 8, 0);
  return Buffer.concat([head, rest]);
}

/** Splits the data into complete messages: a letter, the length, and the content. */
function readMessages(socket: Socket, read: (message: Buffer) => void) {
  let rest = Buffer.alloc(0);
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length > 4 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1;
      read(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

function startProxy(
  databaseUrl: string,
  join: (client: Socket, database: Socket) => void,
): Promise<DatabaseProxy> {
  const { host, port } = new pg.Client({ connectionString: databaseUrl });
  const server = createServer((client) => {
    const database = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    join(client, database);
  });
  return listen(databaseUrl, server);
}

async function listen(databaseUrl: string, server: Server): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { user, password, database } = new pg.Client({ connectionString: databaseUrl });
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://${user}:${encodeURIComponent(password ?? '')}@127.0.0.1:${port}/${database}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
