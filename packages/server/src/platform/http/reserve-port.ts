import { type AddressInfo, createServer } from 'node:net';
import { StartupError } from '../startup-error.ts';

/** Holds a port until it is released. Port 0 picks a free one. */
export async function reservePort(host: string, port: number) {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  const release = () =>
    new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
  return { port: (server.address() as AddressInfo).port, release };
}

function explain(error: NodeJS.ErrnoException, host: string, port: number) {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartupError(
        `Port ${port} on ${host} is taken by another program: stop that one, or set ORIEL_PORT to another port.`,
      );
    case 'EACCES':
      return new StartupError(
        `Port ${port} on ${host} is not ours to take: set ORIEL_PORT to one above 1023.`,
      );
    default:
      return new StartupError(
        `Can not listen on ${host}, port ${port} (${error.code}): check ORIEL_HOST and ORIEL_PORT.`,
      );
  }
}
