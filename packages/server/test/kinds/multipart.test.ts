import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExampleServer, startExample } from './example-server.ts';

let server: ExampleServer;
beforeAll(async () => {
  server = await startExample();
});
afterAll(() => server.stop());

const KB = 1024;
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const png = (size: number) => new Blob([new Uint8Array(size)], { type: 'image/png' });
const text = (content: string) => new File([content], 'a.txt', { type: 'text/plain' });

/** A body that no real client would send. */
const send = async (parts: string, type = 'multipart/form-data; boundary=xx') => {
  const response = await server.raw('POST', '/example/files', {
    headers: { 'content-type': type },
    body: parts,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const field = (name: string, value: string) =>
  `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, content: string, fileName = 'a.txt') =>
  `--xx\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: text/plain\r\n\r\n${content}\r\n`;
const END = '--xx--\r\n';

test('small and large fields and files arrive unchanged', async () => {
  const large = new Uint8Array(300 * KB).map((_, i) => i * 7);
  const small = 'a\r\n--x\r\n\r\n--';
  const reply = await server.client.postFiles({
    body: {
      name: 'ä',
      count: 2,
      files: [new File([large], '../ä "1".bin'), text(small), text('')],
      logo: png(9),
    },
  });
  expect(reply).toEqual({
    fields: { name: 'ä', count: 2 },
    files: [
      {
        fileName: 'ä "1".bin',
        contentType: 'application/octet-stream',
        size: 300 * KB,
        sha256: sha256(large),
      },
      { fileName: 'a.txt', contentType: 'text/plain', size: small.length, sha256: sha256(small) },
      { fileName: 'a.txt', contentType: 'text/plain', size: 0, sha256: sha256('') },
    ],
    logos: 1,
  });
});

test('a body may have text before and after the parts, and fields after files', async () => {
  const body = `preamble\r\n${file('files', 'x')}${field('name', 'a')}${END}epilogue`;
  expect(await send(body)).toMatchObject({ status: 200, body: { fields: { name: 'a' } } });
});

test('a part that is a file needs no file name', async () => {
  const type = 'Content-Type: application/octet-stream\r\n';
  const named = field('files', 'with a type').replace('\r\n\r\n', `\r\n${type}\r\n`);
  const { status, body } = await send(field('name', 'a') + field('files', 'a\0b') + named + END);
  expect(status).toBe(200);
  const contentType = 'application/octet-stream';
  expect(body.files).toEqual([
    { contentType, size: 3, sha256: sha256('a\0b') },
    { contentType, size: 11, sha256: sha256('with a type') },
  ]);
});

test.each([
  ['no boundary', 'multipart/form-data', END, 400, 'malformed_multipart'],
  [
    'a boundary that is too long',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    END,
    400,
    'malformed_multipart',
  ],
  ['another boundary', 'multipart/form-data; boundary=yy', END, 400, 'malformed_multipart'],
  ['JSON', 'application/json', '{}', 415, 'unsupported_media_type'],
  ['a form', 'application/x-www-form-urlencoded', 'name=a', 415, 'unsupported_media_type'],
])('%s is refused', async (_, type, body, status, code) => {
  expect(await send(body, type)).toMatchObject({ status, body: { code } });
});

test.each([
  ['no end', field('name', 'a') + file('files', 'x')],
  ['an end in the middle of a file', file('files', 'x').slice(0, -3)],
  ['an end in the headers of a part', '--xx\r\nContent-Disposition: form-data; na'],
  ['nothing at all', ''],
  ['a part without a name', `--xx\r\nContent-Disposition: form-data\r\n\r\na\r\n${END}`],
  ['a part without headers', `--xx\r\n\r\na\r\n${END}`],
  [
    'a header twice',
    `--xx\r\nContent-Disposition: form-data; name="name"\r\ncontent-disposition: form-data; name="x"\r\n\r\na\r\n${END}`,
  ],
  ['headers without end', `--xx\r\nX-Long: ${'x'.repeat(9000)}\r\n\r\na\r\n${END}`],
  [
    'a transfer encoding from e-mail',
    `--xx\r\nContent-Disposition: form-data; name="name"\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n${END}`,
  ],
  ['a boundary with more characters', `--xx-\r\n${END}`],
])('a body with %s is a 400, and the handler does not run', async (_, body) => {
  const before = server.seen.handled.length;
  const { status, body: reply } = await send(body);
  expect(status).toBe(400);
  expect(['malformed_multipart', 'invalid_request']).toContain(reply.code);
  expect(server.seen.handled).toHaveLength(before);
});

test.each([
  [
    'a field twice',
    field('name', 'a') + field('name', 'b') + file('files', ''),
    'name',
    'is given more than once',
  ],
  ['an unknown field', field('name', 'a') + field('x', 'b') + file('files', ''), 'x', 'is not a known field'],
  ['an unknown file', field('name', 'a') + file('x', 'b'), 'x', 'is not a known file'],
  ['no file', field('name', 'a'), 'files', 'is required, as a file'],
  ['no field', file('files', 'a'), 'name', 'is required'],
  ['too many files', field('name', 'a') + file('files', 'a').repeat(4), 'files', 'has more than 3 files'],
  [
    'a field that is too long',
    field('name', 'a'.repeat(70 * KB)) + file('files', ''),
    'name',
    'is longer than 64 KB',
  ],
])('%s is a 400 that names it', async (_, parts, path, message) => {
  expect(await send(parts + END)).toMatchObject({ status: 400, body: { issues: [{ path, message }] } });
});

describe('bounds', () => {
  const call = (body: Parameters<typeof server.client.postFiles>[0]['body']) =>
    server.client.postFiles({ body });

  test('a file that is too large is a 413 that names it', async () => {
    const tooLarge = new Blob([new Uint8Array(300 * KB + 1)]);
    await expect(call({ name: 'a', files: tooLarge })).rejects.toMatchObject({
      status: 413,
      message: 'files: the file is larger than 300 KB.',
    });
    await expect(call({ name: 'a', files: text('x'), logo: png(2000) })).rejects.toMatchObject({
      status: 413,
    });
  });

  test('a body that is larger than all parts together may be is a 413 before anything is read', async () => {
    await expect(call({ name: 'a', files: new Blob([new Uint8Array(2000 * KB)]) })).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('the limit of this operation'),
    });
  });

  test('a file of another type than the operation takes is a 415', async () => {
    await expect(call({ name: 'a', files: text('x'), logo: text('x') })).rejects.toMatchObject({
      status: 415,
      message: 'logo: the file must be of the type image/png',
    });
  });
});

test('the body of a caller without a valid credential is not read before the 401', async () => {
  const { port, hostname } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    'POST /example/files HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=xx\r\nContent-Length: 100000\r\n\r\n--xx\r\n',
  );
  const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1.1 401 /);
});

test('if a client leaves in the middle of an upload, nothing is left behind', async () => {
  const { port, hostname } = new URL(server.url);
  const before = server.seen.handled.length;
  for (let i = 0; i < 5; i++) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /example/files HTTP/1.1\r\nHost: x\r\nAuthorization: Api-Key all\r\nContent-Type: multipart/form-data; boundary=xx\r\nContent-Length: 500000\r\n\r\n${field('name', 'a')}${file('files', 'x'.repeat(200 * KB)).slice(0, -2)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  }
  // The server still accepts uploads, and no file name is ever left on disk.
  await server.client.postFiles({ body: { name: 'a', files: new Blob([new Uint8Array(200 * KB)]) } });
  expect((await readdir(tmpdir())).filter((name) => name.startsWith('oriel-upload-'))).toEqual([]);
  expect(server.seen.handled).toHaveLength(before + 1);
});

describe('bytes', () => {
  test('are accepted with the content types of the operation, small and large', async () => {
    for (const size of [0, 10, 300 * KB]) {
      const data = new Uint8Array(size).fill(7);
      expect(await server.client.postBytes({ body: { contentType: 'application/zip', data } })).toEqual({
        contentType: 'application/zip',
        size,
        sha256: sha256(data),
      });
    }
  });

  test('can be sent as a stream', async () => {
    const stream = new Blob(['x'.repeat(200 * KB)]).stream() as ReadableStream<Uint8Array>;
    const reply = await server.client.postBytes({ body: { contentType: 'text/plain', data: stream } });
    expect(reply).toMatchObject({ size: 200 * KB });
  });

  test('that are too large or of another type are refused', async () => {
    const send = async (body: Uint8Array<ArrayBuffer> | string, type: string) => {
      const init = { method: 'POST', headers: { 'content-type': type }, body };
      return (await server.raw('POST', '/example/bytes', init)).status;
    };
    expect(await send(new Uint8Array(300 * KB + 1), 'application/zip')).toBe(413);
    const endless = new Blob([new Uint8Array(400 * KB)]).stream();
    await expect(
      server.client.postBytes({
        body: { contentType: 'application/zip', data: endless as ReadableStream<Uint8Array> },
      }),
    ).rejects.toMatchObject({ status: 413 });
    expect(await send('{}', 'application/json')).toBe(415);
  });
});
