/** Tables that only this domain writes to. */
export const tables = ['uploads', 'upload_files'] as const;
