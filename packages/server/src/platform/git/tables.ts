/** The tables that only this folder writes to. */
export const tables = ['git_objects'] as const;
