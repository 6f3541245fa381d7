/** Tables that only this domain writes to. */
export const tables = ['model_sync_sources', 'model_sync_manifests', 'model_syncs'] as const;
