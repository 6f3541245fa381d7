import { dataModelLimits } from '@oriel/contract';
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { takeWritten } from '../../platform/git/objects.store.ts';
import { addWritten } from './store.ts';

/**
 * Throws if the deployment stores too much already. What is replaced or abandoned counts until it is swept: otherwise
 * somebody could store without end by writing the same file again and again. Requests that run at the same time may
 * pass the limit together.
 */
export async function requireRoom(db: Database, deploymentId: number, bytes = 0): Promise<void> {
  const stored = await addWritten(db, deploymentId, takeWritten(deploymentId));
  if ((stored?.bytes ?? 0) + bytes > dataModelLimits.storedBytes)
    throw new ApiError('data_model_storage_full');
}
