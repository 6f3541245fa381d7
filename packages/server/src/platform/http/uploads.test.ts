import { afterEach, expect, test, vi } from 'vitest';
import { type ByteReservation, createByteBudget } from '../byte-budget.ts';
import { meterOf } from './body-reader.ts';
import { readMultipart } from './multipart-body.ts';
import { store } from './uploads.ts';

afterEach(() => vi.unstubAllEnvs());

async function* data(bytes: number) {
  yield Buffer.alloc(bytes);
}

const MB = 1024 * 1024;
const options = {
  fileName: 'a',
  contentType: 'text/plain',
  maxBytes: 4 * MB,
  tooLarge: () => new Error('large'),
};

test('a file that cannot be stored gives its share of the disk back', async () => {
  // One sharer has a quarter of the budget, which is room for one file.
  const budget = createByteBudget(4 * MB);
  const memory = meterOf(createByteBudget(4 * MB).reservationOf('one'));
  const storeOne = async () => store(data(MB), { ...options, memory, share: budget.reservationOf('one') });
  vi.stubEnv('TMPDIR', '/there/is/no/such/folder');
  for (let i = 0; i < 3; i++) await expect(storeOne()).rejects.toMatchObject({ code: 'ENOENT' });
  vi.unstubAllEnvs();
  const stored = await storeOne();
  await expect(storeOne()).rejects.toMatchObject({ code: 'unavailable' });
  await stored.close();
  await (await storeOne()).close();
});

const SMALL = 60 * 1024;
/** One sharer has a quarter of it. Each body may also have 64 KB that are not counted. */
const MEMORY = 4 * MB;
const ROOM_FOR = Math.floor((MB + 64 * 1024) / SMALL);

test('small files count in the memory of their body until it is freed', async () => {
  const memory = createByteBudget(MEMORY);
  const disk = createByteBudget(MEMORY);
  const storeAll = async (share: ByteReservation) => {
    const meter = meterOf(share);
    for (let i = 0; i < ROOM_FOR; i++) {
      await store(data(SMALL), { ...options, memory: meter, share: disk.reservationOf('one') });
    }
  };
  const first = memory.reservationOf('one');
  await storeAll(first);
  const second = memory.reservationOf('one');
  await expect(storeAll(second)).rejects.toMatchObject({ code: 'unavailable' });
  second.giveBack();
  first.giveBack();
  await storeAll(memory.reservationOf('one'));
});

test('a file that goes to disk does not count in memory', async () => {
  const meter = meterOf(createByteBudget(MEMORY).reservationOf('one'));
  const disk = createByteBudget(1000 * MB);
  async function* inPieces() {
    for (let i = 0; i < 2; i++) yield Buffer.alloc(SMALL);
  }
  for (let i = 0; i < 2 * ROOM_FOR; i++) {
    const stored = await store(inPieces(), { ...options, memory: meter, share: disk.reservationOf('one') });
    await stored.close();
  }
});

test('the fields of a multipart body count in its memory', async () => {
  async function* bodyWith(fields: number) {
    for (let i = 0; i < fields; i++) {
      yield Buffer.from(`--x\r\nContent-Disposition: form-data; name="f${i}"\r\n\r\n`);
      yield Buffer.alloc(SMALL, 'a');
      yield Buffer.from('\r\n');
    }
    yield Buffer.from('--x--\r\n');
  }
  const read = (fields: number) => {
    const meter = meterOf(createByteBudget(MEMORY).reservationOf('one'));
    const noFiles = { kind: 'multipart', files: {} } as unknown as Parameters<typeof readMultipart>[2];
    const keep = () => Promise.reject(new Error('there is no file'));
    return readMultipart(bodyWith(fields), 'multipart/form-data; boundary=x', noFiles, keep, meter);
  };
  await expect(read(ROOM_FOR)).resolves.toBeDefined();
  await expect(read(ROOM_FOR + 1)).rejects.toMatchObject({ code: 'unavailable' });
});
