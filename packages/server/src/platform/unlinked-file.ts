import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';

/** A file without a name, so it is gone when it is closed, even if this process is killed. */
export async function openUnlinkedFile(prefix: string): Promise<FileHandle> {
  const path = `${prefix}${randomUUID()}`;
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
