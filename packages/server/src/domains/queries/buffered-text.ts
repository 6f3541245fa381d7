/**
 * Text that is buffered before it is sent: a short one in memory, a longer one in a file below the data dir. The file has
 * no name, so nothing of it is left if this process is killed.
 */
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataDir } from '../../platform/db/embedded/data-dir.ts';
import { ApiError } from '../../platform/errors.ts';
import { openUnlinkedFile } from '../../platform/unlinked-file.ts';

/**
 * A text that several readers can read at once. A reader must hold it meanwhile, and it is gone when the last one
 * releases it.
 */
export interface StoredText {
  readonly byteLength: number;
  pieces(): AsyncIterable<Buffer>;
  hold(): void;
  release(): void;
}

export interface BufferedText {
  add(piece: Buffer): Promise<void>;
  /** Ends the text. The caller holds a stored text from now on. */
  end(): Buffer | StoredText;
  discard(): Promise<void>;
}

const PIECE_BYTES = 256 * 1024;

export function bufferText(dataDir: string, memoryBytes: number): BufferedText {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let file: FileHandle | undefined;

  async function write(more: Buffer[]) {
    try {
      file ??= await openFile(dataDir);
      for (const piece of more) await file.writeFile(piece);
    } catch (cause) {
      throw new ApiError('unavailable', { cause });
    }
  }

  return {
    async add(piece) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes <= memoryBytes) return;
      await write(pieces);
      pieces = [];
    },
    end: () => (file ? storedIn(file, bytes) : Buffer.concat(pieces, bytes)),
    discard: async () => file?.close(),
  };
}

function storedIn(file: FileHandle, byteLength: number): StoredText {
  let holders = 1;
  return {
    byteLength,
    async *pieces() {
      for (let at = 0; at < byteLength; ) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, byteLength - at));
        const { bytesRead } = await file.read(piece, 0, piece.length, at);
        if (!bytesRead) throw new Error('the file of an answer is too short');
        at += bytesRead;
        yield piece.subarray(0, bytesRead);
      }
    },
    hold() {
      holders++;
    },
    release() {
      if (--holders === 0) file.close().catch((error: Error) => process.emitWarning(error));
    },
  };
}

async function openFile(dataDir: string): Promise<FileHandle> {
  await makeDataDir(dataDir);
  return openUnlinkedFile(join(dataDir, 'answer-'));
}
