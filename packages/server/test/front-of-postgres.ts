/** A proxy for PostgreSQL that refuses connections as a real server would, or adds TLS. */
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface Refusal {
  code: string;
  message: string;
}

export interface Front {
  port: number;
  /** The number of connections so far. */
  readonly connections: number;
  stop(): void;
}

/** The message that PostgreSQL sends if it refuses a connection. */
const fatal = ({ code, message }: Refusal) => {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from('E'), length, body]);
};

const SSL_REQUEST = 80_877_103;
const WITHOUT_TLS = { code: '28000', message: 'no pg_hba.conf entry for host, no encryption' };

function join(socket: Socket, real: Socket) {
  real.on('error', () => socket.destroy()).on('close', () => socket.destroy());
  socket.on('close', () => real.destroy());
  socket.pipe(real).pipe(socket);
}

/** Calls `refusal` for each connection, counted from 1. If it returns nothing, the connection is passed on. */
export async function startFront(options: {
  refusal: (connection: number) => Refusal | undefined;
  /** The address of the real server. */
  target?: NetConnectOpts;
  tls?: { key: string; cert: string };
  port?: number;
}): Promise<Front> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const refused = options.refusal(++connections);
    socket.on('error', () => {});
    if (!refused && !options.tls) return join(socket, connect(options.target!));
    socket.once('data', (first) => {
      const wantsTls = first.length === 8 && first.readInt32BE(4) === SSL_REQUEST;
      if (!wantsTls) return void socket.end(fatal(refused ?? WITHOUT_TLS));
      socket.write(options.tls ? 'S' : 'N');
      if (!options.tls) return;
      const secure = new TLSSocket(socket, { isServer: true, ...options.tls });
      secure.on('error', () => {});
      if (refused) secure.once('data', () => secure.end(fatal(refused)));
      else join(secure, connect(options.target!));
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    get connections() {
      return connections;
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A self-signed certificate for 127.0.0.1 that is valid for a hundred years. */
export const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7PACW+1FiEFksX7W
I4mlpHvxih8LkNoOAyq3kifyR6+hRANCAASbdrD4RVtURT2Q3ShMQ6lkDSQ78csq
8ef4kh3kgVpgbDp3tpUw/4O5H/fNXPuSCu8O1SmPdMhVZ1ZJSIIGiszZ
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBjzCCATagAwIBAgIUL+gQ4t7hb0SUeLe+RSONyhkgmAIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTExNTIxMjYzM1oYDzIxMjYxMDIy
MjEyNjMzWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASbdrD4RVtURT2Q3ShMQ6lkDSQ78csq8ef4kh3kgVpgbDp3tpUw/4O5
H/fNXPuSCu8O1SmPdMhVZ1ZJSIIGiszZo2QwYjAdBgNVHQ4EFgQU9cUn/ylMs5h/
+A1Jfv+WbZbRSvMwHwYDVR0jBBgwFoAU9cUn/ylMs5h/+A1Jfv+WbZbRSvMwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0cAMEQC
IHxMtnqtsM2C+PIMBYdUt2vxJt1Hpb4sWT5Ck5OUrno8AiBdPvvnc5mpNWUlRqZj
TLO4/o5UNIqw0bElTgn4VZ1dPQ==
-----END CERTIFICATE-----
`,
};
