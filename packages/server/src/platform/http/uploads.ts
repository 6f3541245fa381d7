/** Stores uploaded files and binary bodies while they arrive: small ones in memory, others on disk, within limits. */
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Upload } from '@oriel/contract';
import type { ByteReservation } from '../byte-budget.ts';
import { ApiError } from '../errors.ts';
import { openUnlinkedFile } from '../unlinked-file.ts';
import type { MemoryMeter } from './body-reader.ts';

const SMALL_BYTES = 64 * 1024;
const READ_BYTES = 64 * 1024;

export interface StoredUpload extends Upload {
  /** Frees memory and disk. */
  close(): Promise<void>;
}

export interface UploadOptions {
  fileName: string | undefined;
  contentType: string;
  maxBytes: number;
  tooLarge: () => Error;
  /** The share of the disk. */
  share: ByteReservation;
  memory: MemoryMeter;
}

export async function store(data: AsyncIterable<Buffer>, options: UploadOptions): Promise<StoredUpload> {
  const { maxBytes, tooLarge, share, memory } = options;
  const small: Buffer[] = [];
  let size = 0;
  let file: FileHandle | undefined;
  try {
    for await (const chunk of data) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      if (!file && size <= SMALL_BYTES) {
        memory.hold(chunk.length);
        small.push(chunk);
        continue;
      }
      if (!share.take(file ? chunk.length : size)) throw new ApiError('unavailable');
      if (!file) memory.release(size - chunk.length);
      file ??= await storeAll(small.splice(0));
      await file.writeFile(chunk);
    }
  } catch (error) {
    await file?.close();
    share.giveBack();
    throw error;
  }
  const { fileName, contentType } = options;
  const common = { fileName, contentType, size };
  return file ? onDisk(file, common, share) : inMemory(Buffer.concat(small, size), common);
}

type UploadInfo = Pick<Upload, 'fileName' | 'contentType' | 'size'>;

const inMemory = (bytes: Buffer, described: UploadInfo): StoredUpload => ({
  ...described,
  bytes: async () => bytes,
  async *stream() {
    yield bytes;
  },
  close: async () => {},
});

function onDisk(file: FileHandle, described: UploadInfo, share: ByteReservation): StoredUpload {
  /** Reads by position, because a stream of Node closes the file when its reader leaves early, and others read it again. */
  async function* stream() {
    for (let position = 0; ; ) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return {
    ...described,
    async bytes() {
      const chunks: Buffer[] = [];
      for await (const chunk of stream()) chunks.push(chunk);
      return Buffer.concat(chunks, described.size);
    },
    stream,
    async close() {
      try {
        await file.close();
      } finally {
        share.giveBack();
      }
    },
  };
}

async function storeAll(chunks: readonly Buffer[]): Promise<FileHandle> {
  const file = await openUnlinkedFile(join(tmpdir(), 'oriel-upload-'));
  try {
    for (const chunk of chunks) await file.writeFile(chunk);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
