import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { isPublicAddress } from './addresses.ts';
import { createOutbound, OutboundError, type OutboundRequest, type Rules, rulesOf } from './outbound.ts';

const MB = 1024 * 1024;
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

/** A resolver that knows every name. */
const resolvingTo =
  (...addresses: string[]): LookupFunction =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const guarded = createOutbound(rulesOf({ allowPrivate: false }));
const open = createOutbound(rulesOf({ allowPrivate: true }));
/** Takes 127.0.0.2 for a server on the internet. */
const pretending: Rules = {
  protocols: ['http:', 'https:'],
  isAllowed: (address) => address === '127.0.0.2',
  lookup: resolvingTo('127.0.0.2'),
};

async function failureOf(answer: Promise<Response>): Promise<OutboundError> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OutboundError);
  return error as OutboundError;
}

describe('only public addresses can be reached', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://168.63.129.16/',
    'https://172.31.255.255/',
    'https://192.168.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
  ])('%s is refused', async (url) => {
    expect((await failureOf(guarded.fetch(url))).failure).toBe('address_refused');
  });

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['::1'], ['fe80::1%eth0']])(
    'a name that resolves to %s is refused',
    async (...addresses) => {
      const outbound = createOutbound({
        ...rulesOf({ allowPrivate: false }),
        lookup: resolvingTo(...addresses),
      });
      expect((await failureOf(outbound.fetch('https://name.example/'))).failure).toBe('address_refused');
    },
  );

  test('localhost is refused', async () => {
    expect((await failureOf(guarded.fetch('https://localhost/'))).failure).toBe('address_refused');
  });

  test('an address without TLS, another protocol, and a password in the address are refused', async () => {
    for (const url of [
      'http://example.com/',
      'ftp://example.com/',
      'file:///etc/passwd',
      'https://u:p@example.com/',
    ]) {
      expect((await failureOf(guarded.fetch(url))).failure).toBe('address_refused');
    }
  });

  test('the setting allows private addresses, and requests without TLS', async () => {
    const url = await listen((_, response) => response.end('here'));
    expect(await (await open.fetch(url)).text()).toBe('here');
    expect((await failureOf(guarded.fetch(url))).failure).toBe('address_refused');
  });
});

test('a name is looked up once, and the request goes to the address that was checked', async () => {
  const url = await listen((_, response) => response.end('checked'), '127.0.0.2');
  const answers = ['127.0.0.2', '127.0.0.1'];
  const checked: string[] = [];
  const outbound = createOutbound({
    protocols: ['http:'],
    isAllowed: (address) => checked.push(address) > 0,
    lookup: (name, options, callback) => resolvingTo(answers.shift()!)(name, options, callback),
  });
  const answer = await outbound.fetch(url.replace('127.0.0.2', 'changes.example'));
  expect(await answer.text()).toBe('checked');
  // When it was looked up, and when the socket had reached it.
  expect(checked).toEqual(['127.0.0.2', '127.0.0.2']);
  expect(answers).toEqual(['127.0.0.1']);
});

describe('redirects', () => {
  const to =
    (location: () => string, status = 302): RequestListener =>
    (_, response) =>
      response.writeHead(status, { location: location() }).end();

  test('are not followed unless they are asked for', async () => {
    const url = await listen(to(() => 'http://127.0.0.1/secret'));
    const answer = await open.fetch(url);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'http://127.0.0.1/secret']);
  });

  test('to a loopback address are refused', async () => {
    let reached = false;
    const inside = await listen((_, response) => {
      reached = true;
      response.end('secret');
    });
    const outside = await listen(
      to(() => inside),
      '127.0.0.2',
    );
    const outbound = createOutbound(pretending);
    expect((await outbound.fetch(outside)).status).toBe(302);
    expect((await failureOf(outbound.fetch(outside, { redirects: 5 }))).failure).toBe('address_refused');
    expect(reached).toBe(false);
  });

  test('are followed only so many times', async () => {
    let count = 0;
    const url: string = await listen((_, response) => {
      count++;
      response.writeHead(302, { location: `/${count}` }).end();
    });
    expect((await failureOf(open.fetch(url, { redirects: 3 }))).failure).toBe('too_many_redirects');
    expect(count).toBe(4);
  });

  const credentials: OutboundRequest = {
    headers: { authorization: 'Basic eDp5', cookie: 'a=b', accept: 'x/y' },
    redirects: 1,
  };

  test('to another server do not carry credentials', async () => {
    const seen: unknown[] = [];
    const second = await listen(({ headers }, response) => {
      seen.push(headers.authorization, headers.cookie, headers.accept);
      response.end();
    });
    await open.fetch(await listen(to(() => second)), credentials);
    expect(seen).toEqual([undefined, undefined, 'x/y']);
  });

  test('keep the body only on the same server, and only where the status says so', async () => {
    const second = await listen((_, response) => response.end());
    const post = { method: 'POST', body: 'client_secret=s', redirects: 1 };
    const elsewhere = await listen(to(() => second, 307));
    expect((await failureOf(open.fetch(elsewhere, post))).failure).toBe('address_refused');
    const seen: unknown[] = [];
    const same: string = await listen((request, response) => {
      if (request.url === '/') return void response.writeHead(303, { location: '/next' }).end();
      seen.push(request.method, request.headers['content-length'], request.headers['content-type']);
      response.end();
    });
    await open.fetch(same, { ...post, headers: { 'content-type': 'text/plain' } });
    expect(seen).toEqual(['GET', undefined, undefined]);
  });
});

describe('an answer', () => {
  const piece = Buffer.alloc(64 * 1024, 'x');

  test('that is larger than the limit is given up as soon as it passes the limit', async () => {
    let sent = 0;
    const url = await listen((_, response) => {
      const pieces = function* () {
        for (; sent < 100 * MB; sent += piece.length) yield piece;
      };
      pipeline(Readable.from(pieces()), response, () => {});
    });
    expect((await failureOf(open.fetch(url))).failure).toBe('too_large');
    expect(sent).toBeLessThan(20 * MB);
    expect((await failureOf(open.fetch(url, { maxBytes: 10 }))).failure).toBe('too_large');
  });

  test('that says it is too large is not read', async () => {
    const url = await listen((_, response) =>
      response.writeHead(200, { 'content-length': 100 * MB }).write('x'),
    );
    expect((await failureOf(open.fetch(url))).failure).toBe('too_large');
  });

  test('that is small but decompresses to 100 MB is given up', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MB));
    expect(bomb.length).toBeLessThan(MB);
    const url = await listen((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    expect((await failureOf(open.fetch(url))).failure).toBe('too_large');
  });

  test('is decompressed', async () => {
    const url = await listen((_, response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
        .end(gzipSync('plain')),
    );
    const answer = await open.fetch(url);
    expect(await answer.text()).toBe('plain');
    expect([...answer.headers.keys()]).not.toContain('content-encoding');
  });

  test.each(['gzip', 'br', 'deflate', 'zip'])(
    'with a broken or unknown compression (%s) is an error',
    async (coding) => {
      const url = await listen((_, response) =>
        response.writeHead(200, { 'content-encoding': coding }).end('no'),
      );
      expect((await failureOf(open.fetch(url))).failure).toBe('not_readable');
    },
  );

  test('that is cut off is an error', async () => {
    const url = await listen((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    expect((await failureOf(open.fetch(url))).failure).toBe('unreachable');
  });
});

describe('a request ends in time', () => {
  const slow: [string, RequestListener][] = [
    ['nothing arrives', () => {}],
    ['the body does not end', (_, response) => response.writeHead(200).write('x')],
    [
      'the body arrives byte by byte',
      (_, response) => {
        const timer = setInterval(() => response.write('x'), 10);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ];
  test.each(slow)('if %s', async (_, listener) => {
    const url = await listen(listener);
    expect((await failureOf(open.fetch(url, { timeoutMs: 200 }))).failure).toBe('timed_out');
  });

  test('if the name is never resolved', async () => {
    const outbound = createOutbound({ ...pretending, lookup: () => {} });
    expect((await failureOf(outbound.fetch('http://name.example/', { timeoutMs: 200 }))).failure).toBe(
      'timed_out',
    );
  });

  test('if the redirects together take too long', async () => {
    const url: string = await listen((_, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 50);
    });
    const request = { timeoutMs: 300, redirects: 1_000_000 };
    expect((await failureOf(open.fetch(url, request))).failure).toBe('timed_out');
  });

  test('if the caller aborts it', async () => {
    const url = await listen(() => {});
    const reason = new Error('not needed any more');
    const controller = new AbortController();
    const answer = open.fetch(url, { signal: controller.signal });
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await expect(open.fetch(url, { signal: controller.signal })).rejects.toBe(reason);
  });
});

test('more requests at once than the limit are refused, and those that ended do not count', async () => {
  let answerAll = () => {};
  const until = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  const url = await listen((_, response) => void until.then(() => response.end()));
  const outbound = createOutbound(rulesOf({ allowPrivate: true }), { atOnceMax: 2 });
  const running = [outbound.fetch(url), outbound.fetch(url)];
  expect((await failureOf(outbound.fetch(url))).failure).toBe('too_many_at_once');
  answerAll();
  await Promise.all(running);
  expect((await outbound.fetch(url)).status).toBe(200);
});

test('an error names the server, and nothing that may be secret', async () => {
  const url = await listen((_, response) => response.destroy());
  const error = await failureOf(
    open.fetch(`${url}/path-secret?token=query-secret`, {
      method: 'POST',
      headers: { authorization: 'Bearer header-secret' },
      body: 'client_secret=body-secret',
    }),
  );
  const shown = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join();
  expect(shown).not.toMatch(/secret/);
  expect(error.message).toContain(url);
  const refused = await failureOf(guarded.fetch('https://user:password-secret@example.com/'));
  expect(`${refused.message} ${refused.stack}`).not.toMatch(/secret/);
});
