/**
 * Nothing that this server sends to others reaches a private address, however it is written: one table of spellings,
 * for each part that connects to an address which people or settings name.
 */

import { Agent, get } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProvider } from '../src/domains/identities/provider.ts';
import { openClickhouse } from '../src/engines/clickhouse/source.ts';
import { openPostgres } from '../src/engines/postgres/source.ts';
import type { Source } from '../src/engines/process/source.ts';
import { GuardedSocket, guardAgent, type Rules } from '../src/platform/outbound/guard.ts';
import { createOutbound, rulesOf } from '../src/platform/outbound/outbound.ts';

/** All of them lead to this machine, on systems and in drivers that understand them. */
const LOOPBACK = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.1.',
  '127.255.255.254',
  '127.000.000.001',
  '0177.0.0.1',
  '0177.1',
  '017700000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '0X7F.0X0.0X0.0X1',
  '0x7f000001',
  '0x07f000001',
  '2130706433',
  '02130706433',
  '0',
  '0.0',
  '0.0.0.0',
  '00000000000',
  '0x0',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'ip6-localhost',
  'a.localhost',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
];
/** Other networks that only this machine may reach. */
const PRIVATE = [
  '10.1',
  '0xa9fea9fe',
  '2852039166',
  '169.254.169.254',
  '0300.0250.1',
  '172.16.0.1',
  '100.64.0.1',
  '::ffff:10.0.0.1',
  'fe80::1',
  'fd00:ec2::254',
  'ff02::1',
];
/**
 * Hosts that trick drivers, which put the host into an address or pass it on. They must be refused even if the check of
 * the settings lets them pass.
 */
const TRICKS = [
  'public.example@127.0.0.1',
  '127.0.0.1#',
  '127.0.0.1?',
  '/var/run/postgresql',
  '127.0.0.1%25',
];

const SPELLINGS = [...LOOPBACK, ...PRIVATE, ...TRICKS];

let server: Server;
let port: number;
const reached: Socket[] = [];
beforeAll(async () => {
  server = createServer((socket) => {
    reached.push(socket);
    socket.on('error', () => {});
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => server.close());

type Attempt = (host: string, allowPrivate: boolean) => Promise<unknown>;

const settingsOf = (host: string, allowPrivate: boolean) =>
  ({
    name: 'default',
    host,
    port,
    database: 'shop',
    user: 'reader',
    password: '',
    tls: 'off',
    connections: 1,
    allowPrivate,
  }) as const;

async function testSource(opening: Promise<Source>) {
  const source = await opening;
  try {
    await source.test(AbortSignal.timeout(20_000));
  } finally {
    await source.close();
  }
}

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host);

const USERS: Record<string, Attempt> = {
  'a ClickHouse source': (host, allowPrivate) =>
    testSource(openClickhouse({ ...settingsOf(host, allowPrivate), type: 'clickhouse' })),
  'a ClickHouse source with TLS': (host, allowPrivate) =>
    testSource(openClickhouse({ ...settingsOf(host, allowPrivate), type: 'clickhouse', tls: 'no-verify' })),
  'a PostgreSQL source': (host, allowPrivate) =>
    testSource(
      openPostgres({
        ...settingsOf(host, allowPrivate),
        type: 'postgres',
        own: { systemIdentifier: '1', database: 'oriel' },
      }),
    ),
  'an outgoing request': (host, allowPrivate) =>
    createOutbound(rulesOf({ allowPrivate })).fetch(`https://${bracketed(host)}:${port}/`),
  'an OpenID Connect provider': (host, allowPrivate) =>
    createProvider(
      { issuer: `https://${bracketed(host)}:${port}`, clientId: 'oriel', scope: 'openid' } as Parameters<
        typeof createProvider
      >[0],
      {
        outbound: createOutbound(rulesOf({ allowPrivate })),
        log: pino({ level: 'silent' }),
        redirectUri: 'https://oriel.example/callback',
      },
    ).begin(),
};

describe.each(Object.entries(USERS))('%s', (_, attempt) => {
  test('reaches no private address', async () => {
    reached.length = 0;
    const refusals = await Promise.all(
      SPELLINGS.map((host) =>
        attempt(host, false).then(
          () => 'no error',
          (error: unknown) => inspect(error, { depth: 10 }),
        ),
      ),
    );
    expect(reached).toEqual([]);
    const refusedByChance = PRIVATE.filter(
      (host) => !refusals[SPELLINGS.indexOf(host)]!.includes('ORIEL_ALLOW_PRIVATE_REMOTES'),
    );
    expect(refusedByChance).toEqual([]);
  });

  test('reaches them if the server allows it', async () => {
    const hosts = ['127.0.0.1', '127.1', '0x7f000001', '2130706433', '0', 'localhost'];
    for (const host of hosts) {
      reached.length = 0;
      await attempt(host, true).catch(() => {});
      expect([host, reached.length > 0]).toEqual([host, true]);
    }
  });
});

describe('an address that is no longer allowed when the socket has reached it', () => {
  /** Rules for a name that resolves to another address after the check. */
  const changing = (): Rules => {
    let looks = 0;
    return { ...rulesOf({ allowPrivate: true }), isAllowed: () => looks++ === 0 };
  };
  const refused = () => new Error('refused');

  test('gets nothing of a request', async () => {
    const agent = guardAgent(new Agent(), changing(), refused);
    const answer = new Promise((_, reject) => {
      get(`http://localhost:${port}/`, { agent }).on('error', reject);
    });
    await expect(answer).rejects.toThrow('refused');
  });

  test('gets nothing from a driver', async () => {
    const socket = new GuardedSocket(changing(), refused);
    const failed = new Promise((_, reject) => socket.on('error', reject));
    socket.connect(port, 'localhost');
    socket.write('secret');
    await expect(failed).rejects.toThrow('refused');
  });
});
